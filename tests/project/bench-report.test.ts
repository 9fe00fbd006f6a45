import { suite } from "uvu";
import * as assert from "uvu/assert";
import { drawChart } from "../bench/report/chart.ts";
import { writeDocument } from "../bench/report/document.ts";
import { table } from "../bench/report/markdown.ts";
import { median, ratio } from "../bench/report/statistics.ts";
import { NEWEST } from "../bench/servers/runtimes.ts";

const MACHINE = { processor: "x", cores: 2, memory: 4, system: "y", busy: 0, versions: {} };
const MEASURED = { at: "2026-01-01T00:00:00Z", took: 60, machine: MACHINE };

const report = suite("the report of the benchmark");

report("a table's columns line up, and numbers are set to the right", () => {
  assert.equal(
    table(["server", "rate"], [["Bun, µs", "1,234"], ["Node", "9"]]),
    [
      "| server  |  rate |",
      "| ------- | ----: |",
      "| Bun, µs | 1,234 |",
      "| Node    |     9 |",
    ].join("\n"),
  );
});

report("a ratio is the median of those round by round", () => {
  assert.is(ratio([1, 10, 100], [2, 10, 400]), 0.5);
  assert.is(median([4, NaN, 1, 2]), 2);
  assert.ok(Number.isNaN(median([])));
});

report("a chart is well-formed, whatever its labels say", () => {
  const bars = [{ label: '<a & "b">', value: 0.5, text: "0.50", tone: "own" as const }];
  const svg = drawChart({ title: "a < b", bars, mark: { value: 1, text: "bare" } });
  const open: string[] = [];
  for (const [, close, name, single] of svg.matchAll(/<(\/?)(\w+)(?:\s[\w-]+="[^"<]*")*(\/?)>/g)) {
    if (close) assert.is(open.pop(), name);
    else if (!single) open.push(name!);
  }
  assert.equal(open, []);
  assert.is(svg.match(/<(?!\/?(svg|g|text|rect|path)\b)/), null);
  assert.not.match(svg, /&(?!(amp|lt|quot);)|NaN/);
});

report("a target is judged by the figure that is farthest from it", () => {
  const seen = (rates: Record<number, number>) => {
    const text = withRates({ deno: rates, "bare-deno": { 1: 100, 32: 100 } });
    return text.split("\n").find((line) => line.includes("304, Deno: rate")) ?? "";
  };
  assert.match(seen({ 1: 95, 32: 90 }), /0\.90 \(`\/v1\/info`, Deno, 32\) +\| reached/);
  assert.match(seen({ 1: 95, 32: 89 }), /0\.89 .*1 of 2 not reached +\| \*\*not reached\*\*/);
});

report("it says how far chance goes, by what a server had beside itself", () => {
  const bare = { 1: 100, 32: 100 };
  const twice = withRates({ [`bare-${NEWEST.id}`]: bare, again: { 1: 93, 32: 104 } });
  assert.match(
    twice.replaceAll("\n", " "),
    /had 0\.93 to 0\.93 of its rate at 1, 1\.04 to 1\.04 of its rate at 32, 1\.00 .* its p99 at 32/,
  );
  assert.not.match(withRates({ deno: bare, "bare-deno": bare }), /by chance/);
});

report("what was not measured is said to be missing, and what a run was like is marked", () => {
  const result = { few: 10_000, many: 30_000, servers: {} };
  const start = { ...MEASURED, steal: 0.07, quick: true, result };
  const { text } = writeDocument({ start }, "docs");
  assert.match(text, /> \*\*Quick:\*\* .*\(start\)/);
  assert.match(text, /> \*\*Shared:\*\* .* 2 % .*\(start\)/);
  assert.match(text, /\| +7 % \|/);
  assert.match(text, /## Growth\n\nNot measured yet\./);
});

report.run();

/** The report of rates, by servers and numbers of connections; percentiles are all the same. */
function withRates(rates: Record<string, Record<number, number>>): string {
  const offer = { info: { status: 200, fields: 9, bytes: 2 } };
  const offers = Object.fromEntries(Object.keys(rates).map((id) => [id, offer]));
  const samples = Object.entries(rates).flatMap(([server, rates]) =>
    Object.entries(rates).map(([connections, rate]) => ({
      ...{ server, case: "info", connections: Number(connections), round: 0 },
      ...{ rate, p50: 1, p99: 1, failed: 0 },
    }))
  );
  const result = { generator: "wrk", seconds: 1, connections: [1, 32], offers, samples };
  return writeDocument({ requests: { ...MEASURED, quick: false, result } }, "docs").text;
}
