/** What is to be reached, and whether it was. */
import { CASES } from "../servers/answers.ts";
import { NEWEST } from "../servers/runtimes.ts";
import { type Server, serverOf } from "../servers/servers.ts";
import type { Results } from "../results.ts";
import { figuresOf } from "./figures.ts";
import { times, whole } from "./format.ts";
import { costRatio } from "./growth.ts";
import { table } from "./markdown.ts";
import { startRatio } from "./start.ts";

/** A target as it was found. */
interface Finding {
  /** The figure that is farthest from it, and what it is of. */
  seen: string;
  isReached: boolean;
}

/** What each runtime's rate is to be, of the bare server's beside it. */
const RATES: Readonly<Record<string, number>> = {
  node20: 0.95,
  node26: 0.95,
  deno: 0.9,
  bun: 0.92,
  exe: 0.92,
};
const P99 = { most: 1.3, connections: 32 };
/** The bare server that is measured again as another. */
const TWIN = "again";
const START = 1.3;
/** MiB. */
const MEMORY = 10;
/** How many requests those are that memory is looked at after. */
const MANY = 1_000_000;
const COST = 1.05;

/** The largest description whose requests are looked at. */
const LARGE = 10_000;

const BOTH = "`/v1/info`, 304";
const TARGETED = CASES.filter(({ isTarget }) => isTarget);
const plain = (name: string) => name.replace("Nodeface, ", "");

/** The table of all targets. */
export function targetsTable(results: Results): string {
  const rows = findings(results).map(([target, finding]) => [
    target,
    finding?.seen ?? "not measured",
    finding === undefined ? "" : finding.isReached ? "reached" : "**not reached**",
  ]);
  return table(["target", "seen, where it is farthest off", ""], rows);
}

/** How far chance goes: what the bare server that is measured twice had beside itself. */
export function chance(results: Results): string[] {
  const range = (key: "rate" | "p99", count: number): string[] => {
    const values = ratiosOf(results, key, ({ id }) => id === TWIN, count).map(({ value }) => value);
    const [least, most] = [Math.min(...values), Math.max(...values)].map(times);
    return values.length ? [`${least} to ${most} of its ${key} at ${count}`] : [];
  };
  const { connections = [] } = results.requests?.result ?? {};
  const rates = connections.flatMap((count) => range("rate", count));
  if (rates.length === 0) return [];
  const ranges = [...rates, ...range("p99", P99.connections)].join(", ");
  return [
    `The bare server on ${NEWEST.name}, measured again as if it were another, had ${ranges} ` +
    "connections: there, what misses a target by no more may do so by chance.",
  ];
}

function findings(results: Results): [target: string, finding: Finding | undefined][] {
  const rates = Object.entries(RATES).map(([id, least]): [string, Finding | undefined] => [
    `${BOTH}, ${nameOf(id)}: rate ≥ ${times(least)} × bare`,
    rateFinding(results, id, least),
  ]);
  return [
    ...rates,
    [`${BOTH}: p99 at ${P99.connections} connections ≤ ${times(P99.most)} × bare`, p99(results)],
    [`${BOTH}, ${NEWEST.name}: rate above every peer's`, peers(results)],
    [`first answer ≤ ${times(START)} × the bare server's`, start(results)],
    [
      `memory after ${whole(MANY)} requests ≤ ${MEMORY} MiB above that after 10,000`,
      memory(results),
    ],
    ["a request costs ≤ 5 % more with 10,000 operations than with 10", growth(results)],
  ];
}

/** Every figure of the requests that have a target, with what it is of. */
function each<T>(
  { requests }: Results,
  pick: (server: Server, id: string, connections: number) => T | undefined,
): (T & { of: string })[] {
  if (!requests) return [];
  const { connections, offers } = requests.result;
  return Object.keys(offers).map(serverOf).flatMap((server) =>
    TARGETED.flatMap(({ id, name }) =>
      connections.flatMap((count) => {
        const found = pick(server, id, count);
        return found ? [{ ...found, of: `${name}, ${plain(server.name)}, ${count}` }] : [];
      })
    )
  );
}

/** The ratios of some servers to what they are beside, at one number of connections or at all. */
function ratiosOf(
  results: Results,
  key: "rate" | "p99",
  isMeant: (server: Server) => boolean,
  at?: number,
): { value: number; of: string }[] {
  return each(results, (server, request, count) => {
    if (!isMeant(server) || (at ?? count) !== count) return undefined;
    const value = figuresOf(results.requests!.result, server.id, request, count)?.ratios?.[key];
    return value === undefined ? undefined : { value };
  });
}

function rateFinding(results: Results, id: string, least: number): Finding | undefined {
  const all = ratiosOf(results, "rate", (server) => server.id === id);
  return farthest(all, (value) => value >= least, "low");
}

function p99(results: Results): Finding | undefined {
  const all = ratiosOf(results, "p99", ({ role }) => role === "nodeface", P99.connections);
  return farthest(all, (value) => value <= P99.most, "high");
}

function peers(results: Results): Finding | undefined {
  const all = each(results, ({ id, role }, request, count) => {
    if (role !== "peer") return undefined;
    const own = figuresOf(results.requests!.result, NEWEST.id, request, count, id)?.ratios?.rate;
    return own === undefined ? undefined : { value: own };
  });
  return farthest(all, (value) => value > 1, "low");
}

function start({ start }: Results): Finding | undefined {
  if (!start) return undefined;
  const all = namesOf(start.result.servers).flatMap((server) => {
    const value = startRatio(start.result, server.id);
    return value === undefined ? [] : [{ value, of: plain(server.name) }];
  });
  return farthest(all, (value) => value <= START, "high");
}

function memory({ start }: Results): Finding | undefined {
  if (!start || start.result.many < MANY) return undefined;
  const all = namesOf(start.result.servers).map(({ id, name }) => {
    const { few, many } = start.result.servers[id]!;
    return { value: many - few, of: plain(name) };
  });
  return farthest(all, (value) => value <= MEMORY, "high", (value) => `${value.toFixed(1)} MiB`);
}

function growth({ growth }: Results): Finding | undefined {
  const { sizes = [] } = growth?.result ?? {};
  if (!growth || sizes.at(-1)!.operations < LARGE) return undefined;
  const all = sizes.slice(1).flatMap((size) =>
    TARGETED.map(({ id, name }) => ({
      value: costRatio(growth.result, size, id),
      of: `${name}, ${whole(size.operations)} operations`,
    }))
  );
  return farthest(all, (value) => value <= COST, "high");
}

const namesOf = (servers: object): Server[] =>
  Object.keys(servers).map(serverOf).filter(({ role }) => role === "nodeface");

function nameOf(id: string): string {
  try {
    return plain(serverOf(id).name);
  } catch {
    return id;
  }
}

function farthest(
  all: readonly { value: number; of: string }[],
  isReached: (value: number) => boolean,
  end: "low" | "high",
  write: (value: number) => string = times,
): Finding | undefined {
  const sorted = all.toSorted((a, b) => end === "low" ? a.value - b.value : b.value - a.value);
  const [first] = sorted;
  if (!first) return undefined;
  const missed = all.filter(({ value }) => !isReached(value)).length;
  const share = missed && all.length > 1 ? `; ${missed} of ${all.length} not reached` : "";
  return { seen: `${write(first.value)} (${first.of})${share}`, isReached: missed === 0 };
}
