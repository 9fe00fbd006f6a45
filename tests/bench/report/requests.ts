/** What part 1 says, in ratios first. */
import type { RequestsResult } from "../parts/requests.ts";
import { CASES } from "../servers/answers.ts";
import { serverOf } from "../servers/servers.ts";
import { table } from "./markdown.ts";
import { median, ratio } from "./statistics.ts";

/** A server's figures for one request at a number of connections. */
export interface Figures {
  server: string;
  case: string;
  connections: number;
  rate: number;
  p99: number;
  /** To the server it is beside; nothing for that one itself. */
  rateRatio?: number;
  p99Ratio?: number;
  failed: number;
}

/** The figures of a server; `undefined` where it was not measured so. */
export function figuresOf(
  { samples }: Pick<RequestsResult, "samples">,
  server: string,
  id: string,
  connections: number,
): Figures | undefined {
  const of = (name: string) =>
    samples.filter((sample) =>
      sample.server === name && sample.case === id &&
      sample.connections === connections
    ).sort((a, b) => a.round - b.round);
  const own = of(server);
  if (own.length === 0) return undefined;
  const figures: Figures = {
    server,
    case: id,
    connections,
    rate: median(own.map(({ rate }) => rate)),
    p99: median(own.map(({ p99 }) => p99)),
    failed: own.reduce((sum, { failed }) => sum + failed, 0),
  };
  const { role, beside } = serverOf(server);
  const other = role === "bare" ? [] : of(role === "other" ? `bare-${beside}` : beside);
  if (other.length === 0) return figures;
  return {
    ...figures,
    rateRatio: ratio(
      own.map(({ rate }) => rate),
      other.map(({ rate }) => rate),
    ),
    p99Ratio: ratio(own.map(({ p99 }) => p99), other.map(({ p99 }) => p99)),
  };
}

/** A table for the terminal: a line for each server, request and number of connections. */
export function requestsTable(result: RequestsResult): string {
  const rows = CASES.flatMap(({ id, name }) =>
    result.connections.flatMap((connections) =>
      Object.keys(result.offers).flatMap((server) => {
        const figures = figuresOf(result, server, id, connections);
        if (!figures) return [];
        const { rate, p99, rateRatio, p99Ratio, failed } = figures;
        const ratios = [
          rateRatio?.toFixed(2) ?? "",
          p99Ratio?.toFixed(2) ?? "",
        ];
        const row = [
          name,
          connections,
          serverOf(server).name,
          ...ratios,
          Math.round(rate),
        ];
        return [[...row, p99.toFixed(2), failed]];
      })
    )
  );
  const head = [
    "request",
    "connections",
    "server",
    "of bare",
    "p99 of bare",
    "a second",
    "p99, ms",
  ];
  return table([...head, "failed"], rows);
}
