// Installs what only the tests need, pinned in tests/package-lock.json, where it is not there yet.
// With names of commands it does so only where one of these is not on this machine's own PATH.
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
