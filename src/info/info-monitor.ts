/**
 * `GET /v1/info`: the node is asked while somebody asks, and `createSnapshots` of `info.ts` makes what is sent.
 *
 * The monitor is in one of a few states. One query is under way at a time; each has a generation, so that the
 * responses of one that was given up change nothing. A request goes `get → start → runQuery → publish`, or is given
 * what was published.
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
import type { Outcome } from "./query-sources.ts";
import { timesOf } from "./settings.ts";
import { StateLog } from "./state-log.ts";
import type { NodeStatus } from "./status.ts";

/** The time for which a response waits for a query where somebody has asked lately, in ms. */
const PATIENCE = 20;

/** After such a pause, in ms, what is known is too old to be shown while the node is asked. */
const PAUSE = 10_000;

/** The time beyond a source's own for which a response waits where there is nothing to show, in ms. */
const GRACE = 200;

/** The first and the longest time between two tries of a node that does not answer, also where somebody listens; in ms. */
const BACKOFF_FIRST = 1000, BACKOFF_MAX = 24_000, BACKOFF_HEARD = 3000;

/** A query that takes longer than this is never going to end, in ms. */
const QUERY_MAX = 60_000;

interface MonitorOptions
  extends
    Pick<ObserverOptions, "service" | "kinds" | "log" | "onOutcome" | "onIdentity" | "memory">,
    Partial<Pick<ObserverOptions, "node" | "info" | "client">> {
  onError(error: unknown): void;
  /** Milliseconds that only count up, and milliseconds since 1970. @default the runtime's own */
  readonly clock?: { monotonic(): number; now(): number };
  readonly random?: () => number;
  readonly onPublished?: ((info: Info, measured: Measured) => void) | undefined;
  /** Tells whether somebody listens, who is not to wait long for a node that comes back. */
  readonly isHeard?: (() => boolean) | undefined;
}

