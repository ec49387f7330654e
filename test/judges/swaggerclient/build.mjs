// Builds requests with swagger-client from the calls that it reads, for the judge beside it (doc.go). Lines of JSON on
// standard input, one answer for each on standard output:
//
//   {"document": URL}                             -> {} or {"error": …}
//   {"method", "path", "base", "names": [argument…], "calls": [{"arguments": {…}, "media": …}…]}
//                                                 -> {"error": …} or {"operation": facts, "results": [{"error"} | request…]}
//
// An operation is read as a document of its own, with what it refers to and without its responses and callbacks, which
// take no part in a request: swagger-client needs minutes for all of a large document, and one fault in it would end all.
//
// Arguments are traced back to parameters by the document, as swagger-client reads it, and by the contract for the names
// of arguments in docs/openapi-support.md; nothing that the gateway has worked out is used.
import { createInterface } from "node:readline";
import { Buffer } from "node:buffer";
import yaml from "js-yaml";
import SwaggerClient from "swagger-client";

console.warn = console.error = () => {};

// Documents lead everywhere; only the server that hands out the documents is asked.
let origin = "";
const files = new Map();
const dial = globalThis.fetch;
globalThis.fetch = async (target, options) => {
  const url = String(target?.url ?? target);
  if (!origin || new URL(url).origin !== origin) throw new Error(`${url} is not fetched: it is not on this machine`);
  if (!files.has(url)) {
    const answer = await dial(url, { ...options, signal: AbortSignal.timeout(20000) });
    files.set(url, { status: answer.status, text: await answer.text() });
  }
  const { status, text } = files.get(url);
  const answer = new Response(text, { status });
  Object.defineProperty(answer, "url", { value: url });
  return answer;
};

let document, location;

async function open(url) {
  document = null;
  files.clear();
  SwaggerClient.clearCache();
  origin = new URL(url).origin;
  const answer = await fetch(url);
  if (answer.status !== 200) throw new Error(`${url}: status ${answer.status}`);
  // The schema and the parser of swagger-client's own resolver.
  document = yaml.load(await answer.text(), { schema: yaml.JSON_SCHEMA });
  location = url;
  return {};
}

