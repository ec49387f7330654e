// The features of the gateway from one of the official TypeScript clients. Called by the Go test with
//
//   node features.mjs ENDPOINT CONTROL MODEL CLIENT      CLIENT: ts-v1, ts-v2-legacy, ts-v2-auto, ts-v2-pinned
//
// CONTROL is where the service does what it is told to (see world_test.go), MODEL a chat endpoint (model_test.go). Prints the revision and the cells of the table.
import * as v1 from "@modelcontextprotocol/sdk/types.js";
import { callTool, demand, isModern, isOld, newClient, newTransport, reportCells } from "./typescript.mjs";
import { loop } from "./loop.mjs";

const [endpoint, control, model, kind] = process.argv.slice(2);
const old = isOld(kind);
const modern = isModern(kind);

// told has what the server has told of, by method; awaitTold waits until it has.
const told = {};
const waiting = [];
const hear = (method, params) => {
  (told[method] ??= []).push(params);
  waiting.forEach((look) => look());
};
const awaitTold = (method, enough = () => true) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${method} has not come; told: ${JSON.stringify(told)}`)), 10_000);
    const look = () => {
      if (told[method]?.some(enough)) {
        clearTimeout(timer);
        resolve();
      }
    };
    waiting.push(look);
    look();
  });

const client = newClient(kind, {
  capabilities: { elicitation: {} },
  listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => hear("notifications/tools/list_changed") } },
});
const transport = newTransport(kind, endpoint);
const answer = async () => ({ action: "accept", content: { colour: "green" } });
if (old) {
  client.setNotificationHandler(v1.ToolListChangedNotificationSchema, () => hear("notifications/tools/list_changed"));
  client.setNotificationHandler(v1.ResourceUpdatedNotificationSchema, (n) => hear("notifications/resources/updated", n.params));
  client.setRequestHandler(v1.ElicitRequestSchema, answer);
} else {
  client.setNotificationHandler("notifications/resources/updated", (n) => hear("notifications/resources/updated", n.params));
  client.setRequestHandler("elicitation/create", answer);
}
await client.connect(transport);

const happen = (what) => fetch(`${control}/${what}`, { method: "POST" });
const call = callTool(kind, client);
const names = async () => (await client.listTools(undefined, modern ? { cacheMode: "refresh" } : undefined)).tools.map((t) => t.name);

const features = {
  list: async () => {
    const got = await names();
    demand(got.includes("getThing"), got);
  },
  call: async () => {
    const got = await call("getThing", { id: "T-1" });
    demand(got.structuredContent.next === "T-2", got);
  },
  job: async () => {
    const got = await call("makeReport", {});
    demand(JSON.stringify(got).includes("pages"), got);
  },
  "argument in a header": async () => {
    const got = await call("getStock", { region: "Übersee" });
    demand(got.content[0].text === "stock of Übersee", got);
  },
  progress: async () => {
    const steps = [];
    const got = await call("importThings", {}, { onprogress: (p) => steps.push([p.progress, p.total, p.message].join(" ")) });
    demand(JSON.stringify(got).includes("imported"), got);
    demand(steps.join() === "1 3 step 1,2 3 step 2,3 3 step 3", steps);
  },
  question: async () => {
    const got = await call("placeOrder", { thing: "T-1" });
    demand(got.structuredContent?.colour === "green", got);
  },
  cancel: async () => {
    const giveUp = new AbortController();
    const slow = call("slow", {}, { signal: giveUp.signal }).then(() => "an answer", () => "gone");
    await happen("slow");
    giveUp.abort("no need");
    demand((await slow) === "gone", "the call was not given up");
    await happen("gone");
  },
  "list changed": async () => {
    const before = await names();
    await happen("change");
    await awaitTold("notifications/tools/list_changed");
    const after = await names();
    demand(before.includes("another") !== after.includes("another"), { before, after });
  },
  "list resources": async () => {
    const { resources } = await client.listResources();
    demand(resources.length === 1 && resources[0].uri === "board://notice", resources);
  },
  "list templates": async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    demand(resourceTemplates.length === 1 && resourceTemplates[0].uriTemplate === "thing://{id}", resourceTemplates);
  },
  read: async () => {
    const { contents } = await client.readResource({ uri: "thing://T-1" });
    demand(JSON.parse(contents[0].text).next === "T-2", contents);
    const lost = await client.readResource({ uri: "thing://lost" }).then(() => "something", (e) => e.message);
    demand(lost !== "something", lost);
  },
  subscribe: async () => {
    const uri = "board://notice";
    const close = modern
      ? await client.listen({ resourceSubscriptions: [uri] }).then((s) => () => s.close())
      : await client.subscribeResource({ uri }).then(() => () => client.unsubscribeResource({ uri }));
    // The gateway looks now and then: what changes before it has looked once is no change.
    const changing = setInterval(() => happen("notice"), 1000);
    await awaitTold("notifications/resources/updated", (params) => params.uri === uri).finally(() => clearInterval(changing));
    await close();
  },
  prompts: async () => {
    const { prompts } = await client.listPrompts();
    demand(prompts.length === 1 && prompts[0].name === "describe", prompts);
    const { messages } = await client.getPrompt({ name: "describe", arguments: { thing: "T-1", tone: "polite" } });
    demand(messages[0].content.text === "Describe T-1, polite." && messages[1].content.resource.text.includes("T-2"), messages);
  },
  completion: async () => {
    const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "describe" }, argument: { name: "tone", value: "po" } });
    demand(completion.values.join() === "poetic,polite", completion);
  },
  "agent loop": async () => {
    const got = await loop(model, "Order what comes after the last thing.", client, call);
    demand(/^Your order O-\d+ is packed\.$/.test(got), got);
  },
};

await reportCells(features, client, transport);
