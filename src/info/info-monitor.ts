/**
 * Queries the node when a client requests `/v1/info`, at most once per `ttl`. A query runs through
 * `#start`, `#query`, `#askSources` and `#publish`.
 *
 * @module
 */
import type { Kind } from "../kinds/kind.ts";
import type { Resource } from "../lazy.ts";
import { Listeners } from "../listeners.ts";
import type { Node } from "../node/node.ts";
import { tryAbort, withTimeout } from "../with-timeout.ts";
import { type Detection, detectKind } from "./detect-kind.ts";
import type { Measured } from "./history.ts";
import { type Info, makeInfo, type Service, type Snapshot, Snapshots } from "./info.ts";
import { KindState } from "./kind-state.ts";
import {
  type HostInfo,
  isAlone,
  makePlan,
  type Plan,
  planOfHost,
  withReach,
} from "./query-plan.ts";
import { type InfoSettings, type Times, timesOf } from "./settings.ts";
import { type Answers, type Instant, readExamples, RETRY_MS } from "./source-cache.ts";
import { type QueryOutcome, querySources, settle } from "./sources.ts";
import { type NodeLog, NodeMemory, StateLog } from "./state-log.ts";
import { type NodeStatus, NOT_ASKED, withoutHidden } from "./status.ts";

/** A request may wait this many milliseconds longer than the sources' timeout. */
const GRACE = 200;
/**
 * A query is abandoned after this many milliseconds. On workerd, a query may stop silently when the
 * request that started it ends.
 */
const QUERY_MAX = 60_000;
/** Optional sources delay a snapshot by at most this many milliseconds. */
const OPTIONAL_PATIENCE = 200;
/** The minimum number of milliseconds between two attempts to detect a different kind. */
const DETECTION_PAUSE = 10_000;

interface MonitorOptions {
  readonly service: Service;
  readonly info?: InfoSettings | HostInfo;
  readonly log: NodeLog;
  onError(error: unknown): void;
  /**
   * `now` returns milliseconds since 1970. `monotonic` returns milliseconds since an arbitrary
   * time.
   */
  readonly clock?: { monotonic(): number; now(): number };
  readonly random?: () => number;
  readonly memory?: NodeMemory;
}

export interface Inspection {
  readonly detection: Detection | undefined;
  readonly plan: Plan;
  readonly outcomes: ReadonlyMap<string, QueryOutcome>;
  readonly status: NodeStatus;
  readonly info: Info;
}

