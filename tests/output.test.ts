import { suite } from "uvu";
import * as assert from "uvu/assert";
import { formatTable, LineWriter } from "../src/cli/output.ts";

const output = suite("output");

const soon = () => new Promise((resolve) => setTimeout(resolve, 0));

function slowReader() {
  const taken: string[] = [];
  let read = () => {};
  const write = async (text: string) => {
    await new Promise<void>((resolve) => read = resolve);
    taken.push(text);
  };
  return { write, taken, read: () => read() };
}

output(
  "all lines are written whole and in order, even if the reader is slow",
  async () => {
    const { write, taken, read } = slowReader();
    const lines = new LineWriter(write);
    lines.write("one");
    lines.write("two");
    lines.write("three");
    const flushed = lines.flush();
    while (taken.length < 2) {
      read();
      await soon();
    }
    await flushed;
    assert.is(taken.join(""), "one\ntwo\nthree\n");
  },
);

output(
  "output that a stuck reader does not accept is dropped, and the dropped lines are counted",
  async () => {
    const { write, taken, read } = slowReader();
    const counts: number[] = [];
    const lines = new LineWriter(write, (count) => counts.push(count));
    const line = "x".repeat(99_999);
    for (let i = 0; i < 40; i++) lines.write(line);
    assert.equal(counts, []);
    const flushed = lines.flush();
    while (counts.length === 0) {
      read();
      await soon();
    }
    read();
    await flushed;
    const written = taken.join("").split("\n").length - 1;
    assert.is(counts[0]! + written, 40);
    assert.ok(
      taken.every((text) => text.length <= 1_048_576),
      "the amount of waiting output is limited",
    );
  },
);

output("the line that says how many were dropped is not dropped itself", async () => {
  const { write, taken, read } = slowReader();
  const lines = new LineWriter(write, (count) => lines.write(`${count} were dropped`));
  // Where the queue has no room for this line, the one that says so has none, either.
  const fill = () => {
    for (let i = 0; i < 600_000; i++) lines.write("x");
  };
  fill();
  const flushed = lines.flush();
  const said = () => /(\d+) were dropped/.exec(taken.join(""))?.[1];
  for (let reads = 0; said() === undefined; reads++) {
    read();
    if (reads < 3) fill();
    await soon();
  }
  read();
  await flushed;
  assert.ok(Number(said()) > 50_000, said());
});

output(
  "a line that is too long to be queued is counted, and the lines after it are written",
  async () => {
    const { write, taken, read } = slowReader();
    const counts: number[] = [];
    const lines = new LineWriter(write, (count) => counts.push(count));
    lines.write("x".repeat(1_048_576));
    while (counts.length === 0) {
      read();
      await soon();
    }
    lines.write("next");
    const flushed = lines.flush();
    while (!taken.includes("next\n")) {
      read();
      await soon();
    }
    read();
    await flushed;
    assert.equal(counts, [1]);
  },
);

output("lines that are written at the same moment become a single write", async () => {
  const taken: string[] = [];
  const lines = new LineWriter((text) => Promise.resolve(void taken.push(text)));
  for (const line of ["one", "two", "three"]) {
    lines.write(line);
    await Promise.resolve();
  }
  await lines.flush();
  assert.equal(taken, ["one\n", "two\nthree\n"]);
});

output("the columns of a table are aligned, even if the table has only one row", () => {
  assert.is(formatTable([["A", "LONG", "B"], ["abc", "d", "e"]]), "A    LONG  B\nabc  d     e\n");
  assert.is(formatTable([["a", "b"]]), "a  b\n");
  // The name of an operation may come from the network.
  assert.is(formatTable([["/a\u001b[2J\n# Verdict", "b"]]), "/a\ufffd[2J\ufffd# Verdict  b\n");
});

output.run();
