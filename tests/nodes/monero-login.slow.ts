/** Tests HTTP Digest with a real monerod (`apt-get install monero`). */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requestJson } from "../../src/info/sources.ts";
import { testWhere, without } from "../_needs.ts";
import { freePort } from "../_port.ts";
import { contextFor, failure, kindsRefusing, within } from "../_sources.ts";
import { type Daemon, startDaemon } from "./_daemon.ts";

const login = suite("monerod with a login");

const MONEROD = "/usr/bin/monerod";
const MISSING = without(MONEROD);

let folder: string;
let node: Daemon;

login.before(async () => {
  if (MISSING) return;
  folder = await mkdtemp(join(tmpdir(), "nodeface-"));
  await writeFile(join(folder, "right"), "op:geheim\n");
  await writeFile(join(folder, "wrong"), "op:other\n");
  const [rpc, p2p, zmq] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
  ]);
  node = await startDaemon([
    MONEROD,
    "--regtest",
    "--offline",
    "--non-interactive",
    "--data-dir",
    join(folder, "data"),
    "--rpc-login",
    "op:geheim",
    "--rpc-bind-port",
    `${rpc}`,
    "--p2p-bind-port",
    `${p2p}`,
    "--zmq-rpc-bind-port",
    `${zmq}`,
  ], rpc);
});

login.after(async () => {
  await node?.stop("SIGKILL");
  if (folder) await rm(folder, { recursive: true });
});

const KINDS = kindsRefusing({
  monero: {
    refusal: { header: "www-authenticate", pattern: 'realm="monero-rpc"' },
    example: { digest_file: "/path/to/login" },
  },
});

const CALLS = ["get_info", "get_version", "get_last_block_header"].map((method) => ({
  method,
  params: "[]",
}));

testWhere(
  login,
  MISSING,
  "sequential and concurrent calls succeed",
  async () => {
    const context = contextFor(node.url, {
      auth: { digest_file: join(folder, "right") },
    });
    const source = { get: "/get_height" };
    for (let round = 0; round < 10; round++) {
      const outcomes = await context.rpc(CALLS, { ...within(), path: "/json_rpc" });
      for (const outcome of outcomes) {
        assert.is(outcome.error, undefined, JSON.stringify(outcome));
      }
      const heights = await Promise.all(
        [1, 2, 3].map(() => requestJson(context, source, "/get_height", within())),
      );
      for (const { value } of heights) {
        assert.is(
          (value as { height: number }).height,
          1,
        );
      }
    }
  },
);

testWhere(
  login,
  MISSING,
  "without a login, the error names the kind and the setting to add",
  async () => {
    const { code, message, hint, looksLike } = await failure(
      requestJson(
        contextFor(node.url, { kinds: KINDS }),
        { get: "/get_info" },
        "/get_info",
        within(),
      ),
    );
    assert.equal([code, message, hint, looksLike], [
      "unauthorized",
      "requires credentials (401), like monero; set node.auth",
      'set "auth: { digest_file: /path/to/login }" below node',
      "monero",
    ]);
  },
);

testWhere(
  login,
  MISSING,
  "the error tells a wrong login from a login for another scheme",
  async () => {
    const of = async (
      configured: { digest_file: string } | { basic_file: string },
    ) =>
      (await failure(
        requestJson(
          contextFor(node.url, { auth: configured }),
          { get: "/get_info" },
          "/get_info",
          within(),
        ),
      )).message;
    assert.is(
      await of({ digest_file: join(folder, "wrong") }),
      "rejects the credentials of node.auth (401)",
    );
    assert.is(
      await of({ basic_file: join(folder, "right") }),
      "requires HTTP digest; set node.auth.digest_file",
    );
  },
);

login.run();
