/**
 * Reads the state of the node: finds its kind, asks the sources of this kind, and keeps what they
 * responded.
 *
 * @module
 */
import type { LightSignal } from "../abort-signal.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Listeners } from "../listeners.ts";
import { isBusy } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import type { InfoSettings } from "../setting-types.ts";
import { waitAtMost } from "../with-timeout.ts";
import type { Now } from "./clock.ts";
import { type Detection, detectKind } from "./detect-kind.ts";
import { Motion } from "./motion.ts";
import type { NodeMemory } from "./node-memory.ts";
import { type NodeReport, NodeState } from "./node-state.ts";
import {
  type HostInfo,
  makePlan,
  type Plan,
  planOfHost,
  settingsOf,
  withReach,
} from "./query-plan.ts";
import { type Times, timesOf } from "./settings.ts";
import { RETRY_MS } from "./source-cache.ts";
import { excused, excuseForbidden, type QueryOutcome, querySources, settle } from "./sources.ts";
import type { NodeLog } from "./state-log.ts";
import { type NodeStatus, NOT_ASKED, withoutHidden } from "./status.ts";

/** Extra sources delay the end of a poll by at most this many milliseconds. */
export const EXTRA_PATIENCE_MS = 200;
/** Sources that are so late show that this process was suspended. In milliseconds. */
const LATE_MS = 1000;
/** The minimum number of milliseconds between two attempts to detect a different kind. */
const DETECTION_PAUSE_MS = 10_000;

/** One round of questions to the node. */
export interface Poll {
  /** The time at which the poll began, in milliseconds of the monotonic clock. */
  readonly since: number;
  /** True if no client waits for the result. */
  readonly isBackground: boolean;
  /** True if this process was suspended during the poll before. */
  readonly isAgain?: boolean;
  readonly signal: LightSignal;
}

/**
 * - `responded`, `silent`: the node has responded, or has not
 * - `faulty`: the node has responded, but without a value
 * - `suspended`: this process was suspended during the poll, which says nothing about the node
 */
export type PollResult = "responded" | "silent" | "faulty" | "suspended";

interface NodeReaderOptions {
  readonly info: InfoSettings | HostInfo;
  readonly log: NodeLog;
  /** The name of the node in messages. */
  readonly label: string;
  readonly now: () => Now;
  readonly memory: NodeMemory;
  /** Told each outcome of a query. */
  readonly onOutcome: Listeners<[source: string, outcome: QueryOutcome]>;
}

type Asked = ReturnType<typeof querySources>;

export class NodeReader {
  readonly #node: Node;
  readonly #options: NodeReaderOptions;
  readonly #settings: InfoSettings;
  readonly #times: Times;
  readonly #detectsKind: boolean;
  #state: NodeState;
  /** False until the kind that the settings name has been loaded. */
  #isKindLoaded: boolean;
  #detection: Detection | undefined;
  /** When another kind was last looked for. */
  #redetectedAt = -Infinity;
  /** When `#detection` was made. */
  #detectedAt = -Infinity;
  /** The losses of connections before the last poll that has ended. */
  #losses = -1;
  /** The extra sources that have not responded yet. */
  readonly #pending = new Map<string, Promise<void>>();

  constructor(node: Node, options: NodeReaderOptions) {
    const { url, kind } = node;
    const isFunction = typeof options.info === "function";
    this.#node = node;
    this.#options = options;
    this.#settings = settingsOf(options.info);
    this.#times = timesOf(this.#settings, node.timeout);
    this.#detectsKind = url !== undefined && kind === undefined && !isFunction;
    this.#isKindLoaded = isFunction || kind === undefined || kind === "none";
    this.#state = this.#stateOf(kind, undefined);
  }

  /** True if the node's kind is to be detected, and is not known yet. */
  get isUnknown(): boolean {
    return this.#detectsKind && this.#node.kind === undefined;
  }

