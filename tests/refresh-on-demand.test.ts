import { suite } from "uvu";
import * as assert from "uvu/assert";
import { lazy } from "../src/lazy.ts";
import { refreshOnDemand } from "../src/resources/resources.ts";

const refreshed = suite("a value that is checked on request");

function create({ isMadeCurrent = true } = {}) {
  let time = 0;
  let finish = () => {};
  const errors: unknown[] = [];
  const value = {
    looks: 0,
    fails: false,
    isSlow: false,
    async refresh() {
      value.looks++;
      if (value.isSlow) await new Promise<void>((resolve) => finish = resolve);
      if (value.fails) throw new Error("no such file");
    },
  };
  const resource = refreshOnDemand(lazy(() => Promise.resolve(value)), {
    interval: 2000,
    isMadeCurrent,
    onError: (error) => errors.push(error),
    now: () => time,
  });
  return { value, resource, errors, finish: () => finish(), wait: (ms: number) => time += ms };
}

refreshed("a new value is not checked before the interval has passed", async () => {
  const { value, resource, wait } = create();
  await resource.get();
  wait(1999);
  assert.is(await resource.get(), value);
  assert.is(value.looks, 0);
});

refreshed(
  "a value that may be stale at the start is checked at the first request",
  async () => {
    const { value, resource } = create({ isMadeCurrent: false });
    await resource.get();
    assert.is(value.looks, 1);
  },
);

refreshed(
  "after the interval, the next request waits for a check, but without requests there is no check",
  async () => {
    const { value, resource, wait } = create();
    await resource.get();
    wait(100_000);
    assert.is(value.looks, 0);
    await Promise.all([resource.get(), resource.get()]);
    assert.is(value.looks, 1);
    assert.is(await resource.get(), value);
    assert.is(value.looks, 1);
  },
);

refreshed("a slow check delays requests only briefly, and is the only check", async () => {
  const { value, resource, wait, finish } = create();
  value.isSlow = true;
  await resource.get();
  wait(2000);
  assert.is(await resource.get(), value);
  wait(300);
  assert.is(await resource.get(), value);
  wait(10_000);
  await resource.get();
  assert.is(value.looks, 1);
  finish();
  await new Promise((resolve) => setTimeout(resolve));
  value.isSlow = false;
  wait(2000);
  await resource.get();
  assert.is(value.looks, 2);
});

refreshed("if a check fails, the error is reported, and the value is still returned", async () => {
  const { value, resource, errors, wait } = create();
  value.fails = true;
  await resource.get();
  wait(2000);
  assert.is(await resource.get(), value);
  assert.match(String(errors), "no such file");
});

refreshed("after a check by refresh(), the next check is due after the interval", async () => {
  const { value, resource, wait } = create();
  await resource.get();
  wait(1999);
  await resource.refresh();
  wait(1999);
  assert.is(await resource.get(), value);
  assert.is(value.looks, 1);
});

refreshed("after end(), the value is not checked again", async () => {
  const { value, resource, wait } = create();
  await resource.get();
  resource.end();
  wait(10_000);
  assert.is(await resource.get(), value);
  assert.is(value.looks, 0);
});

refreshed.run();
