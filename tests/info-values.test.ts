import { suite } from "uvu";
import * as assert from "uvu/assert";
import { convert, isKnown } from "../src/info/fields.ts";
import { NodeMemory } from "../src/info/node-memory.ts";
import { LogMemory, StateLog } from "../src/info/state-log.ts";
import type { NodeStatus } from "../src/info/status.ts";
import { formatJson } from "../src/json/lossless.ts";
import { milliseconds } from "../src/units.ts";
import { readFields } from "../src/info/source-cache.ts";
import type { FieldOptions } from "../src/kinds/kind.ts";
import type { Conversion } from "../src/kinds/parts.ts";

const values = suite("info values");

const NOW = Date.parse("2026-01-02T00:00:00Z");
const TABLE: [conversion: Conversion, values: unknown[], expected: unknown][] = [
  ["hex", ["0x7a69"], 31337],
  ["hex", ["0xffffffffffffffff"], 18446744073709551615n],
  ["hex", [0xf9beb4d9], "0xf9beb4d9"],
  ["hex", ["7a69"], undefined],
  ["hex", ["1e400"], undefined],
  ["hex", [`0x${"f".repeat(257)}`], undefined],
  ["not", [false], true],
  ["not", [{ startingBlock: "0x0" }], false],
  ["not", [0], true],
  ["count", [[1, 2]], 2],
  ["count", [{ a: 1 }], 1],
  ["count", [5], undefined],
  [{ count: "/up" }, [{ a: { up: true }, b: { up: false } }], 1],
  [{ match: "^Geth/v([^-]+)" }, ["Geth/v1.2.3-stable"], "1.2.3"],
  [{ match: "[0-9]+" }, ["a12"], "12"],
  [{ match: "x" }, ["y"], undefined],
  ["time", [1767312000], "2026-01-02T00:00:00.000Z"],
  ["time", [1767312000000], "2026-01-02T00:00:00.000Z"],
  ["time", ["1767312000000000"], "2026-01-02T00:00:00.000Z"],
  ["time", ["2026-01-02T01:00:00+01:00"], "2026-01-02T00:00:00.000Z"],
  ["time", [0], undefined],
  ["time", ["0001-01-01T00:00:00Z"], undefined],
  ["time", ["soon"], undefined],
  ["uptime", [86400], "2026-01-01T00:00:00.000Z"],
  ["uptime", ["x"], undefined],
  ["sum", [1, 2], 3],
  ["sum", [9007199254740993n, 1], 9007199254740994n],
  ["sum", ["9007199254740993", 1], 9007199254740994n],
  ["sum", [0.5, 1], 1.5],
  [{ add: -1 }, [1], 0],
  [{ add: -1 }, ["x"], undefined],
  ["number", ["18446744073709551614"], 18446744073709551614n],
  ["number", ["1e9"], undefined],
  ["number", ["9".repeat(41)], undefined],
  ["hex", [1.5], undefined],
  ["hex", [-1], undefined],
  ["time", ["0x6955b900"], "2026-01-01T00:00:00.000Z"],
  ["time", ["2026-01-02T00:00:00.123456789Z"], "2026-01-02T00:00:00.123Z"],
  ["time", ["2024"], undefined],
  ["time", ["2026"], undefined],
  ["time", [1e305], undefined],
  ["time", [{ toString: 1 }], undefined],
  ["uptime", [1e305], undefined],
  ["uptime", [8640000000001], undefined],
  ["uptime", [-1], undefined],
  [{ match: "." }, [{ toString: 1 }], undefined],
  [{ join: "." }, [{ toString: 1 }, 1], undefined],
  ["sum", [{ toString: 1 }], undefined],
  ["sum", [1, "x"], undefined],
  [{ join: "." }, [1, 2, 3], "1.2.3"],
  [{ times: 0.001 }, [180_000], 180],
  [{ times: 0.1 }, ["3"], 0.3],
  [{ times: 1000 }, [1e307], undefined],
  [{ times: 2 }, ["x"], undefined],
  [{ uptime: "ms" }, [86_400_000], "2026-01-01T00:00:00.000Z"],
  [{ uptime: "h" }, ["24"], "2026-01-01T00:00:00.000Z"],
  [{ uptime: "h" }, [1e9], undefined],
  [{ uptime: "ms" }, [-1], undefined],
];
for (const [conversion, given, expected] of TABLE) {
  values(`${JSON.stringify(conversion)}: ${formatJson(given)} becomes ${String(expected)}`, () => {
    assert.equal(convert(given, conversion, { receivedAt: NOW }), expected);
  });
}

