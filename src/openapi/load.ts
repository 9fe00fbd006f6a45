/**
 * Loads a node's description and creates the served document.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { isObject, type JsonObject, listOf, objectOf, type Path, textOf } from "../json/values.ts";
import type { KindInterface } from "../kinds/interface.ts";
import { inSlices, pause } from "../slices.ts";
import { excerpt } from "../untrusted-text.ts";
import type { DescribedBy } from "./node-operation.ts";
import {
  type Diagnostic,
  type Diagnostics,
  diagnosticsIn,
  explainSize,
  provenanceOf,
  quoteName,
  SIZES,
} from "./diagnostics.ts";
import { nameInCommand, quoteIfNeeded, type Reader, readSource } from "./files.ts";
import { nameOfMethod, withHomes } from "./home.ts";
import {
  documentOfKind,
  type Offer,
  offered,
  withMarks,
  withMarksOfMethods,
  withMissingPart,
  withoutMissing,
} from "./kind-document.ts";
import { type DescribedOperation, type DocumentOfHost, withServiceOperations } from "./merge.ts";
import { openApiOfOpenRpc } from "./openrpc.ts";
import { normalize } from "./normalize.ts";
import { hasMoreOperations, operationsIn, withValidOperations } from "./operations.ts";
import type { DiagnosedFile } from "./parse.ts";
import { resolve } from "./resolve.ts";
import { checkServers } from "./origins.ts";
import { pathWithoutScheme, usualUrl } from "./server-url.ts";
import { basePathsAtNode, type ServerContext, withServers } from "./servers.ts";
import { upgradeSwagger } from "./upgrade.ts";

/** The file of a description. */
export interface DescriptionFile {
  readonly url: URL;
  readonly read: Reader;
}

/** What describes the node: a file, its kind, or a file that the kind completes. */
export interface DescriptionParts {
  readonly by: DescribedBy;
  readonly file?: DescriptionFile | undefined;
  readonly kind?: { readonly title: string; loadInterface(): Promise<KindInterface> } | undefined;
}

/** What is shown beside the node's description, and where clients call the node. */
export interface LoadOptions extends ServerContext {
  readonly own: JsonObject;
  readonly operations: readonly DescribedOperation[];
  readonly documentOfHost?: DocumentOfHost | undefined;
  /** True if a description from the network must not tell the node's version. */
  readonly hidesVersion?: boolean | undefined;
}

export interface Loaded {
  /** `undefined` if a diagnostic is fatal. Integers too large for `number` are `bigint`s. */
  readonly document: JsonObject | undefined;
  /** The document without the operations of the service and the host. */
  readonly ofNode?: JsonObject | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The names of the described JSON-RPC methods, including missing ones; empty if the node lists
   * its methods.
   */
  readonly methods?: readonly string[] | undefined;
}

export async function load(
  { file, kind, by }: DescriptionParts,
  offer: Offer,
  { own, operations, documentOfHost, hidesVersion, ...where }: LoadOptions,
): Promise<Loaded> {
  const known = kind &&
    await documentOfKind(offered(await kind.loadInterface(), offer), kind, offer);
  const { document: loaded, ...others } = file
    ? await loadFile(file, by, known, where)
    : { document: known, diagnostics: [] };
  if (!loaded) return { document: loaded, ...others };
  const document = await withHomes(loaded);
  await pause();
  // Unless the node lists its methods, only some of the described methods may exist.
  const methods = offer.names && !offer.before
    ? []
    : operationsIn(document).flatMap(({ operation }) => nameOfMethod(operation) ?? []);
  await pause();
  const existing = withoutMissing(document, offer.missing);
  await pause();
  const shown = hidesVersion && by === "network" ? withoutVersion(existing) : existing;
  const served = await withServiceOperations(own, shown, operations, documentOfHost);
  return { document: served, ofNode: existing, methods: [...new Set(methods)], ...others };
}

const withoutVersion = (document: JsonObject): JsonObject => ({
  ...document,
  info: { ...objectOf(document.info), version: "unknown" },
});

async function loadFile(
  { url, read }: DescriptionFile,
  by: DescribedBy,
  known: JsonObject | undefined,
  where: ServerContext,
): Promise<Loaded> {
  const source = await readSource(url, read);
  const normalized = await normalizedIn(source, url, by !== "operator");
  const document = normalized &&
    await toServed(normalized, { source, entry: url, by, known, where });
  return { document, diagnostics: diagnosticsIn(source) };
}

