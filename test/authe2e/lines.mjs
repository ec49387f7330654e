// Commands come in on standard input, one JSON object a line, and each is answered by one on standard output, in whatever
// order they get done. The program ends with its input.
import { createInterface } from "node:readline";
import { inspect } from "node:util";

export function serve(commands) {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    const { id, run, ...given } = JSON.parse(line);
    let answer;
    try {
      answer = { id, result: (await commands[run](given)) ?? null };
    } catch (e) {
      answer = { id, error: inspect(e) };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  });
  lines.on("close", () => process.exit(0));
}
