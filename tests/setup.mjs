// Installs the packages that only the tests need (tests/package-lock.json), unless they are installed already.
// It installs nothing if commands are named, and all of them are on this machine's PATH.
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { install } from "./_install.mjs";

const commands = process.argv.slice(2);
if (commands.length === 0 || !commands.every(isOnPath)) {
  install(
    fileURLToPath(new URL(".", import.meta.url)),
    "Installing what the tests need: Deno, Bun, workerd, Chromium, a linter, Anvil and hsd",
  );
}

function isOnPath(command) {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}
