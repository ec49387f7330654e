// Logins: by tokens, and at the authorization server for development.
import { plan, row, watched, signIn, browser } from "./world.mjs";

export async function logins() {
  const origin = plan.gateways.one.console;
  for (const [role, token] of [["operate", plan.operate], ["view", plan.view]]) {
    const context = await watched(origin);
    const page = await signIn(context, origin, token);
    const who = await page.locator("form.who span").innerText();
    row(`login by a token of the role ${role}`, who, `(${role})`, who.endsWith(`(${role})`));
    await context.close();
  }
  const wrong = await watched(origin, {}, ["401"]);
  const refused = await wrong.newPage();
  await refused.goto(`${origin}/console/signin`);
  await refused.locator("#token").fill("not-the-token-of-anybody");
  await refused.locator("main form button").first().click();
  const said = await refused.locator("[role=alert]").innerText();
  row("login by a wrong token", said.includes("not-the-token") ? "shows the token" : "refused", "refused", !said.includes("not-the-token"));
  await wrong.close();
  const context = await browser.newContext(); // it goes to the provider and back
  const page = await context.newPage();
  await page.goto(`${origin}/console/tools`);
  const button = page.locator("main a[href^='/console/signin/']").first();
  let who = "the page has no such login";
  if (await button.count() > 0) {
    await button.click();
    await page.waitForURL((url) => url.href.startsWith(`${origin}/console`) && !url.pathname.includes("signin"), { timeout: 15_000 }).catch(() => {});
    who = await page.locator("form.who span").innerText({ timeout: 2000 }).catch(async () => `${page.url()}: ${(await page.locator("body").innerText()).slice(0, 200)}`);
  }
  row("login at the authorization server for development", who, "oidc:mia (operate)", who === "oidc:mia (operate)");
  await context.close();
}
