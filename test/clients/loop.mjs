// What a host does: it shows a model the tools of a client, makes the calls that the model chooses until it says something,
// and returns that. The model is a chat endpoint.
export async function loop(url, question, client, call) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools({ cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor);
  const request = {
    model: "script",
    messages: [{ role: "user", content: question }],
    tools: tools.map((t) => ({ type: "function", function: { name: t.name, description: t.description, parameters: t.inputSchema } })),
  };
  for (let turn = 0; turn < 10; turn++) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request),
    });
    const answer = await response.json();
    if (answer.error) {
      throw new Error(`the model: ${answer.error.message}`);
    }
    const { message } = answer.choices[0];
    request.messages.push(message);
    if (!message.tool_calls) {
      return message.content;
    }
    for (const { id, function: f } of message.tool_calls) {
      const result = await call(f.name, JSON.parse(f.arguments));
      const content = result.content.filter((b) => b.type === "text").map((b) => b.text).join("\n");
      request.messages.push({ role: "tool", tool_call_id: id, content });
    }
  }
  throw new Error("the model does not come to an end");
}
