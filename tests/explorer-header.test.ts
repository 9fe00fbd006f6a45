import { readFileSync } from "node:fs";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  describeInfo as describeNamed,
  formatAge,
  renderFigures,
  renderHead,
  type ShownInfo,
  untilNow,
} from "../src/explorer/head.ts";
import { formatJson, parseJson } from "../src/json/lossless.ts";
import { REMEDIES } from "../src/info/status.ts";
import { STATUS_CODES } from "../src/metrics/metrics.ts";
import { ROOT } from "./_paths.ts";
import { draws, processorTime } from "./_runtime.ts";

const header = suite("the header of the explorer");

const NAMING = { api: "Their API" };

const describeInfo = (info: ShownInfo) => {
  const { figures, ...others } = describeNamed(info, NAMING);
  const facts = figures.map(({ label, value, time }) => [label, value, ...time ? [time] : []]);
  return { ...others, facts };
};

const SPACE = "\u202f";
const API = { software: "nodeface", version: "0.2.0", started_at: "2026-01-31T08:15:00.000Z" };

const STATES: [info: ShownInfo, label: string, note: string][] = [
  [{ status: "ok", synced: true, api: API }, "In sync", ""],
  [{ status: "ok", api: API }, "Online", ""],
  [{ software: "nodeface" }, "Running", ""],
  [{ status: "ok", synced: false, api: API }, "Syncing", "behind its network"],
  [{ status: "starting", api: API }, "Starting", ""],
  [
    { status: "starting", status_reason: "loading its blocks", synced: true },
    "Starting",
    "loading its blocks",
  ],
  [{ status: "syncing", synced: false }, "Syncing", "behind its network"],
  [{ status: "degraded" }, "Needs attention", "something is wrong"],
  [
    { status: "degraded", status_reason: "etcd has no leader", synced: true },
    "Needs attention",
    "etcd has no leader",
  ],
  [{ status: "degraded", status_code: "wrong_network" }, "Wrong network", "something is wrong"],
  [{ status: "degraded", status_code: 7 }, "7", "something is wrong"],
  [{ status: "stale", status_code: "reset" }, "Not responding", "last known values"],
  [{ status: "stale" }, "Not responding", "last known values"],
  [
    { status: "stale", status_reason: "connection refused", synced: true },
    "Not responding",
    "connection refused; last known values",
  ],
  [{ status: "unreachable" }, "Unreachable", "the node does not respond"],
  [{ status: "unreachable", status_reason: "timeout" }, "Unreachable", "timeout"],
  [{ status: "resting", status_reason: "until noon" }, "resting", "until noon"],
  [{}, "", ""],
  [{ status: 7, status_reason: { toString: null } }, "7", ""],
  [{ status: { toString: null } }, "", ""],
];

header("the header names a well-known network, and tells pace and time left once", () => {
  const { about, facts, note } = describeInfo({
    ...{ status: "syncing", software: "Geth", version: "1.14", chain_id: "1", api: API },
    ...{ network_name: "Ethereum mainnet", progress: 0.25, seconds_left: 10_700, height: 5 },
    ...{ blocks_per_second: 12.5, peers: 8 },
  });
  assert.is(about, "Version 1.14 · Ethereum mainnet");
  assert.is(note, "behind its network; 12.5 blocks/s; about 3 hours left");
  assert.equal(facts, [["Progress", "25%"], ["Height", "5"], ["Peers", "8"]]);
});

