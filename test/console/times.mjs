// Times: the first paint of each page, and the answer to a search while it is typed.
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
    row(`${name}: first paint of the slowest of ${pages.size} pages (${slowest}), median of 5, ms (${tools})`, worst.toFixed(0), "≤ 200", worst > 0 && worst <= 200);
    await search(page, gateway.console, name);
    await context.close();
  }
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
