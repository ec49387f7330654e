// Serves one OpenAPI document with Prism's mock server, as `prism mock DOCUMENT` does in one process, and tells what it
// serves. It calls what that command calls, for two things that the command can't do: list the operations, and forget
// the security of operations that one credential doesn't open.
//
// usage: node serve.mjs DOCUMENT
// The first line of the output is JSON: {"address", "removed", "credential", "operations": [{"method", "path", "opened",
// "bodiless", "hopeless"}]}, or {"error": …} for a document that Prism does not load. The program ends with its standard input.
//
// Nothing leaves the machine: documents name other documents and callbacks, which are not fetched.
import dns from "node:dns";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { mend } from "./mend.mjs";

const refused = () => new Error("no connections are made from here");
net.Socket.prototype.connect = function () {
  queueMicrotask(() => this.destroy(refused()));
  return this;
};
const { lookup } = dns; // the server's own address goes through it too
dns.lookup = (name, ...rest) => (net.isIP(name) ? lookup(name, ...rest) : queueMicrotask(() => rest.at(-1)(refused())));

// An answer to HEAD has no body. What Prism would have said in it goes into a header.
const { end } = http.ServerResponse.prototype;
http.ServerResponse.prototype.end = function (body, ...rest) {
  if (this.req.method === "HEAD" && this.statusCode >= 400 && typeof body === "string") {
    this.setHeader("x-unsaid", encodeURIComponent(body.slice(0, 4000)));
  }
  return end.call(this, body, ...rest);
};

const require = createRequire(import.meta.url);
const { createLogger } = require("@stoplight/prism-core");
const { getHttpOperationsFromSpec } = require("@stoplight/prism-http");
const { createServer } = require("@stoplight/prism-http-server");

// Prism reports what each alternative of oneOf refuses, also where several of them accept the value. The message says which it is.
const ofPrism = createRequire(require.resolve("@stoplight/prism-http"));
const { _ } = ofPrism("ajv");
ofPrism("ajv/dist/vocabularies/applicator/oneOf").default.error.message = ({ params }) =>
  _`("must match exactly one schema in oneOf" + (${params.passing} ? ", several match" : ""))`;

// tell writes the one line, all of it: a pipe takes it in pieces.
const tell = (value) => new Promise((done) => process.stdout.write(JSON.stringify(value) + "\n", done));

process.stdin.resume().on("end", () => process.exit(0));
process.on("uncaughtException", (e) => console.error(e)); // of a callback, or of a reference that can't be fetched
process.on("unhandledRejection", (e) => console.error(e));

// credentialFor returns what the gateway can send so that Prism takes the scheme for met, undefined if there is nothing.
function credentialFor(scheme) {
  switch (scheme.type) {
    case "oauth2":
    case "openIdConnect":
      return { type: "bearer" };
    case "http":
      return scheme.scheme === "bearer" || scheme.scheme === "basic" ? { type: scheme.scheme } : undefined;
    case "apiKey":
      switch (scheme.in === "header" && scheme.name.toLowerCase()) {
        case "authorization":
          return { type: "bearer" };
        case "user-agent": // the gateway's own
          return undefined;
      }
      return { type: "api_key", in: scheme.in, name: scheme.name };
  }
}

// opens tells whether a credential meets one of the alternatives of an operation. An alternative without schemes is met
// for Prism by requests without any credential only.
const opens = (credential, operation) =>
  operation.security.some((all) => all.length && all.every((scheme) => JSON.stringify(credentialFor(scheme)) === credential));

// load reads a document as Prism does, and once more without the references that lead nowhere where it gives up.
async function load(location) {
  try {
    return { operations: await getHttpOperationsFromSpec(location), removed: 0 };
  } catch (first) {
    const directory = mkdtempSync(join(tmpdir(), "prism-"));
    try {
      const { path, removed } = mend(location, directory);
      if (!removed) throw first;
      return { operations: await getHttpOperationsFromSpec(path), removed };
    } finally {
      rmSync(directory, { recursive: true });
    }
  }
}

try {
  const { operations, removed } = await load(process.argv[2]);
  if (operations.length === 0) throw new Error("No operations found in the current file.");

  const guarded = operations.filter((o) => o.security?.length);
  const votes = new Map();
  for (const operation of guarded) {
    const kinds = new Set(operation.security.flat().map((scheme) => JSON.stringify(credentialFor(scheme))));
    for (const kind of kinds) if (kind) votes.set(kind, (votes.get(kind) ?? 0) + opens(kind, operation));
  }
  const [credential] = [...votes].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0] ?? [];
  const listed = operations.map((o) => {
    const opened = Boolean(o.security?.length) && !(credential && opens(credential, o));
    if (opened) o.security = [];
    // bodiless: it has a body, and nothing says of which media type
    const bodiless = Boolean(o.request?.body) && !o.request.body.contents?.length;
    // hopeless: nothing but refusals are documented, so there is nothing else to answer with
    const hopeless = !o.responses.some((r) => /^(2|3|default)/i.test(r.code));
    return { method: o.method.toUpperCase(), path: o.path, opened, bodiless, hopeless };
  });

  const server = createServer(operations, {
    cors: true,
    components: { logger: createLogger("judge", { level: "silent" }) },
    config: {
      isProxy: false,
      validateRequest: true,
      validateResponse: true,
      checkSecurity: true,
      // With the flag --errors Prism also refuses its own answers, where an example in the document breaks its schema.
      // Requests are checked with and without it.
      errors: false,
      upstreamProxy: undefined,
      mock: { dynamic: false, ignoreExamples: false },
    },
  });
  const address = await server.listen(0, "127.0.0.1");
  await tell({ address, removed, credential: credential && JSON.parse(credential), operations: listed });
} catch (e) {
  await tell({ error: String(e?.message ?? e).slice(0, 2000) });
  process.exit(1);
}
