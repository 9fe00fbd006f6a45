/**
 * Queries the node when a client requests `/v1/info`, at most once per `ttl`. A query runs through
 * `#start`, `#query`, `#askSources` and `#publish`.
 *
 * @module
 */
import { mapMembers, objectOf } from "../json/values.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Resource } from "../lazy.ts";
import { Listeners } from "../listeners.ts";
import type { Node } from "../node/node.ts";
import { tryAbort, withTimeout } from "../with-timeout.ts";
import { type Detection, detectKind } from "./detect-kind.ts";
import { formOf } from "./fields.ts";
import type { Measured } from "./history.ts";
import { type Info, makeInfo, type Service, type Snapshot, Snapshots } from "./info.ts";
import { HOST, type HostInfo, isAlone, makePlan, type Plan, planOfHost } from "./query-plan.ts";
import { type InfoSettings, type Times, timesOf } from "./settings.ts";
import {
  type Instant,
  readExamples,
  readFields,
  SourceCache,
  type Values,
} from "./source-cache.ts";
import { type QueryOutcome, querySources, settle } from "./sources.ts";
import { type NodeLog, NodeMemory, StateLog } from "./state-log.ts";
import { assessStatus, type NodeStatus, NOT_ASKED, withoutHidden } from "./status.ts";

/**
 * If there was another request recently, a request waits at most this many milliseconds for a
 * running query.
 */
const PATIENCE = 20;
/** After this many milliseconds without a request, the next request waits for a new snapshot. */
const PAUSE = 10_000;
/**
 * After such a pause, a request may wait this many milliseconds longer than the sources' timeout.
 */
const GRACE = 200;
/**
 * Milliseconds until a failing node is queried again. `BACKOFF_LISTENED` applies while clients
 * listen to events.
 */
const BACKOFF_FIRST = 1000, BACKOFF_MAX = 24_000, BACKOFF_LISTENED = 3000;
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

/** What is known of one kind of node; replaced as a whole when the kind changes. */
class KindState {
  readonly plan: Plan;
  readonly cache: SourceCache;
  readonly outcomes = new Map<string, QueryOutcome>();
  values: Values = {};

  constructor(plan: Plan) {
    this.plan = plan;
    this.cache = new SourceCache(plan);
  }
}

export class Monitor implements Resource<Snapshot>, AsyncDisposable {
  /** Told each published info object. */
  readonly onInfo: Listeners<[info: Info, measured: Measured]> = new Listeners();
  /** Told each outcome of a query. */
  readonly onOutcome: Listeners<[source: string, outcome: QueryOutcome]> = new Listeners();
  /** Told that the node is on another chain than before. */
  readonly onIdentity: Listeners<[]> = new Listeners();
  /** True while clients listen to events: then a failing node is queried more often. */
  isHeard = false;
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
  /** `since` is in milliseconds since 1970. */
  #height: { readonly height: unknown; readonly since: number } = { height: undefined, since: 0 };
  readonly #running = new Map<string, Promise<void>>();
  #state: State = { name: "idle" };
  #failures = 0;
  #requestedAt = -Infinity;
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
    this.#kind = new KindState(this.#planOf(kind, undefined));
    const hasSources = this.#kind.plan.sources.size > 0;
    if (this.#isLoaded && !this.#isDetected && !hasSources) this.#state = { name: "closed" };
  }

