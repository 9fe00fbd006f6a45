/**
 * Loads a node's description and creates the served document.
 *
 * @module
 */
import { formatJson, parseJson } from "../json/lossless.ts";
import { isObject, type Json, listOf, objectOf, textOf } from "../json/values.ts";
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

/** A job contains only plain data, so that it can be sent to a thread. */
export interface LoadJob {
  /** The URL of the root file, or `KIND_FILES.interface` if only the kind describes the node. */
  readonly entry: string;
  readonly kind?: AboutKind | undefined;
  readonly hasOffer?: boolean | undefined;
  readonly own: Json;
  readonly operations: readonly DescribedOperation[];
  readonly documentOfHost?: DocumentOfHost | undefined;
  readonly where: ServerContext;
  /** True if the node's operations are called only through this service. */
  readonly isForwarding?: boolean | undefined;
}

/** The URLs at which a {@linkcode Reader} finds the kind's interface and the node's `Offer`. */
export const KIND_FILES = { interface: "kind:interface", offer: "kind:offer" } as const;

export interface Loaded {
  /** `undefined` if a diagnostic is fatal. Integers too large for `number` are `bigint`s. */
  readonly document: Json | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The possible base paths of the node, or `undefined` if the document's servers determine the base path. */
  readonly basePaths?: readonly string[] | undefined;
}

export async function load(job: LoadJob, read: Reader): Promise<Loaded> {
  const { entry, kind, hasOffer, own, operations, documentOfHost } = job;
  const readValue = async (url: string) => {
    const file = await read(new URL(url));
    return objectOf(file && parseJson(new TextDecoder().decode(file.bytes)));
  };
  const offer: Offer = hasOffer ? await readValue(KIND_FILES.offer) : {};
  const known = kind &&
    documentOfKind(offered(await readValue(KIND_FILES.interface), offer), kind, offer);
  const { document, ...others } = known && entry === KIND_FILES.interface
    ? { document: known, diagnostics: [] }
    : await loadFiles(job, known, read);
  if (!document) return { document, ...others };
  const told = withLacking(document, offer.lacks);
  return { document: withServiceOperations(own, told, operations, documentOfHost), ...others };
}

async function loadFiles(
  { entry, where, isForwarding = false }: LoadJob,
  known: Json | undefined,
  read: Reader,
): Promise<Loaded> {
  const files = await resolve(new URL(entry), read);
  const before = diagnosticsIn(files);
  if (before.some(({ isFatal }) => isFatal)) return { document: undefined, diagnostics: before };
  const { diagnostics } = files.root;
  const bundled = checkOperations(bundle(files), diagnostics);
  // The marks in a description from the network are not trusted: they could declare any operation as `read`.
  const isTrusted = describedBy(entry) === "operator";
  if (bundled.openapi === undefined && bundled.swagger === undefined) {
    const document = upgradeOpenRpc(isTrusted ? bundled : withMarksOfMethods(bundled, known));
    return { document: withOtherPart(document, known), diagnostics: diagnosticsIn(files) };
  }
  const near = contextAt(files.root.url, isForwarding ? { ...where, publicUrl: undefined } : where);
  const single = bundled.swagger === undefined ? bundled : upgradeSwagger(bundled);
  const placed = withServers(single, near, isForwarding);
  checkServers(placed, near, diagnostics);
  const basePaths = undecidedPaths(single, near);
  if (basePaths) diagnostics.add("note", undecided(single, basePaths, entry), () => ["servers"]);
  const document = isTrusted ? placed : withOtherPart(withMarks(placed, known), known);
  return { document, diagnostics: diagnosticsIn(files), basePaths };
}

/** The diagnostics of the root file come first. */
export function diagnosticsIn({ root, members }: Files): Diagnostic[] {
  let omittedCount = 0;
  const all = [...members.values()].flatMap((member) => {
    const { name, text, value, diagnostics, offsetOf } = member;
    const isRoot = member === root;
    const fault = isRoot && value !== undefined ? checkVersion(value) : undefined;
    omittedCount += diagnostics.omittedCount;
    const found = fault ? [{ ...fault, severity: "fatal" as const, more: 0 }] : diagnostics.list();
    const located = locate(name, text, found, offsetOf);
    return isRoot ? located : located.map((one) => ({ ...one, isFatal: false }));
  });
  return limitDiagnostics(all, omittedCount);
}

/** In YAML, a version may be a number, such as `2`. */
const VERSIONS: Readonly<Record<string, RegExp>> = {
  openapi: /^3(?:\.[012](?:\.|$)|$)/,
  swagger: /^2(?:\.0)?$/,
  openrpc: /^1(?:\.|$)/,
};

function checkVersion(document: unknown): { place: string[]; message: string } | undefined {
  const expected = 'expected "openapi" 3.0, 3.1 or 3.2, "swagger" 2.0 or "openrpc" 1';
  if (!isObject(document)) return { place: [], message: `must be an object; ${expected}` };
  const key = Object.keys(VERSIONS).find((key) => document[key] !== undefined);
  if (key === undefined) {
    return { place: ["openapi"], message: `is not an OpenAPI or OpenRPC document; ${expected}` };
  }
  if (VERSIONS[key]!.test(textOf(document[key]) ?? "")) return undefined;
  const message = `unknown version ${excerpt(formatJson(document[key]))}; ${expected}`;
  return { place: [key], message };
}

export function nameOf(entry: string): string {
  const { pathname, host } = new URL(entry);
  return decodePercent(pathname.split("/").at(-1)!) || host;
}

const LISTED_MAX = 5;

function undecidedPaths(document: Json, near: ServerContext): string[] | undefined {
  if (near.node === undefined || near.servers === "keep") return undefined;
  const paths = basePathsAtNode(document, near);
  if (paths.length === 1) return undefined;
  return (paths.length > 0 ? paths : [""]).slice(0, LISTED_MAX).map((path) => path || "/");
}

function undecided({ servers }: Json, [path]: readonly string[], entry: string): string {
  const urls = listOf(servers).filter(isObject)
    .map(({ url }) => excerpt(withoutLogin(textOf(url) ?? ""), 100));
  const told = urls.slice(0, LISTED_MAX).join(", ");
  const more = urls.length > LISTED_MAX ? ` and ${urls.length - LISTED_MAX} more` : "";
  const from = /^http/.test(entry) ? withoutLogin(entry) : nameOf(entry);
  const line = lineWithServers(from, path!);
  return `the servers do not determine the base path of the node: ${told}${more}; write ${line}, or another path`;
}

export function lineWithServers(from: string, path: string): string {
  const plain = (text: string) => /^[\w./:~-]+$/.test(text) ? text : JSON.stringify(text);
  return `description: { from: ${plain(from)}, servers: ${plain(path)} }`;
}

function contextAt(url: string, where: ServerContext): ServerContext {
  const { node, servers } = where;
  const isElsewhere = node !== undefined && new URL(node).origin !== new URL(url).origin;
  if (!/^http/.test(url) || (isElsewhere && servers !== "keep")) return where;
  const { itself: home = new URL("/", url).href } = where;
  return { ...where, base: new URL(".", url).href, home };
}
