/**
 * What an operator is told: a line when the node's state changes, and one when something else begins or ends.
 *
 * @module
 */
import { excerpt } from "../untrusted-text.ts";
import { formatDuration } from "./settings.ts";
import type { NodeStatus, Status, StatusCode } from "./status.ts";

/** Takes a message for the operator. */
export type NodeLog = (message: string, event: NodeEvent) => void;

/** What a message about the node is about. */
export type NodeEvent = StatusEvent | KindEvent | RemarkEvent;

/** The state of the node has changed. */
export interface StatusEvent {
  readonly code: "status";
  readonly level: Level;
  readonly status: Status;
  /** Why it is not `ok`. */
  readonly statusCode?: StatusCode | undefined;
}

/** The kind of the node was found. */
export interface KindEvent {
  readonly code: "kind";
  readonly level: "info";
}

/** Something is wrong with one source or one key of the info, or is well again. */
export interface RemarkEvent {
  readonly code: Topic;
  readonly level: Level;
}

/** How grave a message is. */
export type Level = "info" | "warn" | "error";

/** What remarks are about. */
export type Topic = "source" | "key";

/** How much a state matters. */
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

/** Tells what has changed. */
export interface StateLog {
  /**
   * @param now milliseconds that only count up
   */
  tellStatus(status: NodeStatus, now: number): void;
  /** Tells what is wrong besides: each line once when it begins, and when nothing of its topic is wrong. */
  tellRemarks(topic: Topic, remarks: ReadonlyMap<string, string>): void;
}

/** Makes a log. */
export function createStateLog(label: string, log: NodeLog): StateLog {
  let state: { key: string; status: NodeStatus; since: number } | undefined;
  const remarksOf = new Map<string, ReadonlyMap<string, string>>();
  return {
    tellStatus(status, now) {
      const key = `${status.status} ${status.code}`;
      if (state?.key === key || status.code === "starting") return;
      const before = state;
      state = { key, status, since: now };
      const lasted = before && formatDuration(now - before.since);
      const event: StatusEvent = {
        code: "status",
        level: LEVELS[status.status],
        status: status.status,
        statusCode: status.code,
      };
      if (status.status !== "ok") {
        const { reason = status.code, hint } = status;
        const clauses = [reason, hint].filter((clause) => clause !== undefined);
        const isStill = before?.status.status === status.status;
        const after = before && before.status.status !== "starting" && !isStill
          ? ` (after ${lasted} of ${before.status.status})`
          : "";
        const text = clauses.map((clause) => excerpt(clause, CLAUSE_LENGTH)).join("; ");
        log(`${label} is ${isStill ? "still " : ""}${status.status}${after}: ${text}`, event);
      } else if (before && before.status.status !== "starting") {
        const reason = excerpt(before.status.reason ?? "", CLAUSE_LENGTH);
        log(`${label} is ok again, after ${lasted} of ${before.status.status} (${reason})`, event);
      }
    },
    tellRemarks(topic, remarks) {
      const before = remarksOf.get(topic) ?? new Map<string, string>();
      remarksOf.set(topic, new Map(remarks));
      for (const [name, remark] of remarks) {
        // What it says may change with every query.
        if (!before.has(name)) {
          log(`${label}, ${topic} ${name}: ${excerpt(remark, CLAUSE_LENGTH)}`, {
            code: topic,
            level: "warn",
          });
        }
      }
      for (const name of before.keys()) {
        if (!remarks.has(name)) {
          log(`${label}, ${topic} ${name}: all is well again`, { code: topic, level: "info" });
        }
      }
    },
  };
}