const VALUES: [key: string, value: unknown, shown: string][] = [
  ["height", 0, "0"],
  ["height", 999, "999"],
  ["height", 1000, `1${SPACE}000`],
  ["height", -1234567, `-1${SPACE}234${SPACE}567`],
  ["height", 1234.5678, `1${SPACE}234.5678`],
  ["height", 0.00001234, "0.00001234"],
  ["height", 1e21, "1e+21"],
  ["height", 9007199254740993n, "9 007 199 254 740 993".replaceAll(" ", SPACE)],
  ["height", 10n ** 40n - 1n, `9${`${SPACE}999`.repeat(13)}`],
  ["height", -(10n ** 39n), `-1${`${SPACE}000`.repeat(13)}`],
  ["height", 18446744073709552000, "18 446 744 073 709 552 000".replaceAll(" ", SPACE)],
  ["peers", "12345", "12345"],
  ["peers", "a b", "a b"],
  ["peers", " a \n\u202e b\r\n", "a b"],
  ["peers", `${"word ".repeat(20)}end`, `${"word ".repeat(15)}word…`],
  ["peers", "x".repeat(100), `${"x".repeat(79)}…`],
  ["peers", `${"x".repeat(78)}\u{1f600}xx`, `${"x".repeat(78)}…`],
  ["peers", `${"x".repeat(78)}\ud83dxxx`, `${"x".repeat(78)}…`],
  ["peers", "", ""],
  ["peers", true, ""],
  ["peers", null, ""],
  ["peers", { a: 1 }, ""],
  ["progress", 0, "0%"],
  ["progress", 0.57, "57%"],
  ["progress", 0.43219, "43.21%"],
  ["progress", 0.99999999999, "99.99%"],
  ["progress", 0.99999, "99.99%"],
  ["progress", 1, ""],
  ["progress", 1.2, ""],
  ["progress", -1, ""],
  ["progress", "0.5", ""],
  ["progress", 12345678901234567890n, ""],
  ["updated_at", "2026-01-31T08:15:00Z", "2026-01-31 08:15:00 UTC"],
  ["head_at", "2026-01-31T08:15:00.123Z", "2026-01-31 08:15:00 UTC"],
  ["head_at", "2026-01-31T08:15:00+01:00", "2026-01-31T08:15:00+01:00"],
  ["head_at", "a while ago", "a while ago"],
  ["head_at", 1769847300, ""],
];

const NAMES: [info: ShownInfo, title: string | undefined, name: string, about: string][] = [
  [{ name: "a", software: "b", version: "1", network: "c", api: API }, undefined, "a", "b 1 · c"],
  [{ name: "a", software: "b", api: API }, " My\n node ", "My node", "b"],
  [{ software: "Geth", version: "1.16", api: API }, undefined, "Geth", "Version 1.16"],
  [
    { name: "geth", software: "Geth", version: "1.16", api: API },
    undefined,
    "geth",
    "Version 1.16",
  ],
  [{ software: "b", network: "c", api: API }, undefined, "b", "c"],
  [{ network: "c", api: API }, undefined, "Their API", "c"],
  [
    { software: "b", version: "1", chain_id: "31337", api: API },
    undefined,
    "b",
    "Version 1 · chain 31337",
  ],
  [
    { software: "b", chain_id: "b0244d1234567890d175b1", api: API },
    undefined,
    "b",
    "chain b0244d12…75b1",
  ],
  [{ name: "nodeface", software: "nodeface", version: "1" }, undefined, "Their API", ""],
  [{ name: "nodeface", software: "nodeface", version: "1" }, "Mine", "Mine", ""],
  [{ name: "a", software: "nodeface", version: "1" }, undefined, "a", "nodeface 1"],
  [{ software: "nodeface", version: "1", api: API }, undefined, "nodeface", "Version 1"],
  [{ name: { toString: null }, version: 7, api: API }, undefined, "Their API", "7"],
];

/** Ages are in milliseconds. */
const AGES: [age: number, said: string][] = [
  [0, "0 seconds ago"],
  [-999, "0 seconds ago"],
  [1_999, "1 second ago"],
  [89_999, "89 seconds ago"],
  [90_000, "1 minute ago"],
  [5_399_999, "89 minutes ago"],
  [5_400_000, "1 hour ago"],
  [129_599_999, "35 hours ago"],
  [129_600_000, "1 day ago"],
  [86_400_000 * 4000, "10 years ago"],
  [-60_000, "in 60 seconds"],
  [NaN, ""],
];

header("the header shows the label and the note of each state", () => {
  for (const [info, label, note] of STATES) {
    const said = describeInfo(info);
    assert.equal([said.label, said.note], [label, note], JSON.stringify(info));
  }
});

header(
  "numbers have grouped digits, times have seconds, and long texts are truncated",
  () => {
    for (const [key, value, shown] of VALUES) {
      const { facts } = describeInfo({ [key]: value });
      assert.equal(facts.map(([, text]) => text), shown ? [shown] : [], `${key} ${String(value)}`);
    }
  },
);

