/**
 * Asks sources, all side by side; each fails alone.
 *
 * @module
 */
import type { JsonRpcSource, Reference, Source } from "../kinds/kind.ts";
import type { Auth } from "./sources/credentials.ts";
import { parseJson } from "../json/lossless.ts";
import { linkOf, type PlannedSource } from "./query-plan.ts";
import { resolvePointer } from "../json/pointer.ts";
import { parseReference } from "./source-reference.ts";
import { milliseconds } from "./settings.ts";
import { runCommand } from "./sources/command.ts";
import { readTextFile } from "./sources/file.ts";
import { askJson } from "./sources/get-and-post.ts";
import { createEndpoint, type Endpoint } from "./sources/json-rpc.ts";
import { SourceError } from "./sources/source-error.ts";
import type { Taken } from "./map-fields.ts";

/** What a source gave, or why it gave nothing, and how long that took in milliseconds. */
export type Outcome =
  & { took: number }
  /** An optional source that is refused gives nothing, which is as good as an answer. */
  & ({ taken: Taken; absent?: SourceError } | { error: SourceError });

/** What sources are asked with. */
export interface AskContext {
  /** The node's URL, for the sources that need one. */
  url: string | undefined;
  auth: Auth | undefined;
  fetch: typeof fetch;
  /** The time for an answer of a source that names none, in milliseconds. */
  timeout: number;
}

/** Sources and their outcomes by name. */
export type Ask = (
  sources: ReadonlyMap<string, PlannedSource>,
) => Promise<ReadonlyMap<string, Outcome>>;

/** Whether a source is the node itself, whose silence means that the node is down. */
export function isOfNode(source: Source): boolean {
  return "jsonrpc" in source || "get" in source || "post" in source;
}

/** Makes what asks; it remembers of each endpoint whether it takes batches. */
export function createAsk(context: AskContext): Ask {
  const endpoints = new Map<string, Endpoint>();
  const timeoutOf = ({ timeout }: Source) => timeout ? milliseconds(timeout) : context.timeout;

  const urlOf = (path: string | undefined) => {
    if (path && /^https?:/.test(path)) return path;
    if (!context.url) throw new SourceError("needs node.url");
    return path ? context.url.replace(/\/$/, "") + path : context.url;
  };

  const httpContext = () => {
    const { fetch, auth } = context;
    if (!auth) throw new SourceError("needs node.url");
    return { fetch, auth };
  };

  /** All calls of one endpoint together. */
  const call = async (sources: readonly JsonRpcSource[]) => {
    const url = urlOf(sources[0]?.path);
    let endpoint = endpoints.get(url);
    if (!endpoint) endpoints.set(url, endpoint = createEndpoint(url));
    return await endpoint(sources, Math.max(...sources.map(timeoutOf)), httpContext());
  };

  return async (sources) => {
    const started = performance.now();
    const answers = new Map<string, Promise<unknown>>();
    const batches = new Map<string, [name: string, source: JsonRpcSource][]>();
    for (const [name, { source }] of sources) {
      if (!("jsonrpc" in source)) continue;
      const { path = "" } = source;
      batches.set(path, [...batches.get(path) ?? [], [name, source]]);
    }
    for (const batch of batches.values()) {
      const outcomes = call(batch.map(([, source]) => source));
      for (const [index, [name]] of batch.entries()) {
        answers.set(name, outcomes.then((all) => valueOf(all[index]!)));
      }
    }
    const askOne = async (source: Source): Promise<unknown> => {
      if ("file" in source) return readValue(await readTextFile(source.file, timeoutOf(source)));
      if ("command" in source) {
        return readValue(await runCommand(source.command, timeoutOf(source)));
      }
      if ("jsonrpc" in source) throw new TypeError("calls are made in batches");
      const link = linkOf(source);
      const path = link ? await follow(link) : "get" in source ? source.get : source.post;
      return await askJson(source, urlOf(path), timeoutOf(source), httpContext());
    };
    const follow = async (link: Reference) => {
      const [name, pointer] = parseReference(link);
      const target = resolvePointer(await answers.get(name), pointer);
      if (typeof target !== "string") throw new SourceError(`finds no link at ${link}`);
      // A node behind a proxy names itself by another host: only the path is taken.
      const { pathname, search } = new URL(target, urlOf(undefined));
      return pathname + search;
    };
    const rest = [...sources].filter(([name]) => !answers.has(name));
    // A source that follows a link comes after the one with the link.
    rest.sort(([, a], [, b]) => Number(!!linkOf(a.source)) - Number(!!linkOf(b.source)));
    for (const [name, { source }] of rest) answers.set(name, askOne(source));
    const outcomes = [...sources].map(async ([name, planned]): Promise<[string, Outcome]> => {
      const outcome = await take(answers.get(name)!, planned);
      return [name, { ...outcome, took: performance.now() - started }];
    });
    return new Map(await Promise.all(outcomes));
  };
}

const valueOf = (outcome: { value: unknown } | { error: SourceError }) => {
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
};

/** Keeps of an answer what the fields name, and lets go of the rest. */
async function take(answer: Promise<unknown>, { source, pointers }: PlannedSource) {
  try {
    const value = await answer;
    return { taken: new Map(pointers.map((p) => [p, resolvePointer(value, p)])) };
  } catch (cause) {
    // A runtime that does not allow something throws an error of its own.
    const error = cause instanceof SourceError
      ? cause
      : new SourceError(`cannot be asked here (${(cause as Error).name})`);
    return source.optional && error.isRefusal ? { taken: new Map(), absent: error } : { error };
  }
}

/** JSON where it is an object or an array, otherwise the text: `1.10` is no number there. */
function readValue(text: string): unknown {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return trimmed;
  try {
    return parseJson(trimmed);
  } catch {
    return trimmed;
  }
}
