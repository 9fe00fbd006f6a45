/**
 * Tests each status of a node in `/v1/info`, `/v1/health` and the page's header. The nodes are
 * simulated with recorded responses; `operator-sees.slow.ts` uses real nodes.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createNodeface,
  type Nodeface,
  type NodefaceOptions,
  type NodeOptions,
} from "../../src/index.ts";
import { freePort } from "../_port.ts";
import { until } from "./_daemon.ts";
import { serveFetch } from "./_played-server.ts";
import { play, RECORDINGS } from "./_recorded.ts";
import { see, type Seen } from "./_see.ts";

const sees = suite("the status of a node, as its operator sees it");

interface PlayedOptions extends NodefaceOptions {
  node?: NodeOptions;
}

interface Row {
  node: () => Promise<{ options: PlayedOptions; stop?: () => Promise<unknown> }>;
  seen: Seen;
}

const recorded = (name: string, answers: Record<string, unknown> = {}, gone: string[] = []) => {
  const recording = RECORDINGS.get(name)!;
  const all = Object.entries({ ...recording.answers, ...answers });
  const left = Object.fromEntries(all.filter(([key]) => !gone.includes(key)));
  return play({ ...recording, answers: left });
};

const answersOf = (name: string, key: string) =>
  RECORDINGS.get(name)!.answers[key] as Record<string, unknown>;

/** `make` is called only when the test begins, because the block times must be current. */
const played = (make: () => typeof fetch, kind?: string): Row["node"] => async () => {
  const server = await serveFetch(make());
  return { options: { node: { url: server.url, ...kind && { kind } } }, stop: server.stop };
};

const status =
  (status: number, headers: Record<string, string> = {}, text = ""): typeof fetch => async () =>
    await Promise.resolve(new Response(text, { status, headers }));

