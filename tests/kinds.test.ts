/**
 * Tests the info objects for recorded node responses. On Deno and Bun, the tests cover a sample of
 * the recordings.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LightSignal } from "../src/abort-signal.ts";
import { KINDS } from "../src/generated/kinds.js";
import { detectKind } from "../src/info/detect-kind.ts";
import { setScene } from "./_scene.ts";
import { contextFor } from "./_sources.ts";
import { sampleOf } from "./_runtime.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const kinds = suite("kinds");

/** The simulated time for recordings that do not state a time. */
const NOW = "2026-11-21T10:00:00Z";

kinds(
  "every kind has recordings, and each recording states its origin or that it is constructed",
  () => {
    const recorded = new Set([...RECORDINGS.values()].map(({ kind }) => kind));
    assert.equal([...recorded].sort(), Object.keys(KINDS));
    for (const { recorded } of RECORDINGS.values()) {
      assert.match(recorded, /run here on|https:\/\/|^constructed: \w+\.json/);
    }
  },
);

kinds("ethereum: each network with blocks in time has more than its genesis block", () => {
  const { health } = KINDS.ethereum!;
  const genesis = new RegExp(String(health!.rules![0]!.when["chain#"]));
  for (const [id, { quiet }] of Object.entries(health!.networks!)) {
    if (quiet) assert.match(`0x${Number(id).toString(16)}`, genesis, id);
  }
});

for (const [name, recording] of sampleOf([...RECORDINGS])) {
  kinds(`${name} is detected as ${recording.kind} and as no other kind`, async () => {
    const played = contextFor("http://node.example", { kinds: KINDS, fetch: play(recording) });
    const found = await detectKind(played, new LightSignal());
    assert.is(found.kind, recording.kind, JSON.stringify(found));
  });

  kinds(`the info object of ${name} is as expected`, async () => {
    const { held, info } = setScene({ fetch: play(recording), node: { kind: recording.kind } });
    held.date = Date.parse(recording.now ?? NOW);
    assert.equal(await info(), recording.info);
  });

  kinds(
    `${name} is stale and then unreachable while it is down, and recovers afterwards`,
    async () => {
      const { held, pass, info } = setScene({ fetch: play(recording), node: {} });
      held.date = Date.parse(recording.now ?? NOW);
      const before = await info();
      const { status, status_code: _code, status_reason: _reason, synced: _synced, ...values } =
        before;
      const at = new Date(recording.now ?? NOW).toISOString();
      const seen = ["software", "version", "network", "chain_id", "height"].filter((key) =>
        values[key] !== undefined
      ).map((key) => [key, values[key]]);
      const lastSeen = seen.length > 0 ? { ...Object.fromEntries(seen), at } : undefined;
      held.failure = "ECONNREFUSED";
      // A minute less one second.
      for (const seconds of [1, 9, 20, 20, 8, 1]) {
        pass(seconds * 1000);
        const { status, status_code: _, status_reason: __, updated_at, synced: ___, ...last } =
          await info();
        assert.is(status, "stale");
        assert.equal(last, values);
        assert.is(updated_at, new Date(recording.now ?? NOW).toISOString());
      }
      const { static: fixed = {} } = KINDS[recording.kind]!;
      // After 90 minutes, every cached response of every kind has expired.
      for (const minutes of [1 / 60, 1, 8, 1, 20, 30, 30]) {
        pass(minutes * 60_000);
        const { status, status_code, status_reason: _, last_seen, ...last } = await info();
        assert.equal([status, status_code], ["unreachable", "connection_refused"]);
        assert.equal(last, fixed);
        assert.equal(last_seen, lastSeen);
      }
      held.failure = undefined;
      held.date = Date.parse(recording.now ?? NOW);
      let after = await info();
      for (let waited = 0; after.status !== status; waited++) {
        assert.ok(waited < 35, `the status is still ${after.status}: ${after.status_reason}`);
        pass(1000);
        held.date = Date.parse(recording.now ?? NOW);
        after = await info();
      }
      assert.equal(after, before);
    },
  );
}

kinds("a node that reports no initial download is in sync only if it has a block", async () => {
  const { answers, ...others } = RECORDINGS.get("dogecoin")!;
  const chain = answers.getblockchaininfo as Record<string, unknown>;
  const infoOf = async (more: object) => {
    const fetch = play({
      ...others,
      answers: { ...answers, getblockchaininfo: { ...chain, ...more } },
    });
    const { held, info } = setScene({ fetch, node: { kind: "bitcoin" } });
    held.date = Date.parse(others.now!);
    const { status, status_reason, synced } = await info();
    return [status, status_reason, synced];
  };
  const fresh = { blocks: 0, headers: 0 };
  assert.equal(await infoOf(fresh), ["syncing", "has only the genesis block", false]);
  assert.equal(await infoOf({ ...fresh, chain: "regtest" }), ["ok", undefined, true]);
  const behind = await infoOf({ headers: 5_900_010 });
  assert.equal(behind, ["syncing", "is 10 blocks behind its peers", false]);
});

for (
  const [name, kind, changed] of [
    ["litecoin", "bitcoin", {
      getblockchaininfo: { chain: "regtest", initialblockdownload: true, verificationprogress: 1 },
    }],
    ["handshake", "handshake", {
      "GET /": { network: "regtest", chain: { height: 0, tip: "", progress: 0 } },
    }],
  ] as const
) {
  kinds(`a ${name} node that nobody asks for blocks is in sync with its own network`, async () => {
    const recording = RECORDINGS.get(name)!;
    const answers = recording.answers as Record<string, Record<string, unknown>>;
    const [[asked, more]] = Object.entries(changed) as [[string, object]];
    const fetch = play({
      ...recording,
      answers: { ...answers, [asked]: { ...answers[asked], ...more } },
    });
    const { info, pass } = setScene({ fetch, node: { kind } });
    await info();
    pass(2 * 86_400_000);
    const { network, status, synced } = await info();
    assert.equal([network, status, synced], ["regtest", "ok", true]);
  });
}

kinds("a query takes its parameters from the latest or from a remembered response", async () => {
  const recording = RECORDINGS.get("dogecoin")!;
  const answer = play(recording);
  const asked: unknown[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    for (const call of [JSON.parse(String(init?.body ?? "[]"))].flat()) {
      if (call.method === "getblockheader") asked.push(call.params);
    }
    return answer(url, init);
  };
  const { bestblockhash } = recording.answers.getblockchaininfo as { bestblockhash: string };
  const { info, pass } = setScene({ fetch, node: { kind: "bitcoin" } });
  await info();
  pass(2000);
  await info();
  assert.equal(asked, [[bestblockhash], [bestblockhash]]);
  const without = { ...recording, answers: { ...recording.answers, getblockchaininfo: {} } };
  const scene = setScene({ fetch: play(without), node: { kind: "bitcoin" } });
  const { head_at, status } = await scene.info();
  assert.equal([head_at, status], [undefined, "ok"], "a missing optional value is not an error");
});

kinds.run();
