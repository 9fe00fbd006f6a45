/**
 * Tests an honest client during attacks, on every runtime. Each attack runs once. If a limit is
 * exceeded, the attack runs again, up to three times in total. `NODEFACE_ATTACK_RUNS=5` runs each
 * attack five times. `ATTACKS='chunks|names' RUNTIMES='Bun'` selects attacks and runtimes by name.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { median } from "../bench/statistics.ts";
import { RUNTIMES, type Scene, type Seen, stage } from "./_attack.ts";
import type { Order } from "./_attack-clients.ts";
import type { HonestCall } from "./_honest-client.ts";

const RUNS = process.env.NODEFACE_ATTACK_RUNS;
const LEAST_RUNS = Number(RUNS ?? 1), MOST_RUNS = Number(RUNS ?? 3);
const matches = (name: string, pattern = "") => new RegExp(pattern, "i").test(name);

/**
 * The maximum wait of an honest client, in milliseconds, by the number of attackers. On a slow
 * machine, the limit rises to `TIMES_MAX` times the longest wait without an attack.
 */
const WAIT_MAX = { 1: 500, 20: 1000 } as const, TIMES_MAX = 20;

/** The maximum memory that an attack may take, in MB. */
const MEMORY_MAX = 150;

/** The slots of a node whose kind names no number. */
const LIGHT_MAX = 64, HEAVY_MAX = 1;

interface Row {
  readonly attack: Order["attack"];
  readonly counts: readonly (1 | 20)[];
  readonly beside: HonestCall;
  /**
   * True if the attack may occupy all slots. Calls to the node may then be slow, but the service's
   * own responses must be fast.
   */
  readonly takesSlots?: boolean;
  /** The maximum length of a response, in bytes. */
  readonly response?: number;
  /** Replaces `WAIT_MAX` for this attack. */
  readonly wait?: number;
  /** The maximum time without a successful call, in milliseconds. */
  readonly gap?: number;
  /**
   * Replaces `MEMORY_MAX` for this attack. The limit includes the buffers of sockets and of the
   * runtime's parser.
   */
  readonly memory?: number;
  readonly runs?: number;
}

const BOTH = [1, 20] as const, ONE = [1] as const;

const ROWS: readonly Row[] = [
  { attack: "abandoned heavy calls", counts: ONE, beside: "GET" },
  { attack: "abandoned light calls", counts: ONE, beside: "GET", takesSlots: true },
  // The memory limit is higher, because Deno is slow to free the memory of discarded chunks.
  {
    ...{ attack: "abandoned long responses", counts: ONE, beside: "GET", takesSlots: true },
    memory: 250,
  },
  {
    attack: "long responses unread",
    counts: ONE,
    beside: "write",
    runs: 1,
    wait: 3000,
    memory: 450,
  },
  {
    attack: "long responses unread",
    counts: ONE,
    beside: "JSON-RPC",
    runs: 1,
    wait: 3000,
    memory: 450,
  },
  { attack: "524,000 positions", counts: BOTH, beside: "JSON-RPC", response: 64 * 1024 },
  { attack: "request in chunks of 1 byte", counts: BOTH, beside: "JSON-RPC" },
  {
    ...{ attack: "response in chunks of 1 byte", counts: BOTH, beside: "GET", takesSlots: true },
    memory: 250,
  },
  { attack: "names side by side", counts: BOTH, beside: "GET" },
  { attack: "names between dashes", counts: BOTH, beside: "GET" },
  { attack: "400 unfinished requests", counts: ONE, beside: "JSON-RPC", wait: 1000, memory: 300 },
  // Clients that do not read their responses occupy all slots for ten seconds, and are then
  // disconnected.
  {
    ...{ attack: "all slots unread", counts: ONE, beside: "GET", takesSlots: true },
    // Bun reads 512 KiB at once for each of 64 connections.
    ...{ gap: 18_000, runs: 1, memory: 200 },
  },
];

