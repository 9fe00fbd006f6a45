/**
 * Logs when the node's status or chain changes, and when a source begins or ceases to fail.
 *
 * @module
 */
import { textOf } from "../json/values.ts";
import { describeValue, excerpt, quote } from "../untrusted-text.ts";
import type { Sample } from "./history.ts";
import type { Info, LastSeen } from "./info.ts";
import { Motion } from "./motion.ts";
import { formatDuration } from "../units.ts";
import type { Instant, Values } from "./source-cache.ts";
import { clausesOf, type NodeStatus, type Status, type StatusCode } from "./status.ts";

export type NodeLog = (message: string, event: NodeEvent) => void;

/** The machine-readable event that accompanies a log message about the node. */
export type NodeEvent = StatusEvent | KindEvent | IdentityEvent | VersionEvent | RemarkEvent;

/** A change of the node's status. */
export interface StatusEvent {
  readonly code: "status";
  readonly level: Level;
  readonly status: Status;
  readonly statusCode?: StatusCode | undefined;
}

/** The detection of the node's kind. */
export interface KindEvent {
  readonly code: "kind";
  readonly level: "info";
}

/** The node is on another chain or network than before, or its start time has moved back. */
export interface IdentityEvent {
  readonly code: "identity";
  readonly level: "warn";
}

/** The software and version of the node, when they are first known and when they change. */
export interface VersionEvent {
  readonly code: "version";
  readonly level: "info";
}

/** A report that a source or a value of `/v1/info` has failed or recovered. */
export interface RemarkEvent {
  readonly code: Topic;
  readonly level: Level;
}

/** The severity of a message. */
export type Level = "info" | "warn" | "error";

/** The part that failed or recovered: a source, or a key of `/v1/info`. */
export type Topic = "source" | "key";

const LEVELS: Readonly<Record<Status, Level>> = {
  starting: "info",
  ok: "info",
  syncing: "info",
  degraded: "warn",
  stale: "warn",
  unreachable: "error",
};

const CLAUSE_LENGTH = 300;

const CHAIN = ["chain_id", "network"] as const;
const SEEN = ["software", "version", "network", "chain_id", "height"] as const;
const TEXT_LENGTH = 100;

/** `CHANGES_TIME` is in milliseconds. */
const CHANGES_MAX = 5, CHANGES_TIME = 3_600_000;
/** Few changes of a node that is up and down all the time are logged. In milliseconds. */
const LOGGED_MAX = 20, LOGGED_TIME = 600_000;
/**
 * Uptimes are imprecise, so a start time may move back by this many milliseconds without a warning.
 */
const START_JITTER = 60_000;

/** Data about a node, which is kept when the configuration is reloaded. */
export class NodeMemory {
  lastSeen: LastSeen | undefined;
  samples: readonly Sample[] = [];
  chain: Partial<Readonly<Record<"chain_id" | "network", string | undefined>>> = {};
  /** The times of the last chain changes, in milliseconds of a monotonic clock. */
  changes: readonly number[] = [];
  /** `since` is in milliseconds of a monotonic clock. */
  status: { readonly word: Status; readonly since: number } | undefined;
  /** The last software and version that was logged. */
  software: string | undefined;
  /** The times at which a status or a version was logged, in milliseconds of a monotonic clock. */
  logged: readonly number[] = [];
  /** The same for remarks on sources and keys. */
  remarked: readonly number[] = [];
  hasBeenOk = false;
  #motion: { readonly kind: string; readonly motion: Motion } | undefined;
  /** `offset` is the time by which the wall clock is ahead of the monotonic one. */
  start: { readonly at: number; readonly offset: number; readonly loggedAt: number } = {
    at: -Infinity,
    offset: 0,
    loggedAt: -Infinity,
  };

