// A real browser: what its user sees, and what it lets a page do.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { rolldown } from "rolldown";
import { serve } from "./lines.mjs";

const browser = chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox", "--host-resolver-rules=MAP *.example 127.0.0.1"] });

// listen notes everything that a page complains of, such as a breach of its content security policy.
function listen(page) {
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (e) => complaints.push(String(e)));
  return complaints;
}

serve({
  // consent opens an authorization request, leaves out some scopes, presses a button, and returns what the page said and
  // where it led.
  async consent({ address, redirect, without, button }) {
    const page = await (await browser).newPage();
    const complaints = listen(page);
    const arrived = page.waitForRequest((request) => request.url().startsWith(redirect)); // where nobody listens
    await page.goto(address);
    const text = await page.locator("body").innerText();
    for (const name of without) await page.locator(`input[name=scope][value="${name}"]`).uncheck();
    await page.getByRole("button", { name: button, exact: true }).click({ noWaitAfter: true });
    const query = Object.fromEntries(new URL((await arrived).url()).searchParams);
    const said = complaints.filter((text) => !text.includes("ERR_CONNECTION_REFUSED"));
    await page.context().close();
    return { text, query, complaints: said };
  },
  // fetches has a page of an origin make requests, one after the other, and returns what it got to see. The page comes from
  // here; or, rebound, the name has led to the gateway by now, and the page that it gives stands for what was there before,
  // which allowed itself everything.
  async fetches({ origin, rebound, requests }) {
    const server = createServer((_, res) => res.setHeader("Content-Type", "text/html").end("<!doctype html><link rel=icon href=data:,>"));
    if (!rebound) await new Promise((resolve) => server.listen(new URL(origin).port, "127.0.0.1", resolve));
    const page = await (await browser).newPage({ bypassCSP: rebound });
    await page.goto(`${origin}/`);
    const seen = await page.evaluate(async (requests) => {
      const seen = [];
      for (const { url, ...init } of requests) {
        try {
          const answer = await fetch(url, init);
          seen.push({ status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() });
        } catch (e) {
          seen.push({ status: 0, body: String(e) }); // the browser shows the page nothing
        }
      }
      return seen;
    }, requests);
    await page.context().close();
    if (!rebound) await new Promise((resolve) => server.close(resolve));
    return seen;
  },
  // application opens page.mjs, presses Allow whenever it leads to a form, and returns what it reports.
  async application({ port, endpoint }) {
    const bundle = await rolldown({ input: fileURLToPath(new URL("page.mjs", import.meta.url)), platform: "browser" });
    const { code } = (await bundle.generate({ format: "esm", codeSplitting: false })).output[0];
    const server = createServer((req, res) => {
      if (req.url === "/page.js") res.setHeader("Content-Type", "text/javascript").end(code);
      else res.setHeader("Content-Type", "text/html").end('<!doctype html><link rel=icon href=data:,><script type="module" src="/page.js"></script>');
    });
    await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
    const page = await (await browser).newPage();
    const complaints = listen(page);
    await page.goto(`http://127.0.0.1:${port}/?endpoint=${encodeURIComponent(endpoint)}`);
    const allow = page.getByRole("button", { name: "Allow", exact: true });
    let report;
    while (!report) {
      const asked = allow.waitFor({ timeout: 20_000 }).then(() => allow.click(), () => {});
      report = await Promise.race([asked, page.waitForFunction(() => window.report, null, { timeout: 20_000 }).then((handle) => handle.jsonValue(), () => {})]);
    }
    await page.context().close();
    await new Promise((resolve) => server.close(resolve));
    return { ...report, complaints };
  },
  quit: async () => (await browser).close(),
});
