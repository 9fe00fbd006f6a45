import { chownSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PATHS } from "../_app.ts";
import { NOT_ROOT, testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { run, start } from "../_server.ts";
import { startDaemon, until } from "../nodes/_daemon.ts";
import { childrenOf, EXECUTABLE, NOWHERE } from "./_executable.ts";
import { makeFolder } from "./_folder.ts";

const systemd = suite("the systemd units");

const ANALYZE = "/usr/bin/systemd-analyze";
const LITECOIND = "/usr/lib/litecoin/litecoind";
const SETPRIV = "/usr/bin/setpriv";
const unitOf = (name: string) => readFileSync(`${ROOT}deploy/${name}`, "utf8");
const text = unitOf("nodeface.service");
const template = unitOf("nodeface@.service");

const UNITS = { "nodeface.service": text, "nodeface@etcd.service": template };

for (const [name, unit] of Object.entries(UNITS)) {
  const install = () => {
    const file = join(makeFolder(), name);
    writeFileSync(file, unit.replaceAll("/usr/local/bin/nodeface", EXECUTABLE));
    return file;
  };

  testWhere(systemd, without(ANALYZE), `${name}: its exposure is rated below 2.0`, async () => {
    const rate = [ANALYZE, "security", "--offline=true", "--threshold=19"];
    const { stdout, code } = await run([...rate, install()]);
    const [, level] = /exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    console.log(`exposure: ${level}`);
    assert.ok(Number(level) < 2);
    assert.is(code, 0);
  });

  testWhere(systemd, without(ANALYZE), `${name}: systemd knows each line of the unit`, async () => {
    const { stdout, stderr } = await run([ANALYZE, "verify", "--man=no", install()]);
    assert.is(stdout + stderr, "");
  });
}

systemd(
  "the template has the same sandbox as the unit, but a different command and state directory",
  () => {
    const lines = (unit: string) => unit.split("\n").filter((line) => /^\w+=/.test(line));
    const others = lines(template).filter((line) => !lines(text).includes(line));
    assert.equal(others, [
      "Description=Nodeface, the REST face of %i",
      "EnvironmentFile=-/etc/nodeface/%i.environment",
      "ExecStart=/usr/local/bin/nodeface --config /etc/nodeface/%i.yaml",
      "ExecReload=/usr/local/bin/nodeface check --offline --config /etc/nodeface/%i.yaml",
    ]);
    assert.is(lines(text).filter((line) => !lines(template).includes(line)).length, 4);
  },
);

systemd(
  "the units always restart the service, and allow enough memory for a large description",
  () => {
    for (const unit of [text, template]) {
      for (
        const line of [
          "Restart=on-failure",
          "RestartSec=5",
          "StartLimitIntervalSec=0",
          "MemoryMax=1500M",
        ]
      ) {
        assert.ok(unit.split("\n").includes(line), line);
      }
    }
  },
);

systemd("the template allows the ports in its first comment", () => {
  const [, first, last] = /^SocketBindAllow=tcp:(\d+)-(\d+)$/m.exec(template)!;
  const ports = [...template.matchAll(/^#.* --port (\d+)/gm)].map(([, port]) => Number(port));
  assert.ok(ports.length === 2 && new Set(ports).size === 2);
  for (const port of ports) assert.ok(port >= Number(first) && port <= Number(last));
  assert.match(template, `from ${first} to ${last}`);
});

testWhere(
  systemd,
  NOT_ROOT ?? without(ANALYZE, "/usr/bin/strace"),
  "the unit allows every system call that the executable makes",
  async () => {
    const { stdout } = await run([ANALYZE, "syscall-filter"], { SYSTEMD_COLORS: "0" });
    const allowed = allowedCalls(stdout, text);
    assert.ok(allowed.has("openat") && !allowed.has("mount"));
    const made = await callsMade();
    assert.ok(made.has("openat"));
    assert.equal([...made].filter((call) => !allowed.has(call)), []);
  },
);

const NODE_USER = 61_001, OWN_USER = 61_002;

testWhere(
  systemd,
  NOT_ROOT ?? without(LITECOIND, SETPRIV),
  "a user of the node's group can read the cookie, even after the node restarts",
  async () => {
    const home = makeFolder();
    chownSync(home, NODE_USER, NODE_USER);
    const port = await freePort();
    // `-sysperms` lets the group read the cookie, and works only without wallets.
    const node = () =>
      startDaemon([
        ...[SETPRIV, `--reuid=${NODE_USER}`, `--regid=${NODE_USER}`, "--clear-groups"],
        ...["/bin/sh", "-c", 'umask 027 && exec "$@"', "-", LITECOIND],
        ...["-regtest", "-server", "-listen=0", "-sysperms", "-disablewallet"],
        ...[`-datadir=${home}`, `-rpcport=${port}`],
      ], port);
    const cookie = join(home, "regtest/.cookie");
    const config = join(makeFolder(), "nodeface.yaml");
    const url = `http://127.0.0.1:${port}`;
    writeFileSync(config, JSON.stringify({ node: { url, auth: { basic_file: cookie } } }));
    let daemon = await node();
    const service = await start(
      [
        ...[SETPRIV, `--reuid=${OWN_USER}`, `--regid=${OWN_USER}`, `--groups=${NODE_USER}`],
        ...[EXECUTABLE, "--config", config],
      ],
      {},
      NOWHERE,
    );
    const status = async () => {
      const { status, status_code } = await (await fetch(new URL("v1/info", service.url))).json();
      return status_code ?? status;
    };
    try {
      await until(async () => await status() === "ok");
      const before = readFileSync(cookie, "utf8");
      await daemon.stop("SIGTERM");
      await until(async () => await status() === "connection_refused");
      daemon = await node();
      await until(async () => await status() === "ok");
      assert.is.not(readFileSync(cookie, "utf8"), before);
    } finally {
      const { stderr } = await service.stop();
      await daemon.stop("SIGKILL");
      // There is no warning about the cookie's permissions, although its group may read it: the
      // cookie belongs to another user.
      assert.not.match(stderr, /can be read by|rejects the credentials/);
    }
  },
);

systemd.run();

/**
 * Returns the allowed system calls. Each predefined set of systemd, such as `@network-io`, is
 * replaced by its members.
 */
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
