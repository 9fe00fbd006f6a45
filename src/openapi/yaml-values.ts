/**
 * Builds the values of a YAML document from its nodes. Aliases share objects.
 *
 * @module
 */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { exact } from "../json/lossless.ts";
import { type JsonObject, setMember } from "../json/values.ts";
import type { Work } from "../slices.ts";
import {
  type Diagnostics,
  formatCount,
  LIMITS,
  MESSAGES,
  type Offsets,
  OMITTED,
  type SizeCounter,
  TextError,
} from "./diagnostics.ts";

export type YamlNode = Alias.Parsed | Scalar.Parsed | YAMLMap.Parsed | YAMLSeq.Parsed;
export type YamlPair = Pair<YamlNode, YamlNode | null>;
export type YamlItem = YamlNode | YamlPair;

/**
 * An object or list that is composed in several parts. Its own node has neither the right offset
 * nor any items.
 */
export interface Parted {
  readonly offset: number;
  readonly items: readonly YamlItem[];
}

export type PartedByToken = ReadonlyMap<unknown, Parted>;

const NODES_PER_STEP = 128;

interface Anchored {
  /**
   * The value of the anchor, with its height and its sizes; `undefined` while the value is being
   * built.
   */
  built?: {
    readonly value: unknown;
    readonly height: number;
    readonly values: number;
    readonly text: number;
  };
}

export class YamlBuilder {
  readonly #parted: PartedByToken;
  readonly #diagnostics: Diagnostics;
  readonly #tally: SizeCounter;
  readonly offsets: Offsets = new Map();
  readonly #anchors = new Map<string, Anchored>();
  #values = 0;
  #text = 0;
  #aliases = 0;
  #nodes = 0;
  /** The depth of the deepest object or list that has been built under the current anchor. */
  #deepest = 0;
  #hasMerged = false;

  constructor(parted: PartedByToken, diagnostics: Diagnostics, tally: SizeCounter) {
    this.#parted = parted;
    this.#diagnostics = diagnostics;
    this.#tally = tally;
  }

