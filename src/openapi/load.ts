/**
 * From the place of a node's description to the document that is served: read, check, bundle, merge.
 *
 * @module
 */
import { bundle } from "./bundle.ts";
import { check } from "./gather-findings.ts";
import { type Files, gather } from "./resolve-files.ts";
import { type Finding, findingOf, summarize } from "./diagnostics.ts";
import { mendOperations } from "./mend-operations.ts";
import type { DocumentOfHost } from "./add-host-document.ts";
import type { DescribedOperation } from "./add-host-operations.ts";
import { withServiceOperations } from "./add-service-operations.ts";
import { describedBy } from "./callable-operations.ts";
import type { Reader } from "./read-file-or-url.ts";
import {
  type AboutKind,
  documentOfKind,
  offered,
  readInterface,
  readOffer,
} from "./kind-document.ts";
import { withMarks, withMarksOfMethods, withOtherPart } from "./marks-of-kind.ts";
import { upgradeOpenRpc } from "./openrpc.ts";
import { parseJson } from "../json/lossless.ts";
import { decodePercent } from "../percent-decode.ts";
import { hasManyOrigins, openServers } from "./server-origins.ts";
import { basePathsAtNode, isAstray, type Whereabouts, withServers } from "./servers.ts";
import { withoutLogin } from "./server-url.ts";
import { LIMITS } from "./limits.ts";
import { complain, type Complaint } from "./parse.ts";
import { upgradeSwagger } from "./upgrade-swagger.ts";
import { isObject, type Json, listOf, textOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";

/** Where a description is, and what goes into it: plain data, which another thread can be sent. */
export interface LoadJob {
  /** The URL of its root; `kind:` where nobody but the kind of the node says what it can do. */
  readonly entry: string;
  /** What is known of the kind of the node, where that goes into it. */
  readonly kind?: AboutKind | undefined;
  /** This service's own description, whose operations are added. */
  readonly own: Json;
  /** Further operations of a host. */
  readonly operations: readonly DescribedOperation[];
  /** What a host says of the whole. */
  readonly documentOfHost?: DocumentOfHost | undefined;
  /** What is known of where the node is. */
  readonly where: Whereabouts;
  /** Whether calls of the node are forwarded: then its operations are called through this service alone. */
  readonly isForwarding?: boolean | undefined;
}

/**
 * Where a reader has what the kind of the node offers, and what the node says that it has of it:
 * `description/unnamed-description.ts` makes that reader.
 */
export const KIND_FILES = { interface: "kind:interface", offer: "kind:offer" } as const;

/** What came of reading a description. */
export interface Loaded {
  /** JSON values; a whole number too large for `number` is a `bigint`. `undefined` where a finding is fatal. */
  readonly document: Json | undefined;
  readonly findings: readonly Finding[];
  /** The paths that may be the one before every path of the node, where its servers do not say which. */
  readonly basePaths?: readonly string[] | undefined;
  /** The stamp of each file by its URL, to see whether it has changed. */
  readonly stamps: ReadonlyMap<string, string>;
}

/**
 * Loads a description: its files, what is wrong with them, one document, its servers, our operations.
 * Never rejects: nobody knows all that a description may hold, so what is thrown on the way is a finding.
 *
 * @param job where it is, and what goes into it
 * @param read reads its files
 */
export async function load(
  { entry, kind, own, operations, documentOfHost, isForwarding = false, ...job }: LoadJob,
  read: Reader,
): Promise<Loaded> {
  const where = isForwarding ? { ...job.where, publicUrl: undefined } : job.where;
  const stamps = new Map([[entry, ""]]);
  const reader: Reader = async (url, stamp) => {
    const file = await read(url, stamp);
    if (file) stamps.set(url.href, file.stamp);
    return file;
  };
  try {
    const known = kind && await loadKind(kind, reader);
    const { document, ...others } = known && entry === KIND_FILES.interface
      ? { document: known, findings: [] }
      : await loadFiles({ entry, where, isForwarding }, known, reader, stamps);
    if (!document) return { document, ...others, stamps };
    const whole = withServiceOperations(own, document, operations, documentOfHost);
    return { document: whole, ...others, stamps };
  } catch (error) {
    return { document: undefined, findings: [findingOf(nameOf(entry), error)], stamps };
  }
}

/** The document of a kind, as far as the node has it. */
async function loadKind(about: AboutKind, read: Reader): Promise<Json> {
  const parts = readInterface(await readValue(KIND_FILES.interface, read));
  const offer = readOffer(await readValue(KIND_FILES.offer, read));
  return documentOfKind(offered(parts, offer), about, offer);
}

async function readValue(url: string, read: Reader): Promise<unknown> {
  const file = await read(new URL(url));
  return file && parseJson(new TextDecoder().decode(file.bytes));
}

/** The document of files, of one piece, with its servers. */
async function loadFiles(
  { entry, where, isForwarding }: Pick<LoadJob, "entry" | "where" | "isForwarding">,
  known: Json | undefined,
  read: Reader,
  stamps: Map<string, string>,
): Promise<Omit<Loaded, "stamps">> {
  const files = await gather(new URL(entry), read);
  for (const [url, stamp] of files.stamps) stamps.set(url, stamp);
  const before = check(files);
  if (before.some(({ isFatal }) => isFatal)) {
    return { document: undefined, findings: summarize(before) };
  }
  const bundled = mendOperations(bundle(files), files.root.complaints);
  // What cannot be bundled is a finding as well.
  const found = check(files);
  // Whoever serves a description could mark what he likes as a read.
  const isTrusted = describedBy(entry) === "operator";
  if (bundled.openapi === undefined && bundled.swagger === undefined) {
    const methods = isTrusted ? bundled : withMarksOfMethods(bundled, known);
    const document = upgradeOpenRpc(methods);
    return {
      document: known ? withOtherPart(document, known) : document,
      findings: summarize(found),
    };
  }
  const near = nearOf(files.root.url, where);
  const single = bundled.swagger === undefined ? bundled : upgradeSwagger(bundled);
  const placed = withServers(single, near, isForwarding);
  const basePaths = undecidedPaths(single, near);
  const findings = summarize([
    ...found,
    ...checkServers(files, placed, near),
    ...basePaths ? complain(files.root.source, [undecided(single, basePaths, entry)]) : [],
  ]);
  if (isTrusted) return { document: placed, findings, basePaths };
  const marked = withMarks(placed, known);
  return { document: known ? withOtherPart(marked, known) : marked, findings, basePaths };
}

/** What a description is called in a finding about the whole of it. */
export function nameOf(entry: string): string {
  const { pathname, host } = new URL(entry);
  return decodePercent(pathname.split("/").at(-1)!) || host;
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

/** How many servers are named, and how many paths to choose from. */
const SERVERS_TOLD = 5;

/** The paths to choose from; `undefined` where nobody has to. */
function undecidedPaths(document: Json, near: Whereabouts): string[] | undefined {
  if (near.node === undefined || near.servers === "keep") return undefined;
  const paths = basePathsAtNode(document, near);
  if (paths.length === 1) return undefined;
  return (paths.length > 0 ? paths : [""]).slice(0, SERVERS_TOLD).map((path) => path || "/");
}

/** What is said of servers that do not say which path of theirs is the node's. */
function undecided({ servers }: Json, [path]: readonly string[], entry: string): Complaint {
  const urls = listOf(servers).filter(isObject)
    .map(({ url }) => excerpt(withoutLogin(textOf(url) ?? ""), 100));
  const told = urls.slice(0, SERVERS_TOLD).join(", ");
  const more = urls.length > SERVERS_TOLD ? ` and ${urls.length - SERVERS_TOLD} more` : "";
  const from = /^http/.test(entry) ? withoutLogin(entry) : nameOf(entry);
  const line = lineWithServers(from, path!);
  return {
    path: ["servers"],
    message:
      `it is not known which path is the node's: ${told}${more}; write ${line}, or another path`,
  };
}

/** The line of a configuration that says which path is the node's. */
export function lineWithServers(from: string, path: string): string {
  const plain = (text: string) => /^[\w./:~-]+$/.test(text) ? text : JSON.stringify(text);
  return `description: { from: ${plain(from)}, servers: ${plain(path)} }`;
}

/** Where servers are when a document comes from a URL: they are relative to that, unless they stand for the node. */
function nearOf(url: string, where: Whereabouts): Whereabouts {
  const { node, servers } = where;
  const isElsewhere = node !== undefined && new URL(node).origin !== new URL(url).origin;
  if (!/^http/.test(url) || (isElsewhere && servers !== "keep")) return where;
  const { itself: home = new URL("/", url).href } = where;
  return { ...where, base: new URL(".", url).href, home };
}
