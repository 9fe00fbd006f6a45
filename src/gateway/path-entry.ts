/**
 * Operations that are called by their paths, with the forms in which a node may read these.
 *
 * @module
 */
import { decodePercent } from "../decode.ts";
import { foldLetters, PathTemplate } from "../http/path-template.ts";
import type { MultiSegment } from "../kinds/interface.ts";
import type { PolicyEntry } from "./policy.ts";

/** An operation, and the paths at which it is called. */
export interface PathEntry {
  readonly entry: PolicyEntry;
  readonly method: string;
  readonly rank: string;
  readonly template: PathTemplate;
  /** The template as the most lenient server would read it. */
  readonly folded: PathTemplate;
  /** What stands between the parameters, decoded. */
  readonly literals: readonly string[];
  readonly multiSegment: ReadonlyMap<string, MultiSegment | undefined>;
}

function multiSegmentsIn(
  { operation: { parameters = [] } }: PolicyEntry,
): Map<string, MultiSegment | undefined> {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  return new Map(inPath.map(({ name, multiSegment }) => [name, multiSegment]));
}

/** Reads a path as it is, and as the most lenient server would. */
function templatesOf(
  path: string,
  multiSegment: PathEntry["multiSegment"],
): Pick<PathEntry, "template" | "folded"> {
  const spans = (name: string) => multiSegment.get(name) === true;
  const readFolded = (literal: string) => foldLetters(decodePercent(literal));
  return {
    template: new PathTemplate(path, spans),
    folded: new PathTemplate(path.replace(/\/$/, ""), spans, readFolded),
  };
}

export function pathEntryOf(entry: PolicyEntry): PathEntry {
  const { method, path } = entry.operation;
  const multiSegment = multiSegmentsIn(entry);
  const { template, folded } = templatesOf(path, multiSegment);
  const literals = path.split(/\{[^{}]*\}/).map(decodePercent);
  return { entry, method, rank: template.rank, template, folded, literals, multiSegment };
}

/** An operation whose path has a query. */
export interface QueryEntry extends Pick<PathEntry, "entry" | "template" | "folded"> {
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** The templates are those of what is before the query. */
export function queryEntryOf({ entry, multiSegment }: PathEntry): QueryEntry | undefined {
  const [, before, query] = /^([^?#]*)\?([^#]+)/.exec(entry.operation.path) ?? [];
  if (before === undefined) return undefined;
  return {
    entry,
    ...templatesOf(before, multiSegment),
    query: [...new URLSearchParams(query)],
  };
}
