// An application that lives in a page, with the official client in it: it logs in by leading its user away and back, lists,
// reads and writes. What came of it stands in window.report.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const kept = JSON.parse(sessionStorage.getItem("kept") ?? "{}");
const keep = (name, value) => {
  kept[name] = value;
  sessionStorage.setItem("kept", JSON.stringify(kept));
};
const here = new URL(location.href);
if (here.pathname === "/") keep("endpoint", here.searchParams.get("endpoint"));
keep("visits", (kept.visits ?? 0) + 1);

const redirect = `${here.origin}/callback`;
const provider = {
  redirectUrl: redirect,
  clientMetadata: { client_name: "a page", redirect_uris: [redirect], grant_types: ["authorization_code"], response_types: ["code"], token_endpoint_auth_method: "none" },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => keep("client", client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => keep("tokens", tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => keep("verifier", verifier),
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (state) => keep("discovery", state),
  redirectToAuthorization: (url) => {
    location.assign(url);
    return new Promise(() => {}); // the page ends here
  },
};

const transport = new StreamableHTTPClientTransport(new URL(kept.endpoint), { authProvider: provider });
const client = new Client({ name: "a page", version: "1" }, { versionNegotiation: { mode: "auto" } });
try {
  if (here.pathname === "/callback") await transport.finishAuth(here.searchParams);
  await client.connect(transport);
  const tools = (await client.listTools()).tools.length;
  const read = await client.callTool({ name: "getOrder", arguments: { order_no: "SO 1001" } });
  const written = await client.callTool({ name: "updateOrder", arguments: { order_no: "SO 1001", note: "from a page" } });
  window.report = { tools, read: read.isError ?? false, written: written.isError ?? false, visits: kept.visits, scope: kept.tokens.scope };
} catch (e) {
  window.report = { error: String(e.stack ?? e) };
}
