// Reads the schemas of tools and holds each against the meta-schema of JSON Schema 2020-12, then compiles it: what a
// client that validates with ajv would do. Lines of JSON, each one schema (the corpus test of package openapi writes
// them) or one tools/list result (drawbridge tools --json):
//
//   {"document": "github.json", "operation": "get /orders", "kind": "input", "schema": {…}}
//   {"tools": [{"name": …, "inputSchema": {…}, "outputSchema": {…}}, …]}
//
// usage: node check.mjs FILE        ("-" is standard input)
// Exits 1 if a schema is refused, 2 on bad usage or input.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const file = process.argv[2];
if (!file || process.argv.length > 3) {
  console.error("usage: node check.mjs FILE");
  process.exit(2);
}

// strict is off: it refuses what the standard allows (unknown keywords and formats). addUsedSchema is off so that
// the $id of one tool can't meet that of another.
const ajv = new Ajv2020.default({ strict: false, allErrors: false, addUsedSchema: false, logger: false });
addFormats.default(ajv);

const shown = 40;
let schemas = 0, tools = 0, refused = 0, slowest = { ms: 0 };

function check(where, schema) {
  schemas++;
  const began = performance.now();
  let reason = "";
  if (schema.type !== "object") {
    reason = `the root's type is ${JSON.stringify(schema.type)}, not "object"`;
  } else if (!ajv.validateSchema(schema)) {
    reason = "meta-schema: " + ajv.errorsText(ajv.errors, { dataVar: "#", separator: "; " });
  } else {
    try {
      ajv.compile(schema);
    } catch (e) {
      reason = "compile: " + e.message;
    }
  }
  const ms = performance.now() - began;
  if (ms > slowest.ms) slowest = { ms, where };
  if (reason && ++refused <= shown) console.log(`${where}: ${reason.slice(0, 400)}`);
}

const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);

// checkLine returns false for what is neither a schema nor a list.
function checkLine(value) {
  if (isObject(value.schema)) {
    if (value.kind === "input") tools++;
    check(`${value.document}: ${value.operation}: ${value.kind}`, value.schema);
    return true;
  }
  if (!Array.isArray(value.tools)) return false;
  for (const tool of value.tools) {
    tools++;
    check(`${tool.name}: input`, tool.inputSchema ?? {});
    if (tool.outputSchema) check(`${tool.name}: output`, tool.outputSchema);
  }
  return true;
}

let number = 0;
const input = file === "-" ? process.stdin : createReadStream(file);
for await (const line of createInterface({ input, crlfDelay: Infinity })) {
  number++;
  if (!line.trim()) continue;
  let value;
  try {
    value = JSON.parse(line);
  } catch (e) {
    console.error(`${file}:${number}: ${e.message}`);
    process.exit(2);
  }
  if (!isObject(value) || !checkLine(value)) {
    console.error(`${file}:${number}: neither a schema nor a list of tools`);
    process.exit(2);
  }
}
if (refused > shown) console.log(`… and ${refused - shown} more`);
console.log(`ajv: ${tools} tools, ${schemas} schemas, ${refused} refused; slowest ${slowest.ms.toFixed(0)} ms (${slowest.where ?? "none"})`);
if (tools === 0) {
  console.error(`${file}: there are no tools in it`);
  process.exit(2);
}
process.exit(refused ? 1 : 0);
