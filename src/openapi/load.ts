/**
 * Loads a node's description: from its place to the document that is served.
 *
 * @module
 */
import { formatJson, parseJson } from "../json/lossless.ts";
import { isObject, type Json, listOf, objectOf, textOf } from "../json/values.ts";
import type { KindInterface } from "../kinds/interface.ts";
import { decodePercent, excerpt } from "../untrusted-text.ts";
import { bundle } from "./bundle.ts";
import { describedBy } from "./callable-operations.ts";
import { type Diagnostic, limitDiagnostics, locate } from "./diagnostics.ts";
import type { Reader } from "./files.ts";
import {
  type AboutKind,
  documentOfKind,
  type Offer,
  offered,
  withLacking,
  withMarks,
  withMarksOfMethods,
  withOtherPart,
} from "./kind.ts";
import { type DescribedOperation, type DocumentOfHost, withServiceOperations } from "./merge.ts";
import { upgradeOpenRpc } from "./openrpc.ts";
import { checkOperations } from "./operations.ts";
import { type Files, resolve } from "./resolve.ts";
import {
  basePathsAtNode,
  checkServers,
  type ServerContext,
  withoutLogin,
  withServers,
} from "./servers.ts";
import { upgradeSwagger } from "./upgrade.ts";

/** A description's place, and what goes into it: plain data, which another thread can be sent. */
export interface LoadJob {
  /** The URL of its root; `kind:` where only the kind describes the node. */
  readonly entry: string;
  readonly kind?: AboutKind | undefined;
  /** True if something is known of what this node has: it can be read then. */
  readonly hasOffer?: boolean | undefined;
  readonly own: Json;
  readonly operations: readonly DescribedOperation[];
  readonly documentOfHost?: DocumentOfHost | undefined;
  readonly where: ServerContext;
  /** True if calls of the node are forwarded: then its operations are called through this service alone. */
  readonly isForwarding?: boolean | undefined;
}

/** The places at which the readers of `description/` have what a kind offers, and its node. */
export const KIND_FILES = { interface: "kind:interface", offer: "kind:offer" } as const;

export interface Loaded {
  /** JSON values; a whole number too large for `number` is a `bigint`. `undefined` where a diagnostic is fatal. */
  readonly document: Json | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The paths that may be the one before every path of the node, where its servers do not say which. */
  readonly basePaths?: readonly string[] | undefined;
}

/** Loads a description: its files, what is wrong with them, one document, its servers, our operations. */
export async function load(
  { entry, kind, hasOffer, own, operations, documentOfHost, isForwarding = false, ...job }: LoadJob,
  read: Reader,
): Promise<Loaded> {
  const where = isForwarding ? { ...job.where, publicUrl: undefined } : job.where;
  const offer: Offer = hasOffer ? objectOf(await readValue(KIND_FILES.offer, read)) : {};
  const known = kind && await loadKind(kind, offer, read);
  const { document, ...others } = known && entry === KIND_FILES.interface
    ? { document: known, diagnostics: [] }
    : await loadFiles({ entry, where, isForwarding }, known, read);
  if (!document) return { document, ...others };
  const told = withLacking(document, offer.lacks);
  return { document: withServiceOperations(own, told, operations, documentOfHost), ...others };
}

async function loadKind(about: AboutKind, offer: Offer, read: Reader): Promise<Json> {
  const parts: KindInterface = objectOf(await readValue(KIND_FILES.interface, read));
  return documentOfKind(offered(parts, offer), about, offer);
}

async function readValue(url: string, read: Reader): Promise<unknown> {
  const file = await read(new URL(url));
  return file && parseJson(new TextDecoder().decode(file.bytes));
}

async function loadFiles(
  { entry, where, isForwarding }: Pick<LoadJob, "entry" | "where" | "isForwarding">,
  known: Json | undefined,
  read: Reader,
): Promise<Loaded> {
  const files = await resolve(new URL(entry), read);
  const before = diagnosticsIn(files);
  if (before.some(({ isFatal }) => isFatal)) return { document: undefined, diagnostics: before };
  const { diagnostics } = files.root;
  const bundled = checkOperations(bundle(files), diagnostics);
  // A description from the network could mark anything as a read.
  const isTrusted = describedBy(entry) === "operator";
  if (bundled.openapi === undefined && bundled.swagger === undefined) {
    const document = upgradeOpenRpc(isTrusted ? bundled : withMarksOfMethods(bundled, known));
    return {
      document: known ? withOtherPart(document, known) : document,
      diagnostics: diagnosticsIn(files),
    };
  }
  const near = nearOf(files.root.url, where);
  const single = bundled.swagger === undefined ? bundled : upgradeSwagger(bundled);
  const placed = withServers(single, near, isForwarding);
  const basePaths = undecidedPaths(single, near);
  checkServers(placed, near, diagnostics);
  if (basePaths) diagnostics.add("note", undecided(single, basePaths, entry), () => ["servers"]);
  const others = { diagnostics: diagnosticsIn(files), basePaths };
  if (isTrusted) return { document: placed, ...others };
  const marked = withMarks(placed, known);
  return { document: known ? withOtherPart(marked, known) : marked, ...others };
}

