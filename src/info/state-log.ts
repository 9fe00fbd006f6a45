/**
 * The log of the node: a line when its state changes, and one when something else begins or ends.
 *
 * @module
 */
import { excerpt } from "../untrusted-text.ts";
import { formatDuration } from "./settings.ts";
import type { NodeStatus, Status, StatusCode } from "./status.ts";

/** Takes a message for the operator. */
export type NodeLog = (message: string, event: NodeEvent) => void;

/** The event that a message about the node is about. */
export type NodeEvent = StatusEvent | KindEvent | IdentityEvent | RemarkEvent;

/** The state of the node has changed. */
export interface StatusEvent {
  readonly code: "status";
  readonly level: Level;
  readonly status: Status;
  readonly statusCode?: StatusCode | undefined;
}

/** The kind of the node was found. */
export interface KindEvent {
  readonly code: "kind";
  readonly level: "info";
}

/** Another chain or network responds at the address. */
export interface IdentityEvent {
  readonly code: "identity";
  readonly level: "warn";
}

/** Something is wrong with one source or one key of the info, or is well again. */
export interface RemarkEvent {
  readonly code: Topic;
  readonly level: Level;
}

/** The severity of a message. */
export type Level = "info" | "warn" | "error";

/** The subject of a remark. */
export type Topic = "source" | "key";

const LEVELS: Readonly<Record<Status, Level>> = {
  starting: "info",
  ok: "info",
  syncing: "info",
  degraded: "warn",
  stale: "warn",
  unreachable: "error",
};

/** The longest clause of a line, in UTF-16 code units. */
const CLAUSE_LENGTH = 300;

export class StateLog {
  readonly #label: string;
  readonly #log: NodeLog;
  readonly #remarks = new Map<Topic, ReadonlyMap<string, string>>();
  #state: { key: string; status: NodeStatus; since: number } | undefined;

  constructor(label: string, log: NodeLog) {
    this.#label = label;
    this.#log = log;
  }

  /** @param now milliseconds that only count up */
  logStatus(status: NodeStatus, now: number): void {
    const key = `${status.status} ${status.code}`;
    if (this.#state?.key === key || status.code === "starting") return;
    const before = this.#state;
    this.#state = { key, status, since: now };
    const { status: word, code: statusCode, reason = statusCode, hint } = status;
    const event: StatusEvent = { code: "status", level: LEVELS[word], status: word, statusCode };
    const last = before?.status.status;
    const after = before && last !== "starting" && last !== word
      ? `after ${formatDuration(now - before.since)} of ${last}`
      : undefined;
    if (word !== "ok") {
      const text = [reason, hint].filter((clause) => clause !== undefined)
        .map((clause) => excerpt(clause, CLAUSE_LENGTH)).join("; ");
      const still = last === word ? "still " : "";
      this.#log(`${this.#label} is ${still}${word}${after ? ` (${after})` : ""}: ${text}`, event);
    } else if (after) {
      const reason = excerpt(before?.status.reason ?? "", CLAUSE_LENGTH);
      this.#log(`${this.#label} is ok again, ${after} (${reason})`, event);
    }
  }

  /** Logs what is wrong besides: each line once when it begins, and when nothing of its topic is wrong. */
  logRemarks(topic: Topic, remarks: ReadonlyMap<string, string>): void {
    const before = this.#remarks.get(topic) ?? new Map<string, string>();
    this.#remarks.set(topic, new Map(remarks));
    const log = (level: Level, name: string, text: string) =>
      this.#log(`${this.#label}, ${topic} ${name}: ${text}`, { code: topic, level });
    for (const [name, remark] of remarks) {
      // What it says may change with every query.
      if (!before.has(name)) log("warn", name, excerpt(remark, CLAUSE_LENGTH));
    }
    for (const name of before.keys()) {
      if (!remarks.has(name)) log("info", name, "all is well again");
    }
  }
}