header("the header shows the progress of a node only while the node is not in sync", () => {
  const info = { status: "syncing", synced: false, progress: 0.5, api: API };
  assert.equal(describeInfo(info).facts, [["Progress", "50%"]]);
  assert.equal(describeInfo({ ...info, status: "ok", synced: true }).facts, []);
});

header("a reason is truncated at 160 characters, and kept on one line", () => {
  const reason = `says\n${"many words ".repeat(30)}`;
  const { note } = describeInfo({ status: "degraded", status_reason: reason });
  assert.ok(note.length <= 160 && note.endsWith("…"), note);
  assert.match(note, /^says many words/);
});

header("the page's script reads an info exactly as the service wrote it", () => {
  const infos = [
    ...STATES.map(([info]) => info),
    ...VALUES.map(([key, value]) => ({ [key]: value, status: "ok" })),
    ...VALUES.map(([, value]) => ({ name: value, status: value, status_reason: value })),
    ...numbers().flatMap((height) => [
      { height, status: "ok" },
      { status: "ok", api: { height: 12345678901234567890n }, 'a\\" (': height, height },
    ]),
  ];
  for (const info of infos) {
    const said = describeInfo(info);
    for (const text of [formatJson(info, 2) + "\n", formatJson(info)]) {
      assert.equal(describeInfo(parseJson(text) as ShownInfo), said, text);
    }
  }
});

header(
  "the header shows the start time of a node, but not of a service without a node",
  () => {
    const started_at = "2026-01-31T08:15:00Z";
    const node = { software: "litecoind", started_at, api: API };
    const facts = [["Started", "2026-01-31 08:15:00 UTC", started_at]];
    for (
      const [info, shown] of [[node, facts], [{ software: "nodeface", started_at }, []]] as const
    ) {
      assert.equal(describeInfo(info).facts, shown);
    }
  },
);

header("the name comes from the operator, else from the node, else from the API", () => {
  for (const [info, title, name, about] of NAMES) {
    const said = describeNamed(info, { ...NAMING, title });
    assert.equal([said.name, said.about], [name, about], JSON.stringify(info));
  }
});

header("the header never names a node after this service's own API", () => {
  const alone = { name: "nodeface", software: "nodeface", version: "0.2.0" };
  for (
    const [info, name] of [
      [{ status: "starting", api: API }, "Node"],
      [{ name: "Nodeface", api: API }, "Nodeface"],
      [alone, "Nodeface"],
    ] as const
  ) {
    assert.is(describeNamed(info, { api: "Nodeface" }).name, name);
  }
  assert.is(describeNamed(alone, { api: "Nodeface" }).iconName, "");
});

header("ages are whole numbers of a unit", () => {
  for (const [age, said] of AGES) assert.is(formatAge(age), said, String(age));
});

header("a number with thousands of digits is truncated, and does not cost a second", async () => {
  const info = { height: 10n ** 70_000n };
  const time = await processorTime(1, () => {
    const { facts: [fact] } = describeInfo(info);
    assert.ok(fact?.[1] && fact[1].length <= 80);
  });
  assert.ok(time < 1000, `${time} ms`);
});

const HISTORY = {
  interval: 15,
  at: ["2026-01-31T08:14:30.000Z", "2026-01-31T08:14:45.000Z", "2026-01-31T08:15:00.000Z"],
  status: ["ok", "degraded", "degraded"],
  response_ms: [4, 5, 4.1],
  height: [100, 101, 103],
  db_size: [null, 7, 7],
};

header("the header has at most four figures, and charts of their history", () => {
  const info = { status: "degraded", height: 103, peers: 4, db_size: 7, api: API };
  const { figures, note } = describeNamed(info, NAMING, HISTORY);
  assert.equal(figures.map(({ label, value }) => `${label} ${value}`), [
    "Height 103",
    "Peers 4",
    "Db size 7",
    "Response time 4.1 ms",
  ]);
  assert.is(note, "something is wrong; since 2026-01-31 08:14 UTC");
  const html = String(renderFigures(figures, HISTORY));
  assert.match(
    html,
    `<title>from 100 to 103 in the last 30 seconds</title><path d="M0 24L120 16L240 0" `,
  );
  assert.match(html, `<title>7 in the last 30 seconds</title><path d="M120 12L240 12" `);
  // The charts share their time, and a narrow column would cut a second mention off.
  const labels = [...html.matchAll(/<dt>(.*?)<\/dt>/g)].map(([, label]) => label);
  const first = "Height<small>, last 30 seconds</small>";
  assert.equal(labels, [first, "Peers", "Db size", "Response time"]);
  const more = { ...info, updated_at: "2026-01-31T08:15:00Z", head_at: "2026-01-31T08:15:00Z" };
  assert.is(describeNamed(more, NAMING, HISTORY).figures.length, 4);
});

