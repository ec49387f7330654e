// Attacks: hostile documents and answers, other sites, other names, other sessions, and a role that may only look.
import { writeFileSync } from "node:fs";
import http from "node:http";
import { calls } from "./looks.mjs";
import { browser, fault, pagesOf, plan, row, signIn, watched } from "./world.mjs";

export async function attacks() {
  await hostile();
  await otherSites();
  await rebinding();
  await fixation();
  await view();
}

/** Every page that a hostile document and its service reach. */
async function hostile() {
  const origin = plan.gateways.hostile.console;
  const context = await watched(origin);
  const page = await signIn(context, origin, plan.operate);
  const pages = new Set((await pagesOf(page, origin)).values());
  for (const list of ["/console/tools", "/console/apis/hostile", "/console/apis/hostile?fate=skipped", "/console/tools?q=script", "/console/tools?tag=%3Cscript%3E"]) {
    await page.goto(origin + list);
    pages.add(list);
    for (const href of await page.locator("main a[href^='/console/']").evaluateAll((all) => all.map((a) => a.getAttribute("href")))) if (!href.startsWith("/console/tools?") || pages.size < 60) pages.add(href);
  }
  let through = 0;
  for (const path of pages) {
    const response = await page.goto(origin + path, { waitUntil: "load" });
    if (response.status() >= 500) fault(`${path}: ${response.status()}`);
    through += await executed(page, path);
  }
  let tried = 0;
  for (const path of [...pages].filter((p) => p.startsWith("/console/tools/")).slice(0, 34)) {
    await page.goto(origin + path.replace("/console/tools/", "/console/try/").replace(/\?.*/, ""));
    if (await page.locator("#call-json").count() === 0) continue;
    await page.locator("#call-json").click();
    tried++;
    through += await executed(page, `the outcome of ${path}`);
  }
  through += await hostileClients(page, origin);
  through += await refused(page, origin);
  if (tried < 30) fault(`only ${tried} hostile tools were tried`);
  row(`payloads that did something, on ${pages.size} pages and ${tried} calls`, through, "0", through === 0);
  await context.close();
}

/** Clients call tools that do not exist and send payloads in all that they choose, while the page Live is open, and later. */
async function hostileClients(page, origin) {
  await page.goto(`${origin}/console/live`);
  for (const payload of plan.payloads) {
    const sent = encodeURIComponent(payload); // as headers can have it
    await fetch(`${plan.gateways.hostile.public}/mcp`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "User-Agent": payload.replace(/[^ -~]/g, ""), "X-Request-Id": sent, Authorization: `Bearer ${sent}` },
      body: JSON.stringify({
        jsonrpc: "2.0", id: payload, method: "tools/call",
        params: { name: payload, arguments: { [payload]: payload }, _meta: { "io.modelcontextprotocol/clientInfo": { name: payload, version: payload } } },
      }),
    });
  }
  const rows = page.locator("#rows tbody tr");
  await rows.filter({ hasText: "xssmark" }).first().waitFor(); // they arrive by script
  let through = await executed(page, "/console/live, while calls arrive");
  for (const query of ["", `?tool=${encodeURIComponent(plan.payloads[0])}`, `?outcome=${encodeURIComponent(plan.payloads[1])}`, `?api=${encodeURIComponent(plan.payloads[2])}`]) {
    await page.goto(`${origin}/console/live${query}`);
    through += await executed(page, `/console/live${query}`);
  }
  return through;
}

/** A configuration full of payloads is refused, and the overview says why. */
async function refused(page, origin) {
  writeFileSync(plan.gateways.hostile.config, `apis: [{spec: "x", name: ${JSON.stringify(plan.payloads[1])}}]\n${plan.payloads.map((p) => `${JSON.stringify(p)}: 1`).join("\n")}\n`);
  const shown = page.getByText("xssmark").first();
  for (const until = Date.now() + 60_000; ;) {
    await page.goto(`${origin}/console`);
    if (await shown.count() > 0) break;
    if (Date.now() > until) { fault("the overview does not show the refused configuration"); break; }
    await page.waitForTimeout(200);
  }
  return executed(page, "/console with a refused configuration");
}

/** Returns how many payloads did something on the page: ran, or became elements. */
async function executed(page, path) {
  const found = await page.evaluate((marker) => {
    const found = [];
    if (window[marker]) found.push("a script ran");
    for (const e of document.querySelectorAll("*")) {
      for (const a of e.attributes) if (/^on/i.test(a.name)) found.push(`${e.tagName} has ${a.name}`);
      if (["IFRAME", "OBJECT", "EMBED", "BASE", "MATH"].includes(e.tagName) || e.tagName === "SCRIPT" && !e.src || e.tagName === "META" && e.httpEquiv) found.push(`there is an element ${e.tagName}`);
      if (/^\s*javascript:/i.test(e.getAttribute("href") ?? e.getAttribute("action") ?? "")) found.push(`${e.tagName} leads to a script`);
      for (const name of ["src", "href", "action", "hx-get"]) if (e.hasAttribute(name) && new URL(e.getAttribute(name), location.href).host === "attacker.invalid") found.push(`${e.tagName} leads elsewhere`);
    }
    return found;
  }, plan.payload);
  for (const text of found) fault(`${path}: ${text}`);
  return found.length;
}