  /** Returns how a node of this kind has moved until now. */
  motionOf(kind: string): Motion {
    if (this.#motion?.kind !== kind) this.#motion = { kind, motion: new Motion() };
    return this.#motion.motion;
  }
}

interface StateLogOptions {
  readonly label: string;
  readonly log: NodeLog;
  readonly hide: readonly string[];
  readonly memory: NodeMemory;
  readonly onIdentity?: (() => void) | undefined;
}

interface StateReport {
  readonly status: NodeStatus;
  /** The values from the node and the operator, including hidden values. */
  readonly values: Values;
  readonly info: Info;
  readonly respondedAt: Instant;
  readonly omitted: ReadonlyMap<string, string>;
  readonly remarks: ReadonlyMap<string, string>;
}

export class StateLog {
  readonly #options: StateLogOptions;
  /** The names of sources and keys with a logged remark. */
  readonly #remarked = new Map<Topic, Set<string>>();
  #state: { key: string; status: NodeStatus; since: number } | undefined;

  constructor(options: StateLogOptions) {
    this.#options = options;
  }

  /** @param now the time of a monotonic clock, in milliseconds */
  note({ status, values, info, respondedAt, omitted, remarks }: StateReport, now: number): void {
    const { memory } = this.#options;
    if (status.status !== "unreachable" && status.status !== "stale") {
      this.#logChain(values, respondedAt.monotonic);
      this.#logStart(values.started_at, respondedAt);
      const seen = SEEN.filter((key) => info[key] !== undefined).map((key) => {
        const value = info[key];
        return [key, typeof value === "string" ? excerpt(value, TEXT_LENGTH) : value];
      });
      const at = new Date(respondedAt.date).toISOString();
      // Without a node, the info is that of the service.
      if (seen.length > 0 && info.api) {
        const lastSeen: LastSeen = { ...Object.fromEntries(seen), at };
        memory.lastSeen = lastSeen;
        this.#logVersion(lastSeen, now);
      }
    }
    this.#logStatus(status, now);
    this.#logRemarks("source", remarks, now);
    this.#logRemarks("key", omitted, now);
  }

  #logVersion({ software, version }: LastSeen, now: number): void {
    const { label, log, memory } = this.#options;
    const before = memory.software;
    const runs = [software, version].filter((part) => part !== undefined).join(" ");
    const event: VersionEvent = { code: "version", level: "info" };
    if (!runs || runs === before || !this.#mayLog(event, now)) return;
    memory.software = runs;
    log(`${label} runs ${quote(runs)}${before ? ` now, was ${quote(before)}` : ""}`, event);
  }

  /** Returns false if the node has changed too often of late. */
  #mayLog(event: NodeEvent, now: number, of: "logged" | "remarked" = "logged"): boolean {
    const { label, log, memory } = this.#options;
    const recent = memory[of].filter((at) => now - at < LOGGED_TIME);
    if (recent.length === LOGGED_MAX) return false;
    memory[of] = [...recent, now];
    if (recent.length === LOGGED_MAX - 1) {
      const most = `${LOGGED_MAX} changes in ${formatDuration(LOGGED_TIME)}`;
      log(`${label} keeps changing; no more than ${most} are logged`, event);
    }
    return true;
  }

