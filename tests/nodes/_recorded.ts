/** Simulates nodes from recordings, which contain the response of a node to each request. */
import { readdirSync, readFileSync } from "node:fs";
import { formatJson, parseJson } from "../../src/json/lossless.ts";

export interface Recording {
  kind: string;
  /** The source of the responses, such as a local daemon or a public document. */
  recorded: string;
  /** The time of the recording. Set only if the info object depends on the current time. */
  now?: string;
  /** The keys are requests such as `GET /path`, or names of JSON-RPC methods. */
  answers: Record<string, unknown>;
  /** JSON-RPC errors, by method name. */
  errors?: Record<string, unknown>;
  /** HTTP statuses by request, such as `GET /path`. The default is 200. */
  statuses?: Record<string, number>;
  /** The expected info object, without the members that describe the service itself. */
  info: Record<string, unknown>;
}

const FOLDER = new URL("recorded/", import.meta.url);

export const RECORDINGS: ReadonlyMap<string, Recording> = new Map(
  readdirSync(FOLDER).sort().map((file) => [
    file.replace(".json", ""),
    parseJson(readFileSync(new URL(file, FOLDER), "utf8")) as Recording,
  ]),
);

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
