// The official TypeScript clients log in to a gateway that they know nothing of but its address, and ask for more when a
// tool needs it. Called by the Go test with
//
//   node login.mjs ENDPOINT CLIENT      CLIENT: v1, v2
//
// Prints one JSON object: the scopes of each page that the user was shown, and what the calls gave.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";

const [endpoint, kind] = process.argv.slice(2);
const redirect = "http://127.0.0.1:33999/callback"; // nobody listens there: the user's browser stops before
const report = { asked: [], tokens: 0 };
let answer; // the parameters of the redirect

// browse does what a user does: look at the page, allow everything on it.
async function browse(url) {
  const page = await fetch(url, { redirect: "manual" });
  const html = await page.text();
  if (page.status !== 200) throw new Error(`${url}: ${page.status} ${html}`);
  const form = new URLSearchParams({ answer: "allow" });
  for (const [, name, value] of html.matchAll(/<input type="\w+" name="(\w+)" value="([^"]*)"/g)) form.append(name, value);
  report.asked.push(form.getAll("scope").join(" "));
  const sent = await fetch(html.match(/<form method="post" action="([^"]*)"/)[1], {
    method: "POST", body: form, redirect: "manual", headers: { Cookie: page.headers.get("set-cookie").split(";")[0] },
  });
  answer = new URL(sent.headers.get("location")).searchParams;
}

const kept = {};
const provider = {
  redirectUrl: redirect,
  clientMetadata: { client_name: "interop", redirect_uris: [redirect], grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "none" },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; report.tokens++; },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: browse,
};

const v1 = kind === "v1";
let client, transport;
async function connect() {
  transport = v1 ? new TransportV1(new URL(endpoint), { authProvider: provider }) : new TransportV2(new URL(endpoint), { authProvider: provider });
  client = v1 ? new ClientV1({ name: "interop", version: "1" }) : new ClientV2({ name: "interop", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
}

// attempt logs in when f is refused, and tries again.
async function attempt(f) {
  const before = report.asked.length;
  try {
    return await f();
  } catch (e) {
    if (report.asked.length === before) throw e;
    await (v1 ? transport.finishAuth(answer.get("code")) : transport.finishAuth(answer));
    return await f();
  }
}

await attempt(connect);
report.tools = (await client.listTools()).tools.length;
report.read = await attempt(() => client.callTool({ name: "getOrder", arguments: { order_no: "SO 1001" } }));
report.written = await attempt(() => client.callTool({ name: "updateOrder", arguments: { order_no: "SO 1001", note: "at the gate" } }));
report.cancelled = await attempt(() => client.callTool({ name: "cancelOrder", arguments: { order_no: "SO 9999" } }));
report.scope = kept.tokens.scope;
await client.close();
console.log(JSON.stringify(report));
