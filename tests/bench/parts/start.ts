/** Part 2: from the start of a process to its first answer, and the memory it takes. */
import { setTimeout as wait } from "node:timers/promises";
import { type Started } from "../cli/processes.ts";
import { ask } from "../load/count.ts";
import { exchange } from "../load/exchange.ts";
import { findGenerator } from "../load/load.ts";
import { residentMemory } from "../load/usage.ts";
import { median } from "../report/statistics.ts";
import { CASES } from "../servers/answers.ts";
import { chosenServers, FIRST, startAlone, startField } from "../servers/field.ts";
import type { Part } from "./part.ts";
import { inTurn } from "./requests.ts";

/** What one server took. */
export interface StartFigures {
  /** Milliseconds to the first answer, start by start. */
  took: readonly number[];
  /** Resident memory in MiB: with one answer given, after few requests and after many. */
  rest: number;
  few: number;
  many: number;
}

export interface StartResult {
  /** How many requests few and many are, at the least. */
  few: number;
  many: number;
  /** By the server's id. */
  servers: Readonly<Record<string, StartFigures>>;
}

/** Before memory is looked at, a process has so many milliseconds of rest. */
const MODES = {
  full: { rounds: 15, many: 1_000_000, rest: 600 },
  quick: { rounds: 3, many: 30_000, rest: 200 },
};
const FEW = 10_000;

/** About what a start takes, and requests a second, for the plan. */
const START = 0.25, RATE = 45_000;

/** Other interfaces of a runtime are of interest for their rates only. */
const subjectsOf = (only: readonly string[]) =>
  chosenServers(only).filter(({ role }) => role !== "other");

export const start: Part<StartResult> = {
  plan({ quick, rounds, only }) {
    const mode = quick ? MODES.quick : MODES.full;
    const servers = subjectsOf(only).length;
    const times = rounds ?? mode.rounds;
    return {
      steps: servers * (times + 1),
      seconds: servers * (START * (times + 1) + 3 + mode.many / RATE),
    };
  },

  async measure({ quick, rounds, only }, progress) {
    const { generate } = findGenerator();
    const { many, rest: pause, ...mode } = quick ? MODES.quick : MODES.full;
    // Bare servers repeat what has been seen before; then all of them start one by one.
    const field = await startField(only, CASES.filter(({ id }) => id === "info"), progress);
    await field.stop();
    const servers = subjectsOf(only);
    const took = new Map(servers.map(({ id }) => [id, [] as number[]]));
    for (let round = 0; round < (rounds ?? mode.rounds); round++) {
      for (const server of inTurn(servers, round)) {
        progress.step(`start ${round + 1}: ${server.name}`, START);
        const started = await startAlone(server);
        took.get(server.id)!.push(started.took);
        await started.stop();
      }
    }
    const figures: Record<string, StartFigures> = {};
    for (const server of servers) {
      progress.step(`memory: ${server.name}`, 3 + many / RATE);
      const started = await startAlone(server);
      const [port] = started.ports;
      const rest = await settled(started, pause);
      const { bytes } = await exchange(port!, { path: FIRST, headers: {} });
      await ask(port!, FIRST, bytes.length, FEW);
      const few = await settled(started, pause);
      const load = { url: `http://127.0.0.1:${port}${FIRST}`, headers: {}, connections: 32 };
      for (let count = FEW; count < many;) {
        const seconds = Math.min(5, Math.ceil((many - count) / RATE));
        count += (await generate({ ...load, seconds })).requests;
      }
      figures[server.id] = {
        took: took.get(server.id)!,
        rest,
        few,
        many: await settled(started, pause),
      };
      await started.stop();
    }
    return { few: FEW, many, servers: figures };
  },
};

/** The memory of a process that has had a moment of rest. */
async function settled({ pid }: Started, pause: number): Promise<number> {
  await wait(pause);
  const sizes: number[] = [];
  for (let i = 0; i < 3; i++) {
    sizes.push(residentMemory(pid));
    await wait(pause / 6);
  }
  return median(sizes);
}