  #startOf(node: YamlNode | null, before = 0): number {
    return this.#parted.get(node?.srcToken)?.offset ?? node?.range?.[0] ?? before;
  }

  *build(node: YamlNode | null, depth = 1): Work<unknown> {
    if (++this.#nodes % NODES_PER_STEP === 0) yield;
    const offset = this.#startOf(node);
    if (isAlias(node)) return this.#resolve(node.source, offset, depth);
    const name = node?.anchor;
    if (!name) return yield* this.#buildValue(node, offset, depth);
    const anchored: Anchored = {};
    this.#anchors.set(name, anchored);
    const before = { values: this.#values, text: this.#text, deepest: this.#deepest };
    this.#deepest = depth - 1;
    const value = yield* this.#buildValue(node, offset, depth);
    anchored.built = {
      value,
      height: this.#deepest - (depth - 1),
      values: this.#values - before.values,
      text: this.#text - before.text,
    };
    this.#deepest = Math.max(this.#deepest, before.deepest);
    return value;
  }

  #add(offset: number, values: number, text: number): void {
    this.#values += values;
    this.#text += text;
    this.#tally.add("values", values, offset);
    this.#tally.add("text", text, offset);
  }

  *#buildValue(node: YamlNode | null, offset: number, depth: number): Work<unknown> {
    this.#add(offset, 1, 0);
    if (depth > LIMITS.depth) throw new TextError(MESSAGES.tooDeep, offset);
    if (isScalar(node)) return this.#buildScalar(node, offset);
    if (!isMap(node) && !isSeq(node)) return null;
    this.#deepest = Math.max(this.#deepest, depth);
    const items = this.#parted.get(node.srcToken)?.items ?? node.items;
    return isMap(node)
      ? yield* this.#buildObject(items as readonly YamlPair[], depth)
      : yield* this.#buildList(items as readonly YamlNode[], depth);
  }

  #resolve(name: string, offset: number, depth: number): unknown {
    const anchored = this.#anchors.get(name);
    if (!anchored) throw new TextError(`the alias *${name} has no anchor before it`, offset);
    const { built } = anchored;
    if (!built) throw new TextError("an alias must not be within the value it refers to", offset);
    if (++this.#aliases > LIMITS.aliases) {
      throw new TextError(`there are more than ${formatCount(LIMITS.aliases)} aliases`, offset);
    }
    const lowest = depth - 1 + built.height;
    if (lowest > LIMITS.depth) throw new TextError(MESSAGES.tooDeep, offset);
    this.#deepest = Math.max(this.#deepest, lowest);
    this.#add(offset, built.values, built.text);
    return built.value;
  }

  #buildScalar({ value, source }: Scalar, offset: number): unknown {
    if (typeof value === "string") {
      this.#add(offset, 0, value.length);
      return value;
    }
    if (typeof value !== "number" && typeof value !== "bigint") return value;
    if (Number.isFinite(Number(value))) return typeof value === "bigint" ? exact(value) : value;
    const hasDigits = /\d/.test(source ?? "");
    const message = hasDigits
      ? MESSAGES.largeNumber
      : "JSON cannot represent this number; it is served as null";
    this.#diagnostics.add("note", message, () => offset);
    return hasDigits ? source : null;
  }

  *#buildList(items: readonly YamlNode[], depth: number): Work<unknown[]> {
    const value: unknown[] = [];
    for (const item of items) value.push(yield* this.build(item, depth + 1));
    this.offsets.set(value, items.map((item) => this.#startOf(item)));
    return value;
  }

  *#buildObject(pairs: readonly YamlPair[], depth: number): Work<JsonObject> {
    const value: JsonObject = {};
    const places: JsonObject = {};
    const sources: JsonObject[] = [];
    for (const { key: keyNode, value: member } of pairs) {
      const offset = this.#startOf(keyNode);
      const isMerge = isScalar(keyNode) && keyNode.type === "PLAIN" && keyNode.value === "<<";
      const key = isMerge ? "<<" : yield* this.#buildKey(keyNode, depth);
      const built = yield* this.build(member, depth + 1);
      if (isMerge) {
        sources.push(...this.#sourcesOf(built, offset));
        continue;
      }
      if (key === undefined) {
        const fault = "this key is an object or a list, which JSON does not allow";
        this.#diagnostics.add("error", fault, () => offset, OMITTED);
        continue;
      }
      if (Object.hasOwn(value, key)) {
        this.#diagnostics.add("note", MESSAGES.duplicateKey, () => offset);
      }
      const isEmpty = isScalar(member) && member.source === "";
      setMember(places, key, isEmpty ? offset : this.#startOf(member, offset));
      setMember(value, key, built);
    }
    for (const source of sources) {
      for (const key of Object.keys(source).filter((key) => !Object.hasOwn(value, key))) {
        setMember(places, key, (this.offsets.get(source) as JsonObject)[key]);
        setMember(value, key, source[key]);
      }
    }
    this.offsets.set(value, places);
    return value;
  }

  *#buildKey(node: YamlNode | null, depth: number): Work<string | undefined> {
    const value = yield* this.build(node, depth + 1);
    if (typeof value === "object" && value !== null) return undefined;
    return value === null ? "" : String(value);
  }

  #sourcesOf(value: unknown, offset: number): JsonObject[] {
    const sources = Array.isArray(value) ? value : [value];
    if (!sources.every((source) => this.offsets.has(source) && !Array.isArray(source))) {
      const fault = "the value of << must be an object or a list of objects";
      this.#diagnostics.add("error", fault, () => offset, OMITTED);
      return [];
    }
    if (!this.#hasMerged) {
      const message =
        "YAML 1.2 has no merge keys: << is merged here, but some parsers treat it as an " +
        "ordinary key";
      this.#diagnostics.add("note", message, () => offset);
    }
    this.#hasMerged = true;
    return sources as JsonObject[];
  }
}