/** All that is wrong with a description: by file, the root first, and in the order of each text. */
export function diagnosticsIn({ root, members }: Files): Diagnostic[] {
  let omittedCount = 0;
  const all = [...members.values()].flatMap((member) => {
    const { name, text, value, diagnostics, offsetOf } = member;
    const isRoot = member === root;
    const fault = isRoot && value !== undefined ? checkVersion(value) : undefined;
    omittedCount += diagnostics.omittedCount;
    // Of another kind of document, only that is reported.
    const found = fault ? [{ ...fault, severity: "fatal" as const, more: 0 }] : diagnostics.list();
    const located = locate(name, text, found, offsetOf);
    return isRoot ? located : located.map((one) => ({ ...one, isFatal: false }));
  });
  return limitDiagnostics(all, omittedCount);
}

/** The versions that are shown; in YAML they may be numbers. */
const VERSIONS: Readonly<Record<string, RegExp>> = {
  openapi: /^3(?:\.[012](?:\.|$)|$)/,
  swagger: /^2(?:\.0)?$/,
  openrpc: /^1(?:\.|$)/,
};

function checkVersion(document: unknown): { place: string[]; message: string } | undefined {
  if (!isObject(document)) {
    return { place: [], message: "is no OpenAPI or OpenRPC description, but a single value" };
  }
  const known = 'there are "openapi" 3.0, 3.1 and 3.2, "swagger" 2.0 and "openrpc" 1, as strings';
  const key = Object.keys(VERSIONS).find((key) => document[key] !== undefined);
  if (key === undefined) {
    const message = `says nowhere that it is an OpenAPI or OpenRPC description; ${known}`;
    return { place: ["openapi"], message };
  }
  if (VERSIONS[key]!.test(textOf(document[key]) ?? "")) return undefined;
  const message = `${excerpt(formatJson(document[key]))} is an unknown version; ${known}`;
  return { place: [key], message };
}

export function nameOf(entry: string): string {
  const { pathname, host } = new URL(entry);
  return decodePercent(pathname.split("/").at(-1)!) || host;
}

const SERVERS_TOLD = 5;

function undecidedPaths(document: Json, near: ServerContext): string[] | undefined {
  if (near.node === undefined || near.servers === "keep") return undefined;
  const paths = basePathsAtNode(document, near);
  if (paths.length === 1) return undefined;
  return (paths.length > 0 ? paths : [""]).slice(0, SERVERS_TOLD).map((path) => path || "/");
}

function undecided({ servers }: Json, [path]: readonly string[], entry: string): string {
  const urls = listOf(servers).filter(isObject)
    .map(({ url }) => excerpt(withoutLogin(textOf(url) ?? ""), 100));
  const told = urls.slice(0, SERVERS_TOLD).join(", ");
  const more = urls.length > SERVERS_TOLD ? ` and ${urls.length - SERVERS_TOLD} more` : "";
  const from = /^http/.test(entry) ? withoutLogin(entry) : nameOf(entry);
  const line = lineWithServers(from, path!);
  return `it is not known which path is the node's: ${told}${more}; write ${line}, or another path`;
}

export function lineWithServers(from: string, path: string): string {
  const plain = (text: string) => /^[\w./:~-]+$/.test(text) ? text : JSON.stringify(text);
  return `description: { from: ${plain(from)}, servers: ${plain(path)} }`;
}

/** Returns the context of servers when a document comes from a URL: they are relative to that, unless they stand for the node. */
function nearOf(url: string, where: ServerContext): ServerContext {
  const { node, servers } = where;
  const isElsewhere = node !== undefined && new URL(node).origin !== new URL(url).origin;
  if (!/^http/.test(url) || (isElsewhere && servers !== "keep")) return where;
  const { itself: home = new URL("/", url).href } = where;
  return { ...where, base: new URL(".", url).href, home };
}
