/**
 * Loads a node's description and creates the served document.
 *
 * @module
 */
import { formatJson, parseJson } from "../json/lossless.ts";
import { isObject, type Json, objectOf, textOf } from "../json/values.ts";
import { inSlices, pause } from "../slices.ts";
import { excerpt } from "../untrusted-text.ts";
import { describedBy, listMethodNames } from "./callable-operations.ts";
import {
  type Diagnostic,
  explainSize,
  limitDiagnostics,
  locate,
  SIZES,
  sourceKindOf,
} from "./diagnostics.ts";
import { plain, type Reader, readSource, spell } from "./files.ts";
import {
  type AboutKind,
  documentOfKind,
  type Offer,
  offered,
  withMarks,
  withMarksOfMethods,
  withOtherPart,
  withoutMissing,
} from "./kind.ts";
import { type DescribedOperation, type DocumentOfHost, withServiceOperations } from "./merge.ts";
import { upgradeOpenRpc } from "./openrpc.ts";
import { normalize } from "./normalize.ts";
import { checkOperations, hasMoreOperations } from "./operations.ts";
import type { Source } from "./parse.ts";
import { resolve } from "./resolve.ts";
import { basePathsAtNode, checkServers, type ServerContext, withServers } from "./servers.ts";
import { upgradeSwagger } from "./upgrade.ts";

export interface LoadJob {
  /** The URL of the description, or `KIND_FILES.interface` if only the kind describes the node. */
  readonly entry: string;
  readonly kind?: AboutKind | undefined;
  readonly own: Json;
  readonly operations: readonly DescribedOperation[];
  readonly documentOfHost?: DocumentOfHost | undefined;
  readonly where: ServerContext;
}

/** The URLs at which a {@linkcode Reader} finds the kind's interface and the node's `Offer`. */
export const KIND_FILES = { interface: "kind:interface", offer: "kind:offer" } as const;

export interface Loaded {
  /** `undefined` if a diagnostic is fatal. Integers too large for `number` are `bigint`s. */
  readonly document: Json | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The names of the described JSON-RPC methods, including missing ones; empty if the node lists
   * its methods.
   */
  readonly methods?: readonly string[] | undefined;
}

export async function load(job: LoadJob, read: Reader): Promise<Loaded> {
  const { entry, kind, own, operations, documentOfHost } = job;
  const readValue = async (url: string) => {
    const file = await read(new URL(url));
    return objectOf(file && parseJson(new TextDecoder().decode(file.bytes)));
  };
  const offer: Offer = await readValue(KIND_FILES.offer);
  const known = kind &&
    await documentOfKind(offered(await readValue(KIND_FILES.interface), offer), kind, offer);
  const { document, ...others } = known && entry === KIND_FILES.interface
    ? { document: known, diagnostics: [] }
    : await loadFile(job, known, read);
  if (!document) return { document, ...others };
  await pause();
  // Unless the node lists its methods, only some of the described methods may exist.
  const methods = offer.names && !offer.before ? [] : listMethodNames(document);
  await pause();
  const there = withoutMissing(document, offer.missing);
  await pause();
  const served = withServiceOperations(own, there, operations, documentOfHost);
  return { document: served, methods: [...new Set(methods)], ...others };
}

async function loadFile(
  { entry, where }: LoadJob,
  known: Json | undefined,
  read: Reader,
): Promise<Loaded> {
  const source = await readSource(new URL(entry), read);
  const { diagnostics } = source;
  const resolved = await inSlices(resolve(source, entry));
  const before = diagnosticsIn(source);
  if (before.some(({ isFatal }) => isFatal)) return { document: undefined, diagnostics: before };
  const whole = await normalize(resolved);
  const sourceKind = sourceKindOf(new URL(entry));
  if (hasMoreOperations(whole, SIZES.operations[sourceKind])) {
    diagnostics.add("fatal", explainSize("operations", sourceKind), () => 0);
    return { document: undefined, diagnostics: diagnosticsIn(source) };
  }
  await pause();
  const given = checkOperations(whole, diagnostics);
  await pause();
  // The marks in a description from the network are not trusted: they could declare any operation
  // as `read`.
  const isTrusted = describedBy(entry) === "operator";
  if (given.openapi === undefined && given.swagger === undefined) {
    const document = await upgradeOpenRpc(isTrusted ? given : withMarksOfMethods(given, known));
    return { document: withOtherPart(document, known), diagnostics: diagnosticsIn(source) };
  }
  const single = given.swagger === undefined ? given : await upgradeSwagger(given);
  await pause();
  const from = source.url.href;
  const placed = withServers(single, where, from);
  checkServers(placed, where, diagnostics);
  const paths = basePathsAtNode(single, where, from);
  if (where.node !== undefined && paths.length !== 1) {
    diagnostics.add("note", explainBase(paths, entry), () => ["servers"]);
  }
  const document = isTrusted ? placed : withOtherPart(withMarks(placed, known), known);
  return { document, diagnostics: diagnosticsIn(source) };
}

export function diagnosticsIn({ name, text, value, diagnostics, offsetOf }: Source): Diagnostic[] {
  const fault = value === undefined ? undefined : checkVersion(value);
  const found = fault ? [{ ...fault, severity: "fatal" as const, more: 0 }] : diagnostics.list();
  return limitDiagnostics(locate(name, text, found, offsetOf), diagnostics.omittedCount);
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

function explainBase([path = "", other = "/v1"]: readonly string[], entry: string): string {
  const line = `description: { from: ${spell(entry)}, base: ${plain(other || "/")} }`;
  return `the servers do not determine the base path of the node, so ${path || "/"} is used; ` +
    `to use another path, write ${line}`;
}
