/** Part 1: requests a second and the slowest hundredth, servers of one kind in turn. */
import type { Options } from "../cli/options.ts";
import { findGenerator, loadOn } from "../load/load.ts";
import { type Case, CASES } from "../servers/answers.ts";
import {
  chosenServers,
  type Entrant,
  type Field,
  type Offer,
  startField,
} from "../servers/field.ts";
import type { Server } from "../servers/servers.ts";
import type { Part } from "./part.ts";

/** One measurement. */
export interface Sample {
  server: string;
  case: string;
  connections: number;
  round: number;
  /** Requests a second. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Processor time of the server for one request, in microseconds; where the machine tells. */
  cpu?: number | undefined;
  failed: number;
}

export interface RequestsResult {
  generator: string;
  seconds: number;
  connections: readonly number[];
  /** What each server gives to each request, by their ids. */
  offers: Readonly<Record<string, Readonly<Record<string, Offer>>>>;
  samples: readonly Sample[];
}

/**
 * The runs of each mode. All of it is done in several fields of servers started anew, since a process
 * may be slower than another of its kind for as long as it runs; requests without a target are
 * measured in fewer of them. Before it is measured, each server answers each request for as long as
 * `warmUp`, since an engine compiles what it runs in its first seconds. There are more rounds where
 * figures vary more: with one connection, which waits for whatever else the machine does, and where a
 * percentile has a target.
 */
const MODES: Readonly<Record<"full" | "quick", Mode>> = {
  full: {
    fields: { target: 4, other: 2 },
    rounds: { 1: 2, 32: 2, 256: 1 },
    seconds: 1,
    warmUp: { target: 4, other: 2 },
  },
  quick: {
    fields: { target: 1, other: 1 },
    rounds: { 32: 2 },
    seconds: 1,
    warmUp: { target: 1, other: 0 },
  },
};

interface Mode {
  fields: Readonly<Record<"target" | "other", number>>;
  /** By the number of connections. */
  rounds: Readonly<Record<number, number>>;
  seconds: number;
  warmUp: Readonly<Record<"target" | "other", number>>;
}

/** What is there for information only is not measured with every request. */
const isMeasured = ({ role }: Server, { isTarget }: Case) => role !== "other" || isTarget;

function modeOf({ quick, connections, rounds, seconds, paths }: Options) {
  const mode = MODES[quick ? "quick" : "full"];
  const cases = CASES.filter(({ id }) => paths.length === 0 || paths.includes(id));
  const by = <T>(values: Readonly<Record<"target" | "other", T>>) => ({ isTarget }: Case) =>
    values[isTarget ? "target" : "other"];
  const fieldsOf = by(mode.fields);
  const counts = connections ?? Object.keys(mode.rounds).map(Number);
  return {
    connections: counts,
    rounds: counts.map((count) => [count, rounds ?? mode.rounds[count] ?? 2] as const),
    seconds: seconds ?? mode.seconds,
    warmUpOf: by(mode.warmUp),
    cases,
    fieldsOf,
    fields: Math.max(0, ...cases.map(fieldsOf)),
  };
}

export const requests: Part<RequestsResult> = {
  plan(options) {
    const { fields, fieldsOf, rounds, seconds, warmUpOf, cases } = modeOf(options);
    const runs = rounds.reduce((sum, [, times]) => sum + times, 0);
    const chosen = chosenServers(options.only);
    let steps = 0, time = fields * chosen.length;
    for (const each of cases) {
      const servers = chosen.filter((server) => isMeasured(server, each)).length;
      const times = fieldsOf(each) * servers;
      const warmUp = warmUpOf(each);
      steps += times * (runs + (warmUp && 1));
      time += times * (runs * (seconds + 0.1) + (warmUp && warmUp + 0.1));
    }
    return { steps, seconds: time };
  },

  async measure(options, progress) {
    const { fields, fieldsOf, connections, rounds, seconds, warmUpOf, cases } = modeOf(options);
    const { name, generate } = findGenerator();
    const samples: Sample[] = [];
    let offers: RequestsResult["offers"] = {};
    for (let at = 0; at < fields; at++) {
      const field = await startField(options.only, cases, progress);
      if (at === 0) {
        progress.say(
          "Every bare server sends, but for the date, what the Nodeface beside it sends",
        );
      }
      await measureField(field, at);
      offers = offersOf(field);
      await field.stop();
    }
    return { generator: name, seconds, connections, offers, samples };

    async function measureField(field: Field, at: number) {
      for (const each of cases.filter((each) => at < fieldsOf(each))) {
        const entered = field.entrants.filter(({ server, offers }) =>
          offers[each.id]?.load && isMeasured(server, each)
        );
        for (const group of together(entered)) await measureGroup(group, each, at);
      }
    }

    async function measureGroup(group: readonly Entrant[], each: Case, at: number) {
      const warmUp = warmUpOf(each);
      for (const { server, offers } of warmUp ? inTurn(group, at) : []) {
        progress.step(`warming up ${server.name}, ${each.name}`, warmUp + 0.1);
        await generate({ ...offers[each.id]!.load!, connections: 32, seconds: warmUp });
      }
      for (const [count, round] of rounds.flatMap(([count, times]) => turns(at, times, count))) {
        for (const { server, started, offers } of inTurn(group, round)) {
          progress.step(`${each.name}, ${count} connections: ${server.name}`, seconds + 0.1);
          const load = { ...offers[each.id]!.load!, connections: count, seconds };
          const { requests, cpu, ...measured } = await loadOn(started.pid, generate, load);
          const perRequest = cpu === undefined ? undefined : cpu / requests;
          const of = { server: server.id, case: each.id, connections: count, round };
          samples.push({ ...of, ...measured, cpu: perRequest });
        }
      }
    }
  },
};

/**
 * Those that are held against one bare server, with that: none has to rest for longer than they take,
 * in which engines forget some of what they have compiled.
 */
function together(entrants: readonly Entrant[]): readonly (readonly Entrant[])[] {
  const groups = new Map<string, Entrant[]>();
  for (const entrant of entrants) {
    const { id, role, beside } = entrant.server;
    const bare = role === "bare" ? id : beside;
    groups.set(bare, [...groups.get(bare) ?? [], entrant]);
  }
  return [...groups.values()];
}

/** The rounds of a field at some number of connections. */
const turns = (field: number, times: number, count: number) =>
  Array.from({ length: times }, (_, own) => [count, field * times + own] as const);

/** Every second round in reverse, so that neither of a pair always comes first. */
export function inTurn<T>(entrants: readonly T[], round: number): readonly T[] {
  return round % 2 ? entrants.toReversed() : entrants;
}

function offersOf({ entrants }: Field): RequestsResult["offers"] {
  const offers: Record<string, Record<string, Offer>> = {};
  for (const { server, offers: all } of entrants) {
    const own: Record<string, Offer> = offers[server.id] = {};
    for (const [id, { load: _, ...offer }] of Object.entries(all)) own[id] = offer;
  }
  return offers;
}
