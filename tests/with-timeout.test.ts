import { suite } from "uvu";
import * as assert from "uvu/assert";
import { following, LightSignal, withSignal, withTimeout } from "../src/with-timeout.ts";

const waiting = suite("waiting with a timeout");

const never = () => new Promise<string>(() => {});

waiting("returns a result that is in time, or its failure", async () => {
  assert.is(await withTimeout(Promise.resolve("there"), 1000, () => "late"), "there");
  const failed = withTimeout(Promise.reject(new Error("failed")), 1000, () => "late");
  assert.is(await failed.catch((error: Error) => error.message), "failed");
});

waiting("returns a substitute if the result is late, or fails", async () => {
  assert.is(await withTimeout(never(), 1, () => "late"), "late");
  const failed = withTimeout(never(), 1, () => {
    throw new Error("too late");
  });
  assert.is(await failed.catch((error: Error) => error.message), "too late");
});

waiting("does not treat a time of many years as none", async () => {
  const soon = new Promise((resolve) => setTimeout(resolve, 20, "there"));
  assert.is(await withTimeout(soon, Number.MAX_SAFE_INTEGER, () => "late"), "there");
});

waiting("ends with a signal, whose reason is that of the one it follows", async () => {
  const controller = new AbortController();
  const signal = following(controller.signal);
  const waited = withSignal(never(), signal);
  const reasons: unknown[] = [];
  signal.addEventListener("abort", () => reasons.push(signal.reason));
  const removed = () => reasons.push("removed");
  signal.addEventListener("abort", removed);
  signal.removeEventListener("abort", removed);
  controller.abort("gone");
  signal.abort("again");
  assert.is(await waited.catch((reason: unknown) => reason), "gone");
  assert.equal(reasons, ["gone"]);
});

waiting("follows a signal that is aborted already", () => {
  const first = new LightSignal();
  first.abort("gone");
  assert.is(following(first).reason, "gone");
});

waiting.run();