/**
 * ```
 * idle ──▶ querying ──▶ resting ──dueAt──▶ querying
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
  | { readonly name: "resting"; readonly dueAt: number; readonly isFailing: boolean };

const CLOCK = { monotonic: () => performance.now(), now: () => Date.now() };

export class Monitor implements Resource<Snapshot>, AsyncDisposable {
  /** Told each published info object. */
  readonly onInfo: Listeners<[info: Info, measured: Measured]> = new Listeners();
  /** Told each outcome of a query. */
  readonly onOutcome: Listeners<[source: string, outcome: QueryOutcome]> = new Listeners();
  /** Told that the node is on another chain than before. */
  readonly onIdentity: Listeners<[]> = new Listeners();
  readonly #node: Node;
  readonly #options: MonitorOptions;
  readonly #info: InfoSettings | HostInfo;
  readonly #hide: readonly string[];
  readonly #times: Times;
  readonly #label: string;
  readonly #memory: NodeMemory;
  readonly #log: StateLog;
  #snapshots: Snapshots | undefined;
  readonly #isDetected: boolean;
  #detection: Detection | undefined;
  #kind: KindState;
  /** False until the kind that the settings name has been loaded. */
  #isLoaded: boolean;
  readonly #running = new Map<string, Promise<void>>();
  #state: State = { name: "idle" };
  #detectedAt = -Infinity;
  #published: { version: number; snapshot: Snapshot; until: number } | undefined;
  #versions = 0;

  constructor(node: Node, options: MonitorOptions) {
    const { info = {}, log } = options;
    const { url, kind } = node;
    const isFunction = typeof info === "function";
    const settings = isFunction ? {} : info;
    this.#node = node;
    this.#options = options;
    this.#info = info;
    this.#hide = settings.hide ?? [];
    this.#times = timesOf(settings, node.timeout);
    this.#label = url === undefined ? "node" : `node ${new URL(url).origin}`;
    this.#memory = options.memory ?? new NodeMemory();
    this.#log = new StateLog({
      label: this.#label,
      hide: this.#hide,
      memory: this.#memory,
      log,
      onIdentity: () => this.onIdentity.tell(),
    });
    this.#isDetected = url !== undefined && kind === undefined && !isFunction;
    this.#isLoaded = isFunction || kind === undefined || kind === "none";
    this.#kind = this.#stateOf(kind, undefined);
  }

  /**
   * Queries the node if its kind is unknown. Resolves to `undefined` if the kind remains unknown.
   */
  async findKind(): Promise<string | undefined> {
    if (this.#node.kind === undefined && this.#isDetected) await this.get();
    return this.#node.kind;
  }

  /** The last published snapshot, however old. */
  get latest(): Snapshot | undefined {
    return this.#published?.snapshot;
  }

  /**
   * Does not wait for a node that has been queried before. If the values are old, the snapshot says
   * so in `updated_at`, and the status is not `ok`.
   */
  get(): Snapshot | Promise<Snapshot> {
    this.#startIfDue();
    if (!this.#published) return this.#next();
    return this.#fresh() ?? this.#snapshotOf(this.#report());
  }

  /** Waits for a node whose last response is old, but only for the node's timeout. */
  current(): Snapshot | Promise<Snapshot> {
    this.#startIfDue();
    return this.#fresh() ?? this.#next();
  }

  /** Returns the published snapshot unless it is too old to be repeated. */
  #fresh(): Snapshot | undefined {
    const published = this.#published;
    const isFresh = published && this.#now().monotonic < published.until;
    return isFresh ? published.snapshot : undefined;
  }

  async #next(): Promise<Snapshot> {
    const query = this.#state;
    if (query.name === "querying") {
      const left = query.since + this.#kind.timeout + GRACE - this.#now().monotonic;
      if (left > 0) await withTimeout(query.done, left, () => {});
      if (this.#state === query && this.#published) {
        this.#kind.cache.markUnreachable(this.#now());
        await this.#publish();
      }
    }
    return this.#fresh() ?? await this.#snapshotOf(this.#report());
  }

  /**
   * Resolves to the reason why the node must not be called: it is not the expected one, or that
   * cannot be told from a query that is at most `ttl` old. Resolves to `undefined` if it may.
   */
  async reasonAgainstCalls(): Promise<string | undefined> {
    if (Object.keys(this.#node.expect).length === 0) return undefined;
    if (!this.#isIdentityKnown(this.#now().monotonic)) {
      this.#startIfDue();
      await this.#next();
    }
    const { status } = this.#report();
    if (status.code === "wrong_network") {
      return `The node is not the expected one: ${status.reason}`;
    }
    // What a query has just told is not too old, however long the query took.
    if (this.#isIdentityKnown(0)) return undefined;
    return `The identity of the node is not known: it ${status.reason}`;
  }

  #isIdentityKnown(time: number): boolean {
    return this.#isKindKnown && this.#kind.isIdentityKnown(time);
  }

  /** Queries a node that did not respond again, since it has responded to a call. */
  expectResponse(): void {
    if (this.#state.name === "resting" && this.#state.isFailing) this.#startIfDue();
  }

  /** Resolves when the query ends, and never rejects. */
  async look(): Promise<void> {
    this.#startIfDue(true);
    if (this.#state.name === "querying") await withTimeout(this.#state.done, QUERY_MAX, () => {});
  }

  async inspect(): Promise<Inspection> {
    await this.look();
    await this.#settled();
    const { status, info } = this.#report();
    const [detection, plan, outcomes] = [this.#detection, this.#kind.plan, this.#kind.outcomes];
    return { detection, plan, outcomes, status, info };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const query = this.#state.name === "querying" ? this.#state : undefined;
    this.#state = { name: "closed" };
    if (query) tryAbort(query.abort);
    this.#node.close();
    await Promise.all([query?.done, this.#settled()]);
  }

  #now(): Instant {
    const { clock = CLOCK } = this.#options;
    return { monotonic: clock.monotonic(), date: clock.now() };
  }

  #startIfDue(isWatch = false): void {
    const { monotonic: time } = this.#now();
    const state = this.#state;
    if (state.name === "querying" && time - state.since > QUERY_MAX) {
      this.#state = { name: "idle" };
      tryAbort(state.abort);
    }
    const isDue = this.#state.name === "resting" && time >= this.#state.dueAt;
    if (isDue || this.#state.name === "idle") this.#start(isWatch);
  }

  #start(isWatch: boolean): void {
    const abort = new AbortController();
    const { monotonic: since } = this.#now();
    const run = async () => {
      let hasResponded = false;
      try {
        hasResponded = await this.#query(abort.signal, isWatch, since);
        if (!abort.signal.aborted) await this.#publish();
      } catch (error) {
        this.#published = undefined;
        this.#options.onError(error);
      }
      if (abort.signal.aborted) return;
      const dueAt = hasResponded ? since + this.#times.ttl : this.#now().monotonic + RETRY_MS;
      this.#state = { name: "resting", dueAt, isFailing: !hasResponded };
    };
    this.#state = { name: "querying", since, abort, done: run() };
  }

  async #query(signal: AbortSignal, isWatch: boolean, since: number): Promise<boolean> {
    if (!this.#isLoaded) await this.#useKind(this.#node.kind);
    if (this.#isUnknown) await this.#detectKind(signal);
    if (!signal.aborted) await this.#askSources(signal, isWatch, since);
    const { monotonic } = this.#now();
    const mayDetect = this.#isDetected && !this.#isUnknown && !signal.aborted &&
      monotonic - this.#detectedAt >= DETECTION_PAUSE;
    if (mayDetect && this.#isSuspicious()) {
      this.#detectedAt = monotonic;
      const before = this.#kind;
      await this.#detectKind(signal);
      if (!signal.aborted && this.#kind !== before) {
        await this.#askSources(signal, isWatch, since);
      }
    }
    const { cache } = this.#kind;
    return !this.#isUnknown && !cache.isUnreachable && !cache.gaveNothing;
  }

  get #isUnknown(): boolean {
    return this.#isDetected && this.#node.kind === undefined;
  }

  get #isKindKnown(): boolean {
    return this.#isLoaded && !this.#isUnknown;
  }

  async #detectKind(signal: AbortSignal): Promise<void> {
    const found = await detectKind(this.#node, signal);
    if (signal.aborted) return;
    const before = this.#node.kind;
    if (found.kind === undefined && before !== undefined) return;
    this.#detection = found;
    if (found.kind === undefined || found.kind === before) return;
    // The evidence may contain a value that the operator hides.
    const because = this.#hide.length > 0 ? "" : `: ${found.because}`;
    const message = `${this.#label} is of the kind ${found.kind}${because}`;
    this.#options.log(message, { code: "kind", level: "info" });
    await this.#useKind(found.kind);
  }

  /** @throws {TypeError} if the kind is unknown */
  async #useKind(name: string | undefined): Promise<void> {
    const kind = (await this.#node.kinds.get())[name!];
    if (!kind) throw new TypeError(`unknown kind "${name}"`);
    this.#kind = this.#stateOf(name, kind);
    this.#isLoaded = true;
    this.#node.kind = name;
  }

  #stateOf(name: string | undefined, kind: Kind | undefined): KindState {
    const { expect } = this.#node;
    const plan = this.#planOf(name, kind, Object.keys(expect));
    return new KindState(plan, { times: this.#times, hide: this.#hide, expect });
  }

  #planOf(
    name: string | undefined,
    kind: Kind | undefined,
    expect: readonly string[],
  ): Plan {
    if (typeof this.#info === "function") return planOfHost(this.#info, this.#times);
    const plan = makePlan(name, kind, this.#info, this.#times, expect);
    const isOfNoKind = name === "none" && this.#node.url !== undefined;
    return isOfNoKind ? withReach(plan, this.#times) : plan;
  }

  #isSuspicious(): boolean {
    return this.#kind.cache.gaveNothing || this.#report().status.code === "wrong_kind" ||
      this.#kind.cache.required.some((name) => this.#kind.cache.get(name)?.error?.isAbsent);
  }

  /** @param since the time at which the query began */
  async #askSources(signal: AbortSignal, isWatch: boolean, since: number): Promise<void> {
    const { plan, cache } = this.#kind;
    const due = cache.dueSources(this.#now(), isWatch)
      .filter((name) => !this.#running.has(name))
      .map((name) => [name, plan.sources.get(name)!] as const);
    const required = due.filter(([, { role }]) => role !== "optional");
    const optional = due.filter(([, { role }]) => role === "optional");
    const remembered = (name: string, pointer: string) => cache.get(name)?.last?.taken.get(pointer);
    const asked = querySources(this.#node, new Map(required), { signal, remembered });
    // A request to an optional source may continue after the end of the query.
    const aside = querySources(this.#node, new Map(optional), {
      signal: this.#node.signal,
      remembered,
    });
    for (const [name, outcome] of aside) {
      this.#running.set(name, this.#followUp(name, outcome, plan, since));
    }
    const outcomes = await settle(asked);
    await withTimeout(this.#settled(), OPTIONAL_PATIENCE, () => {});
    if (!signal.aborted) this.#update(outcomes, since);
  }

  async #followUp(
    name: string,
    asked: Promise<QueryOutcome>,
    plan: Plan,
    since: number,
  ): Promise<void> {
    const outcome = await asked;
    this.#running.delete(name);
    if (this.#node.signal.aborted || this.#kind.plan !== plan) return;
    this.#update(new Map([[name, outcome]]), since);
    // The next query publishes the value if the node has not been asked for a while.
    if (this.#state.name !== "querying" && this.#fresh()) {
      this.#publish().catch(this.#options.onError);
    }
  }

  /** @param since the time at which the sources were asked */
  #update(outcomes: ReadonlyMap<string, QueryOutcome>, since: number): void {
    for (const [name, outcome] of outcomes) {
      this.onOutcome.tell(name, outcome);
      this.#kind.outcomes.set(name, outcome);
    }
    this.#kind.cache.update(outcomes, this.#now(), since);
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #publish(): Promise<void> {
    const report = this.#report();
    const { until } = report;
    const { took, remarks } = this.#kind.review();
    const now = this.#now();
    this.#log.take({ ...report, remarks }, now.monotonic);
    const version = ++this.#versions;
    const snapshot = await this.#snapshotOf(report);
    // A snapshot that is finished late must not replace a newer snapshot.
    if (version <= (this.#published?.version ?? 0)) return;
    this.#published = { version, snapshot, until };
    const columns = this.#kind.plan.history;
    this.onInfo.tell(snapshot.info, { took, columns, ...now });
  }

  #snapshotOf({ info, answers }: { info: Info; answers: Answers }): Promise<Snapshot> {
    // On workerd, random values can be had only while a request is handled.
    const { random = Math.random } = this.#options;
    const run = () => `${this.#now().date.toString(36)}-${random().toString(36).slice(2, 8)}`;
    this.#snapshots ??= new Snapshots(run());
    return this.#snapshots.of(info, readExamples(this.#kind.plan.examples, answers));
  }

  /**
   * `until` is the time up to which the info object may be repeated, in milliseconds of the
   * monotonic clock.
   */
  #report() {
    const now = this.#now();
    const kind = this.#kind;
    const seen = kind.see(now);
    const status = this.#isKindKnown ? kind.assess(seen) : this.#statusOfUnknown();
    const made = makeInfo({
      service: this.#options.service,
      hide: this.#hide,
      values: kind.valuesFor(status, seen, now),
      status,
      isBesideNode: !isAlone(this.#node, this.#info),
      updatedAt: seen.shown.oldest?.date,
      lastSeen: status.status === "unreachable" ? this.#memory.lastSeen : undefined,
    });
    return {
      status,
      values: seen.values,
      ...made,
      answers: seen.shown.answers,
      until: this.#isKindKnown ? seen.shown.until : now.monotonic + RETRY_MS,
      respondedAt: kind.cache.respondedAt ?? now,
    };
  }

  #statusOfUnknown(): NodeStatus {
    const detection = this.#detection;
    const status = detection && "status" in detection ? detection.status : NOT_ASKED;
    return withoutHidden(status, this.#hide);
  }
}
