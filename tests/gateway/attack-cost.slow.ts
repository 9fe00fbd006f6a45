/**
 * Tests what attacks cost, on every runtime: processor time, memory, and the longest wait of an
 * honest client. The processor time includes all threads, so it depends little on what else runs on
 * the machine. `ATTACKS='pipelined|yaml' RUNTIMES='Bun'` selects attacks and runtimes by name.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { RUNTIMES } from "./_attack.ts";
import { type Cost, type HostileNode, measure, startNode } from "./_cost.ts";
import { type Attack, ATTACKS } from "./_cost-attacks.ts";

const matches = (name: string, pattern = "") => new RegExp(pattern, "i").test(name);

/**
 * The maximum wait of an honest client on a quiet machine, in milliseconds. On a busy machine,
 * waits are longer. A test fails only if a wait is longer than `WAIT_FAILS`, and `TIMES_MAX` times
 * longer than the longest without an attack.
 */
const WAIT_MAX = 250, WAIT_FAILS = 1000, TIMES_MAX = 20;

/** Beside other processes, the same work takes up to twice the processor time. */
const SLOWNESS = 2;

/** Only Linux tells what a process costs. */
const MISSING = without("/proc/self/clear_refs");

for (const [runtime, command] of Object.entries(RUNTIMES)) {
  if (!matches(runtime, process.env.RUNTIMES)) continue;
  const costs = suite(`costs of attacks on ${runtime}`);
  let node: HostileNode;
  let usual: Cost;
  costs.before(async () => {
    if (MISSING !== undefined) return;
    node = await startNode();
    usual = await measure(command, node, undefined);
    console.log(`\n${HEAD}\n${line("nobody", runtime, usual)}`);
  });
  costs.after(() => node?.stop());
  for (const attack of ATTACKS) {
    if (!matches(attack.name, process.env.ATTACKS)) continue;
    const name = `an attack stays within its budget: ${attack.name}`;
    testWhere(costs, MISSING, name, async () => {
      const cost = await measure(command, node, attack);
      const faults = faultsOf(attack, cost, usual);
      console.log(line(attack.name, runtime, cost, attack, faults));
      assert.equal(faults, []);
    });
  }
  costs.run();
}

function faultsOf(
  { budget }: Attack,
  { cpu, memory, wait, result: { fault }, cut }: Cost,
  usual: Cost,
): string[] {
  const faults = [cut, fault].filter((one) => one !== undefined);
  const demand = (isSo: boolean, fault: string) => isSo || faults.push(fault);
  demand(cpu <= SLOWNESS * budget.cpu, `${cpu.toFixed(2)} s of processor time`);
  demand(memory <= budget.memory, `${memory.toFixed(0)} MB`);
  const most = Math.max(WAIT_FAILS, TIMES_MAX * usual.wait);
  demand(wait <= most, `another client waited ${wait.toFixed(0)} ms`);
  return faults;
}

const row = (name: string, runtime: string, cells: readonly string[]) =>
  [name.padEnd(56), runtime.padEnd(10), ...cells.map((cell) => cell.padStart(7))].join(" | ");
const HEAD = row("attack", "runtime", ["cpu s", "of", "MB", "of", "wait ms", "verdict"]);

function line(
  name: string,
  runtime: string,
  { cpu, memory, wait, result: { outcomes } }: Cost,
  attack?: Attack,
  faults: readonly string[] = [],
): string {
  const { budget } = attack ?? {};
  const cells = [
    ...[cpu.toFixed(2), budget?.cpu.toFixed(1) ?? ""],
    ...[memory.toFixed(0), budget?.memory.toFixed(0) ?? ""],
    `${wait.toFixed(0)}${wait > WAIT_MAX ? "!" : ""}`,
    faults.length > 0 ? "FAILS" : "ok",
  ];
  const seen = Object.entries(outcomes).map(([outcome, count]) => `${outcome}: ${count}`);
  return `${row(name, runtime, cells)} | ${[...faults, ...seen].join("; ")}`;
}
