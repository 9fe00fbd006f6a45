import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createProgress } from "../src/cli/output.ts";

const progress = suite("progress of long work");

function bench(isTerminal: boolean, after: number) {
  let written: string[] = [];
  let wake = () => {};
  const write = (text: string) => {
    written.push(text);
    wake();
  };
  const times = (count: number) =>
    new Promise<void>((resolve) => {
      wake = () => written.length >= count && resolve();
      wake();
    });
  let finish = (_: string) => {};
  const work = new Promise<string>((resolve) => finish = resolve);
  const take = () => {
    const all = written.join("").replaceAll("\x1b[K", "<clear>");
    written = [];
    return all;
  };
  return { work, finish, times, take, ...createProgress({ write, isTerminal, after }) };
}

progress("on a terminal, a line counts the seconds, and is erased at the end", async () => {
  const { work, finish, times, take, during } = bench(true, 5);
  const done = during("asking the node", work);
  await times(3);
  finish("answer");
  assert.is(await done, "answer");
  const text = take();
  assert.match(text, /^(\r<clear>asking the node … \d+ s){3,}\r<clear>$/);
});

progress("if the output is not a terminal, one plain line is printed", async () => {
  const { work, finish, times, take, during } = bench(false, 5);
  const done = during("asking the node", work);
  await times(1);
  // If the line were repeated, it would be printed again within 30 ms.
  await new Promise((resolve) => setTimeout(resolve, 30));
  finish("answer");
  await done;
  assert.is(take(), "nodeface: asking the node …\n");
});

progress("nothing is printed for work that quickly ends or fails", async () => {
  const { take, during } = bench(true, 60_000);
  assert.is(await during("asking", Promise.resolve(1)), 1);
  const failing = during("asking", Promise.reject(new Error("no")));
  assert.is(await failing.catch(({ message }) => message), "no");
  assert.is(take(), "");
});

progress("text from a node cannot move the cursor", async () => {
  const { work, finish, times, take, during } = bench(true, 5);
  const done = during("asking \x1b[2J\nhere", work);
  await times(1);
  finish("");
  await done;
  const text = take();
  assert.ok(!text.includes("\x1b") && !text.includes("\n"), JSON.stringify(text));
});

progress.run();
