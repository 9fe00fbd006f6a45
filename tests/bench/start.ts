/** From the start of a process to its first answer, and the memory it takes. */
import { answersOf, startNodeface } from "./answers.ts";
import { type Section, step, Table } from "./output.ts";
import { memory, start as startServer } from "./processes.ts";
import { chosen, type Runtime } from "./servers.ts";
import { median, ratiosOf } from "./statistics.ts";
import { load } from "./wrk.ts";

/** How long each server is asked before its memory is looked at again, in seconds. */
const LOAD = 3;

/** Measures the runtimes that are named, or all. */
export async function start(only: readonly string[], isQuick: boolean): Promise<Section> {
  const table = new Table(["first answer", "× bare", "ms", "MB", "MB after", "requests"]);
  for (const runtime of chosen(only)) await measure(runtime, isQuick ? 3 : 9, table);
  const text =
    `From the start of the process to its first answer (\`/v1/info\`), the resident memory
then, and that after ${LOAD} seconds of requests from 32 connections.`;
  return { title: "Start and memory", text, table };
}

async function measure(runtime: Runtime, rounds: number, table: Table): Promise<void> {
  // The others repeat what this one sends.
  await (await startNodeface(runtime)).stop();
  const servers = [runtime.bare, runtime.nodeface, ...runtime.peers];
  const seen = servers.map((server) => ({ ...server, took: [] as number[], memory: [NaN] }));
  for (let round = 0; round < rounds; round++) {
    for (const server of round % 2 ? seen.toReversed() : seen) {
      step(`${server.name}: start ${round + 1} of ${rounds}`);
      const running = await startServer((port) => server.command(port, answersOf(runtime)));
      server.took.push(running.took);
      if (round === 0) {
        const before = memory(running.pid, "VmRSS");
        const url = `http://127.0.0.1:${running.port}/v1/info`;
        const { requests } = await load(url, {}, 32, LOAD);
        server.memory = [before, memory(running.pid, "VmRSS"), requests];
      }
      await running.stop();
    }
  }
  for (const { name, took, memory } of seen) {
    const ratio = name === runtime.bare.name ? NaN : median(ratiosOf(took, seen[0]!.took));
    table.add(name, ratio, median(took), ...memory);
  }
}