export interface Monitor extends Resource<Snapshot>, AsyncDisposable {
  /** The name of the node's kind, which may be `none`; `undefined` while it is not known. */
  readonly kind: string | undefined;
  readonly isCurrent: boolean;
  /** Asks the node if that is due, though nobody else does; resolves when it has responded. Never rejects. */
  look(): Promise<void>;
  /** Asks everything once, whatever the schedule says; for `nodeface check`. */
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
 * idle ──▶ querying ──answered──▶ current ──ttl──▶ querying
 *              └──nothing given──▶ failing ──backoff──▶ querying
 * ```
 */
type State =
  | { readonly name: "idle" }
  | {
    readonly name: "querying";
    readonly since: number;
    readonly abort: AbortController;
    readonly done: Promise<void>;
  }
  | { readonly name: "current"; readonly dueAt: number }
  | { readonly name: "failing"; readonly dueAt: number; readonly since: number }
  | { readonly name: "closed" };

const CLOCK = { monotonic: () => performance.now(), now: () => Date.now() };

export function createMonitor(options: MonitorOptions): Monitor {
  const { node = {}, info = {}, log, onError, onPublished, isHeard = () => false } = options;
  const { clock = CLOCK, random = Math.random, client = createClient(node) } = options;
  const { ttl } = timesOf(node, typeof info === "function" ? {} : info);
  const label = node.url === undefined ? "node" : `node ${new URL(node.url).origin}`;
  const now = () => ({ monotonic: clock.monotonic(), date: clock.now() });
  const onLearnt = () => {
    if (state.name !== "querying") void publish().catch(onError);
  };
  const observer = new Observer({ ...options, node, info, client, label, now, onLearnt });
  const stateLog = new StateLog(label, log);
  const run = `${clock.now().toString(36)}-${random().toString(36).slice(2, 8)}`;
  const toSnapshot = createSnapshots(ttl, run);

  let state: State = { name: "idle" };
  let generation = 0;
  let failures = 0;
  let askedAt = -Infinity;
  let published: { version: number; snapshot: Snapshot; until: number } | undefined;
  let versions = 0;

  const publish = async (): Promise<Snapshot> => {
    const { status, info, omitted, took, until, examples } = observer.report();
    stateLog.logStatus(status, clock.monotonic());
    stateLog.logRemarks("source", remarksOn(observer.plan, observer.outcomes));
    stateLog.logRemarks("key", omitted);
    const version = ++versions;
    const snapshot = await toSnapshot(info, examples);
    // An older one that took longer does not take the place of a newer one.
    if (version > (published?.version ?? 0)) {
      published = { version, snapshot, until };
      onPublished?.(snapshot.info, { took, columns: observer.plan.history, ...now() });
    }
    return snapshot;
  };

  const start = (isWatch = false): void => {
    const abort = new AbortController();
    const since = clock.monotonic();
    const mine = ++generation;
    const query = async () => {
      let isGiven = false;
      try {
        isGiven = await observer.observe(abort.signal, isWatch);
        if (generation === mine) await publish();
      } catch (error) {
        // What was published before is not known to be right any more.
        published = undefined;
        onError(error);
      }
      if (generation !== mine) return;
      failures = isGiven ? 0 : failures + 1;
      if (isGiven) return void (state = { name: "current", dueAt: since + ttl });
      const backoff = Math.min(BACKOFF_FIRST * 2 ** (failures - 1), BACKOFF_MAX);
      const now = clock.monotonic();
      state = { name: "failing", since: now, dueAt: now + backoff * (0.5 + random() / 2) };
    };
    state = { name: "querying", since, abort, done: query() };
  };

  const isDue = (time: number) =>
    state.name === "idle" ||
    ((state.name === "current" || state.name === "failing") && time >= state.dueAt) ||
    (state.name === "failing" && isHeard() && time >= state.since + BACKOFF_HEARD);

  const abandon = () => {
    if (state.name === "querying") state.abort.abort();
    generation++;
    state = { name: "idle" };
    observer.markUnreachable();
    published = undefined;
  };

  const valid = () =>
    published && clock.monotonic() < published.until ? published.snapshot : undefined;

  if (!observer.isDetected && observer.plan.sources.size === 0) state = { name: "closed" };

  return {
    get kind() {
      return observer.kind;
    },
    get isCurrent() {
      const isIdle = state.name !== "querying" && !isDue(clock.monotonic());
      return isIdle && valid() !== undefined;
    },
    async get() {
      const time = clock.monotonic();
      // A worker's runtime drops the work of a request that has gone away.
      if (state.name === "querying" && time - state.since > QUERY_MAX) abandon();
      if (isDue(time)) start();
      const isFollowed = published !== undefined && time - askedAt < PAUSE;
      askedAt = time;
      if (state.name === "querying") {
        const asking = state;
        const { since, done } = asking;
        const left = since + (isFollowed ? PATIENCE : observer.timeout + GRACE) - time;
        if (left > 0) await withTimeout(done, left, () => {});
        if (!isFollowed && published !== undefined && state === asking) {
          observer.markUnreachable();
          await publish();
        }
      }
      return valid() ?? await publish();
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
      const { done } = state.name === "querying" ? state : {};
      if (state.name === "querying") state.abort.abort();
      generation++;
      state = { name: "closed" };
      observer.end();
      await Promise.all([done, observer.settled()]);
    },
  };
}

function remarksOn(plan: Plan, outcomes: ReadonlyMap<string, Outcome>): Map<string, string> {
  const remarks = new Map<string, string>();
  for (const [name, outcome] of outcomes) {
    if ("error" in outcome) {
      const { message, hint } = outcome.error;
      if (plan.sources.get(name)?.role === "extra") {
        remarks.set(name, hint === undefined ? message : `${message} (${hint})`);
      }
    } else if (outcome.omitted.length > 0) {
      remarks.set(name, `a part of the response is omitted: ${outcome.omitted.join(", ")}`);
    }
  }
  return remarks;
}
