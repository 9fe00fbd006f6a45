/**
 * Finds the operations of a node: those of its kind, and those that the node itself reports.
 *
 * @module
 */
import type { LightSignal } from "../abort-signal.ts";
import { formatJson, parseJson } from "../json/lossless.ts";
import { listOf, objectOf, textOf } from "../json/values.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Listing, MethodCall, NamesIn, NameTree } from "../kinds/parts.ts";
import { lazy, type Resource } from "../lazy.ts";
import { SIZES } from "../openapi/diagnostics.ts";
import { type Offer, offered } from "../openapi/kind-document.ts";
import { INTERFACES } from "../generated/interfaces.js";
import { KINDS } from "../generated/kinds.js";
import { unpack } from "../http/content-coding.ts";
import { ExpressionError, findAll, findFirst } from "../regular-expression.ts";
import { failureOfStatus, SourceError } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import { rpcRequestOf } from "../node/rpc.ts";
import { pause } from "../slices.ts";
import type { KindInterface } from "../kinds/interface.ts";
import { isAskable, type Questions } from "./missing-methods.ts";

/** What decides which operations of its kind a node has. */
export type SoftwareInfo = Pick<Offer, "software" | "version" | "shownVersion">;

/** The kind of a node, and what the node says of the kind's operations. */
export class KnownKind {
  readonly name: string;
  readonly kind: Kind;
  /** True if some operations exist only in certain software or in newer versions. */
  readonly isConditional: Resource<boolean>;
  readonly isBuiltIn: boolean;
  readonly #node: Node;

  constructor(node: Node, name: string, kind: Kind) {
    this.name = name;
    this.kind = kind;
    this.#node = node;
    this.isBuiltIn = kind === KINDS[name];
    this.isConditional = lazy(async () =>
      /"x-(?:software|since)":/.test(formatJson(await this.loadInterface()))
    );
  }

  get hasInterface(): boolean {
    const { openrpc, openapi } = this.kind;
    return this.isBuiltIn
      ? Object.hasOwn(INTERFACES, this.name)
      : (openrpc ?? openapi) !== undefined;
  }

  async loadInterface(): Promise<KindInterface> {
    return this.isBuiltIn ? await loadInterface(this.name) : this.kind;
  }

  /**
   * Resolves to text: the content of an HTTP response, or the result of a method. Rejects with a
   * `SourceError`.
   */
  async ask(question: MethodCall | Listing): Promise<string> {
    if ("jsonrpc" in question) {
      const options = { path: question.path, limit: SIZES.bytes.network };
      const [outcome] = await this.#node.rpc([rpcRequestOf(question)], options);
      if (outcome!.error) throw outcome!.error;
      const { result } = outcome!;
      return result.startsWith('"') ? JSON.parse(result) : result;
    }
    const isGet = "get" in question;
    const { status, text } = await this.#node.request(isGet ? question.get : question.post, {
      method: isGet ? "GET" : "POST",
      headers: { accept: "*/*", ...!isGet && { "content-type": "application/json" } },
      body: isGet ? undefined : formatJson(question.json ?? {}),
    });
    if (status > 299) throw failureOfStatus(status);
    return text;
  }

  /**
   * Rejects with a `SourceError`, or with a `JsonSyntaxError` if the response is invalid JSON.
   *
   * @param learn asks the node for its software and version, if `info` lacks them
   */
  async askOffer(info: SoftwareInfo, learn?: () => Promise<SoftwareInfo>): Promise<Offer> {
    const { listing } = this.kind;
    const isKnown = info.software !== undefined && info.version !== undefined;
    const isAsked = !isKnown && learn && await this.isConditional.get();
    const about = isAsked ? await learn() : info;
    if (!listing || this.#node.url === undefined) return about;
    const names = await namesIn(await this.ask(listing), listing);
    const before = "names" in listing ? listing.before : undefined;
    return { ...about, before, ...names.size > 0 && { names: [...names] } };
  }

  /**
   * Resolves to the askable methods among those offered. Resolves to `undefined` if the kind is not
   * built-in: the author of another kind may mark any method as `read`.
   */
  async questionsFor(offer: Offer, signal: LightSignal): Promise<Questions | undefined> {
    if (!this.isBuiltIn || this.#node.url === undefined) return undefined;
    const { openrpc } = await this.loadInterface();
    if (!openrpc) return undefined;
    const { methods } = offered({ openrpc }, offer).openrpc!;
    const options = { path: openrpc.path, signal };
    return {
      methods: methods.filter(isAskable),
      call: async (jsonrpc, params) => {
        const request = rpcRequestOf({ jsonrpc, params });
        return (await this.#node.rpc([request], options))[0]!;
      },
    };
  }
}

/** Resolves to `undefined` while the node's kind is unknown. */
export async function knowKind(node: Node): Promise<KnownKind | undefined> {
  const kinds = await node.kinds.get();
  const name = node.kind ?? "none";
  return Object.hasOwn(kinds, name) ? new KnownKind(node, name, kinds[name]!) : undefined;
}

/** @throws {SourceError} */
async function namesIn(text: string, listing: NamesIn): Promise<Set<string>> {
  try {
    const names = "tree" in listing
      ? namesOfTree(parseJson(text), listing.tree)
      : await findNames(text, listing.names);
    return await withoutTextsIn(names, listing.except);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const message = "sends a list that takes too long to search with listing.names";
    throw new SourceError("bad_answer", message);
  }
}

async function findNames(text: string, names: string): Promise<Set<string>> {
  const found = new Set<string>();
  for (const match of findAll(text, names, true)) {
    if (match?.group === undefined) await pause();
    else found.add(match.group);
  }
  return found;
}

async function withoutTextsIn(names: Set<string>, except?: string): Promise<Set<string>> {
  if (except === undefined) return names;
  for (const name of names) {
    if (findFirst(name, except)) names.delete(name);
    await pause();
  }
  return names;
}

/**
 * Each name is a path that contains all parent names, so the names can be much longer than the
 * response.
 */
const LEVELS_MAX = 16, NAMES_LENGTH_MAX = 1_048_576;

function namesOfTree(root: unknown, tree: NameTree): Set<string> {
  const names = new Set<string>();
  let left = NAMES_LENGTH_MAX;
  const addBelow = (value: unknown, above: string, level: number) => {
    for (const child of listOf(objectOf(value)[tree.children])) {
      const name = textOf(objectOf(child)[tree.name]);
      if (name === undefined) continue;
      const path = above + name;
      left -= path.length;
      if (left < 0) {
        throw new SourceError("bad_answer", "sends a list with names that are too long");
      }
      names.add(path);
      if (level < LEVELS_MAX) addBelow(child, `${path}/`, level + 1);
    }
  };
  addBelow(root, "", 1);
  return names;
}

/**
 * Resolves to an empty object if the kind has no interface. Integers above 2^53 become `bigint`s.
 */
export async function loadInterface(kind: string): Promise<KindInterface> {
  if (!Object.hasOwn(INTERFACES, kind)) return {};
  const { identity } = await unpack(await INTERFACES[kind]!());
  return objectOf(parseJson(new TextDecoder().decode(identity)));
}
