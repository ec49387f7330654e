// Connects to MCP endpoints with the TypeScript SDK, reads every tool and calls some. It prints what clients.py prints.
//
// usage: typescript.mjs CALLS URL…
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';

const [calls, ...urls] = process.argv.slice(2);
const reason = (error) => `${error.name}: ${String(error.message).replace(/\s+/g, ' ').slice(0, 200)}`;

// value returns a value of the right type for a schema, and for an object its required members.
function value(s, definitions, depth = 0) {
  if (s.$ref) return value(definitions[s.$ref.replace('#/$defs/', '')], definitions, depth + 1);
  if (s.examples?.length) return s.examples[0];
  if (s.default !== undefined) return s.default;
  if (s.const !== undefined) return s.const;
  if (s.enum?.length) return s.enum[0];
  if (s.anyOf?.length) return value(s.anyOf[0], definitions, depth + 1);
  const kind = Array.isArray(s.type) ? s.type[0] : (s.type ?? 'string');
  switch (kind) {
    case 'object':
      return Object.fromEntries((depth < 20 ? (s.required ?? []) : []).map((name) => [name, value(s.properties[name], definitions, depth + 1)]));
    case 'array':
      return Array.from({ length: s.minItems ?? 0 }, () => value(s.items, definitions, depth + 1));
    case 'integer':
    case 'number':
      return s.minimum ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
  }
  return 'a'.repeat(Math.max(1, s.minLength ?? 1));
}

async function endpoint(url) {
  const client = new Client({ name: 'vendors', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const tools = [], lost = [], failed = [];
  let made = 0, cursor;
  do {
    const page = await client.listTools(cursor ? { cursor } : {});
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor);
  for (const tool of tools) {
    try {
      ToolSchema.parse(tool);
    } catch (error) {
      lost.push([tool.name, reason(error)]);
    }
  }
  const step = Math.max(1, Math.floor(tools.length / calls));
  for (const tool of tools.filter((_, i) => i % step === 0).slice(0, calls)) {
    made++;
    try {
      const args = value({ ...tool.inputSchema, examples: undefined, default: undefined }, tool.inputSchema.$defs);
      const result = await client.callTool({ name: tool.name, arguments: args }, undefined, { timeout: 30_000 });
      if (!result.content?.length) throw new Error('the result is empty');
    } catch (error) {
      failed.push([tool.name, reason(error)]);
    }
  }
  await client.close();
  return { tools: tools.length, converted: tools.length - lost.length, lost, calls: made, failed };
}

for (const url of urls) {
  let result;
  try {
    result = await endpoint(url);
  } catch (error) {
    result = { tools: 0, converted: 0, lost: [['all', reason(error)]], calls: 0, failed: [] };
  }
  console.log(JSON.stringify(result));
}
