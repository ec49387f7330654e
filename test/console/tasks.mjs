// Tasks: what operators come for, each from the overview, with the clicks that it takes. Typing is no click.
import { fault, plan, row, signIn, watched } from "./world.mjs";

const most = 4;

// Each task uses click and the page, and returns the text that it was after.
const all = [
  ["one", "find why a call failed", async ({ page, click }) => {
    await click("section[aria-labelledby=apis] td[data-label=Errors] a");
    return page.locator("#calls tbody tr").first().innerText();
  }, /not_found|client_error|404/],
  ["one", "find the call in the logs by its request id", async ({ page, click }) => {
    await click("a:text('the last calls one by one')");
    return page.locator("#calls td[data-label=Request]:not(:empty)").first().innerText();
  }, /\S{8,}/],
  ["one", "find the API with the most errors", async ({ page, click }) => {
    await click("header nav >> text=APIs");
    await click("thead >> text=Errors");
    return page.locator("tbody tr").first().innerText();
  }, /orders/],
  ["one", "try a tool", async ({ page, click }) => {
    await click("header nav >> text=Try");
    await page.locator("#tool").pressSequentially("read one ord");
    await click("#rows tbody a:text-is('getOrder')");
    await click("#call");
    return page.locator("#outcome").locator("..").innerText();
  }, /\[hidden\][\s\S]*"SO 1001"/],
  ["one", "repeat an own try", async ({ page, click }) => {
    await click("header nav >> text=Try");
    await click("#tries a >> nth=0");
    return page.locator("#arguments").inputValue();
  }, /SO 1001/],
  ["one", "copy the curl command of a call", async ({ page, click }) => {
    await click("header nav >> text=Try");
    await page.locator("#tool").pressSequentially("getOrder");
    await click("#rows tbody a:text-is('getOrder')");
    await click("button.copy >> nth=-1");
    await page.locator("button.copy", { hasText: /Copied|Marked/ }).waitFor();
    return page.locator("#requests").locator("..").innerText();
  }, /(Copied|Marked)[\s\S]*curl -s '[^']+\/mcp'/],
  ["one", "connect a client", async ({ page, click }) => {
    await click("header nav >> text=Connect");
    await click("button.copy >> nth=0");
    const links = await page.locator("main a.button").evaluateAll((a) => a.map((e) => e.href));
    return `${await page.locator("main").innerText()} ${links.join(" ")}`;
  }, /claude mcp add[\s\S]*vscode:mcp\/install\?[\s\S]*cursor:\/\/anysphere.cursor-deeplink/],
  ["troubled", "find why an API is not served, and the command that says more", async ({ page, click }) => {
    const command = await page.locator("tr:has(a:text-is('lost')) pre").innerText();
    await click("section[aria-labelledby=attention] a:text-is('lost')");
    return `${command} ${await page.locator(".problem").first().innerText()}`;
  }, /drawbridge check[\s\S]*404/],
  ["troubled", "find which credential an API lacks", async ({ page, click }) => {
    await click("section[aria-labelledby=attention] a:text-is('keyless')");
    return page.locator(".problem").first().innerText();
  }, /credential/],
  ["troubled", "see which tools a token may call", async ({ page, click }) => {
    await click("header nav >> text=Access");
    await page.locator("#token").fill(plan.token);
    await click("text=Examine");
    return page.locator("section[aria-labelledby=token-result]").innerText();
  }, /may call (\d+) of \1 tools/],
  ["troubled", "list the tools that a scope gives", async ({ page, click }) => {
    await click("header nav >> text=Access");
    const row = page.locator("section[aria-labelledby=scopes] tbody tr", { hasText: "orders:all" });
    const promised = await row.locator("td.n a").innerText();
    await click("section[aria-labelledby=scopes] tbody tr:has-text('orders:all') td.n a");
    const shown = await page.locator("#rows p").first().innerText();
    return `${promised} | ${shown}`;
  }, /^(\d+) tools \| \1 of/],
  ["troubled", "find why a document is held, and accept it", async ({ page, click }) => {
    await click("section[aria-labelledby=attention] tr:has-text('document') th a:text-is('stock')");
    const reason = await page.locator("section[aria-labelledby=held]").innerText();
    await click("text=Accept this document");
    return `${reason} ${await page.locator("[role=status]").first().innerText()}`;
  }, /5 of 6 operations are missing[\s\S]*\/stock\/5[\s\S]*is accepted/],
];

export async function tasks() {
  let worst = 0, longest = "", done = 0;
  const pages = new Map();
  for (const [name, title, act, want] of all) {
    const origin = plan.gateways[name].console;
    if (!pages.has(name)) pages.set(name, await signIn(await watched(origin), origin, plan.operate));
    const page = pages.get(name);
    await page.goto(`${origin}/console`);
    let clicks = 0;
    const click = async (selector) => {
      clicks++;
      await page.locator(selector).first().click();
      await page.waitForLoadState("load"); // scripts of the page have run
    };
    try {
      const got = await act({ page, click });
      if (want.test(got)) done++;
      else fault(`task: ${title}: ${JSON.stringify(got.slice(0, 400))} does not match ${want}`);
    } catch (e) {
      fault(`task: ${title}: ${e.message.slice(0, 400)}`);
    }
    console.log(`task: ${title}: ${clicks} ${clicks === 1 ? "click" : "clicks"}`);
    if (clicks > worst) [worst, longest] = [clicks, title];
  }
  for (const page of pages.values()) await page.context().close();
  row("tasks of operators that succeed", `${done} of ${all.length}`, `${all.length}`, done === all.length);
  row(`most clicks of a task (${longest})`, worst, `≤ ${most}`, worst <= most);
}
