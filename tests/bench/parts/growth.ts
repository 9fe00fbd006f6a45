/** Part 4: what more operations and more clients cost. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "../../_paths.ts";
import { type Started, startServer } from "../cli/processes.ts";
import type { Progress } from "../cli/progress.ts";
import { exchange, header } from "../load/exchange.ts";
import { findGenerator, type Generate, loadOn } from "../load/load.ts";
import { median } from "../report/statistics.ts";
import { CASES } from "../servers/answers.ts";
import { makeDocument } from "../servers/document.ts";
import { FOLDER } from "../servers/field.ts";
import { NEWEST } from "../servers/runtimes.ts";
import { startSlowNode } from "../servers/slow-node.ts";
import type { Part } from "./part.ts";
import { inTurn } from "./requests.ts";

/** What a description costs. */
export interface SizeFigures {
  operations: number;
  /** Of the description, in bytes. */
  bytes: number;
  /** Milliseconds until it is shown, one for each time. */
  load: readonly number[];
  /** MiB that stay. */
  kept: number;
  /** The page, with gzip and without, in bytes. */
  pageGzip: number;
  page: number;
  /** By request: a second, and processor time of one in microseconds; round by round. */
  rates: Readonly<Record<string, readonly number[]>>;
  cpu: Readonly<Record<string, readonly number[]>>;
}

/** What a number of clients does to a slow node. */
export interface ClientFigures {
  clients: number;
  /** Requests a second, all clients together. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  failed: number;
  /** What the node was asked in a second. */
  calls: number;
}

export interface GrowthResult {
  sizes: readonly SizeFigures[];
  /** How long the slow node takes, in milliseconds. */
  delay: number;
  clients: readonly ClientFigures[];
}

/** A description is loaded several times, each time in a process of its own. */
const MODES = {
  full: {
    sizes: [10, 100, 1000, 10_000],
    rounds: 9,
    loads: 3,
    clients: [1, 10, 100, 1000],
    seconds: 5,
  },
  quick: { sizes: [10, 1000], rounds: 2, loads: 1, clients: [1, 100], seconds: 3 },
};
const DELAY = 300;

/** The requests that are to cost the same whatever the description. */
const ASKED = CASES.filter(({ isTarget }) => isTarget);

/** About what it takes to load a description, for the plan. */
const loading = (operations: number) => 2 + operations / 1500;

export const growth: Part<GrowthResult> = {
  plan({ quick, rounds }) {
    const mode = quick ? MODES.quick : MODES.full;
    const runs = ASKED.length * mode.sizes.length * ((rounds ?? mode.rounds) + 1);
    const loads = mode.sizes.reduce((sum, size) => sum + mode.loads * loading(size), 0);
    return {
      steps: runs + mode.loads * mode.sizes.length + mode.clients.length,
      seconds: 1.1 * runs + loads + mode.clients.length * (mode.seconds + 2),
    };
  },

  async measure({ quick, rounds }, progress) {
    const { generate } = findGenerator();
    const mode = quick ? MODES.quick : MODES.full;
    const sizes = await measureSizes(
      { ...mode, rounds: rounds ?? mode.rounds },
      generate,
      progress,
    );
    const clients = await measureClients(mode.clients, mode.seconds, generate, progress);
    return { sizes, delay: DELAY, clients };
  },
};

async function measureSizes(
  { sizes, rounds, loads: times }: { sizes: readonly number[]; rounds: number; loads: number },
  generate: Generate,
  progress: Progress,
): Promise<SizeFigures[]> {
  const subjects: (Loaded & { figures: Figures })[] = [];
  for (const operations of sizes) {
    const file = join(FOLDER, `${operations}.json`);
    const text = JSON.stringify(makeDocument(operations));
    writeFileSync(file, text);
    const loads: Loaded[] = [];
    for (let i = 0; i < times; i++) {
      progress.step(`loading ${operations} operations`, loading(operations));
      loads.push(await load(file));
      if (i > 0) await loads[i - 1]!.started.stop();
    }
    const { started } = loads.at(-1)!;
    const page = { path: "/v1/spec", headers: {} };
    const gzip = { path: "/v1/spec", headers: { "Accept-Encoding": "gzip" } };
    const figures: Figures = {
      operations,
      bytes: text.length,
      load: loads.map(({ load }) => load),
      kept: median(loads.map(({ kept }) => kept)),
      page: (await exchange(started.ports[0]!, page)).body.length,
      pageGzip: (await exchange(started.ports[0]!, gzip)).body.length,
      rates: {},
      cpu: {},
    };
    subjects.push({ ...loads.at(-1)!, figures });
  }
  for (const { id, name, path, headers, isKnown } of ASKED) {
    const loads = await Promise.all(subjects.map(async ({ started }) => {
      const [port] = started.ports;
      const etag = header(await exchange(port!, { path, headers }), "etag")!;
      return {
        url: `http://127.0.0.1:${port}${path}`,
        headers: isKnown ? { ...headers, "If-None-Match": etag } : headers,
        connections: 32,
        seconds: 1,
      };
    }));
    // The first round warms up.
    for (let round = -1; round < rounds; round++) {
      for (const [index, { started, figures }] of inTurn([...subjects.entries()], round)) {
        progress.step(`${name} with ${figures.operations} operations`, 1.1);
        const { rate, requests, cpu = NaN } = await loadOn(started.pid, generate, loads[index]!);
        if (round < 0) continue;
        (figures.rates[id] ??= []).push(rate);
        (figures.cpu[id] ??= []).push(cpu / requests);
      }
    }
  }
  for (const { started } of subjects) await started.stop();
  return subjects.map(({ figures }) => figures);
}

/** Figures that are still being gathered. */
type Figures = Omit<SizeFigures, "rates" | "cpu"> & {
  rates: Record<string, number[]>;
  cpu: Record<string, number[]>;
};

/** A service that shows a description. */
interface Loaded {
  started: Started;
  load: number;
  kept: number;
}

async function load(file: string): Promise<Loaded> {
  const service = `${ROOT}tests/bench/servers/growth.mjs`;
  const started = await startServer(
    ([port]) => [NEWEST.program, "--expose-gc", service, file, String(port)],
    "/v1/health",
  );
  const { load, kept } = JSON.parse(started.printed());
  return { started, load, kept };
}

async function measureClients(
  counts: readonly number[],
  seconds: number,
  generate: Generate,
  progress: Progress,
): Promise<ClientFigures[]> {
  const node = await startSlowNode(DELAY);
  const config = join(FOLDER, "slow.json");
  writeFileSync(
    config,
    JSON.stringify({
      node: { url: node.url, kind: "none" },
      info: {
        sources: { status: { get: "/status" } },
        fields: { version: { from: "status#/version" }, height: { from: "status#/height" } },
      },
    }),
  );
  const figures: ClientFigures[] = [];
  for (const clients of counts) {
    progress.step(`${clients} clients and a slow node`, seconds + 2);
    const { ports, stop } = await startServer(
      ([port]) => [NEWEST.program, "dist/main.js", "--config", config, "--port", String(port)],
      "/v1/info",
    );
    await wait(1000);
    node.calls();
    const since = performance.now();
    const load = { url: `http://127.0.0.1:${ports[0]}/v1/info`, headers: {} };
    const { rate, p50, p99, failed } = await generate({ ...load, connections: clients, seconds });
    const calls = node.calls() / ((performance.now() - since) / 1000);
    figures.push({ clients, rate, p50, p99, failed, calls });
    await stop();
  }
  node.close();
  return figures;
}
