// The steps by which one of the official TypeScript clients finds and calls a tool of GitHub's document in search mode. Called
// by the Go test with
//
//   node search.mjs ENDPOINT CONTROL MODEL CLIENT      CLIENT: ts-v1, ts-v2-legacy, ts-v2-auto, ts-v2-pinned
//
// CONTROL tells which issues the service has created (issues_test.go), MODEL is a chat endpoint (model_test.go). Prints the revision and the cells of the table.
import { loop } from "./loop.mjs";
import { callTool, demand, newClient, newTransport, reportCells } from "./typescript.mjs";

const [endpoint, control, model, kind] = process.argv.slice(2);
const searchTools = ["search_tools", "describe_tools", "read_tool", "call_tool"];

const client = newClient(kind);
const transport = newTransport(kind, endpoint);
await client.connect(transport);
const call = callTool(kind, client);

const names = async (of) => {
  const { tools, nextCursor } = await of.listTools();
  demand(!nextCursor, { nextCursor });
  return tools.map((t) => t.name);
};
const textOf = (result) => result.content.map((b) => b.text).join("\n");
const newIssue = (title) => ({ owner: "octo", repo: "hello", body: { title } });
// numbers returns the numbers of the issues that the service has created with a title.
const numbers = async (title) => (await fetch(`${control}/issues?title=${encodeURIComponent(title)}`)).json();
const created = async (title, result) => {
  const created = await numbers(title);
  demand(!result.isError && created.length === 1, { created, result });
  const { number, title: answered } = JSON.parse(textOf(result));
  demand(number === created[0] && answered === title, { created, result });
};

const features = {
  instructions: async () => {
    const text = client.getInstructions();
    demand(searchTools.every((name) => text?.includes(name)), { text });
  },
  "four tools": async () => {
    const got = await names(client);
    demand(got.join() === searchTools.join(), got);
  },
  search_tools: async () => {
    const got = await call("search_tools", { query: "create an issue" });
    demand(!got.isError && textOf(got).startsWith("issues_create(owner: string, repo: string, title: "), got);
  },
  describe_tools: async () => {
    const got = await call("describe_tools", { names: ["issues_create"], format: "schema" });
    demand(!got.isError, got);
    const { name, inputSchema } = JSON.parse(textOf(got));
    demand(name === "issues_create" && inputSchema.required.toSorted().join() === "owner,repo,title", got);
  },
  "read_tool refuses": async () => {
    const title = `${kind}: refused`;
    const got = await call("read_tool", { name: "issues_create", arguments: newIssue(title) });
    demand(got.isError && textOf(got).startsWith("issues_create is not read-only"), got);
    demand((await numbers(title)).length === 0, "the service has received the call");
  },
  call_tool: async () => {
    const title = `${kind}: call_tool`;
    await created(title, await call("call_tool", { name: "issues_create", arguments: newIssue(title) }));
  },
  "call by name": async () => {
    const title = `${kind}: by name`;
    await created(title, await call("issues_create", newIssue(title)));
  },
  "chosen tools": async () => {
    const other = newClient(kind);
    await other.connect(newTransport(kind, `${endpoint}?presentation=all&tools=issues_*`));
    const got = await names(other);
    demand(got.every((name) => name.startsWith("issues_")) && got.includes("issues_create") && got.includes("issues_list"), got);
    demand(!other.getInstructions(), other.getInstructions());
    await other.close();
  },
  "agent loop": async () => {
    const title = `${kind}: agent loop`;
    const said = await loop(model, `File an issue in octo/hello: ${title}`, client, call);
    const created = await numbers(title);
    demand(created.length === 1 && said === `Issue #${created[0]} is filed.`, { created, said });
  },
};

await reportCells(features, client, transport);
