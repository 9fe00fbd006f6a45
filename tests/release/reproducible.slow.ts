import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { run } from "../_server.ts";
import { makeFolder } from "./_folder.ts";

const reproducible = suite("two builds of one commit");

const BUILT: Readonly<Record<string, readonly string[]>> = {
  "npm run build:exe": ["nodeface", "nodeface.exe"],
  "npm run build:deno": ["nodeface-deno.js"],
  "npm run build:worker": ["worker.js"],
  "npm pack --silent --pack-destination dist": [],
};

function clone(folder: string): string {
  execFileSync("git", ["clone", "--quiet", ROOT, folder]);
  cpSync(`${ROOT}node_modules`, join(folder, "node_modules"), { recursive: true });
  symlinkSync(`${ROOT}tests/node_modules`, join(folder, "tests/node_modules"));
  return folder;
}

async function build(
  folder: string,
  { umask, ...env }: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  for (const command of Object.keys(BUILT)) {
    const shell = ["sh", "-c", `umask ${umask} && ${command}`];
    const { code, stderr } = await run(shell, env, { cwd: folder });
    assert.is(code, 0, stderr);
  }
  const dist = join(folder, "dist");
  const names = readdirSync(dist).filter((name) =>
    name.endsWith(".tgz") || Object.values(BUILT).flat().includes(name)
  );
  return Object.fromEntries(
    names.sort().map((name) => {
      const content = readFileSync(join(dist, name));
      return [name, createHash("sha256").update(content).digest("hex")];
    }),
  );
}

const noClone = () => {
  try {
    execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, stdio: "ignore" });
    return process.platform === "win32" ? "needs a shell" : undefined;
  } catch {
    return "needs a clone";
  }
};

testWhere(
  reproducible,
  noClone(),
  "two builds give the same bytes, despite another folder, time zone, language and umask",
  async () => {
    const one = clone(join(makeFolder(), "nodeface"));
    const deeper = join(makeFolder(), "a/b");
    mkdirSync(deeper, { recursive: true });
    const other = clone(join(deeper, "checkout"));
    execFileSync("git", ["config", "core.abbrev", "20"], { cwd: other });
    const first = await build(one, { umask: "022", TZ: "UTC", LANG: "C" });
    const second = await build(other, { umask: "077", TZ: "Asia/Tokyo", LANG: "de_DE.UTF-8" });
    assert.is(Object.keys(first).length, Object.keys(BUILT).length);
    assert.equal(second, first);
  },
);

reproducible.run();
