/**
 * `GET /v1/info` beside a node: asks it while somebody asks, remembers what it said, and says how it is.
 *
 * The monitor is in one of a few states. One query is under way at a time; each has a generation, so that the
 * answers of one that was given up change nothing.
 *
 * @module
 */
import type { Kind } from "../kinds/kind.ts";
import type { Resource } from "../lazy.ts";
import { withTimeout } from "../with-timeout.ts";
import { assessStatus } from "./assess-status.ts";
import { type Detection, detectKind } from "./detect-kind.ts";
import { type Info, makeInfo, type Service } from "./info-object.ts";
import {
  dueSources,
  type Instant,
  isRefused,
  isSilent,
  type Knowledge,
  learn,
  show,
} from "./knowledge.ts";
import { readFields, type Values } from "./map-fields.ts";
import { fetchForNode } from "./node-files.ts";
import { HOST, type HostInfo, makePlan, type Plan, planOfHost } from "./query-plan.ts";
import { createQuery, type Outcome, type Query } from "./query-sources.ts";
import { type InfoSettings, type NodeSettings, timesOf } from "./settings.ts";
import { createSnapshots, type Snapshot } from "./snapshot.ts";
import { createAuth } from "./sources/credentials.ts";
import { createStateLog, type Log } from "./state-log.ts";
import { type NodeStatus, NOT_ASKED } from "./status.ts";

/** How long an answer waits for a query where there is something older to show, in ms. */
const PATIENCE = 20;

/** How much longer than a source's own time an answer waits where there is nothing to show, in ms. */
const GRACE = 200;

/** The first and the longest time between two tries of a node that does not answer, in ms. */
const BACKOFF_FIRST = 1000, BACKOFF_MAX = 24_000;

/** A query that takes longer than this is never going to end, in ms. */
const QUERY_MAX = 60_000;

/** What tells the time. */
export interface Clock {
  /** Milliseconds that only count up, for all that is measured. */
  monotonic(): number;
  /** Milliseconds since 1970, for what is printed. */
  now(): number;
}

/** What the info is made of. */
export interface MonitorOptions {
  /** What the service says of itself. */
  readonly service: Service;
  readonly node?: NodeSettings | undefined;
  /** What is shown, or a function that tells it. */
  readonly info?: InfoSettings | HostInfo | undefined;
  /** The kinds of node that are known. */
  readonly kinds: Readonly<Record<string, Kind>>;
  /** Is told what an operator should know of the node. */
  readonly log: Log;
  /** Is told of errors that are not the node's. */
  onError(error: unknown): void;
  /** What asks the node. @default one that trusts whom `node.tls` names */
  readonly fetch?: typeof fetch;
  /** @default the runtime's own */
  readonly clock?: Clock;
  /** From 0 to below 1. @default Math.random */
  readonly random?: () => number;
}

/** What is known of the node, kept current while somebody asks. */
export interface Monitor extends Resource<Snapshot>, AsyncDisposable {
  /** The name of the node's kind, which may be `none`; `undefined` while it is not known. */
  readonly kind: string | undefined;
}

/** A monitor of a node. */
export interface NodeMonitor extends Monitor {
  /** Asks everything once, whatever the schedule says; for `nodeface check`. */
  inspect(): Promise<Inspection>;
}

