/**
 * From the place of a node's description to what is served: read, check, bundle, merge, write.
 *
 * @module
 */
import { bundle } from "./bundle.ts";
import { check } from "./lint.ts";
import { type Files, gather } from "./resolve-files.ts";
import { failureOf, type Finding, summarize } from "./diagnostics.ts";
import { decodePercent } from "../json/pointer.ts";
import { mendOperations } from "./mend-operations.ts";
import type { DescribedOperation } from "./operations-of-host.ts";
import { withServiceOperations } from "./service-operations.ts";
import type { Reader } from "./read-file-or-url.ts";
import {
  hasManyOrigins,
  isAstray,
  openServers,
  originsOf,
  type Whereabouts,
  withServers,
} from "./servers.ts";
import { LIMITS } from "./limits.ts";
import { complain } from "./parse.ts";
import { upgradeSwagger } from "./upgrade-swagger.ts";
import { type Json } from "../json/values.ts";
import { writeJson, writeYaml } from "./write.ts";
import { breathe } from "./yield-to-requests.ts";

/** A description in both forms, not yet ready to be served. */
export interface Merged<T> {
  /** What was made of the document, which is not kept itself: it may be large. */
  readonly made: T;
  /** In UTF-8, as texts of this size are better not kept twice. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly yaml: Uint8Array<ArrayBuffer>;
}

/** What came of reading a description. */
export interface Outcome<T> {
  /** `undefined` where a finding is fatal. */
  readonly merged: Merged<T> | undefined;
  readonly findings: readonly Finding[];
  /** The stamp of each file by its URL, to see whether it has changed. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** What a description says. */
export interface Said {
  /** The document as JSON values; a whole number too large for `number` is a `bigint`. */
  readonly document: Json;
  /** The origins of its servers. */
  readonly origins: readonly string[];
}

/**
 * Loads a description: its files, what is wrong with them, one document, its servers, our operations,
 * the bytes. Never rejects: nobody knows all that a description may hold, so what is thrown on the way
 * is a finding.
 *
 * @param entry where it is
 * @param read reads its files
 * @param own this service's own description, whose operations are added
 * @param operations further operations of a host
 * @param where what is known of where the node is
 * @param make makes what is kept of the document
 */
export async function load<T>(
  entry: URL,
  read: Reader,
  own: Json,
  operations: readonly DescribedOperation[],
  where: Whereabouts,
  make: (said: Said) => Promise<T>,
): Promise<Outcome<T>> {
  const stamps = new Map([[entry.href, ""]]);
  const reader: Reader = async (url, stamp) => {
    const file = await read(url, stamp);
    if (file) stamps.set(url.href, file.stamp);
    return file;
  };
  try {
    const files = await gather(entry, reader);
    for (const [url, stamp] of files.stamps) stamps.set(url, stamp);
    const before = check(files);
    if (before.some(({ isFatal }) => isFatal)) {
      return { merged: undefined, findings: summarize(before), stamps };
    }
    const bundled = mendOperations(bundle(files), files.root.complaints);
    // What cannot be bundled is a finding as well.
    const found = check(files);
    const near = nearOf(files.root.url, where);
    const single = bundled.swagger === undefined ? bundled : upgradeSwagger(bundled);
    const placed = withServers(single, near);
    const findings = summarize([...found, ...checkServers(files, placed, near)]);
    const document = withServiceOperations(own, placed, operations);
    const made = await make({ document, origins: originsOf(document) });
    await breathe();
    const json = writeJson(document);
    await breathe();
    return { merged: { made, json, yaml: writeYaml(document) }, findings, stamps };
  } catch (error) {
    const name = decodePercent(entry.pathname.split("/").at(-1)!) || entry.host;
    return { merged: undefined, findings: [failureOf(name, error)], stamps };
  }
}

/** What is to be said of the servers. */
function checkServers({ root: { source } }: Files, document: Json, near: Whereabouts): Finding[] {
  const notes = [
    ...isAstray(document, near)
      ? ["where the node is reached is not said; operations are tried at this service"]
      : [],
    ...hasManyOrigins(document)
      ? [`operations can be tried at the first ${LIMITS.origins} origins of its servers alone`]
      : [],
  ];
  const place = { file: source.name, line: 1, column: 1, isFatal: false, level: "note" as const };
  return [
    ...notes.map((message) => ({ ...place, message })),
    ...complain(source, [...openServers(document)]),
  ];
}

/** Where servers are when a document comes from a URL: they are relative to that. */
function nearOf(url: string, where: Whereabouts): Whereabouts {
  if (!/^http/.test(url)) return where;
  const { itself: home = new URL("/", url).href } = where;
  return { ...where, base: new URL(".", url).href, home };
}
