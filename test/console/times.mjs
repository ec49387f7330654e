// Times: the first paint of each page, and the answer to a search while it is typed.
import { readFileSync } from "node:fs";
import { fault, median, pagesOf, plan, row, signIn, watched } from "./world.mjs";

const words = ["list orders", "delete a user", "send a message to a channel", "create an invoice", "webhook", "refund a payment"];

export async function times() {
  for (const name of ["one", "many"]) {
    const gateway = plan.gateways[name];
    if (!gateway) { fault(`no times with ${name} documents: OPENAPI_CORPUS is not set`); continue; }
    const context = await watched(gateway.console);
    const page = await signIn(context, gateway.console, plan.operate);
    const pages = await pagesOf(page, gateway.console);
    const tools = await page.goto(`${gateway.console}/console/tools`).then(() => page.locator("#rows p").first().innerText());
    let worst = 0, slowest = "";
    for (const [title, path] of pages) {
      const paints = [];
      for (let i = 0; i < 6; i++) {
        const response = await page.goto(gateway.console + path, { waitUntil: "load" });
        if (!response.ok()) fault(`${path}: ${response.status()}`);
        paints.push(await page.evaluate(firstPaint));
      }
      const paint = median(paints.slice(1)); // the first one fills the browser's cache
      if (paint > worst) [worst, slowest] = [paint, title];
    }
    await responses(page, gateway, name, pages);
    await processor(page, gateway, name, pages);
    row(`${name}: first paint of the slowest of ${pages.size} pages (${slowest}), median of 5, ms (${tools})`, worst.toFixed(0), "≤ 200", worst > 0 && worst <= 200);
    await search(page, gateway.console, name);
    await context.close();
  }
}

/** The time from a request for a page to the end of its response, without a browser. */
async function responses(page, gateway, name, pages) {
  const cookie = (await page.context().cookies()).map((c) => `${c.name}=${c.value}`).join("; ");
  let worst = 0, of = "";
  for (const [title, path] of pages) {
    const took = [], before = used(gateway.pid);
    for (let i = 0; i < 101; i++) {
      const began = performance.now();
      await (await fetch(gateway.console + path, { headers: { Cookie: cookie } })).text();
      took.push(performance.now() - began);
    }
    const p99 = took.slice(1).toSorted((a, b) => a - b)[98]; // the first one fills caches
    console.log(`${name}: ${title}: p99 ${p99.toFixed(1)} ms, processor time ${((used(gateway.pid) - before) / 101).toFixed(1)} ms`);
    if (p99 > worst) [worst, of] = [p99, title];
  }
  row(`${name}: the gateway's time for a page, p99 of 100, slowest page (${of}), ms`, worst.toFixed(1), "≤ 30", worst <= 30);
}

/** Processor time of pages and searches: what their times come to on a machine that does nothing else. */
async function processor(page, gateway, name, pages) {
  const browser = await page.context().newCDPSession(page);
  await browser.send("Performance.enable", { timeDomain: "threadTicks" });
  const rendered = async () => 1000 * (await browser.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
  const cookie = (await page.context().cookies()).map((c) => `${c.name}=${c.value}`).join("; ");
  const served = async (path, headers = {}) => {
    const before = used(gateway.pid), times = 20;
    for (let i = 0; i < times; i++) await (await fetch(gateway.console + path, { headers: { Cookie: cookie, ...headers } })).text();
    return (used(gateway.pid) - before) / times;
  };
  let worst = 0, of = "";
  for (const [title, path] of pages) {
    const began = await rendered();
    await page.goto(gateway.console + path, { waitUntil: "load" });
    const total = await rendered() - began + await served(path);
    if (total > worst) [worst, of] = [total, title];
  }
  row(`${name}: processor time of the page that takes most (${of}), gateway and renderer, ms`, worst.toFixed(0), "≤ 200", worst <= 200);
  let search = 0;
  for (const text of words) search += await served(`/console/tools?q=${encodeURIComponent(text)}`, { "HX-Request": "true", "HX-Target": "rows" }) / words.length;
  row(`${name}: processor time of the gateway for a search, ms`, search.toFixed(1), "≤ 50", search <= 50);
}

/** Returns the processor time of a process in ms. */
function used(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12])); // ticks of 10 ms
}

/** Returns when something was painted first, in ms since the navigation began. */
function firstPaint() {
  return new Promise((resolve) => {
    const found = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
    if (found()) return resolve(found());
    new PerformanceObserver((_, observer) => { if (found()) { observer.disconnect(); resolve(found()); } }).observe({ type: "paint", buffered: true });
  });
}

/** Types searches letter by letter, and measures from the request to the painted rows. The pause before the request, which keeps a fast typist
 * from asking for each letter, is the page's choice and not measured. */
async function search(page, origin, name) {
  await page.goto(`${origin}/console/tools`);
  await page.evaluate(() => {
    window.searches = [];
    let began;
    document.body.addEventListener("htmx:beforeRequest", () => { began = performance.now(); });
    document.body.addEventListener("htmx:afterSettle", () => requestAnimationFrame(() => window.searches.push(performance.now() - began)));
  });
  for (const text of words) {
    await page.locator("#q").fill("");
    await page.locator("#q").pressSequentially(text, { delay: 150 });
    await page.waitForTimeout(300);
  }
  const searches = await page.evaluate(() => window.searches);
  if (searches.length < 2 * words.length) fault(`${name}: only ${searches.length} searches were made while ${words.length} were typed`);
  const time = median(searches);
  row(`${name}: search as you type, median of ${searches.length}, ms`, time.toFixed(0), "≤ 50", time <= 50);
}
