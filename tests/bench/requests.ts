/** Requests a second, beside a bare server of the same runtime. */
import { answersOf, startBare, startNodeface } from "./answers.ts";
import { rangeOf, type Section, step, Table } from "./output.ts";
import { ask, header, processorTime, type Running, start } from "./processes.ts";
import { chosen, type Runtime, type Server } from "./servers.ts";
import { median, ratiosOf } from "./statistics.ts";
import { load, type Measured } from "./wrk.ts";

/** A request for `/v1/info` that is measured. */
interface Case {
  name: string;
  /** Whether `If-None-Match` names what the server has, which peers know nothing of. */
  isKnown: boolean;
}

const PATH = "/v1/info";
const CASES: readonly Case[] = [
  { name: "200", isKnown: false },
  { name: "304", isKnown: true },
];

/** Below this, a ratio is said to fall short. */
const TARGET = 0.95;

/**
 * How servers are measured. They are started anew in between, since a process may be slower than its
 * like for as long as it runs; rounds are even, so that none comes first more often.
 */
const MODES: Readonly<Record<"full" | "quick", Mode>> = {
  full: { starts: 2, rounds: [[1, 2], [32, 8], [256, 2]] },
  quick: { starts: 1, rounds: [[32, 2]] },
};

interface Mode {
  readonly starts: number;
  /** How many there are at each number of connections. */
  readonly rounds: readonly (readonly [connections: number, rounds: number])[];
}

interface Sample extends Measured {
  server: Server;
  case: Case;
  connections: number;
  /** Processor time of the server for one request, in microseconds. */
  cpu: number;
}

/** Measures the runtimes that are named, or all. */
export async function requests(only: readonly string[], isQuick: boolean): Promise<Section> {
  const mode = MODES[isQuick ? "quick" : "full"];
  const connections = mode.rounds.map(([count]) => count);
  const columns = [...connections.map(String), "of rounds", "CPU"];
  const table = new Table(["× bare", ...columns, "a second", "p99, ms", "failed"]);
  const missed: string[] = [];
  for (const runtime of chosen(only)) {
    const samples = await measureRuntime(runtime, mode);
    for (const server of [runtime.nodeface, ...runtime.counting, runtime.bare, ...runtime.peers]) {
      for (const each of CASES.filter((each) => isAsked(runtime, server, each))) {
        const name = `${server.name}, ${each.name}`;
        const values = (server: Server, connections: number, what: keyof Measured | "cpu") =>
          samples.filter((sample) =>
            sample.server === server && sample.case === each && sample.connections === connections
          ).map((sample) => sample[what]);
        const ratios = (connections: number, what: "rate" | "cpu") =>
          ratiosOf(values(server, connections, what), values(runtime.bare, connections, what));
        const rates = connections.map((count) => median(ratios(count, "rate")));
        const beside = [...rates, rangeOf(ratios(32, "rate")), median(ratios(32, "cpu"))];
        const failed = connections.flatMap((count) => values(server, count, "failed"));
        table.add(
          name,
          ...(server === runtime.bare ? columns.map(() => NaN) : beside),
          ...[median(values(server, 32, "rate")), median(values(server, 32, "p99"))],
          `${failed.reduce((sum, count) => sum + count, 0)}`,
        );
        const short = connections.filter((_, i) => rates[i]! < TARGET);
        const isOurs = server === runtime.nodeface || runtime.counting.includes(server);
        if (isOurs && short.length > 0) {
          missed.push(`${name}, at ${short.join(", ")}`);
        }
      }
    }
  }
  return { title: "Requests a second", text: describe(missed), table };
}

const isAsked = ({ peers }: Runtime, server: Server, { isKnown }: Case) =>
  !isKnown || !peers.includes(server);

async function measureRuntime(
  runtime: Runtime,
  { starts, rounds }: Mode,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let at = 0; at < starts; at++) {
    step(`${runtime.nodeface.name}: starting`);
    const entrants = await startAll(runtime);
    for (const each of CASES) {
      const asked = [...entrants].filter(([server]) => isAsked(runtime, server, each));
      for (const [server, running] of asked) {
        step(`${server.name}, ${each.name}: warming up`);
        await measure(running, each, 32);
      }
      for (const [count, times] of rounds) {
        for (let round = 0; round < times; round++) {
          for (const [server, running] of round % 2 ? asked.toReversed() : asked) {
            step(`${server.name}, ${each.name}: ${count} connections`);
            const measured = await measure(running, each, count);
            samples.push({ server, case: each, connections: count, ...measured });
          }
        }
      }
    }
    for (const running of entrants.values()) await running.stop();
  }
  return samples;
}

async function startAll(runtime: Runtime): Promise<Map<Server, Running>> {
  const nodeface = await startNodeface(runtime);
  const running = new Map([[runtime.nodeface, nodeface]]);
  for (const server of runtime.counting) {
    running.set(server, await start((port) => server.command(port, "")));
  }
  running.set(runtime.bare, await startBare(runtime, nodeface));
  for (const peer of runtime.peers) {
    running.set(peer, await start((port) => peer.command(port, answersOf(runtime))));
  }
  return running;
}

async function measure(
  { port, pid }: Running,
  { isKnown }: Case,
  connections: number,
): Promise<Measured & { cpu: number }> {
  const etag = header(await ask(port, PATH), "etag");
  const headers: Record<string, string> = isKnown ? { "If-None-Match": etag } : {};
  const before = processorTime(pid);
  const measured = await load(`http://127.0.0.1:${port}${PATH}`, headers, connections, 1);
  return { ...measured, cpu: (processorTime(pid) - before) / measured.requests };
}

function describe(missed: readonly string[]): string {
  const short = missed.length === 0 ? "none" : missed.join("; ");
  return `The rate beside that of the bare server at 1, 32 and 256 connections, where more is better,
and the processor time of a request, where less is: the medians of 16 rounds at 32 connections, and of
four at the others; then, at 32 connections, requests a second and
the time in which 99 of 100 answers were there. Asked is \`/v1/info\`, without its validator (200)
and with it (304). _With metrics_ counts each answer for \`/v1/metrics\`. Hono and Fastify send the same
info with the header fields that they send by themselves.

Nodeface below 95 % of the bare rate: ${short}.`;
}