const rawNode =
  (onConnection: (socket: import("node:net").Socket) => void): Row["node"] => async () => {
    const server = createServer((socket) => onConnection(socket.on("error", () => {}).resume()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      options: { node: { url, kind: "ethereum", timeout: "300ms" } },
      stop: () => new Promise((resolve) => server.close(resolve)),
    };
  };

const warming = async (_: unknown, init?: RequestInit) => {
  const calls = JSON.parse(String(init?.body ?? "{}"));
  const error = { code: -28, message: "Loading block index..." };
  const refuse = ({ id }: { id?: unknown }) => ({ id, result: null, error });
  const body = Array.isArray(calls) ? calls.map(refuse) : refuse(calls);
  return await Promise.resolve(new Response(JSON.stringify(body), { status: 500 }));
};

const main = { ...answersOf("litecoin", "getblockchaininfo"), chain: "main" };
const connected = { ...answersOf("litecoin", "getnetworkinfo"), connections: 8 };
const synced = {
  blocks: 2_000_000,
  headers: 2_000_000,
  initialblockdownload: false,
  verificationprogress: 0.99999,
};
const ago = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;

const litecoin = (chain: Record<string, unknown>, headAge = 60) =>
  recorded("litecoin", {
    getnetworkinfo: connected,
    getblockchaininfo: { ...main, ...synced, ...chain },
    getblockheader: { time: ago(headAge) },
  });

const ROWS: Readonly<Record<string, Row>> = {
  "starting": {
    node: async () => {
      const { options, stop } = await rawNode(() => {})();
      return { options: { node: { url: options.node!.url!, timeout: "50ms" } }, stop: stop! };
    },
    seen: {
      status: "starting",
      code: "starting",
      reason: "has not responded yet",
      health: 503,
      header: "Starting",
    },
  },
  "warming up": {
    node: played(() => warming),
    seen: {
      status: "starting",
      code: "warming_up",
      reason: /^is warming up/,
      health: 503,
      header: "Starting",
    },
  },
  "ok": {
    node: played(() => litecoin({})),
    seen: { status: "ok", code: undefined, reason: undefined, health: 200, header: "In sync" },
  },
  "ok, but its kind cannot tell if it is in sync": {
    node: played(() => recorded("nats")),
    seen: { status: "ok", code: undefined, reason: undefined, health: 200, header: "Online" },
  },
  "syncing": {
    node: played(() => litecoin({ initialblockdownload: true })),
    seen: {
      status: "syncing",
      code: "syncing",
      reason: /has the latest blocks, but has not finished/,
      health: 503,
      header: "Syncing",
    },
  },
  "far behind its peers": {
    node: played(() => litecoin({ blocks: 1_990_000 })),
    seen: {
      status: "syncing",
      code: "syncing",
      reason: "is 10,000 blocks behind its peers",
      health: 503,
      header: "Syncing",
    },
  },
  "no leader": {
    node: played(
      () =>
        recorded("etcd", {
          "POST /v3/maintenance/status": {
            ...answersOf("etcd", "POST /v3/maintenance/status"),
            leader: undefined,
            errors: ["etcdserver: no leader"],
          },
          "GET /health": { health: "false" },
        }),
    ),
    seen: {
      status: "degraded",
      code: "no_leader",
      reason: "etcd has no leader",
      health: 503,
      header: "No leader",
    },
  },
  "disk full": {
    node: played(
      () =>
        recorded("etcd", {
          "POST /v3/maintenance/status": {
            ...answersOf("etcd", "POST /v3/maintenance/status"),
            errors: ["memberID:10276657743932975437 alarm:NOSPACE "],
          },
          "GET /health": { health: "false" },
        }),
    ),
    seen: {
      status: "degraded",
      code: "alarm",
      reason: /NOSPACE/,
      health: 503,
      header: "Alarm",
    },
  },
  "no block for hours": {
    node: played(() => litecoin({}, 11_550)),
    seen: {
      status: "degraded",
      code: "stalled",
      reason: "no new block for 3 h 12 min",
      health: 503,
      header: "Stalled",
    },
  },
  "no peers": {
    node: played(() =>
      recorded("litecoin", {
        getblockchaininfo: { ...main, ...synced },
        getblockheader: { time: ago(60) },
      })
    ),
    seen: {
      status: "degraded",
      code: "no_peers",
      reason: "has no peers",
      health: 503,
      header: "No peers",
    },
  },
  "requires credentials": {
    node: played(() => status(401, { "www-authenticate": 'Basic realm="jsonrpc"' })),
    seen: {
      status: "degraded",
      code: "unauthorized",
      reason: /^requires credentials \(401\).*bitcoin/,
      health: 503,
      header: "Unauthorized",
    },
  },
  "wrong credentials": {
    node: async () => {
      const { options, stop } = await played(
        () => status(401, { "www-authenticate": 'Basic realm="jsonrpc"' }),
        "bitcoin",
      )();
      process.env.NODEFACE_TEST_LOGIN = "user:wrong";
      const auth = { basic_env: "NODEFACE_TEST_LOGIN" };
      const stopAll = async () => {
        delete process.env.NODEFACE_TEST_LOGIN;
        await stop!();
      };
      return { options: { node: { ...options.node, auth } }, stop: stopAll };
    },
    seen: {
      status: "degraded",
      code: "unauthorized",
      reason: /rejects the credentials.*\(401\)/,
      health: 503,
      header: "Unauthorized",
    },
  },
  "forbidden": {
    node: played(() => status(403), "ethereum"),
    seen: {
      status: "degraded",
      code: "forbidden",
      reason: /403/,
      health: 503,
      header: "Forbidden",
    },
  },
  "wrong kind": {
    node: played(() => recorded("nats"), "bitcoin"),
    seen: {
      status: "degraded",
      code: "wrong_kind",
      reason: /^responds, but not as bitcoin does/,
      health: 503,
      header: "Wrong kind",
    },
  },
  "an unknown kind": {
    node: played(() => status(200, {}, '{"hello":"world"}')),
    seen: {
      status: "degraded",
      code: "unknown_kind",
      reason: "responds, but is not a kind of node that Nodeface knows",
      health: 503,
      header: "Unknown kind",
    },
  },
  "an untrusted certificate": {
    node: async () => {
      const server = await serveFetch(recorded("nats"), certificate());
      return { options: { node: { url: server.url, kind: "nats" } }, stop: server.stop };
    },
    seen: {
      status: "unreachable",
      code: "tls",
      reason: /certificate that is not trusted/,
      health: 503,
      header: "Unreachable",
    },
  },
  "plain http behind https": {
    node: async () => {
      const { options, stop } = await played(() => recorded("nats"), "nats")();
      const url = String(options.node!.url).replace("http:", "https:");
      return { options: { node: { ...options.node, url } }, stop: stop! };
    },
    seen: {
      status: "unreachable",
      code: "not_tls",
      reason: /does not speak TLS; try http:/,
      health: 503,
      header: "Unreachable",
    },
  },
  "an unknown host name": {
    node: () => Promise.resolve({ options: { node: { url: "http://nothing.invalid" } } }),
    seen: {
      status: "unreachable",
      code: "dns",
      reason: /host name/,
      health: 503,
      header: "Unreachable",
    },
  },
  "refused": {
    node: async () => ({ options: { node: { url: `http://127.0.0.1:${await freePort()}` } } }),
    seen: {
      status: "unreachable",
      code: "connection_refused",
      reason: "connection refused",
      health: 503,
      header: "Unreachable",
    },
  },
  "hangs": {
    node: rawNode(() => {}),
    seen: {
      status: "unreachable",
      code: "timeout",
      reason: /within 300 ms/,
      health: 503,
      header: "Unreachable",
    },
  },
  "breaks off": {
    node: rawNode((socket) => socket.on("data", () => socket.resetAndDestroy())),
    seen: {
      status: "unreachable",
      code: "reset",
      reason: /./,
      health: 503,
      header: "Unreachable",
    },
  },
  "answers nonsense": {
    node: played(() => status(200, {}, "<!doctype html><title>Hello</title>"), "ethereum"),
    seen: {
      status: "degraded",
      code: "wrong_kind",
      reason: /^responds, but not as ethereum does$/,
      health: 503,
      header: "Wrong kind",
    },
  },
  "is a file server": {
    node: played(() => status(501, {}, "<!doctype html><title>Error response</title>"), "ethereum"),
    seen: {
      status: "degraded",
      code: "wrong_kind",
      reason: /^responds, but not as ethereum does \(501\)$/,
      health: 503,
      header: "Wrong kind",
    },
  },
  "switches protocols": {
    node: rawNode((socket) =>
      socket.once("data", () => {
        socket.end("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
      })
    ),
    seen: {
      status: "degraded",
      code: "bad_answer",
      reason: /does not speak HTTP/,
      health: 503,
      header: "Bad answer",
    },
  },
  "responds with an invalid status": {
    node: rawNode((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n"))
    ),
    seen: {
      status: "degraded",
      code: "bad_answer",
      reason: /does not speak HTTP/,
      health: 503,
      header: "Bad answer",
    },
  },
  "does not speak HTTP": {
    node: rawNode((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n")),
    seen: {
      status: "degraded",
      code: "bad_answer",
      reason: /HTTP/,
      health: 503,
      header: "Bad answer",
    },
  },
};

for (const [name, { node, seen }] of Object.entries(ROWS)) {
  sees(name, async () => {
    const { options, stop } = await node();
    let nodeface = createNodeface({ ...options, log: () => {} });
    try {
      let last = await see(nodeface);
      const isReached = () => {
        const { status, code, reason } = last;
        const isReason = seen.reason instanceof RegExp
          ? seen.reason.test(String(reason))
          : reason === seen.reason;
        return status === seen.status && code === seen.code && isReason;
      };
      await until(async () => {
        if (isReached()) return true;
        // A node that hangs is `starting` only until its kind has been looked for.
        if (name === "starting") {
          await nodeface.close();
          nodeface = createNodeface({ ...options, log: () => {} });
        }
        last = await see(nodeface);
        return isReached();
      }).catch(() => assert.equal(last, seen));
      assert.equal({ ...last, reason: undefined }, { ...seen, reason: undefined });
      if (seen.reason instanceof RegExp) assert.match(String(last.reason), seen.reason);
      else assert.is(last.reason, seen.reason);
    } finally {
      await nodeface.close();
      await stop?.();
    }
  });
}

sees("a stopped node's last values are shown, then none, and all after a restart", async () => {
  const server = await serveFetch(litecoin({}));
  const nodefaceFor = (stale: "1h" | "1s") =>
    createNodeface({ node: { url: server.url }, info: { stale, ttl: "100ms" }, log: () => {} });
  const keeps = nodefaceFor("1h");
  const drops = nodefaceFor("1s");
  const reaches = (nodeface: Nodeface, status: string) =>
    until(async () => (await see(nodeface)).status === status);
  const infoOf = async (nodeface: Nodeface) =>
    await (await nodeface.fetch(new Request("http://localhost/v1/info"))).json();
  for (const nodeface of [keeps, drops]) {
    await reaches(nodeface, "ok");
    assert.is((await infoOf(nodeface)).height, 2_000_000);
  }
  await server.stop();
  await reaches(keeps, "stale");
  const stale = await infoOf(keeps);
  assert.is(stale.height, 2_000_000);
  assert.ok(Date.parse(stale.updated_at) <= Date.now());
  await reaches(drops, "unreachable");
  const gone = await infoOf(drops);
  assert.equal([gone.height, gone.updated_at, gone.chain_id], [undefined, undefined, undefined]);
  await server.start();
  for (const nodeface of [keeps, drops]) {
    await reaches(nodeface, "ok");
    assert.is((await infoOf(nodeface)).height, 2_000_000);
    await nodeface.close();
  }
  await server.stop();
});

sees("after a move to another chain, no value of the former chain is shown", async () => {
  const server = await serveFetch(recorded("anvil"));
  const nodeface = createNodeface({
    node: { url: server.url },
    info: { ttl: "100ms" },
    log: () => {},
  });
  const info = async () =>
    await (await nodeface.fetch(new Request("http://localhost/v1/info"))).json();
  await until(async () => (await info()).chain_id === "31337");
  server.fetch = recorded("anvil", { eth_chainId: "0x7" });
  await until(async () => (await info()).chain_id === "7");
  await nodeface.close();
  await server.stop();
});

function certificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  execFileSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
    ...["-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=IP:127.0.0.1"],
  ], { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}

sees.run();
