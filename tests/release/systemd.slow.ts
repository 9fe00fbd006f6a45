import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readConfig } from "../../src/cli/configuration.ts";
import { PATHS } from "../_app.ts";
import { NOT_ROOT, testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { run, start } from "../_server.ts";
import { childrenOf, EXECUTABLE, NOWHERE } from "./_executable.ts";
import { makeFolder } from "./_folder.ts";

const systemd = suite("the systemd unit");

const ANALYZE = "/usr/bin/systemd-analyze";
const UNIT = `${ROOT}deploy/nodeface.service`;
const text = readFileSync(UNIT, "utf8");

testWhere(systemd, without(ANALYZE), "systemd-analyze rates its exposure below 2.0", async () => {
  const { stdout, code } = await run([
    ANALYZE,
    "security",
    "--offline=true",
    "--threshold=19",
    UNIT,
  ]);
  const [, level] = /exposure level for nodeface.service: ([\d.]+)/.exec(stdout) ?? [];
  console.log(`exposure: ${level}`);
  assert.ok(Number(level) < 2);
  assert.is(code, 0);
});

testWhere(
  systemd,
  NOT_ROOT ?? without(ANALYZE, "/usr/bin/strace"),
  "it allows every system call that the executable makes",
  async () => {
    const { stdout } = await run([ANALYZE, "syscall-filter"], { SYSTEMD_COLORS: "0" });
    const allowed = allowedCalls(stdout, text);
    assert.ok(allowed.has("openat") && !allowed.has("mount"));
    const made = await callsMade();
    assert.ok(made.has("openat"));
    assert.equal([...made].filter((call) => !allowed.has(call)), []);
  },
);

testWhere(systemd, without(ANALYZE), "systemd knows every line of it", async () => {
  const installed = join(makeFolder(), "nodeface.service");
  writeFileSync(installed, text.replaceAll("/usr/local/bin/nodeface", EXECUTABLE));
  const { stdout, stderr } = await run([ANALYZE, "verify", "--man=no", installed]);
  assert.is(stdout + stderr, "");
});

systemd("the environment that it shows is what the command reads", async () => {
  const [, file] = /^EnvironmentFile=-(\/\S+)$/m.exec(text)!;
  assert.ok(text.includes(`Name the node in ${file};`));
  const shown = [...text.matchAll(/^# {3}([A-Z_]+)=(.+)$/gm)].map((
    [, name, value],
  ) => [name, value]);
  const env = Object.fromEntries(shown);
  const read = (path: string) => {
    assert.is(path, env.NODEFACE_CONFIG);
    return Promise.resolve("node: { kind: bitcoin, auth: { basic_file: /run/secret } }");
  };
  const { node, command } = await readConfig([], env, {
    read,
    readBytes: () => Promise.reject(new Error("there is no such file")),
    isThere: () => Promise.resolve(false),
  });
  assert.is(node.url, env.NODEFACE_URL);
  assert.ok(node.url);
  assert.is(node.kind, "bitcoin");
  assert.is(command, "serve");
});

systemd.run();

/** What the filters of a unit leave, by what systemd says is in its sets. */
function allowedCalls(said: string, unit: string): Set<string> {
  const sets = new Map<string, string[]>();
  for (const line of said.split("\n")) {
    if (line.startsWith("@")) sets.set(line.trim(), []);
    else if (/^ +[@\w]/.test(line)) [...sets.values()].at(-1)?.push(line.trim());
  }
  const members = (name: string): string[] => sets.get(name)?.flatMap(members) ?? [name];
  const allowed = new Set<string>();
  for (const [, not, names] of unit.matchAll(/^SystemCallFilter=(~?)(.+)$/gm)) {
    for (const call of names!.split(" ").flatMap(members)) {
      if (not) allowed.delete(call);
      else allowed.add(call);
    }
  }
  return allowed;
}

/** The system calls from the start of the executable until it has answered every path. */
async function callsMade(): Promise<Set<string>> {
  const strace = ["/usr/bin/strace", "--follow-forks", "--quiet=all", "--output=calls"];
  const server = await start([...strace, EXECUTABLE], {}, NOWHERE);
  for (const [path] of PATHS) await (await fetch(new URL(path, server.url))).arrayBuffer();
  for (const traced of childrenOf(server.pid)) process.kill(traced, "SIGTERM");
  await server.ended;
  const calls = join(NOWHERE.cwd!, "calls");
  const traced = readFileSync(calls, "utf8");
  rmSync(calls);
  return new Set([...traced.matchAll(/^\d+ +(\w+)\(/gm)].map(([, call]) => call!));
}
