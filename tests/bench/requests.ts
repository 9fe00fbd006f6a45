/**
 * Compares Nodeface's processor time per request with that of a bare server on the same runtime.
 */
import { answersOf, startBare, startNodeface } from "./answers.ts";
import { type Options, type Section, step, Table } from "./output.ts";
import { memory, type Running, start } from "./processes.ts";
import { chosen, type Runtime, type Server } from "./servers.ts";
import { median, ratio, spread } from "./statistics.ts";
import { type Measured, measureInTurn, modeOf } from "./wrk.ts";

const PATH = "/v1/info";

export async function requests({ only, isQuick, beside }: Options): Promise<Section> {
  const head = ["a request", "µs", "× bare", "requests/s", "first, ms", "MB", "failed"];
  const table = new Table(head);
  for (const runtime of chosen(only)) {
    step(`${runtime.name}: starting`);
    const running = await startAll(runtime, beside);
    step(`${runtime.name}: measuring`);
    const seen = await measureInTurn(running, () => ({ path: PATH }), modeOf(isQuick));
    const cpuOf = (server: Server) => seen.get(server)!.map(({ cpu }) => cpu);
    step(`${runtime.name}: starts`);
    const starts = await measureStarts(runtime, running.keys(), isQuick ? 1 : 5);
    for (const [server, { pid }] of running) {
      const cpu = cpuOf(server);
      table.add(
        server.name,
        spread(cpu),
        server === runtime.bare ? NaN : ratio(cpu, cpuOf(runtime.bare)),
        median(seen.get(server)!.map(({ rate }) => rate)),
        median(starts.get(server)!),
        memory(pid, "VmRSS"),
        failedIn(seen.get(server)!),
      );
    }
    for (const { stop } of running.values()) await stop();
  }
  return { title: "A request", text: TEXT, table };
}

const failedIn = (all: readonly Measured[]) =>
  `${all.reduce((sum, { failed }) => sum + failed, 0)}`;

/**
 * Starts each server in turn, several times. Returns the times until the first response, in
 * milliseconds.
 */
async function measureStarts(
  runtime: Runtime,
  servers: Iterable<Server>,
  rounds: number,
): Promise<Map<Server, number[]>> {
  const starts = new Map([...servers].map((server) => [server, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [server, times] of starts) {
      const { took, stop } = await start((port) => server.command(port, answersOf(runtime)));
      times.push(took);
      await stop();
    }
  }
  return starts;
}

async function startAll(
  runtime: Runtime,
  beside: readonly string[],
): Promise<Map<Server, Running>> {
  const nodeface = await startNodeface(runtime);
  const running = new Map([[runtime.nodeface, nodeface]]);
  for (const folder of beside) {
    const server = runtime.nodefaceIn(folder);
    running.set(server, await start((port) => server.command(port, "")));
  }
  running.set(runtime.bare, await startBare(runtime, nodeface));
  for (const peer of runtime.peers) {
    running.set(peer, await start((port) => peer.command(port, answersOf(runtime))));
  }
  return running;
}

const TEXT =
  `On each runtime, Nodeface is compared with a **bare server**: a short program without any library that sends the same
bytes. The run verifies that both servers send the same status line, header fields and content. From each request, the
bare server reads only what it needs to select a response: the method, the URL, and the fields \`Host\`,
\`Accept-Encoding\` and \`If-None-Match\`. On Node and Deno, it uses \`node:http\`, as Nodeface does; on Bun,
\`Bun.serve\`. The executable is compared with the same program, compiled to an executable. Unlike the bare server,
Nodeface reads \`Origin\`, compares the quality values in \`Accept-Encoding\`, disconnects slow clients, and checks that
the prepared response is current.

All requests are for \`/v1/info\`. "First" is the time from the start of the process to its first response, the median of
five starts. "MB" is the memory of the process at the end. "Hono, same bytes" sends the same header fields and bytes as
Nodeface, without middleware. Fastify sends Nodeface's info object with its own default header fields.`;
