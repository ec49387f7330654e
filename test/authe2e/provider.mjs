// An authorization server that others wrote and had certified: oidc-provider, set up as MCP asks for it. One process runs
// any number of issuers, each on a loopback port of its own; the Go tests start them and turn their keys by commands.
import { createServer } from "node:http";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { Provider, errors } from "oidc-provider";
import { serve } from "./lines.mjs";

const issuers = new Map();

// A store that outlives a Provider, which takes its keys once and for all: to turn them, a new one takes its place.
function newStore() {
  const all = new Map();
  const store = (kind) => {
    const key = (id) => `${kind} ${id}`;
    const find = (good) => [...all.entries()].find(([name, value]) => name.startsWith(`${kind} `) && good(value))?.[1];
    return {
      upsert: async (id, value) => void all.set(key(id), value),
      find: async (id) => all.get(key(id)),
      findByUid: async (uid) => find((value) => value.uid === uid),
      findByUserCode: async (code) => find((value) => value.userCode === code),
      consume: async (id) => void (all.get(key(id)).consumed = Math.floor(Date.now() / 1000)),
      destroy: async (id) => void all.delete(key(id)),
      revokeByGrantId: async (grant) => {
        for (const [name, value] of all) if (value.grantId === grant) all.delete(name);
      },
    };
  };
  store.refreshTokens = (user) => [...all].filter(([name, value]) => name.startsWith("RefreshToken ") && value.accountId === user && !value.consumed).length;
  return store;
}

const newKey = () => ({
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }),
  use: "sig", alg: "ES256", kid: randomBytes(6).toString("hex"),
});

function newProvider(s) {
  const provider = new Provider(s.issuer, {
    adapter: s.adapter,
    jwks: { keys: s.keys },
    cookies: { keys: [s.cookieKey] },
    clients: [s.callback ? {
      client_id: "gateway", client_secret: s.secret, redirect_uris: [s.callback],
      grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "client_secret_basic",
    } : {
      client_id: "gateway", client_secret: s.secret, redirect_uris: [], response_types: [],
      grant_types: ["client_credentials"], token_endpoint_auth_method: "client_secret_basic",
    }],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clientBasedCORS: () => true,
    // It goes to public addresses only; here everything is on one machine.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      clientIdMetadataDocument: { enabled: s.registers, ack: "draft-02" },
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_, client) => client.clientAuthMethod !== "none" },
      revocation: { enabled: true },
      registration: {
        enabled: s.registers,
        // Clients register with the scope of the first challenge. This server would hold them to it and refuse every
        // step-up: as its operators do, we let scopes be a matter of consent alone.
        idFactory: (ctx) => (delete ctx.oidc.body.scope, randomBytes(9).toString("base64url")),
      },
      resourceIndicators: {
        enabled: true,
        // For the client that is known from the start it behaves as Entra ID does: it decides for itself what a token is for.
        defaultResource: () => (s.callback ? s.resource : undefined),
        useGrantedResource: () => Boolean(s.callback),
        getResourceServerInfo(_, resource) {
          if (resource !== s.resource) throw new errors.InvalidTarget();
          return {
            scope: s.scopes.join(" "), audience: resource, accessTokenTTL: s.life,
            accessTokenFormat: s.opaque ? "opaque" : "jwt", jwt: { sign: { alg: "ES256" } }, // typ at+jwt, RFC 9068
          };
        },
      },
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    ttl: { AccessToken: s.life, Grant: 86400, Interaction: 600, RefreshToken: 86400, Session: 86400 },
  });
  provider.on("server_error", (_, e) => console.error(e));
  const isRefresh = (ctx) => ctx.oidc.params?.grant_type === "refresh_token";
  provider.on("grant.success", (ctx) => void (s.refreshes.done += isRefresh(ctx)));
  provider.on("grant.error", (ctx) => void (s.refreshes.refused += isRefresh(ctx)));
  return provider;
}

const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// interact is what stands between a request for authorization and its answer: who the user is, which a cookie says and is settled
// without a question, then a page that names what the client would like.
async function interact(s, req, res) {
  const { prompt, session, params, grantId } = await s.provider.interactionDetails(req, res);
  if (prompt.name === "login") {
    await s.provider.interactionFinished(req, res, { login: { accountId: /(?:^|; )user=(\w+)/.exec(req.headers.cookie)?.[1] ?? "developer" } });
    return;
  }
  if (req.method === "GET") {
    const scopes = String(params.scope ?? "").split(" ").filter(Boolean);
    res.setHeader("Content-Type", "text/html");
    res.end(`<form method="post" action="${escape(s.issuer + req.url)}">${scopes.map((name) => `<input type="hidden" name="scope" value="${escape(name)}">`).join("")}</form>`);
    return;
  }
  const grant = grantId ? await s.provider.Grant.find(grantId) : new s.provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope, missingResourceScopes } = prompt.details;
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(" "));
  for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {})) grant.addResourceScope(resource, scopes.join(" "));
  await s.provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

serve({
  // start opens an issuer for one resource. life is that of access tokens, in seconds. callback is that of the client that is known from
  // the start, in which {host} stands for the host of the issuer. With it, others register only if registers is set.
  async start({ resource, scopes, life, opaque, secret, callback, registers = !callback }) {
    const s = { resource, scopes, life, opaque, secret, registers, refreshes: { done: 0, refused: 0 }, adapter: newStore(), keys: [newKey()], cookieKey: randomBytes(16).toString("hex"), keySets: 0 };
    const server = createServer((req, res) => {
      if (s.down) {
        req.socket.destroy();
        return;
      }
      if (req.url.startsWith("/interaction/")) {
        interact(s, req, res).catch((e) => {
          console.error(e);
          res.statusCode = 500;
          res.end(String(e));
        });
        return;
      }
      if (req.url === "/jwks") s.keySets++;
      s.handle(req, res);
    });
    server.keepAliveTimeout = 60_000; // a client may be slow to see that its connection was closed
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${server.address().port}`;
    s.issuer = `http://${host}`;
    s.callback = callback?.replace("{host}", host);
    s.provider = newProvider(s);
    s.handle = s.provider.callback();
    issuers.set(s.issuer, s);
    return { issuer: s.issuer };
  },
  // rotate makes a key that signs from now on. The old ones stay published, unless they are retired.
  rotate({ issuer, retire }) {
    const s = issuers.get(issuer);
    s.keys = [newKey(), ...(retire ? [] : s.keys)];
    s.provider = newProvider(s);
    s.handle = s.provider.callback();
  },
  // down makes it hang up on everybody, or not any more.
  down({ issuer, down }) {
    issuers.get(issuer).down = down;
  },
  // refreshes counts the refresh tokens that were accepted, and those that were not.
  refreshes: ({ issuer }) => issuers.get(issuer).refreshes,
  // refreshTokens counts those of a user that can be used.
  refreshTokens: ({ issuer, user }) => issuers.get(issuer).adapter.refreshTokens(user),
  // keySets counts the requests for the key set.
  keySets: ({ issuer }) => issuers.get(issuer).keySets,
});
