/**
 * How a service is made.
 *
 * @module
 */
import { formatFinding } from "./openapi/diagnostics.ts";
import type { DescriptionPlace, DescriptionReport } from "./openapi/watch.ts";
import type { DescribedOperation } from "./openapi/operations-of-host.ts";
import type { Cors } from "./http/cors.ts";
import type { Hosts } from "./http/host-guard.ts";
import type { InfoSettings, NodeSettings } from "./info/settings.ts";
import { parseReference } from "./info/source-reference.ts";
import { referencesOf } from "./info/query-plan.ts";
import type { OwnInfo } from "./info/node-or-host.ts";
import { OPTIONS } from "./options-schema.ts";
import { describeMistake, type Mistake, readValue } from "./settings/check.ts";
import { didYouMean, nearest } from "./settings/nearest.ts";
import { show } from "./settings/show.ts";

/** How a service is made. */
export interface NodefaceOptions {
  /**
   * The host names to answer for besides loopback names and IP literals; `"*"` for any. Others are
   * refused with 421, since a page on another site could make its own name resolve to this service.
   *
   * @default []
   */
  hosts?: Hosts | undefined;
  /**
   * The origins whose pages may read the answers; `"*"` for any, `[]` for none. Credentials are never
   * allowed.
   *
   * @default "*"
   */
  cors?: Cors | undefined;
  /**
   * The path that comes before all others, such as `/node1`, where a server has others besides.
   *
   * @default ""
   */
  prefix?: string | undefined;
  /**
   * The node's own OpenAPI description, to which this service's operations are added: the path or
   * the URL of a file, or its text; `"none"` for this service's operations alone. `node.url` is what
   * its servers are relative to, `node.public_url` takes their place.
   *
   * @default where nodes of its kind describe themselves, taken up by `refresh`
   */
  description?: DescriptionPlace | undefined;
  /**
   * Is told what is wrong with the description, each time that it has been read.
   *
   * @default one line for each finding to console.error
   */
  onDescription?: ((report: DescriptionReport) => void) | undefined;
  /**
   * Further operations, which the description and the explorer show as well.
   *
   * @default []
   */
  operations?: readonly Operation[] | undefined;
  /**
   * Is told of every error that is answered with 500; the client learns nothing of it.
   *
   * @default console.error
   */
  onError?: ((error: unknown) => void) | undefined;
  /** The node to show, as the `node` part of the configuration file. */
  node?: NodeOptions | undefined;
  /**
   * What to show of it, as the `info` part of the configuration file; or a function that tells it
   * whenever the last answer is a second old.
   *
   * @default what its kind says
   */
  info?: InfoSettings | OwnInfo | undefined;
  /**
   * Is told what an operator should know of the node: what is wrong with it, once when it begins and
   * once when it ends.
   *
   * @default console.error
   */
  log?: Log | undefined;
  /** When the service started. @default now */
  startedAt?: Date | undefined;
}

/** Takes a message for the operator; what has no level is a warning. */
export type Log = (message: string, level?: "info" | "warn" | "error") => void;

/** The node, whose URLs may be objects as well. */
export interface NodeOptions extends Omit<NodeSettings, "url" | "public_url"> {
  /** Where it answers, `http:` or `https:`. */
  url?: string | URL | undefined;
  /** Where pages reach it; takes the place of the servers of its description. */
  public_url?: string | URL | undefined;
}

/** An operation of a host's own. */
export interface Operation extends DescribedOperation {
  /**
   * Answers a request to it. HEAD comes here where the method is GET, and has its body left out.
   * An answer that says nothing for more than twelve seconds may be cut by the server.
   *
   * @param request as the server gave it
   * @param params what stands in place of the names in the path, not decoded
   */
  handle(
    request: Request,
    params: Readonly<Record<string, string>>,
  ): Response | Promise<Response>;
}

/** The options with all defaults, right in themselves. Its callbacks never throw. */
export interface ResolvedOptions {
  readonly hosts: Hosts;
  readonly cors: Cors;
  readonly prefix: string;
  readonly description: DescriptionPlace | undefined;
  readonly onDescription: (report: DescriptionReport) => void;
  readonly operations: readonly Operation[];
  readonly onError: (error: unknown) => void;
  readonly node: NodeSettings;
  readonly info: InfoSettings | OwnInfo;
  readonly log: Log;
  readonly startedAt: Date;
}

/** The options as the schema reads them. */
type ReadOptions = Omit<NodefaceOptions, "node"> & { node?: NodeSettings };

/**
 * Checks all options and gives the defaults of those that were left out.
 *
 * @throws {TypeError} with a line for everything that is wrong: where, what is there, what is right
 */
