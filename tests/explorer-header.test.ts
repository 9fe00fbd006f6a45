import { suite } from "uvu";
import * as assert from "uvu/assert";
import { renderHeader, TABLES } from "../src/explorer/render-header.ts";

const header = suite("the header of the explorer");

const SPACE = "\u202f";

/** A value, and what is shown of it. */
const VALUES: [value: unknown, shown: string][] = [
  [0, "0"],
  [999, "999"],
  [1000, `1${SPACE}000`],
  [-1234567, `-1${SPACE}234${SPACE}567`],
  [1234.5678, `1${SPACE}234.5678`],
  [0.00001234, "0.00001234"],
  [1e21, "1e+21"],
  ["12345", "12345"],
  ["a b", "a b"],
  [`${"word ".repeat(20)}end`, `${"word ".repeat(15)}word…`],
  ["x".repeat(100), `${"x".repeat(79)}…`],
  [`${"x".repeat(78)}\u{1f600}xx`, `${"x".repeat(78)}…`],
  ["", ""],
  [true, ""],
  [null, ""],
  [{ a: 1 }, ""],
];

const shownIn = (html: string) => /<dd>(.*)<\/dd>/.exec(html)?.[1] ?? "";

header(
  "shows a number in groups and a long text shortened, by the page's script as well",
  async () => {
    // What the script looks for in the page when it is loaded.
    const dataset = { facts: "[]", states: "{}" };
    Object.assign(globalThis, { document: { getElementById: () => ({ dataset }) } });
    const script = "../static/header.js";
    const { formatValue } = await import(script) as { formatValue(value: unknown): string };
    for (const [value, shown] of VALUES) {
      assert.is(shownIn(renderHeader({ height: value })), shown);
      assert.is(formatValue(value), shown);
    }
  },
);

header("shows all digits of a whole number, and a few of one that has thousands", () => {
  assert.is(
    shownIn(renderHeader({ height: 12345678901234567890n })),
    "12 345 678 901 234 567 890".replaceAll(" ", SPACE),
  );
  assert.ok(shownIn(renderHeader({ height: 10n ** 70_000n })).length <= 80);
});

header("gives the page its tables as text", () => {
  assert.match(TABLES.facts, "&quot;height&quot;");
});

header.run();
