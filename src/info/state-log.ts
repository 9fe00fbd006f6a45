/**
 * Logs when the node's status or chain changes, and when a source begins or ceases to fail.
 *
 * @module
 */
import { describeValue, excerpt, quote } from "../untrusted-text.ts";
import type { LastSeen } from "./info.ts";
import { formatDuration } from "../units.ts";
import type { Instant } from "./clock.ts";
import type { ChainChange, News } from "./sightings.ts";
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

/** The node is on another chain or network than before, or its start time has moved. */
export interface IdentityEvent {
  readonly code: "identity";
  /** `info` if the node has been restarted. */
  readonly level: "info" | "warn";
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

/**
 * Uptimes are imprecise, so a start time may move back by this many milliseconds without a warning.
 */
const START_JITTER_MS = 60_000;

interface Limit {
  readonly max: number;
  readonly spanMs: number;
  /** True if messages that are not logged count, so that only less frequent ones are logged. */
  readonly countsUnlogged?: boolean;
}

/** Few changes of a node that is up and down all the time are logged. */
const CHANGES: Limit = { max: 20, spanMs: 600_000 };
const CHAINS: Limit = { max: 6, spanMs: 3_600_000, countsUnlogged: true };
const STARTS: Limit = { max: 1, spanMs: 3_600_000 };

/** Limits how many messages are logged in a span of time. */
class RateLimit {
  readonly #limit: Limit;
  #times: readonly number[] = [];

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** Returns how many messages may still be logged, with the one at the time `now`. */
  take(now: number): number {
    const { max, spanMs, countsUnlogged } = this.#limit;
    const recent = this.#times.filter((at) => now - at < spanMs);
    const left = max - recent.length;
    if (left > 0 || countsUnlogged) this.#times = [...recent, now].slice(-max);
    return left;
  }
}

interface LoggedStatus {
  readonly word: Status;
  /** In milliseconds of a monotonic clock. */
  readonly since: number;
  /** Missing if it was logged before a reload of the configuration. */
  readonly status?: NodeStatus;
}

/** What the log of a node's state remembers when the configuration is reloaded. */
export class LogMemory {
  /** `offset` is the time by which the wall clock is ahead of the monotonic one. */
  start: { readonly at: number; readonly offset: number } = { at: -Infinity, offset: 0 };
  status: LoggedStatus | undefined;
  /** When the status was last logged to be `ok` no more. */
  okUntil: number | undefined;
  /** The last software and version that was logged. */
  software: string | undefined;
  /** Of the status. */
  readonly changes: RateLimit = new RateLimit(CHANGES);
  readonly versions: RateLimit = new RateLimit(CHANGES);
  readonly remarks: RateLimit = new RateLimit(CHANGES);
  readonly chains: RateLimit = new RateLimit(CHAINS);
  readonly starts: RateLimit = new RateLimit(STARTS);
}

interface StateLogOptions {
  readonly label: string;
  readonly log: NodeLog;
  readonly hide: readonly string[];
  readonly memory: LogMemory;
}

interface StateReport {
  readonly status: NodeStatus;
  /** Missing if the node does not respond, or only what it has said before is known. */
  readonly news?:
    | (News & {
      /** When the node says that it was started. */
      readonly started_at: unknown;
      readonly respondedAt: Instant;
    })
    | undefined;
  readonly omitted: ReadonlyMap<string, string>;
  readonly remarks: ReadonlyMap<string, string>;
}

export class StateLog {
  readonly #options: StateLogOptions;
  /** The names of sources and keys with a logged remark. */
  readonly #remarked = new Map<Topic, Set<string>>();
  #logged: Required<LoggedStatus> | undefined;

  constructor(options: StateLogOptions) {
    this.#options = options;
  }

  /** @param now the time of a monotonic clock, in milliseconds */
  note({ status, news, omitted, remarks }: StateReport, now: number): void {
    if (news) {
      this.#logChain(news.changes, news.respondedAt.monotonic);
      this.#logStart(news.started_at, news.respondedAt);
      if (news.seen) this.#logVersion(news.seen, now);
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
    if (!runs || runs === before || !this.#mayLog(event, memory.versions, now)) return;
    memory.software = runs;
    log(`${label} runs ${quote(runs)}${before ? ` now, was ${quote(before)}` : ""}`, event);
  }

  /** Returns false if the node has changed too often of late. */
  #mayLog(event: NodeEvent, limit: RateLimit, now: number): boolean {
    const { label, log } = this.#options;
    const left = limit.take(now);
    if (left === 1) {
      const most = `${CHANGES.max} changes in ${formatDuration(CHANGES.spanMs)}`;
      log(`${label} keeps changing; no more than ${most} are logged`, event);
    }
    return left > 0;
  }

  #logChain(changes: readonly ChainChange[], now: number): void {
    if (changes.length === 0) return;
    const { label, log, hide, memory } = this.#options;
    const left = memory.chains.take(now);
    if (left === 0) return;
    const shown = changes.filter(({ key }) => !hide.includes(key))
      .map(({ key, value, before }) => `${key} ${named(value)}, was ${named(before)}`);
    const message = left === 1
      ? "keeps changing to a different chain; further changes are not logged"
      : `is on another chain now${shown.length > 0 ? `: ${shown.join("; ")}` : ""}`;
    log(`${label} ${message}`, { code: "identity", level: "warn" });
  }

