/**
 * Asks a node, and remembers what it said. `info-monitor.ts` decides when:
 * `observe` finds the kind and asks the sources, `report` makes the info of what is known.
 *
 * @module
 */
import type { Kind } from "../kinds/kind.ts";
import { createCredentials } from "../node/credentials.ts";
import type { Client } from "../node/http1.ts";
import { NodeMemory } from "./memory.ts";
import { assessStatus, type NodeStatus, NOT_ASKED, withoutHidden } from "./status.ts";
import { type Detection, detectKind } from "./detect-kind.ts";
import { type Info, makeInfo, type Service } from "./info.ts";
import { HOST, type HostInfo, isAlone, makePlan, type Plan, planOfHost } from "./query-plan.ts";
import { createQuery, type Outcome, type Query, settle } from "./query-sources.ts";
import { mapMembers, objectOf } from "../json/values.ts";
import { formOf } from "./fields.ts";
import {
  type Instant,
  namesOf,
  type NodeExamples,
  readExamples,
  readFields,
  SourceCache,
  type Values,
} from "./source-cache.ts";
import { type InfoSettings, type NodeSettings, timesOf } from "./settings.ts";
import { withTimeout } from "../with-timeout.ts";
import type { NodeLog } from "./state-log.ts";

export interface ObserverOptions {
  readonly service: Service;
  readonly node: NodeSettings;
  readonly info: InfoSettings | HostInfo;
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly label: string;
  readonly log: NodeLog;
  readonly client: Client;
  readonly now: () => Instant;
  /** Is called where something was learnt after `observe` had ended. */
  readonly onLearnt: () => void;
  readonly onOutcome?: ((source: string, outcome: Outcome) => void) | undefined;
  readonly memory?: NodeMemory | undefined;
  /** Is told when another chain responds at the node's address. */
  readonly onIdentity?: (() => void) | undefined;
}

/** The time by which the operator's own sources may delay the node's, in milliseconds. */
const EXTRA_PATIENCE = 200;

/** The shortest time between two looks for another kind than the one that was found, in milliseconds. */
const DETECTION_PAUSE = 10_000;

interface NodeReport {
  readonly status: NodeStatus;
  readonly info: Info;
  readonly omitted: ReadonlyMap<string, string>;
  readonly examples: NodeExamples;
  /** The longest time that the node took for what it is asked each time, in milliseconds. */
  readonly took: number | undefined;
  /** The end of its validity if nothing is learnt, in milliseconds that only count up. */
  readonly until: number;
}

export class Observer {
  readonly #options: ObserverOptions;
  readonly #host: HostInfo | undefined;
  readonly #settings: InfoSettings;
  readonly #times: ReturnType<typeof timesOf>;
  /** True where the kind is found by asking. */
  readonly isDetected: boolean;
  /** `undefined` where the kind was not looked for. */
  detection: Detection | undefined;
  plan!: Plan;
  #query!: Query;
  #cache!: SourceCache;
  outcomes: ReadonlyMap<string, Outcome> = new Map();
  #values: Values = {};
  readonly #memory: NodeMemory;
  /** The last height, and when it was seen first, in milliseconds since 1970. */
  #height: { readonly height: unknown; readonly since: number } = { height: undefined, since: 0 };
  /** The time of the last look for another kind, in milliseconds that only count up. */
  #lookedAt = -Infinity;
  /** Sources of the operator's own that have not responded yet; the node's do not wait for them. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #life = new AbortController();

  /** @throws {TypeError} if a kind is unknown */
  constructor(options: ObserverOptions) {
    const { node, info } = options;
    this.#options = options;
    this.#host = typeof info === "function" ? info : undefined;
    this.#settings = typeof info === "function" ? {} : info;
    this.#times = timesOf(node, this.#settings);
    this.#memory = options.memory ?? new NodeMemory();
    this.isDetected = node.url !== undefined && node.kind === undefined && !this.#host;
    this.#useKind(node.kind);
  }

  get kind(): string | undefined {
    return this.isDetected ? this.detection?.kind : this.#options.node.kind;
  }