header("the chart of a value ends with the value that is shown beside it", () => {
  const info = { height: 110, peers: 3, db_size: "none", at: 7 };
  const history = untilNow({ ...HISTORY, peers: [] }, info);
  assert.equal(history, { ...HISTORY, peers: [], at: HISTORY.at, height: [100, 101, 110] });
  const { figures } = describeNamed({ ...info, api: API }, NAMING, history);
  const html = String(renderFigures(figures, history));
  assert.match(html, "<title>from 100 to 110 in the last 30 seconds");
});

header("charts have whole coordinates within their box, whatever the history contains", () => {
  const hostile = [
    1e308,
    -1e308,
    -0,
    10n ** 40n,
    null,
    "</svg><script>",
    { a: 1 },
    [],
    true,
    NaN,
    Infinity,
  ];
  const value = fc.oneof(fc.constantFrom(...hostile), fc.double(), fc.bigInt());
  const column = fc.array(value, { maxLength: 400 });
  const history = fc.record({
    at: fc.array(
      fc.oneof(value, fc.date().map((date) => Number.isNaN(+date) ? "" : date.toISOString())),
    ),
    status: column,
    response_ms: column,
    height: column,
    ...{ "<b>": column },
  });
  const times = hostile.map((_, i) => new Date(i * 1000).toISOString());
  const all = { at: times, status: hostile, response_ms: hostile, height: hostile };
  const draw = (history: Record<string, unknown>) => {
    const { figures, note } = describeNamed(
      { status: "stale", height: 1, "<b>": 2, api: API },
      NAMING,
      history,
    );
    assert.ok(note.length < 300);
    const html = String(renderFigures(figures, history));
    for (const [, path] of html.matchAll(/ d="([^"]*)"/g)) {
      assert.match(path!, /^(M\d+ \d+(L\d+ \d+)*)*$/);
      const points = [...path!.matchAll(/(\d+) (\d+)/g)];
      assert.ok(points.length <= 240);
      assert.ok(points.every(([, x, y]) => Number(x) <= 240 && Number(y) <= 24));
    }
    assert.not.match(html, /<(?!\/?(?:div|dt|dd|span|small|br|svg|title|path|time)\b)/);
  };
  draw(all);
  draw({
    at: Array(400).fill(0).map((_, i) => new Date(i * 1000).toISOString()),
    height: Array(400).fill(3),
  });
  for (const odd of [null, 7, "x", {}, [[]]]) draw({ at: odd, status: odd, height: odd });
  fc.assert(fc.property(history, draw), draws(200));
});

