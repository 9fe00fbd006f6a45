/**
 * Decides when the node is queried for `/v1/info`: on request, at most once in a `ttl`. One query runs at a time. A request
 * goes through `get`, `start`, `Observer.observe` and `publish`, or gets the snapshot that was published last.
 *
 * @module
 */
import type { Resource } from "../lazy.ts";
import { createClient } from "../node/client.ts";
import { withTimeout } from "../with-timeout.ts";
import type { Detection } from "./detect-kind.ts";
import type { Measured } from "./history.ts";
import { createSnapshots, type Info, type Snapshot } from "./info.ts";
import { Observer, type ObserverOptions } from "./observe-node.ts";
import type { Plan } from "./query-plan.ts";
import type { Outcome } from "./sources.ts";
import { timesOf } from "./settings.ts";
import { NodeMemory, StateLog } from "./state-log.ts";
import type { NodeStatus } from "./status.ts";

/** The time for which a request waits for a running query if there was another request lately, in milliseconds. */
const PATIENCE = 20;

/** The time without requests after which the last snapshot is not sent while the node is queried, in milliseconds. */
const PAUSE = 10_000;

/** The time beyond a source's timeout for which a request waits if there is no snapshot to send, in milliseconds. */
const GRACE = 200;

/** The delay before the next query of a node that does not respond, in milliseconds; the last one if a client listens. */
const BACKOFF_FIRST = 1000, BACKOFF_MAX = 24_000, BACKOFF_LISTENED = 3000;

/** The time after which a query is given up, in milliseconds: workerd drops the work of requests that have ended. */
const QUERY_MAX = 60_000;

interface MonitorOptions
  extends
    Pick<ObserverOptions, "service" | "node" | "kinds" | "log" | "onOutcome" | "onIdentity">,
    Partial<Pick<ObserverOptions, "info" | "client" | "memory">> {
  onError(error: unknown): void;
  /** Milliseconds that only count up, and milliseconds since 1970. @default the runtime's own */
  readonly clock?: { monotonic(): number; now(): number };
  readonly random?: () => number;
  readonly onPublished?: ((info: Info, measured: Measured) => void) | undefined;
  readonly isHeard?: (() => boolean) | undefined;
}

export interface Monitor extends Resource<Snapshot>, AsyncDisposable {
  /** The name of the node's kind, which may be `none`; `undefined` while it is unknown. */
  readonly kind: string | undefined;
  /** Queries the node if that is due, without a request; resolves when it has responded. Never rejects. */
  look(): Promise<void>;
  /** Queries all sources once, for `nodeface check`. */
  inspect(): Promise<Inspection>;
}

export interface Inspection {
  readonly detection: Detection | undefined;
  readonly plan: Plan;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly status: NodeStatus;
  readonly info: Info;
}

/**
 * ```
 * idle ──▶ querying ──responded──▶ current ──ttl──▶ querying
 *              └───no response───▶ failing ──backoff──▶ querying
 * ```
 */
type State =
  | { readonly name: "idle" | "closed" }
  | {
    readonly name: "querying";
    readonly since: number;
    readonly abort: AbortController;
    readonly done: Promise<void>;
  }
  | { readonly name: "current"; readonly dueAt: number }
  | { readonly name: "failing"; readonly dueAt: number; readonly since: number };

const CLOCK = { monotonic: () => performance.now(), now: () => Date.now() };

