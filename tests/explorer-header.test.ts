import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  describeInfo as describeNamed,
  formatAge,
  iconNameOf,
  type Info,
  renderHead,
} from "../src/explorer/head.ts";
import { parseInfo } from "../static/head.ts";
import { formatJson } from "../src/json/lossless.ts";

const header = suite("the header of the explorer");

/** What the page is called where the info does not say it. */
const NAMING = { api: "Their API" };

const describeInfo = (info: Info) => describeNamed(info, NAMING);

const SPACE = "\u202f";
const API = { software: "nodeface", version: "0.2.0", started_at: "2026-01-31T08:15:00.000Z" };

/** An info, and what the header says of the state. */
const STATES: [info: Info, label: string, note: string][] = [
  [{ status: "ok", synced: true, api: API }, "In sync", ""],
  [{ status: "ok", api: API }, "Online", ""],
  [{ status: "ok" }, "Running", ""],
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

/** A key with a value, and what the header shows of it. */
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
  ["chain_id", "a b", "a b"],
  ["chain_id", " a \n\u202e b\r\n", "a b"],
  ["chain_id", `${"word ".repeat(20)}end`, `${"word ".repeat(15)}word…`],
  ["chain_id", "x".repeat(100), `${"x".repeat(79)}…`],
  ["chain_id", `${"x".repeat(78)}\u{1f600}xx`, `${"x".repeat(78)}…`],
  ["chain_id", `${"x".repeat(78)}\ud83dxxx`, `${"x".repeat(78)}\ud83d…`],
  ["chain_id", "", ""],
  ["chain_id", true, ""],
  ["chain_id", null, ""],
  ["chain_id", { a: 1 }, ""],
  ["sync_progress", 0, "0%"],
  ["sync_progress", 0.57, "57%"],
  ["sync_progress", 0.43219, "43.21%"],
  ["sync_progress", 0.99999999999, "99.99%"],
  ["sync_progress", 1, "100%"],
  ["sync_progress", 1.2, ""],
  ["sync_progress", -1, ""],
  ["sync_progress", "0.5", ""],
  ["sync_progress", 12345678901234567890n, ""],
  ["updated_at", "2026-01-31T08:15:00Z", "2026-01-31 08:15:00 UTC"],
  ["head_at", "2026-01-31T08:15:00.123Z", "2026-01-31 08:15:00 UTC"],
  ["head_at", "2026-01-31T08:15:00+01:00", "2026-01-31T08:15:00+01:00"],
  ["head_at", "a while ago", "a while ago"],
  ["head_at", 1769847300, ""],
];

/** An info, the title of the operator's, and what the page is called, with what stands below. */
const NAMES: [info: Info, title: string | undefined, name: string, about: string][] = [
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
  [{ name: "nodeface", software: "nodeface", version: "1" }, undefined, "Their API", ""],
  [{ name: "nodeface", software: "nodeface", version: "1" }, "Mine", "Mine", ""],
  [{ name: "a", software: "nodeface", version: "1" }, undefined, "a", "nodeface 1"],
  [{ software: "nodeface", version: "1", api: API }, undefined, "nodeface", "Version 1"],
  [{ name: { toString: null }, version: 7, api: API }, undefined, "Their API", "7"],
];

/** How long ago something was, in milliseconds, and how that is said. */
const AGES: [age: number, said: string][] = [
  [0, "0 seconds ago"],
  [1_999, "1 second ago"],
  [89_999, "89 seconds ago"],
  [90_000, "1 minute ago"],
  [5_399_999, "89 minutes ago"],
  [5_400_000, "1 hour ago"],
  [129_599_999, "35 hours ago"],
  [129_600_000, "1 day ago"],
  [86_400_000 * 4000, "4,000 days ago"],
  [-60_000, "in 60 seconds"],
  [NaN, ""],
];

/** Parses as in a browser that does not give the source of a number. */
function withoutSource<Result>(work: () => Result): Result {
  const { parse } = JSON;
  JSON.parse = (text: string, reviver: (key: string, value: unknown) => unknown) =>
    parse(text, reviver && ((key, value) => reviver(key, value)));
  try {
    return work();
  } finally {
    JSON.parse = parse;
  }
}

header("says of each state what is known, and no more", () => {
  for (const [info, label, note] of STATES) {
    const said = describeInfo(info);
    assert.equal([said.label, said.note], [label, note], JSON.stringify(info));
  }
});

header(
  "shows numbers in groups with all their digits, times to the second and long texts cut",
  () => {
    for (const [key, value, shown] of VALUES) {
      const { facts } = describeInfo({ [key]: value });
      assert.equal(facts.map(([, text]) => text), shown ? [shown] : [], `${key} ${String(value)}`);
    }
  },
);

header("shows the progress of a node only while it is not in sync", () => {
  const info = { status: "syncing", synced: false, sync_progress: 0.5, api: API };
  assert.equal(describeInfo(info).facts, [["Progress", "50%"]]);
  assert.equal(describeInfo({ ...info, status: "ok", synced: true }).facts, []);
});

header("cuts a reason at 160 characters, and keeps it on one line", () => {
  const reason = `says\n${"many words ".repeat(30)}`;
  const { note } = describeInfo({ status: "degraded", status_reason: reason });
  assert.ok(note.length <= 160 && note.endsWith("…"), note);
  assert.match(note, /^says many words/);
});

header("the page's script reads an info as the service wrote it", () => {
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
    const text = formatJson(info, 2) + "\n";
    const said = describeInfo(info);
    assert.equal(describeInfo(parseInfo(text)!), said, text);
    assert.equal(describeInfo(withoutSource(() => parseInfo(text))!), said, text);
  }
});

header(
  "says since when a node runs, and of a service alone nothing that differs from run to run",
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

header("is called as the operator says, or the node, or at last the API", () => {
  for (const [info, title, name, about] of NAMES) {
    const said = describeNamed(info, { ...NAMING, title });
    assert.equal([said.name, said.about], [name, about], JSON.stringify(info));
  }
});

header("of this service's own API, a node is not called by its title", () => {
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
  assert.is(iconNameOf(alone, { api: "Nodeface" }), "");
});

header("says how long ago something was in whole units", () => {
  for (const [age, said] of AGES) assert.is(formatAge(age), said, String(age));
});

header("cuts a number that has thousands of digits", () => {
  const info = { height: 10n ** 70_000n };
  const { facts: [fact] } = describeInfo(info);
  assert.ok(fact && fact[1].length <= 80);
  assert.equal(describeInfo(parseInfo(formatJson(info, 2))!).facts, [fact]);
});

header("is text, whatever the node says", () => {
  const hostile = `<b>"&'\u0000`;
  const info = { name: hostile, status: hostile, status_reason: hostile, version: hostile };
  const html = renderHead(info, NAMING, "../favicon.ico");
  assert.is(html.split("&lt;b&gt;&quot;&amp;&#39;").length, 5);
  assert.not.match(html, /<b>"/);
});

header.run();

/** Whole numbers around every power of ten and of two up to 40 digits, as a node's answer has them. */
function numbers(): (number | bigint)[] {
  const powers = Array.from({ length: 40 }, (_, digits) => 10n ** BigInt(digits));
  const doubles = Array.from({ length: 130 }, (_, bits) => 2n ** BigInt(bits));
  return [...powers, ...doubles].flatMap((power) => [power - 1n, power, power + 1n, -power])
    .map((value) => Number.isSafeInteger(Number(value)) ? Number(value) : value);
}
