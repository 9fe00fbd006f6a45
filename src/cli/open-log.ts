/**
 * The service's log, on standard error: lines with a time and a level.
 *
 * `2026-11-21T07:30:00Z warn  node http://127.0.0.1:8545: refuses connections`
 *
 * @module
 */
import type { Log } from "../log.ts";
import { printable, withoutKeys } from "../untrusted-text.ts";
import { createLineWriter, openOutput } from "./output.ts";

/**
 * A message as lines of the log, each with the time in UTC and the level.
 *
 * @returns the lines without a break after the last
 */
export function formatMessage(message: string, level: string, time: Date): string {
  const start = `${secondOf(time)} ${level.padEnd(5)}`;
  const text = withoutKeys(message);
  if (!text.includes("\n")) return `${start} ${printable(text)}`;
  return text.split("\n").map((line) => `${start} ${printable(line)}`)
    .join("\n");
}

/** The second that was written last: many lines have the same. */
let last = { second: NaN, text: "" };

function secondOf(time: Date): string {
  const second = Math.floor(time.getTime() / 1000);
  if (second !== last.second) last = { second, text: `${time.toISOString().slice(0, 19)}Z` };
  return last.text;
}

/** Writes a message. @default "warn" */
export type WriteLog = (message: string, level?: "info" | "warn" | "error") => void;

/** A log that writes to standard error, and what waits until all of it is written. */
export interface ServiceLog {
  log: WriteLog;
  flush(): Promise<void>;
}

/** Opens the log. A reader that is stuck or has gone away does it no harm. */
export function openLog(): ServiceLog {
  const lines = createLineWriter(
    openOutput("stderr"),
    (count) => log(`${count} lines of this log were dropped: its reader was stuck`),
  );
  const log: WriteLog = (message, level = "warn") => {
    lines.write(formatMessage(message, level, new Date()));
  };
  return { log, flush: () => lines.flush() };
}

/** The log of a service, and of those that take its place. */
export interface ReloadLog {
  readonly log: Log;
  /** Marks the end of what is said of a description that was read. */
  endOfRead(): void;
  /** While this runs, what was said of the description when it was read last is not said again. */
  duringReload<T>(work: () => Promise<T>): Promise<T>;
}

/** Makes it: a description that stays broken is told of once, however often the configuration is reloaded. */
export function createReloadLog(write: WriteLog): ReloadLog {
  let isReloading = false;
  let saidBefore = new Set<string>();
  let said = new Set<string>();
  return {
    log(message, { code, level }) {
      if (code === "description") said.add(message);
      const isKnown = isReloading && code === "description" && saidBefore.has(message);
      if (!isKnown) write(message, level);
    },
    endOfRead() {
      [saidBefore, said] = [said, new Set()];
    },
    async duringReload(work) {
      isReloading = true;
      try {
        return await work();
      } finally {
        isReloading = false;
      }
    },
  };
}
