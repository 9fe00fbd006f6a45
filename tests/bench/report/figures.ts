/** The figures that the samples of part 1 come to. */
import type { RequestsResult } from "../parts/requests.ts";
import { serverOf } from "../servers/servers.ts";
import { median, ratio } from "./statistics.ts";

/** A server's figures for one request at a number of connections. */
export interface Figures {
  /** Requests a second. */
  rate: number;
  /** Milliseconds. */
  p99: number;
  /** Processor time of one request, in microseconds; `NaN` where the machine does not tell. */
  cpu: number;
  failed: number;
  /** To the server that it is held against; a bare one has none. */
  ratios?: { rate: number; p99: number; cpu: number };
}

/** The figures of a server; `undefined` where it was not measured so. */
export function figuresOf(
  { samples }: Pick<RequestsResult, "samples">,
  server: string,
  id: string,
  connections: number,
  to: string = serverOf(server).beside,
): Figures | undefined {
  const of = (name: string) =>
    samples.filter((sample) =>
      sample.server === name && sample.case === id && sample.connections === connections
    ).sort((a, b) => a.round - b.round);
  const own = of(server);
  if (own.length === 0) return undefined;
  const other = serverOf(server).role === "bare" ? [] : of(to);
  const values = (samples: typeof own, key: "rate" | "p99" | "cpu") =>
    samples.map((sample) => sample[key] ?? NaN);
  const both = (key: "rate" | "p99" | "cpu") => ratio(values(own, key), values(other, key));
  return {
    rate: median(values(own, "rate")),
    p99: median(values(own, "p99")),
    cpu: median(values(own, "cpu")),
    failed: own.reduce((sum, { failed }) => sum + failed, 0),
    ...(other.length && { ratios: { rate: both("rate"), p99: both("p99"), cpu: both("cpu") } }),
  };
}