const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const methods = new Set(["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]);

// excerpt makes the document of one operation. The copy has a name of its own beside the original, so that references of
// other files to the original still lead there.
function excerpt(method, path) {
  const from = document.paths?.[path];
  if (!isObject(from)) throw new Error(`the document has no path ${path}`);
  const key = Object.keys(from).find((k) => k.toLowerCase() === method.toLowerCase());
  const item = {};
  for (const name of Object.keys(from)) {
    if (!methods.has(name.toLowerCase()) && name !== "additionalOperations") item[name] = from[name];
  }
  const trim = (operation) => {
    if (!isObject(operation)) return operation;
    const { responses, callbacks, ...rest } = operation;
    return rest;
  };
  if (key) item[key] = trim(from[key]);
  else if (from.additionalOperations?.[method]) item.additionalOperations = { [method]: trim(from.additionalOperations[method]) };
  const small = {};
  for (const name of Object.keys(document)) {
    if (!["paths", "webhooks", "components", "definitions", "parameters", "responses"].includes(name)) small[name] = document[name];
  }
  small.paths = { [path]: item };
  if (document.components) {
    small.components = {};
  }
  const seen = new Set();
  const visit = (node) => {
    if (typeof node !== "object" || node === null || seen.has(node)) return;
    seen.add(node);
    if (typeof node.$ref === "string" && node.$ref.startsWith("#/")) visit(carry(small, node.$ref));
    for (const member of Object.values(isObject(node.discriminator?.mapping) ? node.discriminator.mapping : {})) {
      if (typeof member === "string" && member.startsWith("#/")) visit(carry(small, member));
    }
    for (const name of Object.keys(node)) visit(node[name]);
  };
  visit(item);
  return small;
}

// carry copies what a local reference leads to, under the same pointer, and returns it.
function carry(small, ref) {
  const steps = ref.slice(2).split("/").map((s) => {
    try {
      s = decodeURIComponent(s);
    } catch {}
    return s.replaceAll("~1", "/").replaceAll("~0", "~");
  });
  let from = document, to = small;
  for (const [i, step] of steps.entries()) {
    from = from?.[step];
    if (from === undefined) return undefined;
    if (i === steps.length - 1) to[step] ??= from;
    else if (to[step] === from) return from; // carried as a whole already
    else to = to[step] ??= Array.isArray(from) ? [] : {};
  }
  return from;
}

// What an argument's name may come from (docs/openapi-support.md, "Operations and arguments").
const clean = (name) => name.replace(/^[^A-Za-z0-9_.-]+|[^A-Za-z0-9_.-]+$/g, "").replace(/[^A-Za-z0-9_.-]+/g, "_");
const hashed = (argument, name) => {
  const found = /^(.*)_[0-9a-f]{8}$/.exec(argument);
  return found !== null && (found[1] === "arg" || name.startsWith(found[1]));
};
const ignored = new Set(["accept", "content-type", "authorization"]);

// match assigns arguments to things with a wire name, by ever looser readings; one that fits two is left.
function match(arguments_, things, readings) {
  const found = new Map(), used = new Set();
  for (const reading of readings) {
    for (const argument of arguments_) {
      if (found.has(argument)) continue;
      const fits = things.filter((t) => !used.has(t) && reading(argument, t));
      if (fits.length === 1) {
        found.set(argument, fits[0]);
        used.add(fits[0]);
      }
    }
  }
  return found;
}

// propertyNames lists what an object schema declares, wherever its composition holds it.
function propertyNames(schema, names = new Map(), depth = 0) {
  if (!isObject(schema) || depth > 12) return names;
  for (const [name, property] of Object.entries(schema.properties ?? {})) if (!names.has(name)) names.set(name, property);
  for (const key of ["allOf", "anyOf", "oneOf"]) for (const part of schema[key] ?? []) propertyNames(part, names, depth + 1);
  for (const key of ["if", "then", "else"]) propertyNames(schema[key], names, depth + 1);
  return names;
}

const essence = (media) => String(media ?? "").split(";")[0].trim().toLowerCase();
const isJSON = (media) => /^(application|text)\/json$/.test(media) || media.endsWith("+json");

// bind says where each argument goes.
function bind(operation, item, path, names) {
  const two = document.swagger !== undefined;
  const declared = [];
  for (const p of [...(operation.parameters ?? []), ...(item.parameters ?? [])]) {
    if (isObject(p) && !declared.some((d) => d.in === p.in && d.name === p.name)) declared.push(p);
  }
  const plain = declared.filter((p) => ["path", "query", "header", "cookie"].includes(p.in) && !(p.in === "header" && ignored.has(String(p.name).toLowerCase())));
  // Variables as frameworks write them (docs/openapi-support.md), declared or not.
  for (const [, braces, angles] of path.matchAll(/\{([^{}]*)\}|(?<=\/)<([A-Za-z_]\w*)>(?=\/|$)/g)) {
    const name = braces ?? angles;
    if (!plain.some((p) => p.in === "path" && p.name === name)) plain.push({ in: "path", name, undeclared: true, schema: {} });
  }
  const readings = [
    (a, p) => a === p.name,
    (a, p) => a === clean(p.name),
    (a, p) => a.endsWith(`_${p.in}`) && clean(p.name).startsWith(a.slice(0, -p.in.length - 1)) && (a.length === 64 || clean(p.name).length === a.length - p.in.length - 1),
    (a, p) => hashed(a, clean(p.name)),
    (a, p) => p.in === "path" && a.toLowerCase() === p.name.toLowerCase(),
  ];
  const parameters = match(names, plain, readings);
  const rest = names.filter((n) => !parameters.has(n));
  return { two, declared, parameters, rest, readings };
}

// bodyOf describes the request body: {required, media types, schema and encoding by media type}.
function bodyOf(operation, item, bound) {
  if (!bound.two) {
    const body = operation.requestBody;
    if (!isObject(body)) return null;
    return { operation, required: body.required === true, contents: { ...body.content } };
  }
  const whole = bound.declared.find((p) => p.in === "body");
  const form = bound.declared.filter((p) => p.in === "formData");
  const consumes = operation.consumes ?? document.consumes ?? [];
  if (whole) {
    const contents = Object.fromEntries((consumes.length > 0 ? consumes : ["application/json"]).map((m) => [m, { schema: whole.schema }]));
    return { operation, required: whole.required === true, contents, whole };
  }
  if (form.length === 0) return null;
  const schema = { type: "object", properties: Object.fromEntries(form.map((p) => [p.name, p])) };
  const media = consumes.filter((m) => /form/.test(m));
  if (media.length === 0) media.push(form.some((p) => p.type === "file") ? "multipart/form-data" : "application/x-www-form-urlencoded");
  return { operation, required: form.some((p) => p.required), contents: Object.fromEntries(media.map((m) => [m, { schema }])), form };
}

// inexact tells whether a number in JSON text is another one in JavaScript.
const raw = (v) => isObject(v) && JSON.isRawJSON(v);
// plainly turns such numbers, which are carried as raw JSON, into texts: outside JSON both are written in one way.
const plainly = (v) => {
  if (raw(v)) return v.rawJSON;
  if (Array.isArray(v)) return v.map((e) => (raw(e) ? e.rawJSON : e));
  if (isObject(v)) return Object.fromEntries(Object.entries(v).map(([k, e]) => [k, raw(e) ? e.rawJSON : e]));
  return v;
};

const isBinary = (schema, encoding) =>
  isObject(schema) && (schema.type === "file" || schema.format === "binary" ||
    ([].concat(schema.type ?? []).every((t) => t === "string" || t === "null") && schema.contentMediaType !== undefined && schema.contentEncoding === undefined && !/^(text\/|.*json)/.test(schema.contentMediaType)) ||
    (schema.type === undefined && /^(application\/octet-stream|image\/|audio\/|video\/)/.test(encoding?.contentType ?? "")));

// mayBeBinary tells whether a schema, or one that it is composed of, is one of files.
const mayBeBinary = (schema, encoding, depth = 0) => isBinary(schema, encoding) ||
  (isObject(schema) && depth < 12 && ["allOf", "anyOf", "oneOf"].some((key) => (schema[key] ?? []).some((part) => mayBeBinary(part, encoding, depth + 1))));

// bytes are what a text in base64, or a data URL, stands for.
function bytes(text) {
  const data = /^data:[^,]*;base64,/.exec(text);
  return Buffer.from(data ? text.slice(data[0].length) : text, "base64");
}

const isBase64 = (text) => /^data:[^,]*;base64,/.test(text) || (text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text));

// A file is given as {text or data, filename, media_type} (docs/openapi-support.md), or as a data URL.
const isFile = (v) =>
  isObject(v) ? Object.keys(v).length > 0 && Object.keys(v).every((k) => ["text", "data", "filename", "media_type"].includes(k)) : typeof v === "string";
function file(v) {
  if (!isObject(v)) return new File([bytes(v)], "blob");
  return new File([v.text !== undefined ? v.text : bytes(v.data ?? "")], v.filename ?? "blob", { type: v.media_type ?? "" });
}

const covers = (range, media) => {
  const [type, sub] = essence(range).split("/"), [t] = essence(media).split("/");
  return sub === "*" && (type === "*" || type === t);
};

function requestBody(bound, body, call, used) {
  const media = Object.keys(body.contents).find((m) => m === call.media) ??
    Object.keys(body.contents).find((m) => essence(m) === essence(call.media)) ??
    Object.keys(body.contents).find((m) => m.includes("*"));
  const content = body.contents[media] ?? Object.values(body.contents)[0] ?? {};
  const properties = propertyNames(content.schema);
  const { args } = call;
  if (media?.includes("*") && covers(media, call.media)) {
    // A range stands for every type in it (OAS "Media Type Object"); the call names one. swagger-client knows keys alone.
    body.contents[call.media] = content;
    if (body.operation.requestBody) body.operation.requestBody.content[call.media] = content;
    return requestBody(bound, body, call, used);
  }
  let value;
  const whole = bound.rest.includes("body") && bound.rest.length === 1 && (!properties.has("body") || used > 0 && isObject(args.body));
  if (whole) value = args.body;
  else {
    const given = Object.keys(args).filter((a) => !bound.parameters.has(a));
    if (given.length > 0 || body.required) {
      const found = match(given, [...properties.keys()].map((name) => ({ name, in: "body" })), bound.readings);
      value = {};
      for (const a of given) value[found.get(a)?.name ?? a] = args[a];
    }
  }
  return { media, content, properties, value };
}

// form hands texts, numbers and lists of them over as JSON text, which swagger-client reads; files as files.
function form(value, properties, content) {
  if (!isObject(value) || raw(value)) return value;
  const out = {};
  for (const [name, member] of Object.entries(value)) {
    const schema = properties.get(name), encoding = content.encoding?.[name];
    const isOne = (s, v) => isFile(v) && (mayBeBinary(s, encoding) || (isObject(v) && ["text", "data"].some((k) => k in v) && !propertyNames(s).has("text") && !propertyNames(s).has("data")));
    if (isOne(schema, member)) out[name] = file(member);
    else if (Array.isArray(member) && member.length > 0 && member.every((v) => isOne(schema?.items, v))) {
      out[name] = member.map(file);
    } else if (isObject(member) && !raw(member)) out[name] = member;
    else if (Array.isArray(member) && member.some((v) => isObject(v) && !raw(v))) out[name] = member;
    else if (member !== null) out[name] = JSON.stringify(plainly(member));
  }
  return out;
}

async function build(line) {
  const small = excerpt(line.method, line.path);
  const { spec, errors } = await SwaggerClient.resolve({ spec: small, url: new URL("operation", location).href });
  if (!isObject(spec?.paths)) throw new Error(errors?.[0]?.message ?? "swagger-client has not resolved the document");
  const item = spec.paths[line.path];
  const additional = Object.keys(item?.additionalOperations ?? {}).find((k) => k === line.method);
  const key = additional ?? Object.keys(item ?? {}).find((k) => k.toLowerCase() === line.method.toLowerCase());
  const operation = additional ? item.additionalOperations[additional] : item?.[key];
  if (!isObject(operation)) throw new Error(errors?.[0]?.message ?? "swagger-client finds no such operation");
  // Identifiers stand twice in many documents; here the one of the operation is unmistakable.
  operation.operationId = "judged";
  const alone = Object.fromEntries(Object.entries(item).filter(([k]) => !methods.has(k.toLowerCase()) && k !== "additionalOperations"));
  const paths = { [line.path]: additional ? { ...alone, additionalOperations: { [additional]: operation } } : { ...alone, [key]: operation } };
  const bound = bind(operation, item, line.path, line.names);
  const body = bodyOf(operation, item, bound);
  const facts = {
    swagger2: bound.two,
    unresolved: (errors ?? []).map((e) => String(e.message).slice(0, 200)).slice(0, 3),
    parameters: Object.fromEntries([...bound.parameters].map(([a, p]) => [a, {
      in: p.in, name: p.name, style: p.style, explode: p.explode, allowReserved: p.allowReserved, allowEmptyValue: p.allowEmptyValue,
      collectionFormat: p.collectionFormat, media: Object.keys(p.content ?? {})[0], type: p.type ?? p.schema?.type, undeclared: p.undeclared, multiSegment: p["x-multi-segment"] === true,
    }])),
    defaults: bound.declared.filter((p) => p.default !== undefined).map((p) => ({ in: p.in, name: p.name, default: p.default })),
  };
  const results = [];
  for (const call of line.calls) {
    try {
      results.push(await one({ ...spec, paths }, operation, bound, body, call, line.base, errors));
    } catch (e) {
      results.push({ error: String(e?.message ?? e).slice(0, 300) });
    }
  }
  return { operation: facts, results };
}

async function one(spec, operation, bound, body, call, base, errors) {
  call.args = call.arguments;
  const parameters = Object.create(null);
  // What the standard has the client ignore in 3.x, and require nonetheless.
  for (const p of bound.declared) {
    const name = String(p.name).toLowerCase();
    if (p.in === "header" && ignored.has(name) && p.required) parameters[`header.${p.name}`] = (name === "content-type" && call.media) || "ignored";
  }
  for (const [argument, p] of bound.parameters) {
    let value = call.args[argument];
    if (value === undefined) continue;
    const media = Object.keys(p.content ?? {})[0];
    if (media !== undefined && isJSON(essence(media))) value = JSON.stringify(value); // "assume the user has a JSON string"
    parameters[`${p.in}.${p.name}`] = plainly(value);
  }
  const options = { spec, operationId: "judged", baseURL: base, parameters };
  const used = bound.parameters.size;
  const said = {};
  if (body !== null) {
    const r = requestBody(bound, body, call, used);
    said.media = r.media;
    said.encoding = body.form ? Object.fromEntries(body.form.map((p) => [p.name, p])) : r.content.encoding;
    if (isObject(r.value) && /form/.test(essence(r.media))) said.members = r.value;
    if (r.value !== undefined) {
      const kind = essence(r.media ?? call.media ?? "application/json");
      const text = (v) => (typeof v === "object" && v !== null && !raw(v) ? v : JSON.stringify(v));
      if (call.media && r.media) options.requestContentType = r.media;
      if (body.form) {
        const members = isObject(r.value) ? r.value : {};
        for (const p of body.form) {
          const v = members[p.name];
          if (v === undefined) continue;
          parameters[`formData.${p.name}`] = p.type === "file" ? file(v) : plainly(v);
        }
      } else {
        let value = r.value;
        if (/^(application\/x-www-form-urlencoded|multipart\/)/.test(kind)) value = form(value, r.properties, r.content);
        else if (isJSON(kind) && typeof value === "string" && mayBeBinary(r.content.schema)) value = isBase64(value) ? bytes(value) : value; // a file
        else if (isJSON(kind) || kind.includes("*")) value = text(value);
        else if (kind.startsWith("text/")) value = typeof value === "string" ? value : JSON.stringify(value);
        else if (typeof value === "string" && !/xml|ndjson|jsonl|yaml/.test(kind) && r.content.schema?.format !== "byte" && r.content.schema?.contentEncoding === undefined) value = bytes(value);
        else if (typeof value !== "string") value = text(value);
        if (body.whole) parameters[`body.${body.whole.name}`] = value;
        else options.requestBody = value;
      }
    }
  }
  // The argument accept is the gateway's: it chooses among the media types of the response, and is sent as the header Accept.
  const chooses = (a) => /^accept(_header)?$/.test(a) && String(call.args[a]).includes("/");
  const unbound = Object.keys(call.args).filter((a) => !bound.parameters.has(a) && body === null && !chooses(a));
  if (unbound.length > 0) {
    throw new Error(errors?.[0]?.message ?? `NO PLACE for the arguments ${unbound.join(", ")}`);
  }
  const request = SwaggerClient.buildRequest(options);
  const headers = {};
  for (const [name, value] of Object.entries(request.headers ?? {})) if (value !== undefined) headers[name] = String(value);
  return { method: request.method, url: request.url, headers, body: await written(request.body), ...said };
}

// written shows a body as SwaggerClient.execute would send it.
async function written(body) {
  if (body === undefined || body === null) return undefined;
  if (body instanceof FormData) {
    const parts = [];
    for (const [name, value] of body) {
      if (typeof value === "string") parts.push({ name, text: value });
      else parts.push({ name, filename: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()).toString("base64") });
    }
    return { parts };
  }
  if (ArrayBuffer.isView(body)) return { bytes: Buffer.from(body).toString("base64") };
  if (body instanceof Blob) return { bytes: Buffer.from(await body.arrayBuffer()).toString("base64") };
  if (typeof body === "object") return { text: JSON.stringify(body) };
  return { text: String(body) };
}

// Numbers that JavaScript can't hold travel as raw JSON, so that what swagger-client is given is what the gateway was.
const digits = (literal) => literal.replace(/[eE].*$/, "").replace(/[-.]/g, "").replace(/^0+|0+$/g, "").length;
const held = (v, source) => Number.isFinite(v) && (Number.isInteger(v) && /^-?\d+$/.test(source) ? Number.isSafeInteger(v) : digits(source) <= 15);
const parse = (line) => JSON.parse(line, (_, v, { source }) => (typeof v === "number" && !held(v, source) ? JSON.rawJSON(source) : v));

// A promise that swagger-client forgets ends the operation that it works on, not the process.
let forgotten = () => {};
const lost = (e) => forgotten(e);
process.on("unhandledRejection", lost);
process.on("uncaughtException", lost);

for await (const text of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let answer;
  try {
    const line = parse(text);
    const failed = new Promise((_, reject) => (forgotten = reject));
    failed.catch(() => {});
    answer = await Promise.race([line.document ? open(line.document) : build(line), failed]);
  } catch (e) {
    answer = { error: String(e?.message ?? e).slice(0, 300) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