  /** The longest time that a vital source may take, in milliseconds. */
  get timeout(): number {
    const own = namesOf(this.plan, "vital").map((name) => this.plan.sources.get(name)!.timeout);
    return Math.max(this.#times.timeout, ...own);
  }

  /**
   * Finds out the kind of the node where it is not known, and asks the sources that are due.
   *
   * @param signal once it is aborted, nothing is learnt any more
   * @param isWatch true where nobody has asked for it
   * @returns true if the node gave anything
   */
  async observe(signal: AbortSignal, isWatch = false): Promise<boolean> {
    if (this.isDetected && this.kind === undefined) await this.#findKind(signal);
    if (!signal.aborted) await this.#askSources(signal, isWatch);
    // Another kind of node may have come in the place of the one that was found.
    const { monotonic } = this.#options.now();
    const mayLook = this.isDetected && !signal.aborted &&
      monotonic - this.#lookedAt >= DETECTION_PAUSE;
    if (mayLook && this.kind !== undefined && this.#isSuspicious()) {
      this.#lookedAt = monotonic;
      const before = this.plan;
      await this.#findKind(signal);
      if (!signal.aborted && this.plan !== before) await this.#askSources(signal, isWatch);
    }
    const isKnown = !this.isDetected || this.kind !== undefined;
    return isKnown && !this.#cache.isUnreachable && !this.#cache.gaveNothing;
  }

  markUnreachable(): void {
    this.#cache.markUnreachable();
  }

  report(): NodeReport {
    const { service, node, info, label, log, now, onIdentity } = this.#options;
    const isBesideNode = !isAlone(node, info);
    const [plan, cache, instant, { stale }] = [this.plan, this.#cache, now(), this.#times];
    const shown = cache.shownAt(instant, stale);
    const read = plan.sources.has(HOST)
      ? mapMembers(
        objectOf(shown.answers.get(HOST)?.taken.get("")),
        (value, key) => formOf(key, value),
      )
      : readFields(plan.fields, shown.answers, this.#values);
    const values = this.#values = { ...read, ...plan.static };
    const { height } = values;
    if (height !== this.#height.height) this.#height = { height, since: instant.date };
    const detection = this.detection;
    const assessed = this.isDetected && detection?.kind === undefined
      ? detection?.status ?? NOT_ASKED
      : assessStatus({
        ...{ plan, cache, shown, values, date: instant.date },
        ...{ movedAt: this.#height.since, stalledAfter: this.#times.stalledAfter },
      });
    const { oldest } = shown;
    const { hide = [] } = this.#settings;
    const status = withoutHidden(assessed, hide);
    const lastSeen = status.status === "unreachable" ? this.#memory.lastSeen : undefined;
    const times = { updatedAt: oldest?.date, lastSeen };
    const made = makeInfo({ service, isBesideNode, hide, values, status, ...times });
    const respondedAt = cache.respondedAt ?? instant;
    this.#memory.take(values, made.info, status, respondedAt, { label, log, hide, onIdentity });
    const until = oldest ? oldest.monotonic + stale : Infinity;
    const examples = readExamples(plan.examples, shown.answers);
    return { status, took: this.#took(), until, examples, ...made };
  }

  #took(): number | undefined {
    const times = namesOf(this.plan, "vital").flatMap((name) => {
      const outcome = this.outcomes.get(name);
      return outcome && !("error" in outcome) ? [outcome.took] : [];
    });
    return times.length > 0 ? Math.max(...times) : undefined;
  }

  settled(): Promise<unknown> {
    return Promise.all(this.#running.values());
  }

  end(): void {
    this.#life.abort();
  }

  #useKind(name: string | undefined): void {
    const { node, kinds, client } = this.#options;
    const kind = name === undefined || name === "none" ? undefined : kinds[name];
    if (name && name !== "none" && !kind) throw new TypeError(`"${name}" is not a kind of node`);
    const { url } = node;
    const credentials = url === undefined
      ? undefined
      : createCredentials({ nodeUrl: url, configured: node.auth, kind: name, kinds });
    this.plan = this.#host
      ? planOfHost(this.#host, this.#times)
      : makePlan(name, kind, this.#settings, this.#times);
    this.#query = createQuery({ url, credentials, client });
    this.#cache = new SourceCache(this.plan);
    this.outcomes = new Map();
    this.#values = {};
  }

  async #findKind(signal: AbortSignal): Promise<void> {
    const { node: { url, auth }, kinds, client, label, log } = this.#options;
    const found = await detectKind({ url: url!, kinds, auth, client, signal });
    if (signal.aborted) return;
    const before = this.detection?.kind;
    // A node that was found once keeps its kind until another is found.
    if (found.kind === undefined && before !== undefined) return;
    if (found.kind !== undefined && found.kind !== before) {
      // The evidence may have a hidden value.
      const because = this.#settings.hide?.length ? "" : `: ${found.because}`;
      const message = `${label} is of the kind ${found.kind}${because}`;
      log(message, { code: "kind", level: "info" });
      this.#useKind(found.kind);
    }
    this.detection = found;
  }

  async #askSources(signal: AbortSignal, isWatch: boolean): Promise<void> {
    const [plan, cache] = [this.plan, this.#cache];
    const due = cache.dueSources(this.#options.now(), isWatch)
      .filter((name) => !this.#running.has(name));
    const some = (isExtra: boolean) =>
      new Map(
        due.map((name) => [name, plan.sources.get(name)!] as const)
          .filter(([, { role }]) => (role === "extra") === isExtra),
      );
    const remembered = (name: string, pointer: string) => cache.get(name)?.last?.taken.get(pointer);
    const asked = this.#query(some(false), signal, remembered);
    const extras = this.#query(some(true), this.#life.signal, remembered);
    for (const [name, outcome] of extras) {
      this.#running.set(name, this.#followUp(name, outcome, plan));
    }
    const found = await settle(asked);
    await withTimeout(this.settled(), EXTRA_PATIENCE, () => []);
    if (!signal.aborted) this.#takeIn(found);
  }

  async #followUp(name: string, outcome: Promise<Outcome>, askedBy: Plan): Promise<void> {
    const found = new Map([[name, await outcome]]);
    this.#running.delete(name);
    if (this.#life.signal.aborted || this.plan !== askedBy) return;
    this.#takeIn(found);
    this.#options.onLearnt();
  }

  #takeIn(found: ReadonlyMap<string, Outcome>): void {
    const { onOutcome, now } = this.#options;
    for (const [name, outcome] of found) onOutcome?.(name, outcome);
    this.outcomes = new Map([...this.outcomes, ...found]);
    this.#cache.update(found, now());
  }

  /** Tells whether the responses are not those of the kind that was found. */
  #isSuspicious(): boolean {
    return this.#cache.gaveNothing || this.report().status.code === "wrong_kind" ||
      namesOf(this.plan, "vital").some((name) => this.#cache.get(name)?.error?.isAbsent);
  }
}
