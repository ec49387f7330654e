#!/usr/bin/env node
// Starts the program that the package of this platform carries, with the same arguments, streams and environment.
"use strict";
const { spawn } = require("node:child_process");
const { name, optionalDependencies } = require("../package.json");

const platform = `${process.platform}-${process.arch}`;
const carrier = `${name}-${platform}`;
if (!(carrier in optionalDependencies)) {
  const known = Object.keys(optionalDependencies).map((one) => one.slice(name.length + 1));
  fail(`there is no program for ${platform}, only for ${known.join(", ")}`);
}
let program;
try {
  program = require.resolve(`${carrier}/bin/drawbridge${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  fail(`the package ${carrier} is not installed. Install ${name} again, without --omit=optional, on the platform that runs it`);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C at a terminal reaches the program already, and a second SIGINT would end it at once.
const atTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
process.on("SIGINT", () => atTerminal || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => fail(error.message));
child.on("exit", (code, signal) => {
  if (!signal) return process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

function fail(text) {
  console.error(`drawbridge: ${text}`);
  process.exit(1);
}