header("the header shows the documented remedy for each status code", () => {
  const doc = readFileSync(`${ROOT}docs/troubleshooting.md`, "utf8");
  const rows = [...doc.matchAll(/^\| (`[a-z_`, ]+`) +\|/gm)].flatMap(([, codes]) =>
    codes!.match(/\w+/g)!
  );
  for (const code of STATUS_CODES) {
    assert.ok(rows.includes(code), code);
    const status_remedy = REMEDIES[code];
    const { hint } = describeNamed(
      { status: "degraded", status_code: code, status_remedy },
      NAMING,
    );
    assert.is(hint === "", code === "starting" || code === "syncing", code);
  }
  const told = (status_code: string) => ({ status_code, status_remedy: REMEDIES[status_code] });
  const gone = describeNamed({ ...GONE, ...told("connection_refused") }, NAMING);
  assert.is(
    gone.hint,
    "Start the node, or correct its address (node.url); retrying every few seconds",
  );
  assert.is(describeNamed({ status: "syncing", peers: 0 }, NAMING).hint, "It has no peers yet");
  const other = describeNamed({ status: "degraded", ...told("wrong_network") }, NAMING);
  assert.match(other.hint, "no call is passed on");
  assert.is(describeNamed({ status: "syncing", peers: { __proto__: null } }, NAMING).hint, "");
});

const LAST_SEEN = {
  software: "litecoind",
  version: "0.21.4",
  network: "main",
  chain_id: "0xfbc0b6db",
  height: 21_000_000,
  at: "2026-01-31T08:15:00.123Z",
};

const GONE = { status: "unreachable", status_reason: "connection refused", api: API };

header("the header keeps the name of an unreachable node, and says when it was last seen", () => {
  const info = { ...GONE, last_seen: LAST_SEEN };
  const { name, about, facts, label } = describeInfo(info);
  assert.equal([name, about, label], ["litecoind", "Version 0.21.4 · main", "Unreachable"]);
  assert.is(describeInfo(info).note, "connection refused; since 2026-01-31 08:15 UTC");
  const now = new Date().toISOString();
  const today = { ...GONE, last_seen: { ...LAST_SEEN, at: now } };
  const since = `connection refused; since ${now.slice(11, 16)} UTC`;
  assert.is(describeInfo(today).note, since);
  const seen = ["Last seen", "2026-01-31 08:15:00 UTC", "2026-01-31T08:15:00Z"];
  const height = `21${SPACE}000${SPACE}000`;
  assert.equal(facts, [seen, ["At height", height]]);
  const text = describeNamed(info, NAMING);
  assert.equal([text.iconName, text.title], ["litecoind", "litecoind · Version 0.21.4 · main"]);
  assert.match(String(renderHead(text, "")), `<dt>At height</dt><dd><span>${height}</span></dd>`);
  // A current value takes precedence over the value in `last_seen`.
  assert.is(describeInfo({ ...info, name: "harbour-2" }).name, "harbour-2");
  assert.is(describeNamed(info, { ...NAMING, title: "Mine" }).name, "Mine");
  const { height: _, ...hidden } = LAST_SEEN;
  assert.equal(describeInfo({ ...GONE, last_seen: hidden }).facts, [seen]);
});

header("the header shows last values only for an unreachable node that has them", () => {
  for (const last_seen of [undefined, null, 7, "x", [], {}, { at: 7, height: null }]) {
    const { name, facts } = describeInfo({ ...GONE, last_seen });
    assert.equal([name, facts], ["Their API", []], String(last_seen));
  }
  for (const status of ["ok", "stale", "starting", "wrong"]) {
    const { name, facts } = describeInfo({ status, last_seen: LAST_SEEN, api: API });
    assert.equal([name, facts], ["Their API", []], status);
  }
});

header(
  "invisible characters are removed and long values truncated, even for an unreachable node",
  () => {
    const unseen = "\u200b\u200d\u2060\ufeff\u00ad\u202e\u2066\u061c\u{e0041}\u{e007f}\u{1d173}";
    const texts = { software: `an${unseen}vil`, version: `\u001b[1m${unseen}1`, network: unseen };
    for (const info of [{ ...texts, api: API }, { ...GONE, last_seen: texts }]) {
      const { name, about } = describeInfo(info);
      assert.equal([name, about], ["anvil", "Version [1m1"]);
    }
    const long = "x".repeat(100);
    const { name } = describeInfo({ ...GONE, last_seen: { ...LAST_SEEN, software: long } });
    assert.is(name, `${"x".repeat(79)}…`);
  },
);

header("values are shown as text, whatever the node sends", () => {
  const hostile = `<b>"&'\u0000`;
  const info = { name: hostile, status: hostile, status_reason: hostile, version: hostile };
  const html = String(renderHead(describeNamed(info, NAMING), "../favicon.ico"));
  assert.is(html.split("&lt;b&gt;&quot;&amp;&#39;").length, 5);
  assert.not.match(html, /<b>"/);
});

header.run();

function numbers(): (number | bigint)[] {
  const powers = Array.from({ length: 40 }, (_, digits) => 10n ** BigInt(digits));
  const doubles = Array.from({ length: 130 }, (_, bits) => 2n ** BigInt(bits));
  return [...powers, ...doubles].flatMap((power) => [power - 1n, power, power + 1n, -power])
    .map((value) => Number.isSafeInteger(Number(value)) ? Number(value) : value);
}