  get #isKindKnown(): boolean {
    return this.#isKindLoaded && !this.isUnknown;
  }

  get state(): NodeState {
    return this.#state;
  }

  get detection(): Detection | undefined {
    return this.#detection;
  }

  /**
   * True if a certain node is expected, and a connection was lost since the last poll that
   * has ended began, so that another node may be at the address.
   */
  get mayBeReplaced(): boolean {
    return this.#node.isExpected && this.#losses !== this.#node.losses;
  }

  get hasIdentity(): boolean {
    return this.#isKindKnown && this.#state.identityDueAt > -Infinity;
  }

  /** True if the node's identity is known, and not due for another query. */
  get isIdentityCurrent(): boolean {
    return this.hasIdentity && this.#options.now().monotonic < this.#state.identityDueAt;
  }

  async read(poll: Poll): Promise<PollResult> {
    const { signal } = poll;
    const { mayBeReplaced } = this;
    const { losses } = this.#node;
    if (!this.#isKindLoaded) await this.#useKind(this.#node.kind);
    if (this.isUnknown && !this.#isBusy) await this.#detectKind(signal);
    if (!signal.aborted && !(await this.#askSources(poll, mayBeReplaced))) return "suspended";
    const { monotonic } = this.#options.now();
    const mayDetect = this.#detectsKind && !this.isUnknown && !signal.aborted &&
      monotonic - this.#redetectedAt >= DETECTION_PAUSE_MS;
    if (mayDetect && this.#isSuspicious()) {
      this.#redetectedAt = monotonic;
      const before = this.#state;
      await this.#detectKind(signal);
      if (!signal.aborted && this.#state !== before) await this.#askSources(poll);
    }
    // Until here, the cache may tell of the node that was there before.
    this.#losses = losses;
    const { cache } = this.#state;
    if (this.isUnknown || cache.isUnreachable) return "silent";
    return cache.gaveNothing ? "faulty" : "responded";
  }

  report(): NodeReport {
    const now = this.#options.now();
    if (this.#isKindKnown) return this.#state.report(now);
    return { ...this.#state.report(now, this.#statusOfUnknown()), until: now.monotonic + RETRY_MS };
  }

  /** Resolves when all extra sources have responded. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending.values());
  }

  async #detectKind(signal: LightSignal): Promise<void> {
    const { log, label, memory } = this.#options;
    const detection = await detectKind(this.#node, signal);
    if (signal.aborted) return;
    const before = this.#node.kind;
    if (detection.kind === undefined && before !== undefined) return;
    this.#detection = detection;
    this.#detectedAt = this.#options.now().monotonic;
    if (detection.kind === undefined) return await this.#recallKind(detection.status);
    memory.kind = detection.kind;
    if (detection.kind === before) return;
    // The evidence may contain a value that the operator hides.
    const because = this.#settings.hide?.length ? "" : `: ${detection.because}`;
    log(`${label} is of the kind ${detection.kind}${because}`, { code: "kind", level: "info" });
    await this.#useKind(detection.kind);
  }

  /** A node that was silent while the configuration was reloaded is of the kind that it was. */
  async #recallKind({ status }: NodeStatus): Promise<void> {
    const { kind } = this.#options.memory;
    const isKnown = kind !== undefined && Object.hasOwn(await this.#node.kinds.get(), kind);
    if (isKnown && status === "unreachable") await this.#useKind(kind);
  }

  /** @throws {TypeError} if the kind is unknown */
  async #useKind(name: string | undefined): Promise<void> {
    const kind = (await this.#node.kinds.get())[name!];
    if (!kind) throw new TypeError(`unknown kind "${name}"`);
    this.#state = this.#stateOf(name, kind);
    this.#isKindLoaded = true;
    this.#node.useKind(name);
  }

  #stateOf(name: string | undefined, kind: Kind | undefined): NodeState {
    const { hide = [] } = this.#settings;
    const { expect } = this.#node;
    const isUnknown = this.#detectsKind && name === undefined;
    const motion = isUnknown ? new Motion() : this.#options.memory.motionOf(name ?? "none");
    const options = { times: this.#times, hide, expect, motion };
    return new NodeState(this.#planOf(name, kind), options);
  }

  #planOf(name: string | undefined, kind: Kind | undefined): Plan {
    const { info } = this.#options;
    if (typeof info === "function") return planOfHost(info, this.#times);
    const plan = makePlan(name, kind, info, this.#times, Object.keys(this.#node.expect));
    const isKnown = name !== undefined && this.#node.url !== undefined;
    return isKnown ? withReach(plan, this.#times) : plan;
  }

  /** The queries of all kinds would keep a node busy that has just said that it is. */
  get #isBusy(): boolean {
    return this.#detection?.isBusy === true &&
      this.#options.now().monotonic - this.#detectedAt < DETECTION_PAUSE_MS;
  }

  #isSuspicious(): boolean {
    const { cache } = this.#state;
    const errors = cache.required.map((name) => cache.errorOf(name));
    // A busy node does not show its kind, and the queries of all kinds would keep it busy.
    if (errors.some((error) => isBusy(error?.number))) return false;
    return cache.gaveNothing || this.report().status.code === "wrong_kind" ||
      errors.some((error) => error?.isAbsent);
  }

  #statusOfUnknown(): NodeStatus {
    return withoutHidden(this.#detection?.status ?? NOT_ASKED, this.#settings.hide);
  }

  /**
   * Resolves to false if this process was suspended meanwhile. Then neither a response nor a
   * timeout says anything about the node, and the outcomes are not used.
   */
  async #askSources(poll: Poll, mayBeReplaced = false): Promise<boolean> {
    const { signal, isBackground, since, isAgain = false } = poll;
    const { plan, cache, timeout } = this.#state;
    const begun = this.#options.now();
    const due = cache.dueSources(begun, isBackground, mayBeReplaced)
      .filter((name) => !this.#pending.has(name))
      .map((name) => [name, plan.sources.get(name)!] as const);
    const remembered = (name: string, pointer: string) => cache.valuesOf(name)?.get(pointer);
    const ask = (isExtra: boolean, signal: LightSignal, others?: Asked) => {
      const sources = due.filter(([, { role }]) => (role === "extra") === isExtra);
      return querySources(this.#node, new Map(sources), { signal, remembered, others });
    };
    const asked = ask(false, signal);
    // A request to an extra source may continue after the end of the poll.
    for (const [name, outcome] of ask(true, this.#node.signal, asked)) {
      this.#pending.set(name, this.#followUp(name, outcome, plan, since));
    }
    const outcomes = excuseForbidden(await settle(asked), plan.sources, this.#node);
    const took = this.#options.now().monotonic - begun.monotonic;
    // A batch that the node does not take is followed by single calls.
    const longest = Math.max(timeout, ...due.map(([, source]) => source.timeout));
    if (took > 2 * longest + LATE_MS && !isAgain) return false;
    await waitAtMost(this.settled(), EXTRA_PATIENCE_MS);
    if (signal.aborted) return true;
    for (const [name, outcome] of outcomes) this.#options.onOutcome.emit(name, outcome);
    this.#state.update(outcomes, this.#options.now(), since);
    return true;
  }

  async #followUp(
    name: string,
    asked: Promise<QueryOutcome>,
    plan: Plan,
    since: number,
  ): Promise<void> {
    const outcome = excused(await asked, plan.sources.get(name)!, this.#node);
    this.#pending.delete(name);
    if (this.#node.signal.aborted || this.#state.plan !== plan) return;
    this.#state.update(new Map([[name, outcome]]), this.#options.now(), since);
    this.#options.onOutcome.emit(name, outcome);
  }
}
