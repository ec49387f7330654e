// The official TypeScript clients. One process runs any number of sessions; the Go tests lead them by commands. Each knows
// nothing but the endpoint's address: where to log in and what to ask for it finds out.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientV2, DpopSession, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";
import { Browser } from "./browser.mjs";
import { serve } from "./lines.mjs";

const redirect = "http://127.0.0.1:33999/callback";
const sessions = new Map();

class Session {
  asked = []; // the scopes of each request for authorization
  registrations = 0;
  grants = []; // the kind of each request for tokens
  secrets = []; // all that nobody else may see
  heard = ""; // what the gateway answered
  #kept = {};
  #browser;

  constructor({ kind, endpoint, refresh, secret, document, dpop, client, user }) {
    this.v1 = kind === "sdk-v1";
    this.#browser = new Browser(user);
    if (client) this.#kept.client = { client_id: client };
    this.endpoint = new URL(endpoint);
    const kept = this.#kept;
    this.provider = {
      redirectUrl: redirect,
      clientMetadataUrl: document || undefined,
      clientMetadata: {
        client_name: "authe2e", redirect_uris: [redirect], grant_types: refresh ? ["authorization_code", "refresh_token"] : ["authorization_code"],
        token_endpoint_auth_method: secret ? "client_secret_basic" : "none", response_types: ["code"],
      },
      clientInformation: () => kept.client,
      saveClientInformation: (client) => { kept.client = client; },
      tokens: () => kept.tokens,
      saveTokens: (tokens) => { kept.tokens = tokens; },
      saveCodeVerifier: (verifier) => { kept.verifier = verifier; this.secrets.push(verifier); },
      codeVerifier: () => kept.verifier,
      discoveryState: () => kept.discovery,
      saveDiscoveryState: (state) => { kept.discovery = state; },
      invalidateCredentials: (what) => {
        if (what === "tokens" || what === "all") delete kept.tokens;
        if (what === "client" || what === "all") delete kept.client;
        if (what === "discovery" || what === "all") delete kept.discovery;
      },
      redirectToAuthorization: async (url) => {
        this.asked.push(url.searchParams.get("scope") ?? "");
        this.answer = undefined;
        this.answer = await this.#browser.open(url, redirect);
        this.secrets.push(this.answer.get("code"));
      },
    };
    if (dpop) this.provider.dpop = () => (kept.proofs ??= DpopSession.create());
  }

  // fetch is the network, with an ear on what is secret.
  fetch = async (input, init) => {
    const proof = new Headers(init?.headers).get("DPoP");
    if (proof) this.secrets.push(proof);
    const form = init?.body instanceof URLSearchParams ? init.body : undefined;
    if (form?.has("grant_type")) this.grants.push(form.get("grant_type"));
    const answer = await fetch(input, init);
    if (!answer.headers.get("content-type")?.includes("json")) return answer;
    const text = await answer.clone().text();
    const { origin, pathname } = new URL(input.url ?? input);
    if (origin === this.endpoint.origin && pathname !== "/token" && pathname !== "/register") { // it may be the authorization server as well
      this.heard += JSON.stringify([...answer.headers]) + text + "\n";
      return answer;
    }
    const said = JSON.parse(text);
    if (said.client_id && said.redirect_uris) this.registrations++;
    for (const name of ["access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"]) if (said[name]) this.secrets.push(said[name]);
    return answer;
  };

  connect = () => this.#attempt(async () => {
    const options = { authProvider: this.provider, fetch: this.fetch };
    this.transport = this.v1 ? new TransportV1(this.endpoint, options) : new TransportV2(this.endpoint, options);
    const name = { name: "authe2e", version: "1" };
    this.client = this.v1 ? new ClientV1(name) : new ClientV2(name, { versionNegotiation: { mode: "auto" } });
    await this.client.connect(this.transport);
  });
  tools = () => this.#attempt(async () => (await this.client.listTools()).tools.map((tool) => tool.name));
  call = (name, args) => this.#attempt(() => this.client.callTool({ name, arguments: args }));

  // #attempt logs in when f is refused and sent the user somewhere, and tries again.
  async #attempt(f) {
    const before = this.asked.length;
    try {
      return await f();
    } catch (e) {
      if (this.asked.length === before || !this.answer) throw e;
      if (this.answer.has("error")) throw new Error(`the authorization server says ${this.answer.get("error")}: ${this.answer.get("error_description")}`);
      await (this.v1 ? this.transport.finishAuth(this.answer.get("code")) : this.transport.finishAuth(this.answer));
      return await f();
    }
  }

  state() {
    const heard = this.heard;
    this.heard = "";
    return { ...this.#state(), heard };
  }
  #state = () => ({
    asked: this.asked, registrations: this.registrations, grants: this.grants, clientID: this.#kept.client?.client_id ?? "",
    access: this.#kept.tokens?.access_token ?? "", refresh: this.#kept.tokens?.refresh_token ?? "", scope: this.#kept.tokens?.scope ?? "",
    kind: this.#kept.tokens?.token_type ?? "", secrets: this.secrets.splice(0),
  });
}

const each = (f) => ({ session, ...given }) => f(sessions.get(session), given);

serve({
  open({ session, ...options }) { sessions.set(session, new Session(options)); },
  connect: each((s) => s.connect()),
  tools: each((s) => s.tools()),
  call: each((s, { tool, arguments: args }) => s.call(tool, args)),
  state: each((s) => s.state()),
  close: each((s) => s.client?.close()),
});
