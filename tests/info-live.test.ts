import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createInfo } from "../src/info/monitor.ts";
import type { LiveInfo } from "../src/info/snapshot.ts";
import type { InfoSettings, NodeSettings } from "../src/info/settings.ts";
import type { OwnInfo } from "../src/info/node-or-host.ts";
import { KINDS } from "../src/kinds/index.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const live = suite("live info");

const anvil = play(RECORDINGS.get("anvil")!);

/** A node whose clock and whose health the test holds in its hand. */
function scene(info: InfoSettings | OwnInfo = {}, node: NodeSettings = { kind: "ethereum" }) {
  const said: string[] = [];
  const held = { time: 1e12, asked: 0, up: true, hold: Promise.resolve() };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    held.asked++;
    await held.hold;
    if (!held.up) throw Object.assign(new TypeError("x"), { cause: { code: "ECONNREFUSED" } });
    return await anvil(input, init);
  };
  const service: LiveInfo = createInfo({
    service: { software: "nodeface", version: "1", started_at: "2026-01-01T00:00:00.000Z" },
    node: { url: "http://node.example", ...node },
    info,
    kinds: KINDS,
    log: (message) => said.push(message),
    onError: (error) => assert.unreachable(String(error)),
    fetch,
    now: () => held.time,
    random: () => 1,
  });
  const current = async () => await service.get();
  return { held, said, current, status: async () => (await current()).info.status };
}

live("the node is not asked while nobody asks", async () => {
  const { held, current } = scene();
  assert.is(held.asked, 0);
  await current();
  const asked = held.asked;
  held.time += 3_600_000;
  await Promise.resolve();
  assert.is(held.asked, asked);
});

live("a node of no kind and with nothing to ask is shown as it is told, for good", async () => {
  const { held, current } = scene({ static: { network: "home" } }, { kind: "none" });
  const first = await current();
  assert.equal([first.info.status, first.info.network], ["ok", "home"]);
  assert.is(first.info.api?.software, "nodeface");
  held.time += 3_600_000;
  assert.is(await current(), first);
  assert.is(held.asked, 0);
});

live("one refresh serves all who ask, once in a time to live", async () => {
  const { held, current } = scene();
  const all = await Promise.all(Array.from({ length: 50 }, current));
  assert.is(held.asked, 1);
  assert.is(new Set(all).size, 1);
  held.time += 999;
  await current();
  assert.is(held.asked, 1);
  held.time += 1;
  await Promise.all(Array.from({ length: 50 }, current));
  assert.is(held.asked, 2);
});

live("an unchanged node keeps the very snapshot", async () => {
  const { held, current } = scene();
  const first = await current();
  held.time += 1000;
  assert.is(await current(), first);
});

live("no answer waits for a slow node once there is a snapshot", async () => {
  const { held, current } = scene();
  await current();
  let release = () => {};
  held.hold = new Promise((resolve) => release = resolve);
  held.time += 1000;
  const started = performance.now();
  assert.is((await current()).info.status, "ok");
  assert.ok(performance.now() - started < 50);
  release();
});

live("what a node said last is shown for a while after it stops, then dropped", async () => {
  const { held, said, current, status } = scene({ stale: "60s" });
  await current();
  held.up = false;
  held.time += 1000;
  const { info } = await current();
  assert.is(info.status, "stale");
  assert.is(info.height, 0);
  assert.is(info.updated_at, new Date(1e12).toISOString());
  held.time += 58_999;
  assert.is(await status(), "stale");
  held.time += 1;
  const gone = await current();
  assert.is(gone.info.status, "unreachable");
  assert.not("height" in gone.info);
  assert.is(gone.health.variants.identity?.full.status, 503);
  assert.is(said.length, 1);
  held.up = true;
  held.time += 24_000;
  assert.is(await status(), "ok");
  assert.is(said.length, 2);
});

live("a node that does not answer is asked less and less often, but within 30 s", async () => {
  const { held, current } = scene();
  await current();
  held.up = false;
  const tries: number[] = [];
  for (let second = 0; second < 200; second++) {
    held.time += 1000;
    const before = held.asked;
    await current();
    if (held.asked > before) tries.push(second);
  }
  const gaps = tries.slice(1).map((second, index) => second - tries[index]!);
  assert.equal(gaps.slice(0, 5), [1, 2, 4, 8, 16]);
  assert.ok(Math.max(...gaps) <= 30);
  assert.ok(tries.length < 20);
});

live("a node that starts after the service is recognised when it is there", async () => {
  const { held, said, current, status } = scene({}, {});
  held.up = false;
  assert.is(await status(), "unreachable");
  assert.match(said.join("\n"), /kind unknown: it refuses connections/);
  held.up = true;
  held.time += 1000;
  await current();
  held.time += 1000;
  assert.is(await status(), "ok");
  assert.match(said.join("\n"), /is of the kind ethereum: chain# is "0x7a69"/);
});

live("a source fails alone", async () => {
  const { current } = scene({
    sources: { more: { get: "/none" } },
    fields: { more: "more#/x" },
    hide: ["software"],
    static: { name: "mine" },
  });
  const { info } = await current();
  assert.is(info.version, "1.7.1");
  assert.is(info.name, "mine");
  assert.not("software" in info);
  assert.not("more" in info);
});

live("a host may tell all by a function of its own", async () => {
  let height = 1n << 60n;
  const { held, current } = scene(() => ({ software: "mine", height, synced: false }), {});
  const { info, representation } = await current();
  assert.equal([info.software, info.status], ["mine", "syncing"]);
  assert.match(
    new TextDecoder().decode(representation.variants.identity!.full.body),
    '"height": 1152921504606846976,',
  );
  height++;
  held.time += 1000;
  assert.is((await current()).info.height, height);
  assert.is(held.asked, 0);
});

live.run();
