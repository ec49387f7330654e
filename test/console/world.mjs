// What the parts share: the plan, the browser, the table of results, and a page that notes whatever it should not do.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

export const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
export const browser = await chromium.launch({ executablePath: plan.browser, args: ["--no-sandbox"] });

const rows = [];
const faults = [];

/** Notes a fault: the program fails. */
export function fault(text) {
  faults.push(text);
}

/** Adds a row to the table: a value, and its goal. */
export function row(what, value, goal, met) {
  rows.push([what, String(value), goal, met ? "met" : "MISSED"]);
  if (!met) fault(`${what}: ${value}, the goal is ${goal}`);
}

/** Prints the table and the faults, and returns the exit code. */
export function report() {
  console.log("| console | result | goal | |\n|---|---|---|---|");
  for (const cells of rows) console.log(`| ${cells.join(" | ")} |`);
  const shown = new Map();
  for (const text of faults) shown.set(text, (shown.get(text) ?? 0) + 1);
  for (const [text, n] of shown) console.error(n > 1 ? `${text} (${n} times)` : text);
  return faults.length > 0 ? 1 : 0;
}

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** What pages did that they should not: errors in the browser's console, requests to elsewhere, dialogs, secrets. */
export const noted = { console: 0, elsewhere: 0, secrets: 0, pages: new Set() };

/** Opens a context of the browser whose pages are watched. expected are texts of console errors that a test provokes. */
export async function watched(origin, options = {}, expected = []) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(60_000); // also on a machine that is busy
  await context.route((url) => url.origin !== origin && url.protocol !== "data:", (route) => {
    noted.elsewhere++;
    fault(`${route.request().frame().url()} requests ${route.request().url()}`);
    return route.abort();
  });
  context.on("page", (page) => {
    page.on("console", (m) => {
      if (!["error", "warning"].includes(m.type()) || expected.some((text) => m.text().includes(text))) return;
      noted.console++;
      fault(`${new URL(page.url()).pathname}: console: ${m.text()}`);
    });
    page.on("pageerror", (e) => { noted.console++; fault(`${page.url()}: ${e}`); });
    page.on("dialog", (d) => { fault(`${page.url()} opens a dialog`); return d.dismiss(); });
    page.on("response", async (response) => {
      if (response.request().resourceType() !== "document") return;
      noted.pages.add(new URL(response.url()).pathname);
      const text = await response.text().catch(() => "");
      for (const secret of plan.canaries) {
        if (text.includes(secret)) { noted.secrets++; fault(`${response.url()} has the secret ${secret}`); }
      }
    });
  });
  return context;
}

/** Signs in with a token, and returns the page. */
export async function signIn(context, origin, token) {
  const page = await context.newPage();
  await page.goto(`${origin}/console/signin`);
  await page.locator("#token").fill(token);
  await page.locator("main form button").click();
  await page.waitForURL((url) => url.pathname === "/console");
  return page;
}

/** Returns the pages of a gateway, by name: those of the navigation, and one of each kind below. */
export async function pagesOf(page, origin) {
  const pages = new Map();
  await page.goto(`${origin}/console`);
  for (const [title, href] of await page.locator("header nav a").evaluateAll((all) => all.map((a) => [a.textContent.trim(), a.getAttribute("href")]))) pages.set(title, href);
  for (const want of ["Overview", "APIs", "Tools", "Try", "Live", "Drift", "Access", "Connect"]) if (!pages.has(want)) fault(`the navigation has no page ${want}`);
  const first = async (path, selector) => {
    await page.goto(origin + path);
    const link = page.locator(selector).first();
    return await link.count() > 0 ? link.getAttribute("href") : undefined;
  };
  const api = await first("/console/apis?sort=-tools", "main tbody a[href^='/console/apis/']");
  const tool = await first("/console/tools", "main tbody a[href^='/console/tools/']");
  if (!api || !tool) fault(`${origin} lists no API or no tool`);
  if (api) pages.set("an API", api);
  const document = api && await first(api, "main a[href*='/document']");
  if (document) pages.set("its document", document);
  if (tool) pages.set("a tool", tool);
  if (tool) pages.set("a form", tool.replace("/console/tools/", "/console/try/"));
  if (api) pages.set("a score", `${api}/readiness`);
  pages.set("a guide", "/console/connect/vscode").set("tools by operation", "/console/tools?sort=-operation&page=2").set("a search", "/console/tools?q=delete+something");
  return pages;
}
