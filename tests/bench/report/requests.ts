/** What part 1 says: ratios first. */
import type { RequestsResult } from "../parts/requests.ts";
import { type Case, CASES } from "../servers/answers.ts";
import { type Server, serverOf } from "../servers/servers.ts";
import type { Chart } from "./chart.ts";
import { figuresOf } from "./figures.ts";
import { short, times, whole } from "./format.ts";
import { table } from "./markdown.ts";

/** The number of connections that charts show, where it was measured. */
const SHOWN = 32;

const shown = ({ connections }: RequestsResult): number =>
  connections.includes(SHOWN) ? SHOWN : connections[0]!;

const serversOf = ({ offers }: RequestsResult): Server[] => Object.keys(offers).map(serverOf);

/** For each request a table of ratios: a line for each server that is no bare one. */
export function ratioTable(result: RequestsResult, { id }: Case): string {
  const { connections, offers } = result;
  const rows = serversOf(result).filter(({ role }) => role !== "bare").flatMap((server) => {
    const all = connections.map((count) => figuresOf(result, server.id, id, count));
    if (server.role === "other" && !all.some((figures) => figures)) return [];
    const figures = all.map((each) => each?.ratios);
    const failed = all.reduce((sum, each) => sum + (each?.failed ?? 0), 0);
    const { fields, bytes, note } = offers[server.id]![id]!;
    return [[
      server.name,
      serverOf(server.beside).name,
      ...figures.map((ratios) => times(ratios?.rate)),
      ...figures.map((ratios) => times(ratios?.p99)),
      times(figuresOf(result, server.id, id, shown(result))?.ratios?.cpu),
      fields,
      bytes ? whole(bytes) : "",
      [note, failed && `${whole(failed)} failed`].filter((each) => !!each).join(", "),
    ]];
  });
  const of = (what: string) => connections.map((count) => `${what}, ${count}`);
  const cpu = `CPU, ${shown(result)}`;
  return table(
    ["server", "beside", ...of("rate"), ...of("p99"), cpu, "headers", "bytes", ""],
    rows,
  );
}

/** Every figure as it was on this machine. */
export function absoluteTable(result: RequestsResult): string {
  const rows = CASES.flatMap(({ id, name }) =>
    serversOf(result).flatMap((server) =>
      result.connections.flatMap((count) => {
        const figures = figuresOf(result, server.id, id, count);
        if (!figures) return [];
        const { rate, p99, cpu, ratios, failed } = figures;
        const rest = [whole(rate), short(p99), short(cpu), times(ratios?.cpu), failed];
        return [[name, server.name, count, ...rest]];
      })
    )
  );
  return table(
    ["request", "server", "connections", "a second", "p99, ms", "CPU, µs", "of bare", "failed"],
    rows,
  );
}

/** A table for the terminal. */
export function requestsTable(result: RequestsResult): string {
  const rows = CASES.flatMap(({ id, name }) =>
    result.connections.flatMap((count) =>
      serversOf(result).flatMap((server) => {
        const figures = figuresOf(result, server.id, id, count);
        if (!figures) return [];
        const { rate, p99, cpu, ratios, failed } = figures;
        const all = [times(ratios?.rate), times(ratios?.p99), times(ratios?.cpu)];
        return [[name, count, server.name, ...all, whole(rate), short(p99), short(cpu), failed]];
      })
    )
  );
  const ratios = ["rate/bare", "p99/bare", "CPU/bare"];
  const head = ["request", "connections", "server", ...ratios, "a second", "p99, ms", "CPU, µs"];
  return table([...head, "failed"], rows);
}

/** How each server's rate compares with the bare one beside it. */
export function requestsChart(result: RequestsResult, { id, name }: Case): Chart {
  const count = shown(result);
  const bars = serversOf(result).flatMap((server) => {
    const value = figuresOf(result, server.id, id, count)?.ratios?.rate;
    if (!value || server.role === "other") return [];
    const tone = server.role === "peer" ? "peer" as const : "own" as const;
    return [{ label: server.name, value, text: times(value), tone }];
  });
  const title = `${name.replaceAll("`", "")}: rate beside a bare server, ${count} connections`;
  return { title, bars, mark: { value: 1, text: "bare" } };
}