values("a start time that is computed from an uptime ignores small deviations", () => {
  const previous = "2026-01-01T00:00:00.000Z";
  assert.is(convert([86399], "uptime", { receivedAt: NOW, previous }), previous);
  assert.is(convert([60], "uptime", { receivedAt: NOW, previous }), "2026-01-01T23:59:00.000Z");
});

values("placeholders such as null count as unknown values", () => {
  for (const value of [undefined, null, "", 18446744073709551615n]) assert.not(isKnown(value));
  for (const value of [0, false, "0"]) assert.ok(isKnown(value));
});

values("identifiers are strings, height and peers are numbers, synced is true or false", () => {
  const fields: Record<string, FieldOptions> = {
    chain_id: { from: "s#/id" },
    version: { from: "s#/id" },
    height: { from: "s#/height" },
    peers: { from: "s#/name" },
    synced: { from: "s#/name" },
    other: { from: ["s#/none", "s#/height"] },
    hidden: { from: "s#/id", unless: "s#/yes" },
  };
  const taken = new Map<string, unknown>([
    ["/id", 1],
    ["/height", "18446744073709551614"],
    ["/name", "many"],
    ["/yes", true],
  ]);
  assert.equal(readFields(fields, new Map([["s", { values: taken, date: NOW }]]), {}), {
    chain_id: "1",
    version: "1",
    height: 18446744073709551614n,
    other: "18446744073709551614",
  });
});

values(
  "a sum or a joined text of which a part is missing is not shown, rather than a wrong one",
  () => {
    const from: FieldOptions["from"] = ["a#/in", "b#/out"];
    const fields: Record<string, FieldOptions> = {
      sum: { from, as: "sum" },
      joined: { from, as: { join: "." } },
      first: { from },
    };
    const of = (name: string, value: unknown) => ({ values: new Map([[name, value]]), date: NOW });
    const inbound = of("/in", 3);
    for (const outbound of [[], [["b", of("/out", null)] as const]]) {
      assert.equal(readFields(fields, new Map([["a", inbound], ...outbound]), {}), { first: 3 });
    }
    const both = new Map([["a", inbound], ["b", of("/out", 0)]]);
    assert.equal(readFields(fields, both, {}), { sum: 3, joined: "3.0", first: 3 });
  },
);

values("a duration must have a unit", () => {
  assert.is(milliseconds("1.5s"), 1500);
  assert.is(milliseconds("2m"), 120_000);
  assert.throws(() => milliseconds("5" as "5s"), /2s/);
});

const NO_FAULTS = { omitted: new Map(), remarks: new Map() };

values("a start time that moves backwards is logged once an hour, unless it is hidden", () => {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const told = (hide: string[]) => {
    const stateLog = new StateLog({ label: "node", log, hide, memory: new LogMemory() });
    lines.length = 0;
    // If a node reports its uptime in milliseconds, but the value is read as seconds, the computed
    // start time moves backwards.
    for (let second = 0; second < 7200; second += 5) {
      const started_at = new Date(NOW + second * 1000 - (100 + second) * 1_000_000).toISOString();
      const respondedAt = { monotonic: second * 1000, date: NOW + second * 1000 };
      const news = { changes: [], seen: undefined, started_at, respondedAt };
      stateLog.note({ status: { status: "ok" }, news, ...NO_FAULTS }, 0);
    }
    return lines.length;
  };
  assert.is(told([]), 2);
  assert.match(
    lines[0]!,
    /^node reports an earlier start than before: "20\d\d-.*Z", was 20\d\d-.*Z; if its uptime is in milliseconds, write \{ uptime: ms \}$/,
  );
  assert.is(told(["started_at"]), 0);
});

values("a start time that moves on is logged, since nobody may have seen the node down", () => {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const stateLog = new StateLog({ label: "node", log, hide: [], memory: new LogMemory() });
  const [first, later] = ["2026-01-02T00:00:00Z", "2026-01-02T01:00:00Z"];
  for (const [second, started_at] of [first, first, later, later].entries()) {
    const respondedAt = { monotonic: second * 1000, date: NOW + second * 1000 };
    const news = { changes: [], seen: undefined, started_at, respondedAt };
    stateLog.note({ status: { status: "ok" }, news, ...NO_FAULTS }, 0);
  }
  assert.equal(lines.filter((line) => line.includes("restarted")), [
    `node has been restarted, at "${later}"`,
  ]);
});

