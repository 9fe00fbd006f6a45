/**
 * Tests how soon the service tells that a node is back after ten minutes, with and without requests.
 * Run with `npm run test:slow -- nodes/away`.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import type { Running } from "../_server.ts";
import { type Bench, bench, RUNTIME } from "./_bench.ts";
import { type Daemon, until } from "./_daemon.ts";

const away = suite("a node that is back after ten minutes");

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
const TIME_MS = 600_000;
/** The promise, and what a busy machine adds, in milliseconds. */
const BACK_MAX = 3000 + 500;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Outage {
  begin(): unknown;
  end(): unknown;
  readonly url: string;
}

async function startAnvil(bench: Bench): Promise<{ port: number; anvil: Daemon }> {
  const port = await freePort();
  return { port, anvil: await bench.daemon([ANVIL, "--port", `${port}`, "--silent"], port) };
}

const OUTAGES: Readonly<Record<string, (bench: Bench) => Promise<Outage>>> = {
  async stopped(bench) {
    const { port, anvil } = await startAnvil(bench);
    const start = () => bench.daemon([ANVIL, "--port", `${port}`, "--silent"], port);
    return { url: anvil.url, begin: () => anvil.stop("SIGKILL"), end: start };
  },
  async hanging(bench) {
    const { anvil } = await startAnvil(bench);
    const [begin, end] = [() => anvil.signal("SIGSTOP"), () => anvil.signal("SIGCONT")];
    return { url: anvil.url, begin, end };
  },
};

const health = async ({ url }: Running) => (await fetch(new URL("v1/health", url))).status;

async function timesOf(bench: Bench, node: Outage): Promise<number[]> {
  const args = [node.url, "--kind", "ethereum"];
  const [asked, alone] = [await bench.service(args), await bench.service(args)];
  for (const service of [asked, alone]) await until(async () => await health(service) === 200);
  await node.begin();
  await until(async () => await health(asked) === 503);
  const end = performance.now() + TIME_MS;
  while (performance.now() < end) {
    assert.is(await health(asked), 503);
    await wait(2000);
  }
  // Nobody has asked this service since the outage began.
  assert.match(alone.stderr(), / is (?:stale|unreachable)/);
  await node.end();
  const back = performance.now();
  const took = () => Math.round(performance.now() - back);
  const times = await Promise.all([
    until(async () => await health(asked) === 200).then(took),
    until(() => Promise.resolve(/ is ok again/.test(alone.stderr()))).then(took),
  ]);
  assert.is(await health(alone), 200);
  return times;
}

away(
  "it is ok within three seconds, whether requests come or not",
  bench("away", async (bench) => {
    const all = await Promise.all(
      Object.entries(OUTAGES).map(async ([name, open]) => {
        const times = await timesOf(bench, await open(bench));
        console.log(`${RUNTIME}, ${name}: ok after ${times[0]} ms asked, ${times[1]} ms alone`);
        return times;
      }),
    );
    for (const time of all.flat()) assert.ok(time <= BACK_MAX, `after ${time} ms`);
  }),
);

away.run();
