/**
 * Parses YAML 1.2 of a description by the core schema: dates and `yes` are strings. What the library
 * `yaml` makes of a text are nodes; the value is built of them here, within the limits.
 *
 * @module
 */
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type YAMLError,
} from "yaml";
import { exact } from "../json/lossless.ts";
import { type Json, type Path, setMember } from "../json/values.ts";
import {
  type Diagnostics,
  DUPLICATE_KEY,
  formatCount,
  formatSize,
  LARGE_NUMBER,
  LIMITS,
  type Offsets,
  offsetsIn,
  TOO_MANY_NODES,
} from "./diagnostics.ts";

/** The core schema, whatever a directive says; the checks that are quadratic are done here. */
const OPTIONS = {
  schema: "core",
  resolveKnownTags: false,
  uniqueKeys: false,
  intAsBigInt: true,
} as const;

class YamlError extends Error {
  override name = "YamlError";
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

interface Parsed {
  readonly value: unknown;
  readonly offsetsOf: (paths: readonly Path[]) => number[];
}

/** Parses a text; where a diagnostic is fatal, the value is `undefined`. */
export function parseYaml(text: string, diagnostics: Diagnostics): Parsed {
  try {
    countLines(text);
    const document = compose(text, diagnostics);
    if (document) return build(document, diagnostics);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    diagnostics.add("fatal", error.message, () => error.offset);
  }
  return { value: undefined, offsetsOf: (paths) => paths.map(() => 0) };
}

function countLines(text: string): void {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (++lines > LIMITS.lines) {
      throw new YamlError(at + 1, `has more than ${formatCount(LIMITS.lines)} lines`);
    }
  }
}

/**
 * Makes the nodes. This is what `parseDocument` does, but for the limits: it recurses as deep as the text
 * is nested, and V8 ends the process where a pattern is compiled at the end of the stack (Node 20.20).
 *
 * @returns `undefined` where one of it is fatal
 */
function compose(text: string, diagnostics: Diagnostics): Document.Parsed | undefined {
  const parser = new Parser();
  const composer = new Composer(OPTIONS);
  boundErrors(composer);
  const documents: Document.Parsed[] = [];
  let tokens = 0, isBroken = false;
  const add = ({ message, name, pos: [offset], code }: YAMLError) => {
    const isFatal = name === "YAMLParseError";
    const tag = message.replace("Unresolved tag: ", "");
    isBroken ||= isFatal;
    diagnostics.add(
      isFatal ? "fatal" : "note",
      !isFatal && code === "TAG_RESOLVE_FAILED"
        ? `the tag ${tag} is unknown and ignored`
        : `is not YAML: ${message}`,
      () => offset,
    );
  };
  try {
    for (const lexeme of new Lexer().lex(text)) {
      for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
      // The document itself and a scalar are on the stack as well.
      if (parser.stack.length > LIMITS.depth + 2) {
        throw new YamlError(parser.offset - lexeme.length, TOO_DEEP);
      }
      if (++tokens > LIMITS.tokens) {
        const message = `has more than ${formatCount(LIMITS.tokens)} tokens of YAML`;
        throw new YamlError(parser.offset, message);
      }
      if (documents.length > 1) break;
    }
    for (const token of parser.end()) documents.push(...composer.next(token));
    documents.push(...composer.end(true, text.length));
  } catch (error) {
    if (error !== ENOUGH) throw error;
    composer.streamInfo().errors.slice(0, LIMITS.errors).forEach(add);
    return undefined;
  }
  const [document, second, third] = documents;
  [...document!.errors, ...document!.warnings].forEach(add);
  const next = second && isEmpty(second) ? third : second;
  if (next) {
    const message = "a second document begins here; a description is a single one";
    throw new YamlError(next.range[0], message);
  }
  return isBroken ? undefined : document;
}

const TOO_DEEP = `is nested more than ${LIMITS.depth} levels deep`;

const ENOUGH = new Error();

/** Ends the reading after some errors: the library keeps all, each with its stack. */
function boundErrors(composer: Composer): void {
  type OnError = (source: unknown, code: string, message: string, isWarning?: boolean) => void;
  const onError = Reflect.get(composer, "onError") as OnError;
  let count = 0;
  const bounded: OnError = (source, code, message, isWarning) => {
    if (isWarning ? count > LIMITS.errors : ++count > LIMITS.errors) throw ENOUGH;
    onError(source, code, message, isWarning);
  };
  Reflect.set(composer, "onError", bounded);
}

const isEmpty = ({ contents }: Document.Parsed): boolean =>
  contents === null || (isScalar(contents) && contents.source === "");

const offsetOf = (node: Node | null, before = 0): number => node?.range?.[0] ?? before;

interface Anchored {
  /** `undefined` while it is being built. */
  built: Built | undefined;
  nodes: number;
  text: number;
}

/** A value, and how many levels of objects and lists it has. */
interface Built {
  readonly value: unknown;
  readonly height: number;
}

/**
 * Makes the value of a document. What aliases stand for is shared, so that it takes no more memory than
 * is written.
 *
 * @throws {YamlError} at the first that is beyond a limit, or cannot be a value
 */
