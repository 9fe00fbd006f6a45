import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LightSignal, onAbort, toAbortSignal, withSignal } from "../src/abort-signal.ts";

const signals = suite("signals");

const never = () => new Promise<string>(() => {});
const reasonOf = (promise: Promise<unknown>) => promise.catch((reason: unknown) => reason);

signals("the abort of a signal ends what listens, with the first reason", async () => {
  const signal = new LightSignal();
  const waited = withSignal(never(), signal);
  const follower = toAbortSignal(signal);
  const reasons: unknown[] = [];
  onAbort(signal, (reason) => reasons.push(reason));
  const removeListener = onAbort(signal, () => reasons.push("removed"));
  removeListener();
  signal.abort("gone");
  signal.abort("again");
  assert.equal([...reasons, await reasonOf(waited), follower.reason], ["gone", "gone", "gone"]);
});

signals("a signal that is already aborted ends it at once", async () => {
  const light = new LightSignal();
  light.abort("gone");
  for (const signal of [light, AbortSignal.abort("gone")]) {
    const reasons: unknown[] = [toAbortSignal(signal).reason];
    onAbort(signal, (reason) => reasons.push(reason));
    assert.equal([...reasons, await reasonOf(withSignal(never(), signal))], [
      "gone",
      "gone",
      "gone",
    ]);
  }
});

signals("a signal that is aborted without a reason has that of an AbortController", () => {
  const signal = new LightSignal();
  signal.abort();
  assert.is((signal.reason as Error).name, "AbortError");
});

signals.run();
