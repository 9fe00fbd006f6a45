// Installs what only the tests need, pinned in tests/package-lock.json, where it is not there yet.
// With names of commands it does so only where one of these is not on this machine's own PATH.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const stamp = `${folder}node_modules/.installed`;
const wanted = createHash("sha256").update(readFileSync(`${folder}package-lock.json`)).digest(
  "hex",
);

const commands = process.argv.slice(2);
const suffices = commands.length > 0 && commands.every(isOnPath);
if (!suffices && installed() !== wanted) {
  console.error(
    "Installing what the tests need: Deno, Bun, workerd, Chromium, a linter, Anvil and hsd",
  );
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, wanted);
}

function installed() {
  try {
    return readFileSync(stamp, "utf8");
  } catch {
    return undefined;
  }
}

function isOnPath(command) {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}
