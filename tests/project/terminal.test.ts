/**
 * Tests the output of the command, on a terminal and without one. The program `script` of
 * util-linux simulates the terminal.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { COMMANDS, run, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";

const terminal = suite("the output on a terminal");

const SCRIPT = "/usr/bin/script";
const missing = without(SCRIPT);

/**
 * The delay of a response of the node, in milliseconds. The delay is long enough for a progress
 * line, but shorter than the timeout.
 */
const SLOW = 1400;

const onTerminal = (args: string, env: Record<string, string> = {}) =>
  run([SCRIPT, "-qec", `${COMMANDS.Bun.join(" ")} ${args}`, "/dev/null"], {
    TERM: "xterm",
    NO_COLOR: "",
    ...env,
  });

async function withSlowNode(use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => {
    setTimeout(() => response.end('{"server_id":"A","version":"2.9.10"}'), SLOW);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

testWhere(terminal, missing, "check prints colours, and its exit code stays the same", async () => {
  const { stdout, code } = await onTerminal("check http://127.0.0.1:2");
  assert.is(code, 1);
  const shown = stdout.replaceAll("\x1b[", "<").replaceAll(/(<\d+)m/g, "$1>");
  assert.match(shown, "<1># Verdict<22>");
  assert.match(shown, /<31>- the node is unreachable: .*<39>/);
});

for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
  testWhere(terminal, missing, `with ${JSON.stringify(env)}, no colours are printed`, async () => {
    const { stdout } = await onTerminal("check http://127.0.0.1:2", env);
    assert.match(stdout, "# Verdict");
    assert.not.match(stdout, "\x1b");
  });
}

testWhere(terminal, missing, "the JSON output has no colours", async () => {
  const { stdout } = await onTerminal("check http://127.0.0.1:2 --json");
  assert.is(JSON.parse(stdout).ok, false);
});

testWhere(
  terminal,
  missing,
  "while check waits for a slow node, it shows a line that it later erases",
  () =>
    withSlowNode(async (url) => {
      const { stdout } = await onTerminal(`check ${url} --kind nats`);
      assert.match(stdout, `\r\x1b[Kasking ${url} … 1 s\r\x1b[K`);
    }),
);

terminal(
  "if the output is not a terminal, there are no colours and one plain progress line",
  () =>
    withSlowNode(async (url) => {
      const { stdout, stderr } = await run([...COMMANDS.Bun, "check", url, "--kind", "nats"]);
      for (const control of ["\x1b", "\r"]) assert.not.ok((stdout + stderr).includes(control));
      // On a busy machine, an earlier step may take a second, too.
      assert.match(stderr, /^(nodeface: (asking http:\S+|reading the description) …\n)+$/);
      const lines = stderr.split("\n");
      assert.is(new Set(lines).size, lines.length, "a step has one line");
    }),
);

terminal("the log says that a large description is being read, and when it was read", async () => {
  const document = JSON.stringify({ openapi: "3.1.0", info: { title: "A", version: "1" } });
  const server = createServer((_, response) => {
    setTimeout(() => response.end(document), SLOW);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const place = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`;
  const service = await start([...COMMANDS.Bun, "--spec", place]);
  try {
    await until(() => Promise.resolve(/was read in/.test(service.stderr())));
  } finally {
    const { stderr } = await service.stop();
    server.closeAllConnections();
    server.close();
    assert.match(stderr, `info  the description ${place} is being read\n`);
    assert.match(stderr, /info {2}the description was read in \d+\.\d s\n/);
  }
});

terminal.run();
