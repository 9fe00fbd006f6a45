// Installs the servers and the bundlers that the service is tested in (tests/hosts/package-lock.json),
// where they are not there yet.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const stamp = `${folder}node_modules/.installed`;
const lock = readFileSync(`${folder}package-lock.json`);
const wanted = createHash("sha256").update(lock).digest("hex");

if (read(stamp) !== wanted) {
  console.error(
    "Installing the servers and bundlers of other people that the service is tested in",
  );
  const install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", install, {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, wanted);
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
