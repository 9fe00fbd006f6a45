import { suite } from "uvu";
import * as assert from "uvu/assert";
import { withTimeout } from "../src/with-timeout.ts";

const waiting = suite("waiting with a timeout");

const never = () => new Promise<string>(() => {});

waiting("withTimeout returns a result or throws an error that comes in time", async () => {
  assert.is(await withTimeout(Promise.resolve("there"), 1000, () => "late"), "there");
  const failed = withTimeout(Promise.reject(new Error("failed")), 1000, () => "late");
  assert.is(await failed.catch((error: Error) => error.message), "failed");
});

waiting("after the timeout, withTimeout calls the fallback, and throws its error", async () => {
  assert.is(await withTimeout(never(), 1, () => "late"), "late");
  const failed = withTimeout(never(), 1, () => {
    throw new Error("too late");
  });
  assert.is(await failed.catch((error: Error) => error.message), "too late");
});

waiting("a timeout of many years does not end at once", async () => {
  const soon = new Promise((resolve) => setTimeout(resolve, 20, "there"));
  assert.is(await withTimeout(soon, Number.MAX_SAFE_INTEGER, () => "late"), "there");
});

waiting.run();
