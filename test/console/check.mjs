// check.mjs PLAN looks at the console with a browser, prints a table, and fails if a goal is missed.
import { attacks } from "./attacks.mjs";
import { logins } from "./logins.mjs";
import { looks } from "./looks.mjs";
import { tasks } from "./tasks.mjs";
import { times } from "./times.mjs";
import { browser, fault, noted, plan, report, row } from "./world.mjs";

for (const [name, part] of Object.entries({ logins, times, looks, tasks, attacks })) {
  if (!name.includes(plan.only)) continue;
  try {
    await part();
  } catch (e) {
    fault(`${name}: ${e.stack}`);
  }
}
row("errors and warnings in the browser's console", noted.console, "0", noted.console === 0);
row("requests to elsewhere", noted.elsewhere, "0", noted.elsewhere === 0);
row(`secrets on ${noted.pages.size} pages`, noted.secrets, "0", noted.secrets === 0);
await browser.close();
process.exitCode = report();