/** A page of another site frames the console, and sends its forms, in the browser of somebody who is signed in. */
async function otherSites() {
  const origin = plan.gateways.one.console;
  const context = await browser.newContext();
  const page = await signIn(context, origin, plan.operate);
  const other = plan.service.replace("127.0.0.1", "localhost");
  let through = 0;
  for (const site of [other, plan.service]) {
    await page.goto(`${site}/attack?frame=${encodeURIComponent(`${origin}/console/tools`)}`, { waitUntil: "load" });
    const frame = page.frames().find((f) => f !== page.mainFrame());
    const text = await frame?.locator("body").innerText({ timeout: 5000 }).catch(() => "");
    if (/getOrder|Sign in/.test(text ?? "")) { through++; fault(`${site} frames the console`); }
    for (const path of ["/console/try/getOrder", "/console/reload", "/console/signout", "/console/apis/orders/accept"]) {
      const before = await calls();
      const answered = page.waitForResponse((r) => r.url() === origin + path);
      await page.goto(`${site}/attack?form=${encodeURIComponent(origin + path)}`, { waitUntil: "commit" });
      const status = (await answered).status();
      await page.waitForLoadState();
      if (status < 400 || await calls() !== before) { through++; fault(`${site} posts to ${path}: ${status}`); }
    }
  }
  await page.goto(`${origin}/console`);
  if (!page.url().endsWith("/console")) { through++; fault("another site ended the session"); }
  row("forms and frames of other sites that did something", through, "0", through === 0);
  await context.close();
}

/** A name that has come to lead to the admin listener. */
async function rebinding() {
  const to = new URL(plan.gateways.one.console);
  let through = 0;
  for (const host of ["attacker.example", `attacker.example:${to.port}`, "127.0.0.1.attacker.example"]) {
    for (const path of ["/console", "/console/signin", "/console/static/console.css"]) {
      const status = await new Promise((resolve, reject) => {
        http.get({ host: to.hostname, port: to.port, path, headers: { Host: host } }, (r) => { r.resume(); resolve(r.statusCode); }).on("error", reject);
      });
      if (status < 400) { through++; fault(`${path} for the host ${JSON.stringify(host)}: ${status}`); }
    }
  }
  row("requests for another host that were served", through, "0", through === 0);
}

/** A session that somebody else chose, and one that was signed out. */
async function fixation() {
  const origin = plan.gateways.one.console;
  const context = await watched(origin, {}, ["401"]);
  const chosen = "A".repeat(43);
  await context.addCookies([{ name: "drawbridge_console", value: chosen, domain: "127.0.0.1", path: "/console" }]);
  const page = await signIn(context, origin, plan.operate);
  const cookies = (await context.cookies()).filter((c) => c.name === "drawbridge_console");
  const safe = cookies.length === 1 && cookies[0].value !== chosen && cookies[0].httpOnly && cookies[0].sameSite === "Strict";
  const old = await fetch(`${origin}/console`, { headers: { Cookie: `drawbridge_console=${chosen}` }, redirect: "manual" });
  await page.goto(`${origin}/console`);
  await page.locator("form.who button").click();
  await page.waitForURL((url) => url.pathname.startsWith("/console/sign"));
  const ended = await fetch(`${origin}/console`, { headers: { Cookie: `drawbridge_console=${cookies[0]?.value}` }, redirect: "manual" });
  const met = safe && old.status === 303 && ended.status === 303;
  row("sessions that another chose, or that were signed out", met ? "refused" : `${old.status}, ${ended.status}, ${JSON.stringify(cookies)}`, "refused", met);
  await context.close();
}

/** The role view sees no caller and no form that changes something, and its requests change nothing. */
async function view() {
  const origin = plan.gateways.one.console;
  const context = await watched(origin, {}, ["403"]);
  const page = await signIn(context, origin, plan.view);
  const csrf = await page.locator("form.who input[name=csrf]").getAttribute("value");
  const before = await calls();
  let through = 0;
  for (const path of ["/console/try/getOrder", "/console/reload", "/console/apis/orders/accept", "/console/discovery/orders/accept"]) {
    const status = await page.evaluate(async ([path, csrf]) => (await fetch(path, { method: "POST", headers: { "X-CSRF-Token": csrf, "Content-Type": "application/x-www-form-urlencoded" }, body: "arg.id=1&use=form" })).status, [path, csrf]);
    if (status !== 403) { through++; fault(`the role view posts to ${path}: ${status}`); }
  }
  if (await calls() !== before) { through++; fault("the role view made a call"); }
  for (const path of ["/console", "/console/apis", "/console/apis/orders", "/console/tools/getOrder", "/console/live", "/console/connect"]) {
    await page.goto(origin + path);
    const forms = await page.locator("main form[method=post]").count();
    if (forms > 0) { through++; fault(`${path} has ${forms} forms for the role view`); }
  }
  const form = await page.goto(`${origin}/console/try/getOrder`);
  if (form.status() !== 403) { through++; fault(`the role view sees the form of a tool: ${form.status()}`); }
  row("changes by the role view", through, "0", through === 0);
  await context.close();
}