/** What one query came to. */
export interface Inspection {
  /** The kind that was found, or why none was; `undefined` where it was not looked for. */
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
  | { readonly name: "failing"; readonly dueAt: number }
  | { readonly name: "closed" };

const CLOCK: Clock = { monotonic: () => performance.now(), now: () => Date.now() };

/**
 * Makes a monitor. Nothing is asked before somebody asks.
 *
 * @throws {TypeError} if a kind is unknown
 */
export function createMonitor(options: MonitorOptions): NodeMonitor {
  const { service, node = {}, kinds, log, onError, clock = CLOCK, random = Math.random } = options;
  const fetch = options.fetch ?? fetchForNode(node);
  const host = typeof options.info === "function" ? options.info : undefined;
  const settings: InfoSettings = typeof options.info === "function" ? {} : options.info ?? {};
  const { timeout, ttl, stale } = timesOf(node, settings);
  const { url } = node;
  const isDetected = url !== undefined && node.kind === undefined && !host;

  const label = url === undefined ? "node" : `node ${new URL(url).origin}`;
  const stateLog = createStateLog(label, log);
  const run = `${clock.now().toString(36)}-${random().toString(36).slice(2, 8)}`;
  const toSnapshot = createSnapshots(ttl, run);

  let state: State = { name: "idle" };
  let generation = 0;
  /** How many queries in a row were given nothing. */
  let failures = 0;
  let detection: Detection | undefined;
  let plan: Plan;
  let query: Query;
  let knowledge: Knowledge;
  let outcomes: ReadonlyMap<string, Outcome> = new Map();
  let values: Values = {};
  /** What is shown, and until when it is right without another query. */
  let shown: { snapshot: Snapshot; status: NodeStatus; until: number } | undefined;
  let shownVersion = 0;
  let version = 0;
  /** When the last query ended. */
  let settledAt: number | undefined;

  const use = (kind: string | undefined) => {
    const found = kind === undefined || kind === "none" ? undefined : kinds[kind];
    if (kind && kind !== "none" && !found) throw new TypeError(`"${kind}" is no kind of node`);
    const auth = url === undefined
      ? undefined
      : createAuth({ nodeUrl: url, configured: node.auth, kind, kinds });
    plan = host
      ? planOfHost(host, { ttl, timeout })
      : makePlan(kind, found, settings, { ttl, timeout });
    query = createQuery({ url, auth, fetch });
    knowledge = new Map();
    outcomes = new Map();
    values = {};
  };
  use(node.kind);

  const instant = (): Instant => ({ monotonic: clock.monotonic(), date: clock.now() });

  /** Asks once: what kind of node it is, where that is not known, and what is due. */
  const ask = async (signal: AbortSignal, mine: number): Promise<void> => {
    const isMine = () => generation === mine && !signal.aborted;
    const findKind = async () => {
      const found = await detectKind({ url: url!, kinds, auth: node.auth, fetch, signal });
      if (!isMine()) return;
      if (found.kind !== undefined) {
        if (found.kind !== detection?.kind) {
          log(`${label} is of the kind ${found.kind}: ${found.because}`, "info");
        }
        use(found.kind);
      }
      detection = found;
    };
    const askSources = async () => {
      const due = dueSources(plan, knowledge, instant(), stale);
      const asked = new Map(due.map((name) => [name, plan.sources.get(name)!]));
      const before = knowledge;
      const found = await query(
        asked,
        signal,
        (name, pointer) => before.get(name)?.last?.taken.get(pointer),
      );
      if (!isMine()) return;
      outcomes = new Map([...outcomes, ...found]);
      knowledge = learn(plan, knowledge, found, instant());
    };
    if (isDetected && detection?.kind === undefined) await findKind();
    if (isMine()) await askSources();
    // Another kind of node may have come in the place of the one that was found.
    if (isMine() && isDetected && detection?.kind !== undefined && isRefused(plan, knowledge)) {
      const before = detection;
      await findKind();
      if (isMine() && detection?.kind === undefined) detection = before;
      else if (isMine() && detection !== before) await askSources();
    }
    if (isMine()) await publish();
  };

  const statusNow = (now: Instant): NodeStatus => {
    if (isDetected && detection?.kind === undefined) return detection?.status ?? NOT_ASKED;
    const visible = show(plan, knowledge, now, stale);
    return assessStatus({ plan, knowledge, shown: visible, values, date: now.date });
  };

  /** Makes the snapshot of what is known now. */
  const publish = async (): Promise<Snapshot> => {
    const now = instant();
    const visible = show(plan, knowledge, now, stale);
    const read = plan.sources.has(HOST)
      ? visible.answers.get(HOST)?.taken.get("") as Values | undefined
      : readFields(plan.fields, visible.answers, values);
    values = { ...read, ...plan.static };
    const status = statusNow(now);
    const parts = { service, isBesideNode: true, hide: settings.hide, values, status };
    const { info, leftOut } = makeInfo({ ...parts, updatedAt: visible.oldest?.date });
    stateLog.tellStatus(status, now.monotonic);
    stateLog.tellRemarks("source", remarksOn(plan, outcomes));
    stateLog.tellRemarks("key", leftOut);
    const mine = ++version;
    const snapshot = await toSnapshot(info);
    // An older one that took longer does not take the place of a newer one.
    if (mine > shownVersion) {
      shownVersion = mine;
      const { oldest } = visible;
      shown = { snapshot, status, until: oldest ? oldest.monotonic + stale : Infinity };
    }
    return snapshot;
  };

  const start = (): void => {
    const abort = new AbortController();
    const mine = ++generation;
    const since = clock.monotonic();
    const settle = async () => {
      await ask(abort.signal, mine).catch(onError);
      if (generation !== mine) return;
      settledAt = clock.monotonic();
      const isGiven = !isDetected || detection?.kind !== undefined;
      const isWell = isGiven && !isSilent(plan, knowledge) && !isRefused(plan, knowledge);
      failures = isWell ? 0 : failures + 1;
      const backoff = Math.min(BACKOFF_FIRST * 2 ** (failures - 1), BACKOFF_MAX);
      state = isWell
        ? { name: "current", dueAt: since + ttl }
        : { name: "failing", dueAt: settledAt + backoff * (0.5 + random() / 2) };
    };
    state = { name: "querying", since, abort, done: settle() };
  };

  const isDue = (now: number) =>
    state.name === "idle" ||
    ((state.name === "current" || state.name === "failing") && now >= state.dueAt);

  /** Gives up what is under way. */
  const abandon = () => {
    if (state.name === "querying") state.abort.abort();
    generation++;
    state = { name: "idle" };
  };

  const visible = () => shown && clock.monotonic() < shown.until ? shown.snapshot : undefined;

  if (!isDetected && plan!.sources.size === 0) state = { name: "closed" };

  return {
    get kind() {
      return isDetected ? detection?.kind : node.kind;
    },
    peek() {
      if (state.name === "querying" || isDue(clock.monotonic())) return undefined;
      return visible();
    },
    async get() {
      const now = clock.monotonic();
      // A worker's runtime drops the work of a request that has gone away.
      if (state.name === "querying" && now - state.since > QUERY_MAX) abandon();
      if (isDue(now)) start();
      if (state.name === "querying") {
        // What is old is not shown where a new answer may come in time.
        const isFresh = settledAt !== undefined && (failures > 0 || now - settledAt < stale);
        const left = state.since + (isFresh ? PATIENCE : timeout + GRACE) - now;
        if (left > 0) await withTimeout(state.done, left, () => {});
      }
      return visible() ?? await publish();
    },
    async inspect() {
      if (isDue(clock.monotonic()) || state.name === "failing") start();
      if (state.name === "querying") await state.done;
      const { info } = await publish();
      return { detection, plan, outcomes, status: statusNow(instant()), info };
    },
    async [Symbol.asyncDispose]() {
      const { done } = state.name === "querying" ? state : {};
      abandon();
      state = { name: "closed" };
      await done;
    },
  };
}

/** What is wrong with sources that the status does not say. */
function remarksOn(plan: Plan, outcomes: ReadonlyMap<string, Outcome>): Map<string, string> {
  const remarks = new Map<string, string>();
  for (const [name, outcome] of outcomes) {
    if ("error" in outcome) {
      const { message, hint } = outcome.error;
      if (plan.sources.get(name)?.role === "extra") {
        remarks.set(name, hint === undefined ? message : `${message} (${hint})`);
      }
    } else if (outcome.leftOut.length > 0) {
      remarks.set(name, `a part of the answer is left out: ${outcome.leftOut.join(", ")}`);
    }
  }
  return remarks;
}
