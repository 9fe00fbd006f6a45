/**
 * Queries a node: `observe` detects its kind and asks its sources, `report` makes the info of their last responses.
 * `info-monitor.ts` decides when.
 *
 * @module
 */
import type { Kind } from "../kinds/kind.ts";
import { createCredentials } from "../node/credentials.ts";
import type { Client } from "../node/http1.ts";
import { assessStatus, type NodeStatus, NOT_ASKED, withoutHidden } from "./status.ts";
import { type Detection, detectKind } from "./detect-kind.ts";
import { type Info, makeInfo, type Service } from "./info.ts";
import { HOST, type HostInfo, isAlone, makePlan, type Plan, planOfHost } from "./query-plan.ts";
import { createQuery, type Outcome, type Query, settle } from "./sources.ts";
import { mapMembers, objectOf } from "../json/values.ts";
import { formOf } from "./fields.ts";
import {
  type Instant,
  type NodeExamples,
  readExamples,
  readFields,
  SourceCache,
  type Values,
} from "./source-cache.ts";
import { type InfoSettings, type NodeSettings, timesOf } from "./settings.ts";
import { withTimeout } from "../with-timeout.ts";
import type { NodeLog, NodeMemory } from "./state-log.ts";

export interface ObserverOptions {
  readonly service: Service;
  readonly node: NodeSettings;
  readonly info: InfoSettings | HostInfo;
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly label: string;
  readonly log: NodeLog;
  readonly client: Client;
  readonly now: () => Instant;
  readonly onLateResponse: () => void;
  readonly onOutcome?: ((source: string, outcome: Outcome) => void) | undefined;
  readonly onIdentity?: (() => void) | undefined;
  readonly memory: NodeMemory;
  /** Keys to omit. */
  readonly hide: readonly string[];
}

/** The time for which optional sources may delay a report, in milliseconds. */
const OPTIONAL_PATIENCE = 200;

/** The shortest time between two detections of another kind than the present one, in milliseconds. */
const DETECTION_PAUSE = 10_000;

export interface NodeReport {
  readonly status: NodeStatus;
  readonly info: Info;
  /** The values of the node and the operator, also those that are hidden. */
  readonly values: Values;
  readonly omitted: ReadonlyMap<string, string>;
  /** The faults of sources that do not affect the status. */
  readonly remarks: ReadonlyMap<string, string>;
  readonly examples: NodeExamples;
  readonly respondedAt: Instant;
  /** The longest time of a response of a required source, in milliseconds. */
  readonly took: number | undefined;
  /** The end of its validity if nothing new is learnt, in milliseconds that only count up. */
  readonly until: number;
}

export class Observer {
  readonly #options: ObserverOptions;
  readonly #times: ReturnType<typeof timesOf>;
  readonly isDetected: boolean;
  detection: Detection | undefined;
  plan!: Plan;
  #query!: Query;
  #cache!: SourceCache;
  readonly outcomes: Map<string, Outcome> = new Map();
  #values: Values = {};
  /** The last height, and the time of its first response, in milliseconds since 1970. */
  #height: { readonly height: unknown; readonly since: number } = { height: undefined, since: 0 };
  #detectedAt = -Infinity;
  /** The optional sources that have not responded yet. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #life = new AbortController();

  /** @throws {TypeError} if the kind is unknown */
  constructor(options: ObserverOptions) {
    const { node, info } = options;
    this.#options = options;
    this.#times = timesOf(node, typeof info === "function" ? {} : info);
    this.isDetected = node.url !== undefined && node.kind === undefined &&
      typeof info !== "function";
    this.#useKind(node.kind);
  }

  get kind(): string | undefined {
    return this.isDetected ? this.detection?.kind : this.#options.node.kind;
  }