export function createMonitor(options: MonitorOptions): Monitor {
  const { node, info = {}, onError, onPublished, isHeard = () => false } = options;
  const { clock = CLOCK, random = Math.random, memory = new NodeMemory() } = options;
  const { client = createClient(node) } = options;
  const settings = typeof info === "function" ? {} : info;
  const { hide = [] } = settings;
  const { ttl } = timesOf(node, settings);
  const label = node.url === undefined ? "node" : `node ${new URL(node.url).origin}`;
  const now = () => ({ monotonic: clock.monotonic(), date: clock.now() });
  const onLateResponse = () => {
    if (state.name !== "querying") void publish().catch(onError);
  };
  const context = { ...options, info, hide, client, memory, label, now, onLateResponse };
  const observer = new Observer(context);
  const stateLog = new StateLog(context);
  const run = `${clock.now().toString(36)}-${random().toString(36).slice(2, 8)}`;
  const toSnapshot = createSnapshots(ttl, run);

  let state: State = { name: "idle" };
  let failures = 0;
  let requestedAt = -Infinity;
  let published: { version: number; snapshot: Snapshot; until: number } | undefined;
  let versions = 0;

  const publish = async (): Promise<Snapshot> => {
    const report = observer.report();
    stateLog.take(report, clock.monotonic());
    const version = ++versions;
    const snapshot = await toSnapshot(report.info, report.examples);
    // A snapshot that took longer does not replace a newer one.
    if (version > (published?.version ?? 0)) {
      const { took, until } = report;
      published = { version, snapshot, until };
      onPublished?.(snapshot.info, { took, columns: observer.plan.history, ...now() });
    }
    return snapshot;
  };

  const start = (isWatch = false): void => {
    const abort = new AbortController();
    const since = clock.monotonic();
    const query = async () => {
      let hasResponded = false;
      try {
        hasResponded = await observer.observe(abort.signal, isWatch);
        if (!abort.signal.aborted) await publish();
      } catch (error) {
        // The last snapshot may be wrong by now.
        published = undefined;
        onError(error);
      }
      if (abort.signal.aborted) return;
      failures = hasResponded ? 0 : failures + 1;
      const backoff = Math.min(BACKOFF_FIRST * 2 ** (failures - 1), BACKOFF_MAX);
      const now = clock.monotonic();
      state = hasResponded
        ? { name: "current", dueAt: since + ttl }
        : { name: "failing", since: now, dueAt: now + backoff * (0.5 + random() / 2) };
    };
    state = { name: "querying", since, abort, done: query() };
  };

  const isDue = (time: number) =>
    state.name === "idle" ||
    ((state.name === "current" || state.name === "failing") && time >= state.dueAt) ||
    (state.name === "failing" && isHeard() && time >= state.since + BACKOFF_LISTENED);

  if (!observer.isDetected && observer.plan.sources.size === 0) state = { name: "closed" };

  return {
    get kind() {
      return observer.kind;
    },
    async get() {
      const time = clock.monotonic();
      if (state.name === "querying" && time - state.since > QUERY_MAX) {
        state.abort.abort();
        state = { name: "idle" };
        observer.markUnreachable();
        published = undefined;
      }
      if (isDue(time)) start();
      const isRecent = published !== undefined && time - requestedAt < PAUSE;
      requestedAt = time;
      if (state.name === "querying") {
        const query = state;
        const left = query.since + (isRecent ? PATIENCE : observer.timeout + GRACE) - time;
        if (left > 0) await withTimeout(query.done, left, () => {});
        if (!isRecent && published !== undefined && state === query) {
          observer.markUnreachable();
          await publish();
        }
      }
      const isValid = published !== undefined && clock.monotonic() < published.until;
      return isValid ? published!.snapshot : await publish();
    },
    async look() {
      if (isDue(clock.monotonic())) start(true);
      if (state.name === "querying") await withTimeout(state.done, QUERY_MAX, () => {});
    },
    async inspect() {
      if (isDue(clock.monotonic()) || state.name === "failing") start();
      if (state.name === "querying") await state.done;
      await observer.settled();
      const { detection, plan, outcomes } = observer;
      const { status, info } = observer.report();
      return { detection, plan, outcomes, status, info };
    },
    async [Symbol.asyncDispose]() {
      const query = state.name === "querying" ? state : undefined;
      query?.abort.abort();
      state = { name: "closed" };
      observer.end();
      await Promise.all([query?.done, observer.settled()]);
    },
  };
}
