/**
 * Compares Nodeface's processor time per request with that of a bare server on the same runtime.
 */
import { answersOf, startBare, startNodeface } from "./answers.ts";
import { type Options, type Section, step, Table } from "./output.ts";
import { ask, header, memory, type Running, start } from "./processes.ts";
import { chosen, type Runtime, SAME_BYTES, type Server } from "./servers.ts";
import { median, ratiosOf } from "./statistics.ts";
import { type Measured, measureInTurn, modeOf } from "./wrk.ts";

const PATH = "/v1/info";

export async function requests({ only, isQuick, beside }: Options): Promise<Section> {
  const columns = ["µs, 200", "× bare", "µs, 304", "× bare", "requests/s", "first, ms", "MB"];
  const table = new Table(["a request", ...columns, "failed"]);
  for (const runtime of chosen(only)) {
    step(`${runtime.name}: starting`);
    const running = await startAll(runtime, beside);
    const full = await measureInTurn(running, () => ({ path: PATH }), modeOf(isQuick));
    const notModified = await measureInTurn(running, async (server, { port }) => {
      // Of the servers in `peers`, only `SAME_BYTES` handles `If-None-Match`.
      if (runtime.peers.includes(server) && !server.name.startsWith(SAME_BYTES)) {
        return undefined;
      }
      const etag = header(await ask(port, PATH), "etag");
      return { path: PATH, headers: { "If-None-Match": etag } };
    }, modeOf(isQuick));
    const starts = await measureStarts(runtime, running.keys(), isQuick ? 1 : 9);
    for (const [server, { pid }] of running) {
      const cells = [full, notModified].flatMap((seen) => {
        const cpu = (server: Server) => (seen.get(server) ?? []).map(({ cpu }) => cpu);
        const own = cpu(server);
        return [
          median(own),
          server === runtime.bare ? NaN : median(ratiosOf(own, cpu(runtime.bare))),
        ];
      });
      const all = [full, notModified].flatMap((seen) => seen.get(server) ?? []);
      const rate = median((full.get(server) ?? []).map(({ rate }) => rate));
      const first = Math.min(...starts.get(server)!);
      table.add(server.name, ...cells, rate, first, memory(pid, "VmRSS"), failedIn(all));
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
  `All requests are for \`/v1/info\`, without \`If-None-Match\` (200) and with it (304). The table shows the processor
time per request in microseconds, and its ratio to that of the bare server. Lower times and ratios are better. "First"
is the time from the start of the process to its first response, the shortest of nine starts. "MB" is the memory of the
process at the end. Hono and Fastify send Nodeface's info object with their own default header fields. "Hono, same
bytes" sends the same header fields, bytes and 304 responses as Nodeface, without middleware. The rows of itty-router
(on srvx or Bun) show the cost of routing: itty-router sends Nodeface's prepared response.`;
