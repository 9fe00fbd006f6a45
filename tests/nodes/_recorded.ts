/** Plays a recorded node: its answers, by what was asked. */
import { readdirSync, readFileSync } from "node:fs";
import { formatJson, parseJson } from "../../src/json/lossless.ts";

/** A node that was asked once. */
export interface Recording {
  kind: string;
  /** Where: a daemon that ran here, the public document that quotes it, or what it is constructed from. */
  recorded: string;
  /** When, where the info depends on it. */
  now?: string;
  /** By `GET /path`, `POST /path`, or the name of the method for JSON-RPC. */
  answers: Record<string, unknown>;
  /** Errors of JSON-RPC, by the name of the method. */
  errors?: Record<string, unknown>;
  /** Statuses of HTTP other than 200, by `GET /path`. */
  statuses?: Record<string, number>;
  /** What the info says of it, without the service's own facts. */
  info: Record<string, unknown>;
}

const FOLDER = new URL("recorded/", import.meta.url);

/** Every recording, by the name of its file. */
export const RECORDINGS: ReadonlyMap<string, Recording> = new Map(
  readdirSync(FOLDER).sort().map((file) => [
    file.replace(".json", ""),
    parseJson(readFileSync(new URL(file, FOLDER), "utf8")) as Recording,
  ]),
);

/** A `fetch` that answers as the recorded node did. */
export function play({ answers, errors = {}, statuses = {} }: Recording): typeof fetch {
  return async (input, init) => {
    const { pathname } = new URL(String(input));
    const method = init?.method ?? "GET";
    const body = init?.body ? JSON.parse(String(init.body)) : undefined;
    const name = `${method} ${pathname}`;
    const answer = answers[name];
    if (answer !== undefined) return json(answer, statuses[name]);
    const calls = Array.isArray(body) ? body : [body];
    if (!calls.every((call) => call?.jsonrpc)) return json({ error: "not found" }, 404);
    const results = calls.map(({ id, method }) => {
      if (method in answers) return { jsonrpc: "2.0", id, result: answers[method] };
      const error = errors[method] ?? { code: -32601, message: "Method not found" };
      return { jsonrpc: "2.0", id, error };
    });
    return await Promise.resolve(json(Array.isArray(body) ? results : results[0]));
  };
}

function json(value: unknown, status = 200): Response {
  return new Response(formatJson(value), { status });
}