  /**
   * A node may be restarted without having been seen down. If the start time moves back, the uptime
   * was probably read in the wrong unit.
   */
  #logStart(started: unknown, { monotonic: now, date }: Instant): void {
    const { label, log, hide, memory } = this.#options;
    const at = Date.parse(String(started));
    if (Number.isNaN(at)) return;
    const before = memory.start;
    const offset = date - now;
    memory.start = { at, offset };
    // A start that is computed from an uptime moves with a wall clock that is set.
    const moved = at + before.offset - offset;
    const isEarlier = Math.max(at, moved) < before.at - START_JITTER_MS;
    const isLater = Math.min(at, moved) > before.at + START_JITTER_MS && Number.isFinite(before.at);
    if (!isEarlier && !isLater) return;
    if (memory.starts.take(now) === 0 || hide.includes("started_at")) return;
    if (isLater) {
      const message = `${label} has been restarted, at ${quote(String(started))}`;
      return log(message, { code: "identity", level: "info" });
    }
    const was = new Date(before.at).toISOString();
    const message = `${label} reports an earlier start than before: ${quote(String(started))}, ` +
      `was ${was}; if its uptime is in milliseconds, write { uptime: ms }`;
    log(message, { code: "identity", level: "warn" });
  }

  #logStatus(status: NodeStatus, now: number): void {
    const { label, log, memory } = this.#options;
    const { status: word, code: statusCode } = status;
    const isSame = this.#logged && keyOf(this.#logged.status) === keyOf(status);
    if (isSame || statusCode === "starting") return;
    const event: StatusEvent = { code: "status", level: LEVELS[word], status: word, statusCode };
    if (!this.#mayLog(event, memory.changes, now)) return;
    const before = this.#logged ?? memory.status;
    if (before?.word === "ok" && word !== "ok") memory.okUntil = now;
    const text = statusText(before, status, now, memory.okUntil);
    const since = before?.word === word ? before.since : now;
    this.#logged = { word, since, status };
    memory.status = { word, since };
    if (text) log(`${label} is ${text}`, event);
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
      if (!this.#mayLog(event, this.#options.memory.remarks, now)) return;
      if (remark === undefined) logged.delete(name);
      else logged.add(name);
      const text = remark === undefined ? "all is well again" : excerpt(remark, CLAUSE_LENGTH);
      this.#options.log(`${this.#options.label}, ${topic} ${name}: ${text}`, event);
    }
  }
}

/** Returns the part of a status whose change is logged. */
function keyOf({ status, code, hint }: NodeStatus): string {
  // The reasons why a secret cannot be read differ in the hint alone.
  return [status, code, code === "no_credentials" ? hint : undefined].join(" ");
}

/** Returns what is said of a status; `undefined` of one that was `ok` from the beginning. */
function statusText(
  before: LoggedStatus | undefined,
  status: NodeStatus,
  now: number,
  okUntil: number | undefined,
): string | undefined {
  const { status: word } = status;
  const after = before && before.word !== word
    ? `after ${formatDuration(now - before.since)} of ${before.word}`
    : undefined;
  if (word !== "ok") {
    const still = before?.status?.status === word ? "still " : "";
    const clauses = clausesOf(status).map((clause) => excerpt(clause, CLAUSE_LENGTH));
    return `${still}${word}${after ? ` (${after})` : ""}: ${clauses.join("; ")}`;
  }
  if (!after || okUntil === undefined) return after && word;
  const reason = before?.status?.reason;
  const whole = formatDuration(now - okUntil);
  const since = before!.since > okUntil ? `, ${whole} after it was last ok` : "";
  return `ok again, ${after}${reason ? ` (${excerpt(reason, CLAUSE_LENGTH)})` : ""}${since}`;
}

const named = (text: string) => /^[\w.-]{1,60}$/.test(text) ? text : describeValue(text);
