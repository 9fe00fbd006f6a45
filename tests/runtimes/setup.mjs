// Installs the runtimes of tests/runtimes/package-lock.json, unless they are already installed.
// Given commands as arguments, it installs nothing if all of them are on the PATH.
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

const commands = process.argv.slice(2);
if (commands.length === 0 || !commands.every(isOnPath)) {
  install(fileURLToPath(new URL(".", import.meta.url)), "Installing Deno and Bun");
}

function isOnPath(command) {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}
