/** Part 1: requests a second and the slowest hundredth, all servers in turn. */
import { type Options } from "../cli/options.ts";
import { findGenerator } from "../load/load.ts";
import { CASES } from "../servers/answers.ts";
import { chosenServers, type Field, type Offer, startField } from "../servers/field.ts";
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

/** The runs of each mode; requests that have a target are measured more often. */
const MODES = {
  full: {
    connections: [1, 32, 256],
    rounds: { target: 5, other: 3 },
    seconds: 1,
  },
  quick: { connections: [32], rounds: { target: 3, other: 1 }, seconds: 1 },
};

/** Before it is measured, each server answers each request for this long, in seconds. */
const WARM_UP = 1;

function modeOf({ quick, connections, rounds, seconds, paths }: Options) {
  const mode = quick ? MODES.quick : MODES.full;
  return {
    connections: connections ?? mode.connections,
    rounds: rounds ? { target: rounds, other: rounds } : mode.rounds,
    seconds: seconds ?? mode.seconds,
    cases: CASES.filter(({ id }) => paths.length === 0 || paths.includes(id)),
  };
}

export const requests: Part<RequestsResult> = {
  plan(options) {
    const { connections, rounds, seconds, cases } = modeOf(options);
    const servers = chosenServers(options.only).length;
    let steps = 0, time = servers;
    for (const { isTarget } of cases) {
      const runs = (isTarget ? rounds.target : rounds.other) *
        connections.length;
      steps += servers * (runs + 1);
      time += servers * (runs * (seconds + 0.1) + WARM_UP + 0.1);
    }
    return { steps, seconds: time };
  },

  async measure(options, progress) {
    const { connections, rounds, seconds, cases } = modeOf(options);
    const { name, generate } = findGenerator();
    const field = await startField(options.only, cases, progress);
    const samples: Sample[] = [];
    for (const each of cases) {
      const entered = field.entrants.filter(({ offers }) => offers[each.id]?.load);
      for (const { server, offers } of entered) {
        progress.step(`warming up ${server.name}, ${each.name}`, WARM_UP + 0.1);
        await generate({
          ...offers[each.id]!.load!,
          connections: 32,
          seconds: WARM_UP,
        });
      }
      for (const count of connections) {
        const times = each.isTarget ? rounds.target : rounds.other;
        for (let round = 0; round < times; round++) {
          for (const { server, offers } of inTurn(entered, round)) {
            progress.step(
              `${each.name}, ${count} connections: ${server.name}`,
              seconds + 0.1,
            );
            const load = {
              ...offers[each.id]!.load!,
              connections: count,
              seconds,
            };
            const { rate, p50, p99, failed } = await generate(load);
            const [id, connections] = [server.id, count];
            samples.push({
              server: id,
              case: each.id,
              connections,
              round,
              rate,
              p50,
              p99,
              failed,
            });
          }
        }
      }
    }
    await field.stop();
    return {
      generator: name,
      seconds,
      connections,
      offers: offersOf(field),
      samples,
    };
  },
};

/** Every second round in reverse, so that neither of a pair always comes first. */
function inTurn<T>(entrants: readonly T[], round: number): readonly T[] {
  return round % 2 ? entrants.toReversed() : entrants;
}

function offersOf({ entrants }: Field): RequestsResult["offers"] {
  return Object.fromEntries(entrants.map(({ server, offers }) => [
    server.id,
    Object.fromEntries(
      Object.entries(offers).map(([id, { status, bytes, coding, note }]) => [
        id,
        { status, bytes, coding, note },
      ]),
    ),
  ]));
}