for (const [runtime, command] of Object.entries(RUNTIMES)) {
  if (!matches(runtime, process.env.RUNTIMES)) continue;
  const attacks = suite(`attacks on ${runtime}`);
  const table: string[] = [];
  let scene: Scene;
  /** The longest wait of an honest client without an attack. */
  let usual: number;
  attacks.before(async () => {
    scene = await stage(command);
    const seen = await scene.run("names side by side", 0, "GET");
    usual = Math.max(...seen.info.waits, ...seen.call.waits);
    table.push(line("nobody", 0, [seen]));
  });
  attacks.after(async () => {
    await scene?.stop();
    console.log(`\n${runtime}\n${HEAD}\n${table.join("\n")}`);
  });
  attacks.after.each(() => scene.restart());

  for (const row of ROWS.filter(({ attack }) => matches(attack, process.env.ATTACKS))) {
    const { attack, beside, runs = MOST_RUNS } = row;
    for (const count of row.counts) {
      const who = count === 1 ? "one attacker" : `${count} attackers`;
      attacks(`honest clients are served despite ${who}: ${attack} (${beside})`, async () => {
        const wait = Math.max(row.wait ?? WAIT_MAX[count], TIMES_MAX * usual);
        const seen: Seen[] = [];
        let faults: string[];
        do {
          seen.push(await scene.run(attack, count, beside));
          faults = faultsOf(row, seen, wait);
        } while (seen.length < LEAST_RUNS || (faults.length > 0 && seen.length < runs));
        table.push(line(`${attack} (${beside})`, count, seen));
        assert.equal(faults, []);
      });
    }
  }

  attacks.run();
}

function faultsOf(
  { takesSlots, response = Infinity, gap = Infinity, memory: room = MEMORY_MAX }: Row,
  seen: readonly Seen[],
  wait: number,
): string[] {
  const faults: string[] = [];
  const demand = (isSo: boolean, fault: string) => isSo || faults.push(fault);
  demand(seen.every(({ outcome }) => outcome), "the attack was not over in time");
  for (const name of takesSlots ? ["info"] as const : ["info", "call"] as const) {
    const waited = median(seen.map((run) => Math.max(...run[name].waits)));
    const failed = median(seen.map((run) => run[name].failed));
    demand(waited <= wait, `${name}: honest clients waited ${Math.round(waited)} ms`);
    demand(failed === 0, `${name}: ${failed} honest requests failed`);
  }
  const { heavy, light, longest, gaps } = worst(seen);
  const memory = median(seen.map((run) => run.memory));
  demand(gaps <= gap, `no successful call for ${Math.round(gaps)} ms`);
  // If memory cannot be measured, `memory` is NaN, and the check must pass.
  demand(!(memory > room), `${Math.round(memory)} MB more`);
  demand(heavy <= HEAVY_MAX && light <= LIGHT_MAX, `${heavy} heavy, ${light} light calls at once`);
  demand(longest <= response, `a response of ${longest} bytes`);
  return faults;
}

const COLUMNS = ["by", "info p99", "longest", "call p99", "longest", "no call", "failed", "MB"]
  .concat("heavy", "light", "response");
const HEAD = ["attack".padEnd(46), ...COLUMNS].join(" | ");

function line(name: string, count: number, seen: readonly Seen[]): string {
  const { heavy, light, longest, gaps, memory } = worst(seen);
  const waits = (key: "info" | "call") => {
    const each = seen.map((run) => run[key].waits);
    return [median(each.map(p99)), Math.max(...each.flat())];
  };
  const failed = sum(seen.map(({ info, call }) => info.failed + call.failed));
  const cells = [count, ...waits("info"), ...waits("call"), gaps, failed, memory]
    .concat(heavy, light, longest)
    .map((value, at) => String(Math.round(value)).padStart(COLUMNS[at]!.length));
  const { outcome } = seen.at(-1)!;
  const end = outcome ? JSON.stringify(outcome.statuses) : "not over in time";
  return [name.padEnd(46), ...cells, end].join(" | ");
}

function worst(seen: readonly Seen[]) {
  return {
    heavy: Math.max(...seen.map(({ load }) => load.heavy)),
    light: Math.max(...seen.map(({ load }) => load.light)),
    longest: Math.max(...seen.map(({ outcome }) => outcome?.longest ?? 0)),
    gaps: Math.max(...seen.map(({ call }) => call.gap)),
    memory: Math.max(...seen.map(({ memory }) => memory)),
  };
}

function p99(waits: readonly number[]): number {
  return waits.toSorted((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1]!;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
