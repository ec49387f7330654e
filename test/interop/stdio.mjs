// The official TypeScript clients as hosts that start the program themselves. Called by the Go test with
//
//   node stdio.mjs PROGRAM CONFIG CLIENT CALLS      CLIENT: v1, v2-legacy, v2-auto, v2-pinned
//
// Lists, makes CALLS calls at once, gives one up when it is told to by a byte on standard input, and prints what came of it as one JSON object.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";

const [program, config, kind, calls] = process.argv.slice(2);
const server = { command: program, args: ["stdio", "--config", config], stderr: "inherit" };
const info = { name: "interop", version: "1" };
const modes = { "v2-legacy": "legacy", "v2-auto": "auto", "v2-pinned": { pin: "2026-07-28" } };

const transport = kind === "v1" ? new TransportV1(server) : new TransportV2(server);
const client = kind === "v1" ? new ClientV1(info) : new ClientV2(info, { versionNegotiation: { mode: modes[kind] } });
let negotiated;
if (kind === "v1") {
  // Over standard input and output this client tells its transport the revision, and keeps it nowhere else.
  transport.setProtocolVersion = (version) => (negotiated = version);
}
await client.connect(transport);
const report = { revision: client.getNegotiatedProtocolVersion?.() ?? negotiated };
report.tools = (await client.listTools()).tools.map((t) => t.name).sort();

// v1 and v2 differ in where the options of a request stand.
const call = (name, args, options) =>
  kind === "v1" ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);
const answers = await Promise.all(Array.from({ length: Number(calls) }, (_, id) => call("getThing", { id })));
report.right = answers.filter((a, id) => a.content[0].text === `{"id":${id}}` && a.structuredContent.id === id).length;
report.unknown = await call("nothing", {}).then(() => false, (e) => e.message.includes('"nothing"'));

const giveUp = new AbortController();
const slow = call("slow", {}, { signal: giveUp.signal }).then(() => false, () => true);
await new Promise((resolve) => process.stdin.once("data", resolve)); // the call has reached the service
process.stdin.destroy();
giveUp.abort("no need");
report.aborted = await slow;
await client.close();
console.log(JSON.stringify(report));
