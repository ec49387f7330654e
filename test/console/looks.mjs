// Looks: accessibility, widths, pages without JavaScript, and screenshots.
const widths = [360, 400, 768, 1440, 2560];
const screens = 4; // the most screens of 800 pixels that the list of APIs may be high, at 1440 pixels

import { mkdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fault, pagesOf, plan, row, signIn, watched } from "./world.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function looks() {
  const origin = plan.gateways.one.console;
  let findings = 0, judged = 0, wide = 0, high = 0;
  for (const name of ["one", "many", "hostile"]) {
    if (!plan.gateways[name]) { fault(`no looks with ${name} documents: OPENAPI_CORPUS is not set`); continue; }
    const at = plan.gateways[name].console;
    for (const colorScheme of ["light", "dark"]) {
      for (const width of widths) {
        const context = await watched(at, { colorScheme, viewport: { width, height: 800 } });
        const page = await signIn(context, at, plan.operate);
        const pages = await pagesOf(page, at);
        if (name === "one") pages.set("the outcome of a call", null).set("a question", null);
        for (const [title, path] of pages) {
          if (colorScheme === "dark" && ![400, 1440].includes(width)) continue; // colours depend on no other width
          await open(page, at, title, path);
          if ([400, 1440].includes(width)) {
            judged++;
            findings += await judge(page, `${title}, ${name}, ${colorScheme}, ${width}`);
          }
          if (title === "APIs" && name === "many" && width === 1440) high = await page.evaluate(() => document.documentElement.scrollHeight / 800);
          const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
          const tables = await page.evaluate(() => [...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth && !e.querySelector(".source")).length);
          if (scroll > width || tables > 0) { wide++; fault(`${title}, ${name}, is ${scroll} pixels wide on a screen of ${width}, and ${tables} tables are wider than it`); }
        }
        await context.close();
      }
    }
  }
  const anonymous = await watched(origin);
  const page = await anonymous.newPage();
  await page.goto(`${origin}/console/signin`);
  findings += await judge(page, "the page to sign in");
  await page.keyboard.press("Escape");
  await anonymous.close();
  const landing = await watched(plan.gateways.one.public);
  const front = await landing.newPage();
  const response = await front.goto(`${plan.gateways.one.public}/`);
  if (!response.ok() || !(await front.content()).includes(`${plan.gateways.one.public}/mcp`)) fault(`the page of the MCP listener: ${response.status()}`);
  if (/\borders?\b|getOrder/i.test(await front.content())) fault("the page of the MCP listener names the API");
  findings += await judge(front, "the page of the MCP listener");
  await landing.close();
  row(`serious findings of axe on ${judged + 2} pages`, findings, "0", findings === 0);
  row(`pages that are wider than the screen, or have a table that is, at ${widths.join(", ")} pixels`, wide, "0", wide === 0);
  if (high > 0) row("screens of the list of APIs at 1440 pixels", high.toFixed(1), `≤ ${screens}`, high <= screens);
  await keyboard(origin);
  await withoutScripts(origin);
  await screenshots(origin);
}

/** Opens a page by its path, or makes the call whose page has no path of its own. */
async function open(page, origin, title, path) {
  if (path !== null) return page.goto(origin + path, { waitUntil: "load" });
  await page.goto(`${origin}/console/try/${title === "a question" ? "deleteOrder" : "getOrder"}`);
  await page.getByLabel("id", { exact: false }).first().fill("SO 1001");
  await page.locator("#call").click();
  await page.locator(title === "a question" ? "#confirm" : "#outcome").first().waitFor();
  return page.waitForLoadState("load"); // the style sheet is there
}

async function judge(page, title) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter((v) => ["serious", "critical"].includes(v.impact));
  for (const v of serious) fault(`${title}: axe: ${v.id}: ${v.help}: ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 120)).join(" ")}`);
  return serious.length;
}

/** The first Tab reaches the link that skips the navigation, and the keyboard alone makes a call. */
async function keyboard(origin) {
  const context = await watched(origin);
  const page = await signIn(context, origin, plan.operate);
  await page.goto(`${origin}/console/tools`);
  await page.keyboard.press("Tab");
  const skip = await page.evaluate(() => document.activeElement?.getAttribute("href"));
  await page.goto(`${origin}/console/try/getOrder`);
  await page.locator("input[name='arg.id']").focus();
  await page.keyboard.type("SO 1001");
  await page.keyboard.press("Enter");
  await page.locator("#outcome").waitFor();
  const works = skip === "#main";
  row("keyboard: skip link, and a call by Enter", works ? "work" : `the first Tab reaches ${skip}`, "work", works);
  await context.close();
}

/** Without JavaScript: a search, and a call that needs the confirmation. */
async function withoutScripts(origin) {
  const context = await watched(origin, { javaScriptEnabled: false });
  const page = await signIn(context, origin, plan.operate);
  await page.goto(`${origin}/console/tools`);
  await page.locator("#q").fill("read one order");
  await page.locator("form[role=search] button").click();
  const found = await page.locator("#rows tbody th").first().innerText();
  const before = await calls();
  await page.goto(`${origin}/console/try/deleteOrder`);
  await page.locator("input[name='arg.id']").fill("1");
  await page.locator("#call").click();
  const asked = await calls() === before;
  await page.locator("#confirm").click();
  const outcome = await page.locator("#outcome").innerText();
  const works = found.startsWith("getOrder") && asked && await calls() === before + 1 && outcome.includes("admin:admin");
  row("without JavaScript: search, confirmation, call", works ? "work" : `${found}, ${outcome}`, "work", works);
  await context.close();
}

export async function calls() {
  return Number(await (await fetch(`${plan.service}/calls`)).text());
}

/** A few pages as they look, small enough to be kept. */
async function screenshots(origin) {
  mkdirSync(plan.screenshots, { recursive: true });
  for (const [name, title, path, colorScheme, width] of [
    ["overview", "", "/console", "light", 1120], ["tools-dark", "", "/console/tools", "dark", 1120], ["try", "the outcome of a call", null, "light", 1120], ["live-phone", "", "/console/live", "light", 390], ["overview-dark", "", "/console", "dark", 1120],
  ]) {
    const context = await watched(origin, { colorScheme, viewport: { width, height: width < 500 ? 760 : 720 } });
    const page = await signIn(context, origin, plan.operate);
    await open(page, origin, title, path);
    await page.waitForTimeout(200);
    await page.evaluate((version) => { document.body.innerHTML = document.body.innerHTML.replaceAll(version, "dev"); }, await page.locator(".version").innerText());
    const file = join(plan.screenshots, `${name}.png`);
    await page.screenshot({ path: file });
    const size = statSync(file).size;
    if (size > 100 << 10) fault(`${file} has ${size} bytes, more than 100 KiB`);
    await context.close();
  }
}
