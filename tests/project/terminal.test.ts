/**
 * Tests the output of the command, on a terminal and without one. The program `script` of
 * util-linux simulates the terminal.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { freePort } from "../_port.ts";
import { COMMANDS, launch, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";

const terminal = suite("the output on a terminal");

const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
terminal.after(() => rmSync(folder, { recursive: true }));

const SCRIPT = "/usr/bin/script";
const missing = without(SCRIPT);

const onTerminal = (args: string, env: Record<string, string> = {}) =>
  launch(SCRIPT, ["-qec", `${COMMANDS.Bun.join(" ")} ${args}`, "/dev/null"], {
    TERM: "xterm",
    NO_COLOR: "",
    ...env,
  }, {});

/** A busy machine may take so long that `check` shows a line, which it erases later. */
const withoutProgress = (text: string) =>
  text.replaceAll(new RegExp("\r\x1b\\[K(?:[^\r\n]* … \\d+ s)?", "g"), "");

/** @param use gets a node that does not respond before `release` is called */
async function withHeldServer(
  text: string,
  use: (url: string, release: () => void) => Promise<void>,
): Promise<void> {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const server = createServer(async (_, response) => {
    await held;
    response.end(text);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, release);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const NATS = '{"server_id":"A","version":"2.9.10"}';

testWhere(terminal, missing, "check prints colours, and its exit code stays the same", async () => {
  const { stdout, code } = await onTerminal("check http://127.0.0.1:2").ended;
  assert.is(code, 1);
  const shown = stdout.replaceAll("\x1b[", "<").replaceAll(/(<\d+)m/g, "$1>");
  assert.match(shown, "<1># Verdict<22>");
  assert.match(shown, /<31>- the node is unreachable: .*<39>/);
});

for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
  testWhere(terminal, missing, `with ${JSON.stringify(env)}, no colours are printed`, async () => {
    const { stdout } = await onTerminal("check http://127.0.0.1:2", env).ended;
    assert.match(stdout, "# Verdict");
    assert.not.match(withoutProgress(stdout), "\x1b");
  });
}

testWhere(terminal, missing, "the JSON output has no colours", async () => {
  const { stdout } = await onTerminal("check http://127.0.0.1:2 --json").ended;
  assert.is(JSON.parse(withoutProgress(stdout)).ok, false);
});

for (const [what, ...args] of [["with a configuration file", "--config"], ["without one"]]) {
  testWhere(terminal, missing, `a service ends with its terminal, ${what}`, async () => {
    const config = join(folder, "nodeface.yaml");
    writeFileSync(config, "metrics: true\n");
    const port = await freePort();
    const named = args.length > 0 ? [...args, config] : [];
    const { child, ended } = onTerminal(["--port", String(port), ...named].join(" "));
    const isUp = () => fetch(`http://127.0.0.1:${port}/v1/ready`).then(() => true, () => false);
    await until(isUp);
    child.kill("SIGKILL");
    await ended;
    await until(async () => !await isUp());
  });
}

testWhere(
  terminal,
  missing,
  "while check waits for a slow node, it shows a line that it later erases",
  () =>
    withHeldServer(NATS, async (url, release) => {
      const { ended, printed } = onTerminal(`check ${url} --kind nats`);
      await until(() => Promise.resolve(/asking .* … \d+ s/.test(printed.stdout)));
      release();
      const { stdout } = await ended;
      assert.match(stdout, new RegExp(`\\r\\x1b\\[Kasking ${url} … \\d+ s\\r\\x1b\\[K`));
    }),
);

terminal(
  "if the output is not a terminal, there are no colours and one plain progress line",
  () =>
    withHeldServer(NATS, async (url, release) => {
      const [bun, ...args] = COMMANDS.Bun;
      const { ended, printed } = launch(bun!, [...args, "check", url, "--kind", "nats"], {}, {});
      await until(() => Promise.resolve(printed.stderr.includes("asking")));
      release();
      const { stdout, stderr } = await ended;
      for (const control of ["\x1b", "\r"]) assert.not.ok((stdout + stderr).includes(control));
      // On a busy machine, an earlier step may take a second, too.
      assert.match(stderr, /^(nodeface: (asking http:\S+|reading the description) …\n)+$/);
      const lines = stderr.split("\n");
      assert.is(new Set(lines).size, lines.length, "a step has one line");
    }),
);

terminal("the log says that a large description is being read, and when it was read", () => {
  const document = JSON.stringify({ openapi: "3.1.0", info: { title: "A", version: "1" } });
  return withHeldServer(document, async (url, release) => {
    const place = `${url}/openapi.json`;
    const service = await start([...COMMANDS.Bun, "--spec", place]);
    try {
      await until(() => Promise.resolve(service.stderr().includes("is being read")));
      release();
      await until(() => Promise.resolve(/was read in/.test(service.stderr())));
    } finally {
      const { stderr } = await service.stop();
      assert.match(stderr, `info  the description ${place} is being read\n`);
      assert.match(stderr, /info {2}the description was read in \d+\.\d s\n/);
    }
  });
});

terminal(
  "the log does not say that a description was read if it is none",
  () =>
    withHeldServer("no description", async (url, release) => {
      const service = await start([...COMMANDS.Bun, "--spec", `${url}/openapi.json`]);
      try {
        await until(() => Promise.resolve(service.stderr().includes("is being read")));
        release();
        await until(() => Promise.resolve(/ error .*openapi\.json/.test(service.stderr())));
        await until(async () =>
          !(await (await fetch(`${service.url}spec.json`)).text()).includes("is being read")
        );
      } finally {
        const { stderr } = await service.stop();
        assert.not.match(stderr, "was read in");
      }
    }),
);

terminal.run();
