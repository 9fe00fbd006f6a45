/**
 * Limits the wait for a promise by a timeout or an abort signal.
 *
 * @module
 */

/** The longest delay of `setTimeout`, in milliseconds. Above this limit, a timer fires at once. */
const TIMER_MAX = 2 ** 31 - 1;

/** Lets the process end while the timer runs. On Bun, Node and Deno, timers are objects. */
export function runBeside(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
}

/** Waits at most `timeout` milliseconds. The work behind the promise is not cancelled. */
export function withTimeout<T>(promise: Promise<T>, timeout: number, late: () => T): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(timeout, TIMER_MAX));
  });
  return Promise.race([promise, passed.then(late)]).finally(() => clearTimeout(timer));
}

/** Waits for the end of work, but at most `timeout` milliseconds. */
export async function waitAtMost(work: Promise<unknown>, timeout: number): Promise<void> {
  await withTimeout(work, timeout, () => undefined);
}

/** An aborted signal does not cancel the work behind the promise. */
export function withSignal<T>(promise: Promise<T>, signal: Signal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    const settle = (act: (value: never) => void) => (value: unknown) => {
      signal.removeEventListener("abort", stop);
      act(value as never);
    };
    promise.then(settle(resolve), settle(reject));
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
}

export function tryAbort(controller: AbortController): void {
  try {
    controller.abort();
  } catch {
    // On workerd, a request may not cancel work that another request started.
  }
}

export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** An `AbortController` would take about 20 µs per call on Node 20. */
export class LightSignal implements Signal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: Set<() => void> | undefined;

  get isHeard(): boolean {
    return this.#listeners !== undefined && this.#listeners.size > 0;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    (this.#listeners ??= new Set()).add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners ?? []) listener();
  }
}

/** A signal that is aborted with any of others, until it is disposed of. */
export class FollowingSignal extends LightSignal {
  readonly #leaders: readonly Signal[];
  readonly #follow = () => this.abort(this.#leaders.find(({ aborted }) => aborted)!.reason);

  constructor(...leaders: readonly Signal[]) {
    super();
    this.#leaders = leaders;
    for (const leader of leaders) leader.addEventListener("abort", this.#follow);
    if (leaders.some(({ aborted }) => aborted)) this.#follow();
  }

  /** Without this, a leader that lasts, such as that of a connection, would keep all of them. */
  dispose(): void {
    for (const leader of this.#leaders) leader.removeEventListener("abort", this.#follow);
  }
}

/** Returns a controller that is aborted with the signal. */
export function controllerFollowing(signal: Signal): AbortController {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  return controller;
}

const lights = new WeakMap<Signal, LightSignal>();

/** Returns a signal for any number of listeners: Node warns of the eleventh at an `AbortSignal`. */
export function lightSignalOf(signal: Signal): LightSignal {
  if (signal instanceof LightSignal) return signal;
  let light = lights.get(signal);
  if (!light) lights.set(signal, light = new FollowingSignal(signal));
  return light;
}