/** Resolves to `undefined` if a diagnostic is fatal. */
async function normalizedIn(
  source: DiagnosedFile,
  entry: URL,
  dropsViewerExtensions: boolean,
): Promise<JsonObject | undefined> {
  const { diagnostics, value } = source;
  if (value === undefined || !checkVersion(value, diagnostics)) return undefined;
  const sourceKind = provenanceOf(entry);
  const hasRoom = (document: JsonObject) => {
    if (!hasMoreOperations(document, SIZES.operations[sourceKind])) return true;
    diagnostics.add("fatal", explainSize("operations", sourceKind), () => 0);
    return false;
  };
  // Most documents that are too large can be refused before their references are followed.
  if (!hasRoom(objectOf(value))) return undefined;
  const resolved = await inSlices(resolve(source, entry.href));
  if (diagnostics.hasFatal) return undefined;
  const whole = await normalize(resolved, dropsViewerExtensions);
  if (!hasRoom(whole)) return undefined;
  return await inSlices(withValidOperations(whole, diagnostics));
}

interface Origin {
  readonly source: DiagnosedFile & { readonly url: URL };
  readonly entry: URL;
  readonly by: DescribedBy;
  readonly known: JsonObject | undefined;
  readonly where: ServerContext;
}

/** Converts a normalized description to the OpenAPI document of the node's operations. */
async function toServed(
  normalized: JsonObject,
  { source, entry, by, known, where }: Origin,
): Promise<JsonObject> {
  const { diagnostics, url: { href: from } } = source;
  // The marks in a description from the network are not trusted: they could declare any operation
  // as `read`.
  const isTrusted = by === "operator";
  if (normalized.openapi === undefined && normalized.swagger === undefined) {
    const { openrpc, ofKind } = isTrusted
      ? { openrpc: normalized, ofKind: [] }
      : withMarksOfMethods(normalized, known);
    return await withMissingPart(await openApiOfOpenRpc(openrpc), known, ofKind);
  }
  const { swagger: _, ...others } = normalized;
  const openapi = others.openapi === undefined ? await upgradeSwagger(normalized) : others;
  await pause();
  const placed = await withServers(openapi, where, from);
  checkServers(placed, where, diagnostics);
  const paths = basePathsAtNode(openapi, where, from);
  if (where.node !== undefined && paths.length !== 1) {
    diagnostics.add("note", explainBase(paths, openapi, entry.href), () => ["servers"]);
  }
  return isTrusted ? placed : await withMissingPart(await withMarks(placed, known), known);
}

/** In YAML, a version may be a number, such as `2`. */
const VERSIONS: Readonly<Record<string, RegExp>> = {
  openapi: /^3(?:\.[012](?:\.|$)|$)/,
  swagger: /^2(?:\.0)?$/,
  openrpc: /^1(?:\.|$)/,
};

/** Returns false, with a fatal diagnostic, if the document is of no known version. */
function checkVersion(document: unknown, diagnostics: Diagnostics): boolean {
  const expected = 'expected "openapi" 3.0, 3.1 or 3.2, "swagger" 2.0 or "openrpc" 1';
  const refuse = (place: Path, message: string) => {
    diagnostics.add("fatal", message + expected, () => place);
    return false;
  };
  if (!isObject(document)) return refuse([], "must be an object; ");
  const key = Object.keys(VERSIONS).find((key) => document[key] !== undefined);
  if (key === undefined) return refuse(["openapi"], "is not an OpenAPI or OpenRPC document; ");
  if (VERSIONS[key]!.test(textOf(document[key]) ?? "")) return true;
  return refuse([key], `unknown version ${excerpt(formatJson(document[key]))}; `);
}

function explainBase(
  [path = "", other = "/v1"]: readonly string[],
  { servers }: JsonObject,
  entry: string,
): string {
  const urls = listOf(servers).map((server) => usualUrl(objectOf(server)) ?? "");
  const url = urls.find((url) => pathWithoutScheme(url) !== undefined);
  const isUnknown = url !== undefined && path === "";
  const reason = isUnknown
    ? `the server ${quoteName(url)} lacks http://, so the base path of the node is unknown, and`
    : "the servers do not determine the base path of the node, so";
  const wanted = (isUnknown ? pathWithoutScheme(url) : other) || "/";
  return `${reason} ${path || "/"} is used; to use another path, write ` +
    `description: { from: ${nameInCommand(entry)}, base: ${quoteIfNeeded(wanted)} }`;
}