values("the duration of a status includes the time before a reload of the configuration", () => {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const memory = new LogMemory();
  const at = (minute: number, status: NodeStatus, of: StateLog) =>
    of.note({ status, ...NO_FAULTS }, minute * 60_000);
  const before = new StateLog({ label: "node", log, hide: [], memory });
  at(0, { status: "ok" }, before);
  at(10, { status: "degraded", code: "no_peers", reason: "no peers" }, before);
  const after = new StateLog({ label: "node", log, hide: [], memory });
  at(15, { status: "degraded", code: "no_peers", reason: "no peers" }, after);
  at(30, { status: "ok" }, after);
  const advice = "no peers; check the node's firewall, listening port and peer list";
  assert.equal(lines, [
    `node is degraded (after 10 min of ok): ${advice}`,
    `node is degraded: ${advice}`,
    "node is ok again, after 20 min of degraded (no peers)",
  ]);
});

values("the log says when a node that has warmed up is ok", () => {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const stateLog = new StateLog({ label: "node", log, hide: [], memory: new LogMemory() });
  const at = (minute: number, status: NodeStatus) =>
    stateLog.note({ status, ...NO_FAULTS }, minute * 60_000);
  const warmingUp = { status: "starting", code: "warming_up", reason: "is warming up" } as const;
  at(0, warmingUp);
  at(1, { status: "ok" });
  at(61, warmingUp);
  at(64, { status: "ok" });
  const advice = "wait; the node's log shows its progress";
  assert.equal(lines, [
    `node is starting: is warming up; ${advice}`,
    "node is ok",
    `node is starting (after 1 h of ok): is warming up; ${advice}`,
    "node is ok again, after 3 min of starting (is warming up)",
  ]);
});

values(
  "a reload that reads values elsewhere changes nothing in the log of the service before",
  () => {
    const lines: string[] = [];
    const log = (message: string) => void lines.push(message);
    const before = new NodeMemory();
    const after = before.withoutChain();
    const at = (minute: number, { log: memory }: NodeMemory, version: string) =>
      new StateLog({ label: "node", log, hide: [], memory }).note({
        status: { status: "ok" },
        news: {
          changes: [],
          seen: { software: "geth", version, at: "" },
          started_at: undefined,
          respondedAt: { monotonic: 0, date: NOW },
        },
        ...NO_FAULTS,
      }, minute * 60_000);
    at(0, before, "1.14");
    at(1, after, "1.14-abc");
    at(2, before, "1.14");
    assert.equal(lines, ['node runs "geth 1.14"', 'node runs "geth 1.14-abc"']);
  },
);

values("after a reload that mends it, the log says that the node is ok again", () => {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const memory = new LogMemory();
  const at = (minute: number, status: NodeStatus) =>
    new StateLog({ label: "node", log, hide: [], memory })
      .note({ status, ...NO_FAULTS }, minute * 60_000);
  at(0, { status: "ok" });
  at(10, { status: "degraded", code: "unauthorized", reason: "no secret" });
  at(15, { status: "ok" });
  at(20, { status: "ok" });
  assert.is(lines.length, 2);
  assert.match(lines[0]!, /^node is degraded \(after 10 min of ok\): no secret/);
  assert.is(lines[1], "node is ok again, after 5 min of degraded");
});

values("of a source that comes and goes all the time, twenty changes are logged", () => {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const of = new StateLog({ label: "node", log, hide: [], memory: new LogMemory() });
  const note = (second: number, remarks: Map<string, string>) =>
    of.note({ ...NO_FAULTS, status: { status: "ok" }, remarks }, second * 1000);
  const slow = new Map([["disk", "took too long"]]);
  for (let second = 0; second < 600; second++) note(second, second % 2 ? new Map() : slow);
  assert.is(lines.length, 21);
  assert.match(lines[0]!, "node, source disk: took too long");
  assert.match(lines[19]!, "keeps changing");
  lines.length = 0;
  for (const second of [1300, 1301]) note(second, slow);
  assert.ok(lines.length <= 1);
});

values.run();