  #logChain(values: Values, now: number): void {
    const { label, log, hide, memory, onIdentity } = this.#options;
    const before = memory.chain;
    const chain = { ...before };
    for (const key of CHAIN) chain[key] = textOf(values[key]) ?? chain[key];
    memory.chain = chain;
    const changed = CHAIN.filter((key) => before[key] !== undefined && before[key] !== chain[key]);
    if (changed.length === 0) return;
    memory.lastSeen = undefined;
    onIdentity?.();
    const recent = memory.changes.filter((at) => now - at < CHANGES_TIME);
    // Unlogged changes are recorded too. Logging resumes only when changes become less frequent.
    memory.changes = [...recent, now].slice(-CHANGES_MAX - 1);
    if (recent.length > CHANGES_MAX) return;
    const shown = changed.filter((key) => !hide.includes(key))
      .map((key) => `${key} ${named(chain[key]!)}, was ${named(before[key]!)}`);
    const message = recent.length === CHANGES_MAX
      ? "keeps changing to a different chain; further changes are not logged"
      : `is on another chain now${shown.length > 0 ? `: ${shown.join("; ")}` : ""}`;
    log(`${label} ${message}`, { code: "identity", level: "warn" });
  }

  /** If the start time moves back, the uptime was probably read in the wrong unit. */
  #logStart(started: unknown, { monotonic: now, date }: Instant): void {
    const { label, log, hide, memory } = this.#options;
    const at = Date.parse(String(started));
    if (Number.isNaN(at)) return;
    const before = memory.start;
    const offset = date - now;
    // A start that is computed from an uptime moves with a wall clock that is set.
    const latest = Math.max(at, at + before.offset - offset);
    const isBack = latest < before.at - START_JITTER && now - before.loggedAt >= CHANGES_TIME;
    memory.start = { at, offset, loggedAt: isBack ? now : before.loggedAt };
    if (!isBack || hide.includes("started_at")) return;
    const was = new Date(before.at).toISOString();
    const message = `${label} reports an earlier start than before: ${quote(String(started))}, ` +
      `was ${was}; if its uptime is in milliseconds, write { uptime: ms }`;
    log(message, { code: "identity", level: "warn" });
  }

  #logStatus(status: NodeStatus, now: number): void {
    const { label, log, memory } = this.#options;
    // The reasons why a secret cannot be read differ in the hint alone.
    const detail = status.code === "no_credentials" ? status.hint : undefined;
    const key = [status.status, status.code, detail].join(" ");
    if (this.#state?.key === key || status.code === "starting") return;
    const { status: word, code: statusCode } = status;
    const event: StatusEvent = { code: "status", level: LEVELS[word], status: word, statusCode };
    if (!this.#mayLog(event, now)) return;
    const before = this.#state;
    const known = before ? { word: before.status.status, since: before.since } : memory.status;
    const since = known?.word === word ? known.since : now;
    this.#state = { key, status, since };
    memory.status = { word, since };
    const last = before?.status.status;
    const after = known && known.word !== "starting" && known.word !== word
      ? `after ${formatDuration(now - known.since)} of ${known.word}`
      : undefined;
    if (word !== "ok") {
      const text = clausesOf(status).map((clause) => excerpt(clause, CLAUSE_LENGTH)).join("; ");
      const still = last === word ? "still " : "";
      log(`${label} is ${still}${word}${after ? ` (${after})` : ""}: ${text}`, event);
      return;
    }
    const reason = before?.status.reason
      ? ` (${excerpt(before.status.reason, CLAUSE_LENGTH)})`
      : "";
    if (after) {
      log(`${label} is ok${memory.hasBeenOk ? ` again, ${after}${reason}` : ""}`, event);
    }
    memory.hasBeenOk = true;
  }

  #logRemarks(topic: Topic, remarks: ReadonlyMap<string, string>, now: number): void {
    const logged = this.#remarked.get(topic) ?? new Set<string>();
    this.#remarked.set(topic, logged);
    // A remark's text may change with every query, so only its first text is logged.
    const began = [...remarks.keys()].filter((name) => !logged.has(name));
    const ended = [...logged].filter((name) => !remarks.has(name));
    for (const name of [...began, ...ended]) {
      const remark = remarks.get(name);
      const event: NodeEvent = { code: topic, level: remark === undefined ? "info" : "warn" };
      if (!this.#mayLog(event, now, "remarked")) return;
      if (remark === undefined) logged.delete(name);
      else logged.add(name);
      const text = remark === undefined ? "all is well again" : excerpt(remark, CLAUSE_LENGTH);
      this.#options.log(`${this.#options.label}, ${topic} ${name}: ${text}`, event);
    }
  }
}

const named = (text: string) => /^[\w.-]{1,60}$/.test(text) ? text : describeValue(text);