  /** The longest time that a required source may take, in milliseconds. */
  get timeout(): number {
    const own = this.#cache.required.map((name) => this.plan.sources.get(name)!.timeout);
    return Math.max(this.#times.timeout, ...own);
  }

  /**
   * Detects the kind of the node if it is unknown, and asks the sources that are due. Returns true if the node responded
   * with a value. Once `signal` is aborted, responses are ignored; `isWatch` is true without a request.
   */
  async observe(signal: AbortSignal, isWatch = false): Promise<boolean> {
    if (this.isDetected && this.kind === undefined) await this.#detectKind(signal);
    if (!signal.aborted) await this.#askSources(signal, isWatch);
    const { monotonic } = this.#options.now();
    const mayDetect = this.isDetected && this.kind !== undefined && !signal.aborted &&
      monotonic - this.#detectedAt >= DETECTION_PAUSE;
    if (mayDetect && this.#isSuspicious()) {
      this.#detectedAt = monotonic;
      const before = this.plan;
      await this.#detectKind(signal);
      if (!signal.aborted && this.plan !== before) await this.#askSources(signal, isWatch);
    }
    const isKnown = !this.isDetected || this.kind !== undefined;
    return isKnown && !this.#cache.isUnreachable && !this.#cache.gaveNothing;
  }

  markUnreachable(): void {
    this.#cache.markUnreachable();
  }

  report(): NodeReport {
    const { service, node, info, now, memory, hide } = this.#options;
    const { stale, stalledAfter } = this.#times;
    const { plan, detection } = this;
    const cache = this.#cache;
    const instant = now();
    const shown = cache.shownAt(instant, stale);
    const { answers, oldest } = shown;
    const read = plan.sources.has(HOST)
      ? mapMembers(objectOf(answers.get(HOST)?.taken.get("")), (value, key) => formOf(key, value))
      : readFields(plan.fields, answers, this.#values);
    const values = this.#values = { ...read, ...plan.static };
    const { height } = values;
    if (height !== this.#height.height) this.#height = { height, since: instant.date };
    const assessed = this.isDetected && detection?.kind === undefined
      ? detection?.status ?? NOT_ASKED
      : assessStatus({
        ...{ plan, cache, shown, values, stalledAfter },
        ...{ date: instant.date, movedAt: this.#height.since },
      });
    const status = withoutHidden(assessed, hide);
    const made = makeInfo({
      ...{ service, hide, values, status },
      isBesideNode: !isAlone(node, info),
      updatedAt: oldest?.date,
      lastSeen: status.status === "unreachable" ? memory.lastSeen : undefined,
    });
    return {
      ...{ status, values, ...made },
      ...this.#reviewOutcomes(),
      examples: readExamples(plan.examples, answers),
      respondedAt: cache.respondedAt ?? instant,
      until: oldest ? oldest.monotonic + stale : Infinity,
    };
  }

  #reviewOutcomes(): Pick<NodeReport, "took" | "remarks"> {
    const remarks = new Map<string, string>();
    let took: number | undefined;
    for (const [name, outcome] of this.outcomes) {
      const role = this.plan.sources.get(name)?.role;
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

  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  end(): void {
    this.#life.abort();
  }

  #useKind(name: string | undefined): void {
    const { node: { url, auth }, info, kinds, client } = this.#options;
    const kind = name === undefined || name === "none" ? undefined : kinds[name];
    if (name && name !== "none" && !kind) throw new TypeError(`unknown kind "${name}"`);
    const credentials = url === undefined
      ? undefined
      : createCredentials({ nodeUrl: url, configured: auth, kind: name, kinds });
    this.plan = typeof info === "function"
      ? planOfHost(info, this.#times)
      : makePlan(name, kind, info, this.#times);
    this.#query = createQuery({ url, credentials, client });
    this.#cache = new SourceCache(this.plan);
    this.outcomes.clear();
    this.#values = {};
  }

  async #detectKind(signal: AbortSignal): Promise<void> {
    const { node: { url, auth }, kinds, client, label, log, hide } = this.#options;
    const found = await detectKind({ url: url!, kinds, auth, client, signal });
    if (signal.aborted) return;
    const before = this.detection?.kind;
    // A kind that was found stays until another one is.
    if (found.kind === undefined && before !== undefined) return;
    if (found.kind !== undefined && found.kind !== before) {
      // The evidence may have a hidden value.
      const because = hide.length > 0 ? "" : `: ${found.because}`;
      const message = `${label} is of the kind ${found.kind}${because}`;
      log(message, { code: "kind", level: "info" });
      this.#useKind(found.kind);
    }
    this.detection = found;
  }

  async #askSources(signal: AbortSignal, isWatch: boolean): Promise<void> {
    const { plan } = this;
    const cache = this.#cache;
    const due = cache.dueSources(this.#options.now(), isWatch)
      .filter((name) => !this.#running.has(name))
      .map((name) => [name, plan.sources.get(name)!] as const);
    const required = due.filter(([, { role }]) => role !== "optional");
    const optional = due.filter(([, { role }]) => role === "optional");
    const remembered = (name: string, pointer: string) => cache.get(name)?.last?.taken.get(pointer);
    const asked = this.#query(new Map(required), signal, remembered);
    // The node does not wait for optional sources, so these outlive the query.
    const aside = this.#query(new Map(optional), this.#life.signal, remembered);
    for (const [name, outcome] of aside) {
      this.#running.set(name, this.#followUp(name, outcome, plan));
    }
    const outcomes = await settle(asked);
    await withTimeout(this.settled(), OPTIONAL_PATIENCE, () => {});
    if (!signal.aborted) this.#update(outcomes);
  }

  async #followUp(name: string, asked: Promise<Outcome>, plan: Plan): Promise<void> {
    const outcome = await asked;
    this.#running.delete(name);
    if (this.#life.signal.aborted || this.plan !== plan) return;
    this.#update(new Map([[name, outcome]]));
    this.#options.onLateResponse();
  }

  #update(outcomes: ReadonlyMap<string, Outcome>): void {
    const { onOutcome, now } = this.#options;
    for (const [name, outcome] of outcomes) {
      onOutcome?.(name, outcome);
      this.outcomes.set(name, outcome);
    }
    this.#cache.update(outcomes, now());
  }

  #isSuspicious(): boolean {
    return this.#cache.gaveNothing || this.report().status.code === "wrong_kind" ||
      this.#cache.required.some((name) => this.#cache.get(name)?.error?.isAbsent);
  }
}
