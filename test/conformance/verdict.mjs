// What came of a run of the conformance suite, scenario by scenario. The suite gives a verdict of its own on what it
// scores; this one is on everything that was run. Called by the script run with
//
//   node verdict.mjs RESULTS
//
// Exits with 1 if a check has failed or has a warning.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [results] = process.argv.slice(2);

const scenarios = new Map(); // name → checks
for (const folder of readdirSync(results).sort()) {
  const name = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
  const file = join(results, folder, "checks.json");
  const checks = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [{ id: "end", status: "FAILURE", errorMessage: "it did not come to its end" }];
  scenarios.set(name, [...(scenarios.get(name) ?? []), ...checks]);
}

const wrong = [];
let green = 0;
let checks = 0;
for (const [name, all] of scenarios) {
  const count = (status) => all.filter((c) => c.status === status).length;
  const bad = all.filter((c) => c.status === "FAILURE" || c.status === "WARNING");
  checks += count("SUCCESS");
  if (bad.length === 0) {
    green++;
  }
  const rest = ["FAILURE", "WARNING", "SKIPPED", "INFO"].filter((s) => count(s) > 0).map((s) => `, ${count(s)} ${s}`).join("");
  console.log(`  ${bad.length === 0 ? "✓" : "✗"} ${name}: ${count("SUCCESS")} SUCCESS${rest}`);
  for (const check of bad) {
    wrong.push(`failed: ${name}:${check.id}: ${check.errorMessage ?? check.description}`);
  }
}
for (const line of wrong) {
  console.log(`  ${line}`);
}
console.log(`  ${green} of ${scenarios.size} scenarios without a failure or a warning, ${checks} checks`);
process.exit(wrong.length > 0 || scenarios.size === 0 ? 1 : 0);
