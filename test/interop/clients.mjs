// The official TypeScript clients against a running gateway: connect, list, call. Called by the Go test with
//
//   node clients.mjs ENDPOINT TOKEN CLIENT      CLIENT: v1, v1-sse, v2-legacy, v2-auto, v2-pinned
//
// Prints one JSON object: the revision that was agreed on, the names of the tools, and what the calls gave.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SSEClientTransport as OldTransportV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";

const [endpoint, token, kind] = process.argv.slice(2);
const headers = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
const info = { name: "interop", version: "1" };

const modes = { "v2-legacy": "legacy", "v2-auto": "auto", "v2-pinned": { pin: "2026-07-28" } };
let client, transport;
if (kind.startsWith("v1")) {
  client = new ClientV1(info);
  transport = kind === "v1" ? new TransportV1(new URL(endpoint), headers) : new OldTransportV1(new URL(endpoint), headers);
} else {
  client = new ClientV2(info, { versionNegotiation: { mode: modes[kind] } });
  transport = new TransportV2(new URL(endpoint), headers);
}

const attempt = async (f) => {
  try {
    return await f();
  } catch (e) {
    return { thrown: e.message, code: e.code };
  }
};
const call = (name, args) => attempt(() => client.callTool({ name, arguments: args }));

await client.connect(transport);
const report = { revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? transport._protocolVersion };
const { tools } = await client.listTools();
report.tools = tools.map((t) => t.name).sort();
report.order = await call("getOrder", { order_no: "SO 1002#b" });
report.found = await call("findOrders", { q: "LAMP" });
report.label = await call("getShippingLabel", { order_no: "SO 1001" });
report.receipt = await call("getReceipt", { order_no: "SO 1001" });
// An answer that breaks its document (text where it says integer): the clients validate structuredContent.
report.stock = await call("get_stock_warehouse", { warehouse: ["north"] });
report.lost = await call("getOrder", { order_no: "SO 9999" });
report.unknown = await call("nothing", {});
await client.close();
console.log(JSON.stringify(report));