  /**
   * Queries the node if its kind is unknown. Resolves to `undefined` if the kind remains unknown.
   */
  async findKind(): Promise<string | undefined> {
    if (this.#node.kind === undefined && this.#isDetected) await this.get();
    return this.#node.kind;
  }

  get(): Snapshot | Promise<Snapshot> {
    const { monotonic: time } = this.#now();
    const published = this.#published;
    const isBusy = this.#state.name === "querying" || this.#isDue(time);
    if (isBusy || !published || time >= published.until) return this.#getNext(time);
    this.#requestedAt = time;
    return published.snapshot;
  }

  async #getNext(time: number): Promise<Snapshot> {
    if (this.#state.name === "querying" && time - this.#state.since > QUERY_MAX) {
      const { abort } = this.#state;
      this.#state = { name: "idle" };
      this.#kind.cache.markUnreachable();
      this.#published = undefined;
      tryAbort(abort);
    }
    if (this.#isDue(time)) this.#start();
    const hadRequest = this.#published !== undefined && time - this.#requestedAt < PAUSE;
    this.#requestedAt = time;
    if (this.#state.name === "querying") {
      const query = this.#state;
      const left = query.since + (hadRequest ? PATIENCE : this.#timeout() + GRACE) - time;
      if (left > 0) await withTimeout(query.done, left, () => {});
      if (!hadRequest && this.#published !== undefined && this.#state === query) {
        this.#kind.cache.markUnreachable();
        await this.#publish();
      }
    }
    const published = this.#published;
    const isValid = published !== undefined && this.#now().monotonic < published.until;
    return isValid ? published.snapshot : await this.#publish();
  }

  /** Resolves when the query ends, and never rejects. */
  async look(): Promise<void> {
    if (this.#isDue(this.#now().monotonic)) this.#start(true);
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

  #isDue(time: number): boolean {
    const state = this.#state;
    if (state.name === "idle") return true;
    if (state.name !== "current" && state.name !== "failing") return false;
    return time >= state.dueAt || (state.name === "failing" &&
      this.isHeard && time >= state.since + BACKOFF_LISTENED);
  }

  #timeout(): number {
    const own = this.#kind.cache.required.map((name) => this.#kind.plan.sources.get(name)!.timeout);
    return Math.max(this.#times.timeout, ...own);
  }

  #start(isWatch = false): void {
    const abort = new AbortController();
    const { monotonic: since } = this.#now();
    const run = async () => {
      let hasResponded = false;
      try {
        hasResponded = await this.#query(abort.signal, isWatch);
        if (!abort.signal.aborted) await this.#publish();
      } catch (error) {
        this.#published = undefined;
        this.#options.onError(error);
      }
      if (abort.signal.aborted) return;
      const { monotonic: now } = this.#now();
      const { random = Math.random } = this.#options;
      this.#failures = hasResponded ? 0 : this.#failures + 1;
      const backoff = Math.min(BACKOFF_FIRST * 2 ** (this.#failures - 1), BACKOFF_MAX);
      this.#state = hasResponded
        ? { name: "current", dueAt: since + this.#times.ttl }
        : { name: "failing", since: now, dueAt: now + backoff * (0.5 + random() / 2) };
    };
    this.#state = { name: "querying", since, abort, done: run() };
  }

  async #query(signal: AbortSignal, isWatch: boolean): Promise<boolean> {
    if (!this.#isLoaded) await this.#useKind(this.#node.kind);
    if (this.#isUnknown) await this.#detectKind(signal);
    if (!signal.aborted) await this.#askSources(signal, isWatch);
    const { monotonic } = this.#now();
    const mayDetect = this.#isDetected && !this.#isUnknown && !signal.aborted &&
      monotonic - this.#detectedAt >= DETECTION_PAUSE;
    if (mayDetect && this.#isSuspicious()) {
      this.#detectedAt = monotonic;
      const before = this.#kind;
      await this.#detectKind(signal);
      if (!signal.aborted && this.#kind !== before) await this.#askSources(signal, isWatch);
    }
    const { cache } = this.#kind;
    return !this.#isUnknown && !cache.isUnreachable && !cache.gaveNothing;
  }

  get #isUnknown(): boolean {
    return this.#isDetected && this.#node.kind === undefined;
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
    this.#node.kind = name;
    this.#kind = new KindState(this.#planOf(name, kind));
    this.#isLoaded = true;
  }

  #planOf(name: string | undefined, kind: Kind | undefined): Plan {
    return typeof this.#info === "function"
      ? planOfHost(this.#info, this.#times)
      : makePlan(name, kind, this.#info, this.#times);
  }

  #isSuspicious(): boolean {
    return this.#kind.cache.gaveNothing || this.#report().status.code === "wrong_kind" ||
      this.#kind.cache.required.some((name) => this.#kind.cache.get(name)?.error?.isAbsent);
  }

  async #askSources(signal: AbortSignal, isWatch: boolean): Promise<void> {
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
      this.#running.set(name, this.#followUp(name, outcome, plan));
    }
    const outcomes = await settle(asked);
    await withTimeout(this.#settled(), OPTIONAL_PATIENCE, () => {});
    if (!signal.aborted) this.#update(outcomes);
  }

  async #followUp(name: string, asked: Promise<QueryOutcome>, plan: Plan): Promise<void> {
    const outcome = await asked;
    this.#running.delete(name);
    if (this.#node.signal.aborted || this.#kind.plan !== plan) return;
    this.#update(new Map([[name, outcome]]));
    if (this.#state.name !== "querying") this.#publish().catch(this.#options.onError);
  }

  #update(outcomes: ReadonlyMap<string, QueryOutcome>): void {
    for (const [name, outcome] of outcomes) {
      this.onOutcome.tell(name, outcome);
      this.#kind.outcomes.set(name, outcome);
    }
    this.#kind.cache.update(outcomes, this.#now());
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #publish(): Promise<Snapshot> {
    const { status, values, info, omitted, until, answers, respondedAt } = this.#report();
    const { took, remarks } = this.#reviewOutcomes();
    const now = this.#now();
    this.#log.take({ status, values, info, omitted, remarks, respondedAt }, now.monotonic);
    const version = ++this.#versions;
    // On workerd, random values can be had only while a request is handled.
    const { random = Math.random } = this.#options;
    const run = () => `${now.date.toString(36)}-${random().toString(36).slice(2, 8)}`;
    this.#snapshots ??= new Snapshots(this.#times.ttl, run());
    const examples = readExamples(this.#kind.plan.examples, answers);
    const snapshot = await this.#snapshots.of(info, examples);
    // A snapshot that is finished late must not replace a newer snapshot.
    if (version > (this.#published?.version ?? 0)) {
      this.#published = { version, snapshot, until };
      const columns = this.#kind.plan.history;
      this.onInfo.tell(snapshot.info, { took, columns, ...this.#now() });
    }
    return snapshot;
  }

  /**
   * `until` is the time at which the info object expires, in milliseconds of the monotonic clock.
   */
  #report() {
    const { service } = this.#options;
    const { plan, cache } = this.#kind;
    const now = this.#now();
    const { stale, stalledAfter } = this.#times;
    const shown = cache.shownAt(now, stale);
    const { answers, oldest } = shown;
    const read = plan.sources.has(HOST)
      ? mapMembers(objectOf(answers.get(HOST)?.taken.get("")), (value, key) => formOf(key, value))
      : readFields(plan.fields, answers, this.#kind.values);
    const values = this.#kind.values = { ...read, ...plan.static };
    const { height } = values;
    if (height !== this.#height.height) this.#height = { height, since: now.date };
    const movedAt = this.#height.since;
    const detection = this.#detection;
    const assessed = this.#isUnknown || !this.#isLoaded
      ? (detection && "status" in detection ? detection.status : NOT_ASKED)
      : assessStatus({ plan, cache, shown, values, date: now.date, movedAt, stalledAfter });
    const status = withoutHidden(assessed, this.#hide);
    const made = makeInfo({
      service,
      hide: this.#hide,
      values,
      status,
      isBesideNode: !isAlone(this.#node, this.#info),
      updatedAt: oldest?.date,
      lastSeen: status.status === "unreachable" ? this.#memory.lastSeen : undefined,
    });
    const until = oldest ? oldest.monotonic + stale : Infinity;
    const respondedAt = cache.respondedAt ?? now;
    return { status, values, ...made, answers, until, respondedAt };
  }

  #reviewOutcomes(): { took: number | undefined; remarks: Map<string, string> } {
    const remarks = new Map<string, string>();
    let took: number | undefined;
    for (const [name, outcome] of this.#kind.outcomes) {
      const role = this.#kind.plan.sources.get(name)?.role;
      if (!("error" in outcome)) {
        const { omitted } = outcome;
        if (role === "required") took = Math.max(took ?? 0, outcome.took);
        if (omitted.length > 0) remarks.set(name, `partly omitted: ${omitted.join(", ")}`);
      } else if (role === "optional") {
        const { message, hint } = outcome.error;
        remarks.set(name, hint === undefined ? message : `${message} (${hint})`);
      }
    }
    return { took, remarks };
  }
}