function build(
  { contents }: Document.Parsed,
  diagnostics: Diagnostics,
): Parsed {
  const anchors = new Map<string, Anchored>();
  const offsets: Offsets = new Map();
  let nodes = 0, text = 0, aliases = 0;
  let hasMerged = false;

  const add = (offset: number, moreNodes: number, moreText: number) => {
    nodes += moreNodes;
    text += moreText;
    if (nodes > LIMITS.nodes) throw new YamlError(offset, TOO_MANY_NODES);
    if (text > LIMITS.text) {
      const message = `the texts that aliases stand for are longer than ${formatSize(LIMITS.text)}`;
      throw new YamlError(offset, message);
    }
  };

  const buildNode = (node: Node | null, depth: number): Built => {
    const offset = offsetOf(node);
    if (isAlias(node)) return resolve(node.source, offset, depth);
    const name = node && "anchor" in node ? node.anchor : undefined;
    const anchored: Anchored = { built: undefined, nodes, text };
    if (name) anchors.set(name, anchored);
    add(offset, 1, 0);
    if (depth > LIMITS.depth) throw new YamlError(offset, TOO_DEEP);
    const built = isMap(node)
      ? buildObject(node.items as Pair<Node, Node | null>[], depth)
      : isSeq(node)
      ? buildList(node.items as Node[], depth)
      : { value: isScalar(node) ? buildScalar(node, offset) : null, height: 0 };
    anchored.built = built;
    anchored.nodes = nodes - anchored.nodes;
    anchored.text = text - anchored.text;
    return built;
  };

  const resolve = (name: string, offset: number, depth: number): Built => {
    const anchored = anchors.get(name);
    if (!anchored) throw new YamlError(offset, `the alias *${name} has no anchor before it`);
    const { built } = anchored;
    if (!built) {
      throw new YamlError(offset, "an alias stands for a value that it is a part of");
    }
    if (++aliases > LIMITS.aliases) {
      throw new YamlError(offset, `there are more than ${formatCount(LIMITS.aliases)} aliases`);
    }
    if (depth - 1 + built.height > LIMITS.depth) throw new YamlError(offset, TOO_DEEP);
    add(offset, anchored.nodes, anchored.text);
    return built;
  };

  const buildScalar = ({ value, source }: Scalar, offset: number): unknown => {
    if (typeof value === "string") {
      add(offset, 0, value.length);
      return value;
    }
    if (typeof value !== "number" && typeof value !== "bigint") return value;
    if (Number.isFinite(Number(value))) return typeof value === "bigint" ? exact(value) : value;
    const hasDigits = /\d/.test(source ?? "");
    const message = hasDigits ? LARGE_NUMBER : "this number has no form in JSON, where it is null";
    diagnostics.add("note", message, () => offset);
    return hasDigits ? source : null;
  };

  const buildList = (items: readonly Node[], depth: number): Built => {
    let height = 0;
    const value = items.map((item) => {
      const built = buildNode(item, depth + 1);
      height = Math.max(height, built.height);
      return built.value;
    });
    offsets.set(value, items.map((item) => offsetOf(item)));
    return { value, height: height + 1 };
  };

  const buildObject = (pairs: readonly Pair<Node, Node | null>[], depth: number): Built => {
    const value: Json = {};
    const places = new Map<string, number>();
    const merged: Json[] = [];
    let height = 0;
    for (const { key: keyNode, value: member } of pairs) {
      const offset = offsetOf(keyNode);
      const isMerge = isScalar(keyNode) && keyNode.type === "PLAIN" && keyNode.value === "<<";
      const key = isMerge ? "<<" : keyOf(keyNode, depth);
      const built = buildNode(member, depth + 1);
      height = Math.max(height, built.height);
      if (isMerge) {
        merged.push(...sourcesOf(built.value, offset));
        continue;
      }
      if (key === undefined) {
        const message = "this key is not a single value, as JSON requires; it is omitted";
        diagnostics.add("error", message, () => offset);
        continue;
      }
      if (Object.hasOwn(value, key)) {
        diagnostics.add("note", DUPLICATE_KEY, () => offset);
      }
      places.set(key, isScalar(member) && member.source === "" ? offset : offsetOf(member, offset));
      setMember(value, key, built.value);
    }
    for (const source of merged) mergeInto(value, places, source);
    offsets.set(value, Object.keys(value).map((key) => places.get(key)!));
    return { value, height: height + 1 };
  };

  const keyOf = (node: Node | null, depth: number): string | undefined => {
    const { value } = buildNode(node, depth + 1);
    if (typeof value === "object" && value !== null) return undefined;
    return value === null ? "" : String(value);
  };

  /** YAML 1.2 has no merge keys, but most readers of descriptions know those of 1.1. */
  const sourcesOf = (value: unknown, offset: number): Json[] => {
    const sources = Array.isArray(value) ? value : [value];
    if (!sources.every((source) => offsets.has(source) && !Array.isArray(source))) {
      const message = "<< merges an object, or a list of objects; it is omitted";
      diagnostics.add("error", message, () => offset);
      return [];
    }
    if (!hasMerged) {
      const message = "YAML 1.2 has no merge keys: << is merged here, and is a key to some readers";
      diagnostics.add("note", message, () => offset);
    }
    hasMerged = true;
    return sources as Json[];
  };

  const mergeInto = (value: Json, places: Map<string, number>, source: Json): void => {
    const from = offsets.get(source)!;
    for (const [i, key] of Object.keys(source).entries()) {
      if (Object.hasOwn(value, key)) continue;
      places.set(key, from[i]!);
      setMember(value, key, source[key]);
    }
  };

  const { value } = buildNode(contents, 1);
  return { value, offsetsOf: (paths) => offsetsIn(value, offsets, paths) };
}