export function resolveOptions(options: NodefaceOptions): ResolvedOptions {
  const { value, mistakes } = readValue(options, OPTIONS);
  const found = [...mistakes];
  if (found.length === 0) found.push(...mistakesBetween(value as ReadOptions));
  if (found.length > 0) {
    const lines = found.map((mistake) => describeMistake(mistake));
    throw new TypeError(lines.length === 1 ? lines[0] : ["wrong options:", ...lines].join("\n  "));
  }
  const { log, onError, onDescription, operations = [], node = {}, info = {}, ...rest } =
    value as ReadOptions;
  return {
    hosts: rest.hosts ?? [],
    cors: rest.cors ?? "*",
    prefix: rest.prefix ?? "",
    description: rest.description,
    operations,
    node,
    info,
    startedAt: rest.startedAt ?? new Date(),
    log: harmless(log ?? ((message) => console.error(message))),
    onError: harmless(onError ?? ((error) => console.error(error))),
    onDescription: harmless(onDescription ?? complain),
  };
}

/** Says what is wrong with a description where nobody else does. */
function complain({ findings }: DescriptionReport): void {
  for (const finding of findings) console.error(formatFinding(finding));
}

/** A callback of a host, which may throw or reject without harm. */
function harmless<Args extends unknown[]>(
  callback: (...args: Args) => unknown,
): (...args: Args) => void {
  return (...args) => {
    try {
      void Promise.resolve(callback(...args)).catch(() => {});
    } catch {
      // There is nobody left to tell.
    }
  };
}

/** What is wrong with options that are right one by one. */
function mistakesBetween({ node, info, operations = [] }: ReadOptions): Mistake[] {
  return [
    ...mistakesInOperations(operations),
    ...typeof info === "object" ? unknownSources(node, info) : [],
  ];
}

/** Fields of a node without a kind that name a source which is not there. */
function unknownSources(node: NodeSettings = {}, info: InfoSettings): Mistake[] {
  // A kind brings sources of its own.
  if (node.kind !== "none" && (node.kind !== undefined || node.url !== undefined)) return [];
  const names = Object.keys(info.sources ?? {});
  return Object.entries(info.fields ?? {}).flatMap(([key, field]) =>
    referencesOf(field).map((reference) => parseReference(reference)[0])
      .filter((name) => !names.includes(name))
      .map((name) => ({
        path: ["info", "fields", key],
        message: `names the source ${show(name)}, which is not there` +
          didYouMean(nearest(name, names)),
        isKey: false,
      }))
  );
}

/** Paths that cannot be served, and operations that OpenAPI takes for the same. */
function* mistakesInOperations(operations: readonly Operation[]): Generator<Mistake> {
  const first = new Map<string, { at: number; path: string }>();
  const taken = new Map<string, number>();
  for (const [at, { method, path }] of operations.entries()) {
    const wrong = mistakeInPath(path);
    if (wrong) yield { path: ["operations", at, "path"], message: wrong, isKey: false };
    if (wrong) continue;
    const template = path.replaceAll(/\{[^}]*\}/g, "{}");
    const earlier = first.get(template);
    const same = taken.get(`${method} ${template}`);
    if (same !== undefined) {
      const message = `is served already: operations[${same}] is ${method} ${earlier!.path}`;
      yield { path: ["operations", at], message: `(${method} ${path}) ${message}`, isKey: false };
    } else if (earlier && earlier.path !== path) {
      const message = `must be ${show(earlier.path)}, as operations[${earlier.at}] has it, not ` +
        `${show(path)}: OpenAPI takes both for the same path`;
      yield { path: ["operations", at, "path"], message, isKey: false };
    }
    if (!earlier) first.set(template, { at, path });
    taken.set(`${method} ${template}`, at);
  }
}

/** Why a path cannot be served; `undefined` where it can. */
function mistakeInPath(path: string): string | undefined {
  const wrong = (right: string) => `must ${right}, not ${show(path)}`;
  if (!path.startsWith("/")) return wrong("begin with a slash");
  if (path !== "/" && path.endsWith("/")) return wrong("have no slash at its end");
  if (/\/\.\.?(\/|$)/.test(path)) return wrong('have no part "." or "..", which URLs leave out');
  if (/[?#]/.test(path)) return wrong('have no "?" and no "#", which end the path of a URL');
  if (/%(?![\dA-Fa-f]{2})/.test(path)) return wrong('have two hexadecimal digits after each "%"');
  if (/[\ud800-\udfff]/u.test(path)) return wrong("be valid Unicode");
  if (/[{}]/.test(path.replaceAll(/\{[^{}/]+\}/g, ""))) {
    return wrong("have a name in each pair of braces");
  }
  const names = path.match(/\{[^}]*\}/g) ?? [];
  if (new Set(names).size < names.length) return wrong("have each name once");
  return undefined;
}
