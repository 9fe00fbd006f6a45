/**
 * Runs `nodeface init URL && nodeface check && nodeface` on real nodes, as a new user would. The
 * executable runs in an empty folder, and no file is edited. A node that is not installed is
 * skipped.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { run, start } from "../_server.ts";
import { EXECUTABLE } from "../release/_executable.ts";
import { startDaemon, until } from "./_daemon.ts";

const first = suite("nodeface init && nodeface check && nodeface");

interface Example {
  readonly program: string;
  readonly args: (port: number, home: string, other: number) => readonly string[];
  readonly kind: string;
  /** Matches what `nodeface init` prints about the node. */
  readonly named: RegExp;
}

const NODES: Readonly<Record<string, Example>> = {
  anvil: {
    program: `${ROOT}tests/node_modules/.bin/anvil`,
    args: (port) => ["--port", `${port}`, "--silent"],
    kind: "ethereum",
    named: /anvil \d/,
  },
  litecoind: {
    program: "/usr/lib/litecoin/litecoind",
    args: (port) => ["-regtest", "-server", "-listen=0", `-rpcport=${port}`],
    kind: "bitcoin",
    named: /LitecoinCore \d.*, regtest/,
  },
  monerod: {
    program: "/usr/bin/monerod",
    args: (port, home, other) => [
      ...["--regtest", "--offline", "--non-interactive", "--no-zmq", "--fixed-difficulty", "1"],
      ...["--data-dir", home, "--rpc-bind-port", `${port}`],
      ...["--p2p-bind-ip", "127.0.0.1", "--p2p-bind-port", `${other}`],
    ],
    kind: "monero",
    named: /monerod \d/,
  },
  hsd: {
    program: process.execPath,
    args: (port) => [
      ...[
        "--require",
        `${ROOT}tests/nodes/_without-leveldb.cjs`,
        `${ROOT}tests/node_modules/hsd/bin/node`,
      ],
      ...["--network=regtest", "--memory=true", "--no-dns", "--no-wallet", "--listen=false"],
      `--http-port=${port}`,
    ],
    kind: "handshake",
    named: /hsd \d/,
  },
  etcd: {
    program: "/usr/bin/etcd",
    args: (port, home, other) => [
      ...["--data-dir", join(home, "data"), "--listen-peer-urls", `http://127.0.0.1:${other}`],
      ...["--listen-client-urls", `http://127.0.0.1:${port}`],
      ...["--advertise-client-urls", `http://127.0.0.1:${port}`],
    ],
    kind: "etcd",
    named: /etcd \d/,
  },
  "nats-server": {
    program: "/usr/sbin/nats-server",
    args: (port, _, other) => ["-a", "127.0.0.1", "-p", `${other}`, "-m", `${port}`],
    kind: "nats",
    named: /nats-server \d/,
  },
  syncthing: {
    program: "/usr/bin/syncthing",
    args: (port) => ["--no-browser", `--gui-address=127.0.0.1:${port}`],
    kind: "syncthing",
    named: /syncthing \d/,
  },
};

const PATIENCE = 45_000;

for (const [name, { program, args, kind, named }] of Object.entries(NODES)) {
  testWhere(first, without(program), `the commands work with ${name}`, async () => {
    const [home, folder] = [await mkdtemp(join(tmpdir(), `nodeface-${name}-`)), await newFolder()];
    const port = await freePort();
    const env = { HOME: home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "", NODE_BACKEND: "js" };
    const command = [program, ...args(port, home, await freePort())];
    const daemon = await startDaemon(command, port, env);
    try {
      const PATH = `${dirname(EXECUTABLE)}:${process.env.PATH}`;
      const there = { cwd: folder, bare: true };
      const shell = (line: string) => run(["sh", "-c", line], { PATH, HOME: home }, there);
      // The command may fail while the node is starting.
      let written = await shell(`nodeface init ${daemon.url}`);
      await until(async () => {
        if (written.code !== 0) written = await shell(`nodeface init ${daemon.url}`);
        return written.code === 0;
      }, PATIENCE).catch(() => assert.unreachable(written.stderr));
      assert.match(written.stdout, `Wrote nodeface.yaml for ${daemon.url}: `);
      assert.match(written.stdout, named);
      // On a busy machine, the command shows what it waits for.
      assert.is(written.stderr.replace(/^nodeface: asking .*\n/, ""), "");
      assert.equal(await readdir(folder), ["nodeface.yaml"]);
      let checked = await shell("nodeface check");
      await until(async () => {
        if (checked.code !== 0) checked = await shell("nodeface check");
        return checked.code === 0;
      }, PATIENCE).catch(() => assert.unreachable(checked.stdout + checked.stderr));
      assert.match(checked.stdout, `The kind of the node is ${kind}: it is configured`);
      const service = await start([EXECUTABLE], { HOME: home }, there);
      try {
        const info = async () => await (await fetch(new URL("v1/info", service.url))).json();
        await until(async () => /^(ok|syncing)$/.test((await info()).status), PATIENCE);
      } finally {
        await service.stop();
      }
    } finally {
      await daemon.stop("SIGKILL");
    }
  });
}

first.run();

const newFolder = () => mkdtemp(join(tmpdir(), "nodeface-new-"));
