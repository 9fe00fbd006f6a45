import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Checks } from "../src/description/checks.ts";
import { lazy } from "../src/lazy.ts";

const checked = suite("the checks of a description");

function create() {
  let time = 0;
  let finish = () => {};
  const errors: unknown[] = [];
  const work = {
    looks: 0,
    fails: false,
    isSlow: false,
    async look() {
      work.looks++;
      if (work.isSlow) await new Promise<void>((resolve) => finish = resolve);
      if (work.fails) throw new Error("no such file");
    },
  };
  const checks = new Checks(() => work.look(), {
    interval: 2000,
    longest: 60_000,
    onError: (error) => errors.push(error),
    now: () => time,
  });
  return { work, checks, errors, finish: () => finish(), wait: (ms: number) => time += ms };
}

checked("a new description is checked, and not again before the interval has passed", async () => {
  const { work, checks, wait } = create();
  await checks.onRequest();
  assert.is(work.looks, 1);
  wait(1999);
  await checks.onRequest();
  assert.is(work.looks, 1);
});

checked(
  "after the interval, the next request waits for a check, but without requests there is no check",
  async () => {
    const { work, checks, wait } = create();
    await checks.onRequest();
    wait(100_000);
    assert.is(work.looks, 1);
    await Promise.all([checks.onRequest(), checks.onRequest()]);
    assert.is(work.looks, 2);
    await checks.onRequest();
    assert.is(work.looks, 2);
  },
);

checked("a slow check delays requests only briefly, and is the only check", async () => {
  const { work, checks, wait, finish } = create();
  work.isSlow = true;
  await checks.onRequest();
  wait(300);
  await checks.onRequest();
  wait(10_000);
  await checks.onRequest();
  assert.is(work.looks, 1);
  finish();
  await new Promise((resolve) => setTimeout(resolve));
  work.isSlow = false;
  wait(2000);
  await checks.onRequest();
  assert.is(work.looks, 2);
});

checked("a check that its runtime has stopped is begun anew", async () => {
  const { work, checks, wait } = create();
  work.isSlow = true;
  await checks.onRequest();
  void checks.run();
  wait(60_001);
  work.isSlow = false;
  await checks.onRequest();
  assert.is(work.looks, 2);
  wait(2000);
  await checks.onRequest();
  assert.is(work.looks, 3);
});

checked(
  "what is made once is begun anew if it has stopped, and never once it is made",
  async () => {
    let begun = 0;
    const never = new Promise<number>(() => {});
    const made = lazy(() => ++begun === 1 ? never : Promise.resolve(begun), 0);
    void made.get();
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.is(await made.get(), 2);
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.is(await made.get(), 2);
    assert.is(begun, 2);
  },
);

checked("calls during a check share one further check", async () => {
  const { work, checks, finish } = create();
  work.isSlow = true;
  const first = checks.run();
  const others = [checks.run(), checks.run()];
  assert.is(work.looks, 1);
  work.isSlow = false;
  finish();
  await first;
  others.push(checks.run());
  await Promise.all(others);
  assert.is(work.looks, 2);
});

checked("if a check fails, the error is reported, and the request is served", async () => {
  const { work, checks, errors } = create();
  work.fails = true;
  await checks.onRequest();
  assert.match(String(errors), "no such file");
});

checked("after a check by run(), the next check is due after the interval", async () => {
  const { work, checks, wait } = create();
  await checks.run();
  wait(1999);
  await checks.onRequest();
  assert.is(work.looks, 1);
});

checked("after end(), requests start no checks", async () => {
  const { work, checks } = create();
  checks.end();
  await checks.onRequest();
  assert.is(work.looks, 0);
});

checked.run();
