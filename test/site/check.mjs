// check.mjs SITE CHROMIUM SCREENSHOTS reads a built site: its files for references to other hosts, the Markdown of each page, then every page in
// a browser.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { preview } from "vite";

const [site, executablePath, screenshots] = process.argv.slice(2);
const files = readdirSync(site, { recursive: true }).map(String);
const faults = [];

// The words of a search, and the page whose section must be among the first five results.
const searches = [
  ["token exchange", "/docs/upstream-credentials.html"],
  ["circuit breaker", "/docs/resilience.html"],
  ["Claude Desktop", "/docs/start/claude.html"],
  ["public_url", "/docs/configuration.html"],
];

// What a browser fetches on its own: scripts, styles, fonts, images, frames. Links that a reader follows are not among it.
const fetched = [
  [/\.html$/, /<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\b(?:src|srcset|data)="(?:https?:)?\/\/[^"]*"/g],
  [/\.html$/, /<link\b[^>]*?\bhref="(?:https?:)?\/\/[^"]*"/g],
  [/\.(?:css|html|svg)$/, /(?:url\(\s*["']?|@import\s+["'])(?:https?:)?\/\/[^)"']*/g],
];
for (const file of files) {
  for (const [name, pattern] of fetched) {
    if (!name.test(file)) continue;
    for (const [reference] of readFileSync(join(site, file), "utf8").matchAll(pattern)) faults.push(`${file}: ${reference}`);
  }
}

// Each page is there as Markdown at its path in the repository, and llms.txt leads to files that are there.
for (const file of files) {
  if (!file.endsWith(".html") || file === "404.html") continue;
  const page = file.replace(/(^|\/)index\.html$/, "$1README.html").replace(/html$/, "md");
  if (!files.includes(page)) faults.push(`${file} has no ${page}`);
}
const listed = [...readFileSync(join(site, "llms.txt"), "utf8").matchAll(/^- \[[^\]]+\]\((\/[^)]+)\)/gm)].map(([, path]) => path);
for (const path of listed) if (!files.includes(path.slice(1))) faults.push(`llms.txt leads to ${path}, which is not there`);
if (listed.length === 0) faults.push("llms.txt lists no page");
console.log(`pages in llms.txt: ${listed.length}`);

mkdirSync(screenshots, { recursive: true });
const server = await preview({ configFile: false, logLevel: "error", build: { outDir: resolve(site) }, preview: { host: "127.0.0.1", port: 0 } });
const origin = `http://127.0.0.1:${server.httpServer.address().port}`;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.route((url) => url.origin !== origin && url.protocol !== "data:", (route) => {
    faults.push(`${route.request().frame().url()} requests ${route.request().url()}`);
    return route.abort();
  });
  context.setDefaultTimeout(180_000); // also on a machine that is busy
  const page = await context.newPage();
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) faults.push(`${page.url()}: console: ${m.text()}`); });
  page.on("pageerror", (e) => faults.push(`${page.url()}: ${e}`));

  const pages = files.filter((file) => file.endsWith(".html") && file !== "404.html");
  for (const file of pages) await read(page, file);
  console.log(`pages read: ${pages.length}`);
  await look(page);
  for (const [words, target] of searches) await search(page, words, target);
} finally {
  await browser.close();
  await server.close();
}
for (const fault of faults) console.error(fault);
console.log(`faults: ${faults.length}`);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Opens a page at the width of a phone. */
async function read(page, file) {
  await page.setViewportSize({ width: 400, height: 800 });
  const response = await page.goto(`${origin}/${file}`, { waitUntil: "networkidle" });
  if (!response.ok()) faults.push(`${file}: ${response.status()}`);
  const [title, heading, width] = await page.evaluate(() => [document.querySelector(".VPNavBarTitle")?.innerText.trim(), document.querySelector("h1")?.innerText, document.documentElement.scrollWidth]);
  if (title !== "drawbridge") faults.push(`${file} shows the title ${title}`);
  if (!heading) faults.push(`${file} has no heading`);
  if (width > 400) faults.push(`${file} is ${width} pixels wide on a screen of 400`);
}

/** Takes screenshots of the home page and of a page of each part, light and dark. */
async function look(page) {
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const [name, path] of [["home", "/"], ["page", "/docs/start/claude.html"], ["index", "/docs/"], ["alternatives", "/docs/alternatives.html"]]) {
    await page.goto(origin + path, { waitUntil: "networkidle" });
    await page.screenshot({ path: join(screenshots, `${name}.png`) });
    await page.locator(".VPNavBarAppearance button").first().click();
    if (!await page.evaluate(() => document.documentElement.classList.contains("dark"))) faults.push(`${path} does not turn dark`);
    await page.screenshot({ path: join(screenshots, `${name}-dark.png`) });
    await page.locator(".VPNavBarAppearance button").first().click();
  }
}

/** Searches as a reader does, and follows the result. */
async function search(page, words, target) {
  await page.goto(origin, { waitUntil: "networkidle" });
  await page.locator("#local-search button").click();
  await page.locator("input.search-input").fill(words);
  await page.locator(".results .result").first().waitFor();
  await page.waitForTimeout(500); // the list follows the typing
  const found = await page.locator(".results .result").evaluateAll((all) => all.slice(0, 5).map((a) => new URL(a.href).pathname));
  await page.screenshot({ path: join(screenshots, `search-${words.replaceAll(/\W+/g, "-")}.png`) });
  const at = found.indexOf(target);
  if (at < 0) return faults.push(`the search for ${words} finds ${found.join(", ")}, not ${target}`);
  await page.locator(".results .result").nth(at).click();
  await page.waitForURL((url) => url.pathname === target);
  console.log(`search: ${words}: ${target} at place ${at + 1}`);
}
