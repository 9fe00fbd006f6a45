import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LightSignal } from "../src/abort-signal.ts";
import { KINDS } from "../src/generated/kinds.js";
import { detectKind } from "../src/info/detect-kind.ts";
import { type NodeStatus, REMEDIES } from "../src/info/status.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { contextFor } from "./_sources.ts";

const detect = suite("detecting a kind");

const folder = mkdtempSync(join(tmpdir(), "nodeface-"));

/** The built-in kinds. A kind that reads its secret from a file gets a file in `folder`. */
const WITH_SECRETS: Readonly<Record<string, Kind>> = Object.fromEntries(
  Object.entries(KINDS).map(([name, kind]) => {
    const file = join(folder, name);
    writeFileSync(file, `user:secret-of-${name}`);
    const auth = kind.auth?.files && { ...kind.auth, files: [{ basic_file: file }] };
    return [name, { ...kind, ...(auth && { auth }) }];
  }),
);

async function sentTo(refuse: (method: string) => Record<string, string>): Promise<string[]> {
  const sent = new Set<string>();
  const played = contextFor("http://127.0.0.1:1", {
    kinds: WITH_SECRETS,
    fetch: (_, init) => {
      const authorization = new Headers(init?.headers).get("authorization");
      const [, secret] = /^Basic (.*)$/.exec(authorization ?? "") ?? [];
      if (secret) sent.add(atob(secret).replace("user:secret-of-", ""));
      return Promise.resolve(
        new Response("", { status: 401, headers: refuse(init?.method ?? "GET") }),
      );
    },
  });
  await detectKind(played, new LightSignal());
  return [...sent];
}

const BITCOIN = { "www-authenticate": 'Basic realm="jsonrpc"' };
const SYNCTHING = { "x-syncthing-version": "v1.19.2" };

detect("a local secret is sent if the node's refusal is typical of its kind", async () => {
  assert.equal(await sentTo(() => BITCOIN), ["bitcoin"]);
  assert.equal(await sentTo(() => SYNCTHING), ["syncthing"]);
});

detect("no secret is sent if one or several refusals match two kinds", async () => {
  assert.equal(await sentTo(() => ({ ...BITCOIN, ...SYNCTHING })), []);
  assert.equal(await sentTo((method) => method === "GET" ? SYNCTHING : BITCOIN), []);
});

detect("no secret is sent if the refusals only resemble those of a kind", async () => {
  for (
    const challenge of [
      'Basic realm="evil", foo="Basic realm=\\"jsonrpc\\""',
      'Bearer realm="jsonrpc"',
    ]
  ) {
    assert.equal(await sentTo(() => ({ "www-authenticate": challenge })), [], challenge);
  }
});

detect("a node has the time that node.timeout gives it to say which kind it is", async () => {
  const { setTimeout } = globalThis;
  const reasonWith = async (timeout: number) => {
    const fetch = () => new Promise<never>(() => {});
    const played = contextFor("http://127.0.0.1:1", { kinds: KINDS, timeout, fetch });
    // Each timer ends at once; the reason tells the time that it had.
    globalThis.setTimeout = ((end: () => void) => setTimeout(end, 0)) as typeof setTimeout;
    const found = await detectKind(played, new LightSignal());
    globalThis.setTimeout = setTimeout;
    return (found as { status: NodeStatus }).status.reason;
  };
  assert.is(await reasonWith(500), "did not finish its response within 3 s");
  assert.is(await reasonWith(8000), "did not finish its response within 8 s");
});

detect("if a refusal matches two kinds, no secret is sent, and the error names both", async () => {
  const challenge = { "www-authenticate": 'Basic realm="node"' };
  assert.equal(await sentTo(() => challenge), []);
  const fetch = () => Promise.resolve(new Response("", { status: 401, headers: challenge }));
  const played = contextFor("http://127.0.0.1:1", { kinds: KINDS, fetch });
  const found = await detectKind(played, new LightSignal());
  const { reason, looksLike } = (found as { status: NodeStatus }).status;
  assert.is(reason, "requires credentials (401), like bcoin or handshake; set node.auth");
  assert.is(looksLike, undefined);
});

detect(
  "what is no node of a known kind is of an unknown kind, and the advice says what to do",
  async () => {
    for (
      const [text, reason] of [
        ["<h1>It works</h1>", 'returned something other than JSON: "<h1>It works</h1>"'],
        ["{}", "responds, but is not a kind of node that Nodeface knows"],
      ] as const
    ) {
      const fetch = () => Promise.resolve(new Response(text));
      const played = contextFor("http://127.0.0.1:1", { kinds: KINDS, fetch });
      const found = await detectKind(played, new LightSignal());
      const { status } = found as { status: NodeStatus };
      assert.equal([status.code, status.reason], ["unknown_kind", reason]);
      for (const setting of ["node.url", "node.kind", '"none"', "info"]) {
        assert.match(status.hint!, setting);
        assert.match(REMEDIES.unknown_kind!, setting);
      }
    }
  },
);

detect("a node that warms up is starting, even if several kinds may fit", async () => {
  const error = { code: -28, message: "Loading block index…" };
  const fetch = () => Promise.resolve(Response.json({ result: null, error, id: 0 }));
  const kinds = { ...KINDS, mine: { ...KINDS.bitcoin!, extends: "bitcoin" } };
  const played = contextFor("http://127.0.0.1:1", { kinds, fetch });
  const { status } = await detectKind(played, new LightSignal());
  const reason = "is warming up, and responds like bitcoin or mine";
  assert.equal(status, { status: "starting", code: "warming_up", reason });
});

detect("a node of Substrate with an EVM is of the kind substrate", async () => {
  const results: Record<string, unknown> = {
    eth_chainId: "0x504",
    system_health: { peers: 40, isSyncing: false, shouldHavePeers: true },
  };
  const played = contextFor("http://127.0.0.1:1", {
    kinds: KINDS,
    fetch: async (_, init) => {
      if (init?.method !== "POST") return new Response("", { status: 405 });
      const respond = ({ id, method }: { id: number; method: string }) => {
        const result = results[method];
        const error = { code: -32601, message: "Method not found" };
        return { jsonrpc: "2.0", id, ...result === undefined ? { error } : { result } };
      };
      const content = await new Response(init.body).json();
      return Response.json(Array.isArray(content) ? content.map(respond) : respond(content));
    },
  });
  assert.is((await detectKind(played, new LightSignal())).kind, "substrate");
});

detect.run();
