/**
 * Parses YAML 1.2 with limits. The parser uses the core schema, which reads dates and `yes` as strings.
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
  formatCount,
  LIMITS,
  MESSAGES,
  offsetIn,
  type Offsets,
  type Tally,
  TextError,
} from "./diagnostics.ts";

/**
 * The core schema applies even if a `%YAML` directive selects another version. `uniqueKeys: true` would take quadratic
 * time.
 */
const OPTIONS = {
  schema: "core",
  resolveKnownTags: false,
  uniqueKeys: false,
  intAsBigInt: true,
} as const;

export interface Parsed {
  /** `undefined` if a diagnostic is fatal. */
  readonly value: unknown;
  /** Returns the offset of the value at a path, or of the nearest existing ancestor. */
  readonly offsetOf: (path: Path) => number;
}

/** @throws {TextError} if a value is invalid or exceeds a limit */
export function parseYaml(text: string, diagnostics: Diagnostics, tally: Tally): Parsed {
  countLines(text);
  const document = compose(text, diagnostics, tally);
  if (document) return build(document, diagnostics, tally);
  return { value: undefined, offsetOf: () => 0 };
}

function countLines(text: string): void {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (++lines > LIMITS.lines) {
      throw new TextError(`has more than ${formatCount(LIMITS.lines)} lines`, at + 1);
    }
  }
}

/**
 * Works like `parseDocument` of the `yaml` package, but without recursion. In Node 20.20, compiling a regular
 * expression on an almost full stack aborts the process.
 */
