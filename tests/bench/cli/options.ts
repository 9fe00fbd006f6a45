/** What `npm run bench` was told. */
import { parseArgs } from "node:util";
import { EXPLORERS } from "../explorers/explorers.ts";
import { CASES } from "../servers/answers.ts";
import { SERVERS } from "../servers/servers.ts";

export const PARTS = ["requests", "start", "explorer", "growth"] as const;
export type PartId = (typeof PARTS)[number];

/** How a run is made. */
export interface Options {
  parts: readonly PartId[];
  quick: boolean;
  /** Whether the report alone is made, from what was measured before. */
  report: boolean;
  build: boolean;
  /** Ids of servers, or of explorers; all where there are none. */
  only: readonly string[];
  /** Ids of requests; all where there are none. */
  paths: readonly string[];
  connections: readonly number[] | undefined;
  rounds: number | undefined;
  seconds: number | undefined;
}

const idsOf = (all: readonly { id: string }[]) => all.map(({ id }) => id);
const PATHS = idsOf(CASES);
const NAMES = { servers: idsOf(SERVERS), explorers: idsOf(EXPLORERS) };

export const USAGE = `Usage: npm run bench -- [PART…] [options]

Measures Nodeface on this machine beside bare servers and its peers, and writes BENCHMARKS.md.

  PART               ${PARTS.join(", ")}; all of them where none is named
  --quick            a few minutes: fewer rounds and sizes, figures that only show it works
  --report           measure nothing, write the report again from dist/bench/results.json
  --no-build         take dist/ as it is

A part of a part, printed and not written to the report:

  --only NAME,…      these servers with the bare ones beside them, or these explorers:
                     ${NAMES.servers.filter((id) => !id.startsWith("bare-")).join(", ")};
                     ${NAMES.explorers.join(", ")}
  --paths NAME,…     these requests: ${PATHS.join(", ")}
  --connections N,…  instead of 1,32,256
  --rounds N         how often each is measured; 3 and more are written to the report
  --seconds N        how long each time, a whole number
`;

/**
 * Reads the arguments.
 *
 * @throws {TypeError} where one cannot be understood
 * @returns `undefined` where help is asked for
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: "boolean" },
      quick: { type: "boolean" },
      report: { type: "boolean" },
      "no-build": { type: "boolean" },
      only: { type: "string" },
      paths: { type: "string" },
      connections: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
    },
  });
  if (values.help) return undefined;
  const list = (text: string | undefined, known?: readonly string[]) => {
    const names = text?.split(",").filter(Boolean) ?? [];
    const unknown = known && names.find((name) => !known.includes(name));
    if (unknown) throw new TypeError(`"${unknown}" is none of ${known.join(", ")}`);
    return names;
  };
  const number = (text: string) => {
    if (/^[1-9]\d*$/.test(text)) return Number(text);
    throw new TypeError(`"${text}" is no whole number above 0`);
  };
  const maybe = (text: string | undefined) => text === undefined ? undefined : number(text);
  const isPart = (name: string): name is PartId => (PARTS as readonly string[]).includes(name);
  const unknown = positionals.find((name) => !isPart(name));
  if (unknown) {
    throw new TypeError(`"${unknown}" is no part; there are ${PARTS.join(", ")}`);
  }
  return {
    parts: positionals.length ? PARTS.filter((part) => positionals.includes(part)) : PARTS,
    quick: values.quick ?? false,
    report: values.report ?? false,
    build: !values["no-build"],
    only: list(values.only, [...NAMES.servers, ...NAMES.explorers]),
    paths: list(values.paths, PATHS),
    connections: values.connections ? list(values.connections).map(number) : undefined,
    rounds: maybe(values.rounds),
    seconds: maybe(values.seconds),
  };
}

/** Fewer rounds than this are no report, unless it is said to be a quick one. */
const FEW_ROUNDS = 3;

/** Whether only a part of a part is measured, which is no report. */
export function isPartial({ only, paths, connections, rounds, seconds }: Options): boolean {
  const isChosen = only.length > 0 || paths.length > 0;
  return isChosen || !!(connections ?? seconds) || (rounds ?? FEW_ROUNDS) < FEW_ROUNDS;
}
