/** What a process uses, as far as the machine tells. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Linux counts the time of processes in hundredths of a second. */
const TICK = 10_000;

/**
 * The processor time that a process has used in all of its threads, in microseconds.
 *
 * @returns `undefined` where there is no `/proc`
 */
export function processorTime(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in brackets, may hold anything; user and system time are fields 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK;
  } catch {
    return undefined;
  }
}

/** The resident memory of a process, in MiB. */
export function residentMemory(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  } catch {
    return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)])) / 1024;
  }
}
