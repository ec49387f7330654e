// The official TypeScript clients by the names of their columns: ts-v1, ts-v2-legacy, ts-v2-auto, ts-v2-pinned.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";

const modes = { "ts-v2-legacy": "legacy", "ts-v2-auto": "auto", "ts-v2-pinned": { pin: "2026-07-28" } };
const info = { name: "clients", version: "1" };

export const isOld = (kind) => kind === "ts-v1";
export const isModern = (kind) => kind === "ts-v2-auto" || kind === "ts-v2-pinned";

// newClient returns a client that is not connected. listChanged is an option of the second generation alone.
export function newClient(kind, { capabilities = {}, listChanged } = {}) {
  return isOld(kind) ? new ClientV1(info, { capabilities }) : new ClientV2(info, { capabilities, versionNegotiation: { mode: modes[kind] }, listChanged });
}

export function newTransport(kind, endpoint) {
  return new (isOld(kind) ? TransportV1 : TransportV2)(new URL(endpoint));
}

// callTool returns the function that calls a tool by its name.
export function callTool(kind, client) {
  return (name, args, options) =>
    isOld(kind) ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);
}

// demand fails unless a fact holds; the error shows what there is in its place.
export function demand(fact, what) {
  if (!fact) throw new Error(JSON.stringify(what));
}

// reportCells tries all features, prints the revision and the cells of the table, and closes the client.
export async function reportCells(features, client, transport) {
  const cells = {};
  for (const [feature, attempt] of Object.entries(features)) {
    try {
      const missing = await attempt();
      cells[feature] = missing ? `— ${missing}` : "ok";
    } catch (e) {
      cells[feature] = `FAIL ${e.message}`;
    }
  }
  console.log(JSON.stringify({ revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion, cells }));
  await client.close();
}