function compose(
  text: string,
  diagnostics: Diagnostics,
  tally: Tally,
): Document.Parsed | undefined {
  const parser = new Parser();
  const composer = new Composer(OPTIONS);
  limitErrors(composer);
  const documents: Document.Parsed[] = [];
  const add = ({ message, name, pos: [offset], code }: YAMLError) => {
    const isFatal = name === "YAMLParseError";
    const fault = !isFatal && code === "TAG_RESOLVE_FAILED"
      ? `the tag ${message.replace("Unresolved tag: ", "")} is unknown and ignored`
      : `is not YAML: ${message}`;
    diagnostics.add(isFatal ? "fatal" : "note", fault, () => offset);
  };
  try {
    for (const lexeme of new Lexer().lex(text)) {
      for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
      // Besides objects and lists, the parser's stack contains the document and one scalar.
      if (parser.stack.length > LIMITS.depth + 2) {
        throw new TextError(MESSAGES.tooDeep, parser.offset - lexeme.length);
      }
      tally.add("tokens", 1, parser.offset);
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
    const message = "a second document begins here; a description must be one document";
    throw new TextError(message, next.range[0]);
  }
  return document!.errors.length > 0 ? undefined : document;
}

const ENOUGH = new Error();

/** Limits the number of errors, since the `yaml` package creates a stack trace for each error. */
function limitErrors(composer: Composer): void {
  type OnError = (source: unknown, code: string, message: string, isWarning?: boolean) => void;
  const onError = Reflect.get(composer, "onError") as OnError;
  let count = 0;
  const limited: OnError = (source, code, message, isWarning) => {
    if (!isWarning && ++count > LIMITS.errors) throw ENOUGH;
    onError(source, code, message, isWarning);
  };
  Reflect.set(composer, "onError", limited);
}

const isEmpty = ({ contents }: Document.Parsed): boolean =>
  contents === null || (isScalar(contents) && contents.source === "");

const startOf = (node: Node | null, before = 0): number => node?.range?.[0] ?? before;

interface Anchored {
  built?: { value: unknown; height: number; nodes: number; text: number };
}

function build({ contents }: Document.Parsed, diagnostics: Diagnostics, tally: Tally): Parsed {
  const anchors = new Map<string, Anchored>();
  const offsets: Offsets = new Map();
  let nodes = 0, text = 0, aliases = 0;
  /** The depth of the deepest object or list that has been built under the current anchor. */
  let deepest = 0;
  let hasMerged = false;

  const add = (offset: number, moreNodes: number, moreText: number) => {
    nodes += moreNodes;
    text += moreText;
    tally.add("values", moreNodes, offset);
    tally.add("text", moreText, offset);
  };

  const buildNode = (node: Node | null, depth: number): unknown => {
    const offset = startOf(node);
    if (isAlias(node)) return resolve(node.source, offset, depth);
    const name = node && "anchor" in node ? node.anchor : undefined;
    if (!name) return buildValue(node, offset, depth);
    const anchored: Anchored = {};
    anchors.set(name, anchored);
    const before = { nodes, text, deepest };
    deepest = depth - 1;
    const value = buildValue(node, offset, depth);
    anchored.built = {
      value,
      height: deepest - (depth - 1),
      nodes: nodes - before.nodes,
      text: text - before.text,
    };
    deepest = Math.max(deepest, before.deepest);
    return value;
  };

  const buildValue = (node: Node | null, offset: number, depth: number): unknown => {
    add(offset, 1, 0);
    if (depth > LIMITS.depth) throw new TextError(MESSAGES.tooDeep, offset);
    if (isScalar(node)) return buildScalar(node, offset);
    if (!isMap(node) && !isSeq(node)) return null;
    deepest = Math.max(deepest, depth);
    return isMap(node)
      ? buildObject(node.items as Pair<Node, Node | null>[], depth)
      : buildList(node.items as Node[], depth);
  };

  const resolve = (name: string, offset: number, depth: number): unknown => {
    const anchored = anchors.get(name);
    if (!anchored) throw new TextError(`the alias *${name} has no anchor before it`, offset);
    const { built } = anchored;
    if (!built) throw new TextError("an alias must not be within the value it refers to", offset);
    if (++aliases > LIMITS.aliases) {
      throw new TextError(`there are more than ${formatCount(LIMITS.aliases)} aliases`, offset);
    }
    const lowest = depth - 1 + built.height;
    if (lowest > LIMITS.depth) throw new TextError(MESSAGES.tooDeep, offset);
    deepest = Math.max(deepest, lowest);
    add(offset, built.nodes, built.text);
    return built.value;
  };

  const buildScalar = ({ value, source }: Scalar, offset: number): unknown => {
    if (typeof value === "string") {
      add(offset, 0, value.length);
      return value;
    }
    if (typeof value !== "number" && typeof value !== "bigint") return value;
    if (Number.isFinite(Number(value))) return typeof value === "bigint" ? exact(value) : value;
    const hasDigits = /\d/.test(source ?? "");
    const message = hasDigits
      ? MESSAGES.largeNumber
      : "JSON cannot represent this number; it is served as null";
    diagnostics.add("note", message, () => offset);
    return hasDigits ? source : null;
  };

  const buildList = (items: readonly Node[], depth: number): unknown[] => {
    const value = items.map((item) => buildNode(item, depth + 1));
    offsets.set(value, items.map((item) => startOf(item)));
    return value;
  };

  const buildObject = (pairs: readonly Pair<Node, Node | null>[], depth: number): Json => {
    const value: Json = {};
    const places: Json = {};
    const sources: Json[] = [];
    for (const { key: keyNode, value: member } of pairs) {
      const offset = startOf(keyNode);
      const isMerge = isScalar(keyNode) && keyNode.type === "PLAIN" && keyNode.value === "<<";
      const key = isMerge ? "<<" : keyOf(keyNode, depth);
      const built = buildNode(member, depth + 1);
      if (isMerge) {
        sources.push(...sourcesOf(built, offset));
        continue;
      }
      if (key === undefined) {
        const message = "this key is an object or a list, which JSON does not allow; it is omitted";
        diagnostics.add("error", message, () => offset);
        continue;
      }
      if (Object.hasOwn(value, key)) diagnostics.add("note", MESSAGES.duplicateKey, () => offset);
      const isEmpty = isScalar(member) && member.source === "";
      setMember(places, key, isEmpty ? offset : startOf(member, offset));
      setMember(value, key, built);
    }
    for (const source of sources) {
      for (const key of Object.keys(source).filter((key) => !Object.hasOwn(value, key))) {
        setMember(places, key, (offsets.get(source) as Json)[key]);
        setMember(value, key, source[key]);
      }
    }
    offsets.set(value, places);
    return value;
  };

  const keyOf = (node: Node | null, depth: number): string | undefined => {
    const value = buildNode(node, depth + 1);
    if (typeof value === "object" && value !== null) return undefined;
    return value === null ? "" : String(value);
  };

  const sourcesOf = (value: unknown, offset: number): Json[] => {
    const sources = Array.isArray(value) ? value : [value];
    if (!sources.every((source) => offsets.has(source) && !Array.isArray(source))) {
      const message = "the value of << must be an object or a list of objects; it is omitted";
      diagnostics.add("error", message, () => offset);
      return [];
    }
    if (!hasMerged) {
      const message =
        "YAML 1.2 has no merge keys: << is merged here, but some parsers treat it as an ordinary key";
      diagnostics.add("note", message, () => offset);
    }
    hasMerged = true;
    return sources as Json[];
  };

  const root = buildNode(contents, 1);
  return { value: root, offsetOf: (path) => offsetIn(root, offsets, path) };
}
