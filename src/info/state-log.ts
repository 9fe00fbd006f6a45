/**
 * What an operator is told: a line when the node's state changes, and one when something else begins or ends.
 *
 * @module
 */
import { excerpt } from "../text.ts";
import { formatDuration } from "./format-duration.ts";
import type { NodeStatus, Status } from "./status.ts";

/** Takes a message for the operator; one without a level is a warning. */
export type Log = (message: string, level?: "info" | "warn" | "error") => void;

/** How much a state matters. */
const LEVELS: Readonly<Record<Status, "info" | "warn" | "error">> = {
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
  tellRemarks(topic: string, remarks: ReadonlyMap<string, string>): void;
}

/**
 * Makes a log.
 *
 * @param label what the node is called
 */
export function createStateLog(label: string, log: Log): StateLog {
  let state: { key: string; status: NodeStatus; since: number } | undefined;
  const remarksOf = new Map<string, ReadonlyMap<string, string>>();
  return {
    tellStatus(status, now) {
      const key = `${status.status} ${status.code}`;
      if (state?.key === key || status.code === "starting") return;
      const before = state;
      state = { key, status, since: now };
      const lasted = before && formatDuration(now - before.since);
      const level = LEVELS[status.status];
      if (status.status !== "ok") {
        const { reason = status.code, hint } = status;
        const clauses = [reason, hint].filter((clause) => clause !== undefined);
        const after = before && before.status.status !== "starting"
          ? ` (after ${lasted} of ${before.status.status})`
          : "";
        const text = clauses.map((clause) => excerpt(clause, CLAUSE_LENGTH)).join("; ");
        log(`${label} is ${status.status}${after}: ${text}`, level);
      } else if (before && before.status.status !== "starting") {
        const reason = excerpt(before.status.reason ?? "", CLAUSE_LENGTH);
        log(`${label} is ok again, after ${lasted} of ${before.status.status} (${reason})`, level);
      }
    },
    tellRemarks(topic, remarks) {
      const before = remarksOf.get(topic) ?? new Map<string, string>();
      remarksOf.set(topic, new Map(remarks));
      for (const [name, remark] of remarks) {
        // What it says may change with every query.
        if (!before.has(name)) {
          log(`${label}, ${topic} ${name}: ${excerpt(remark, CLAUSE_LENGTH)}`, "warn");
        }
      }
      for (const name of before.keys()) {
        if (!remarks.has(name)) log(`${label}, ${topic} ${name}: all is well again`, "info");
      }
    },
  };
}
