/**
 * Parses YAML 1.2 with limits, in slices. The parser uses the core schema, which reads dates and
 * `yes` as strings.
 *
 * @module
 */
import { Composer, CST, type Document, Lexer, Parser, type YAMLMap, type YAMLSeq } from "yaml";
import type { Work } from "../slices.ts";
import { formatSize } from "../units.ts";
import {
  type Diagnostics,
  formatCount,
  LIMITS,
  MESSAGES,
  type ParsedFile,
  type SizeCounter,
  TextError,
} from "./diagnostics.ts";
import { type Parted, YamlBuilder, type YamlItem, type YamlNode } from "./yaml-values.ts";

/**
 * The core schema applies even if a `%YAML` directive selects another version. `uniqueKeys: true`
 * would take quadratic time.
 */
const OPTIONS = {
  schema: "core",
  resolveKnownTags: false,
  uniqueKeys: false,
  intAsBigInt: true,
  keepSourceTokens: true,
} as const;

export type Parsed = Pick<ParsedFile, "value" | "offsets">;

/** @throws {TextError} if a value is invalid or exceeds a limit */
export function* parseYaml(
  text: string,
  diagnostics: Diagnostics,
  tally: SizeCounter,
): Work<Parsed> {
  countLines(text);
  const composition = new Composition(diagnostics);
  const isComposed = yield* composition.compose(text, tally);
  if (!isComposed) return { value: undefined, offsets: new Map() };
  const builder = new YamlBuilder(composition.parted, diagnostics, tally);
  const value = yield* builder.build(composition.contents);
  return { value, offsets: builder.offsets };
}

function countLines(text: string): void {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (++lines > LIMITS.lines) {
      throw new TextError(`has more than ${formatCount(LIMITS.lines)} lines`, at + 1);
    }
  }
}

/** The token of an object or list. */
type CollectionToken = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;

const TOKENS_PER_STEP = 256;
/**
 * Composing a part takes a few milliseconds. A part has more items than an implicit key can have in
 * its 1024 characters, so the items of such a key are never composed separately.
 */
const ITEMS_PER_PART = 600;

const ENOUGH = new Error();

/**
 * Composes the tokens of a text to the nodes of a document. The `yaml` package composes a whole
 * document at once, which takes seconds for a large one. Therefore, the items of each large
 * collection are taken out of the document, and are composed in parts, as the only items of a small
 * collection.
 *
 * Unlike `parseDocument` of the `yaml` package, the parser does not recurse. In Node 20.20,
 * compiling a regular expression on an almost full stack aborts the process.
 */
class Composition {
  contents: YamlNode | null = null;
  readonly parted = new Map<unknown, Parted>();
  readonly #diagnostics: Diagnostics;
  readonly #large: Large[] = [];
  readonly #errors: { readonly offset: number; readonly message: string }[] = [];
  #hasDocument = false;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /** Returns false if a diagnostic is fatal. */
  *compose(text: string, tally: SizeCounter): Work<boolean> {
    try {
      const document = yield* this.#composeDocument(text, tally);
      yield* this.#composeParts(document);
      this.contents = document.contents as YamlNode | null;
    } catch (error) {
      if (error !== ENOUGH) throw error;
    } finally {
      this.#addErrors();
    }
    return this.#errors.length === 0;
  }

  /** After a text without its end, everything is read as something else, and looks wrong. */
  #addErrors(): void {
    const open = this.#errors.filter(({ message }) => UNCLOSED.test(message));
    const last = Math.min(...open.map(({ offset }) => offset));
    for (const { offset, message } of this.#errors) {
      const [, quote] = UNCLOSED.exec(message) ?? [];
      if (quote ? offset > last : offset >= last) continue;
      const fault = quote
        ? `the text must end with ${quote} before this place, or its next line needs more ` +
          "indentation"
        : `is not YAML: ${message}`;
      this.#diagnostics.add("fatal", fault, () => offset);
    }
  }

  *#composeDocument(text: string, tally: SizeCounter): Work<Document.Parsed> {
    const parser = new Parser();
    const composer = this.#createComposer();
    let tokens = 0;
    for (const lexeme of new Lexer().lex(text)) {
      for (const token of parser.next(lexeme)) yield* this.#addToken(token, composer);
      // Besides objects and lists, the parser's stack contains the document and one scalar.
      if (parser.stack.length > LIMITS.depth + 2) {
        throw new TextError(MESSAGES.tooDeep, parser.offset - lexeme.length);
      }
      tally.add("tokens", 1, parser.offset);
      if (lexeme.length > LIMITS.scalar) {
        const message = `has a text of more than ${formatSize(LIMITS.scalar)}; ` +
          "shorten it, or write the description as JSON";
        throw new TextError(message, parser.offset - lexeme.length);
      }
      if (++tokens % TOKENS_PER_STEP === 0) yield;
    }
    for (const token of parser.end()) yield* this.#addToken(token, composer);
    const [document] = composer.end(true, text.length);
    return document!;
  }

  *#addToken(token: CST.Token, composer: Composer): Work<void> {
    if (token.type === "error") {
      const { message, source } = token;
      return this.#report(token, source ? `${message}: ${JSON.stringify(source)}` : message);
    }
    if (token.type === "document") {
      if (this.#hasDocument) return checkNextDocument(token);
      this.#hasDocument = true;
      yield* this.#takeOut(token.value);
    }
    composer.next(token).next();
  }

  /** Takes the items out of each large collection, and returns the number of values that remain. */
  *#takeOut(token: CST.Token | null | undefined): Work<number> {
    if (!CST.isCollection(token)) return 1;
    const parts: Part[] = [];
    let [size, from] = [0, 0];
    for (const [at, item] of token.items.entries()) {
      size += (yield* this.#takeOut(item.key)) + (yield* this.#takeOut(item.value));
      // An empty item must not be the last one of a part, where the `yaml` package allows it.
      const isPartOver = size >= ITEMS_PER_PART && (item.sep || item.value);
      if (!isPartOver && (parts.length === 0 || at < token.items.length - 1)) continue;
      parts.push(partOf(token, from, at + 1));
      [size, from] = [0, at + 1];
      yield;
    }
    if (parts.length === 0) return size + 1;
    this.#large.push({ token, offset: token.offset, parts });
    // The offset at which the `yaml` package expects the end of an empty collection.
    token.offset = endOfItem(token.items.at(-1)!) - (token.type === "flow-collection" ? 1 : 0);
    token.items = [];
    return 1;
  }

  *#composeParts({ directives }: Document.Parsed): Work<void> {
    for (const { token, offset, parts } of this.#large) {
      const items: YamlItem[] = [];
      for (const { value, skipped } of parts) {
        const composer = this.#createComposer();
        Object.assign(composer.streamInfo().directives, directives);
        const part: CST.Document = { type: "document", offset: value.offset, start: [], value };
        const [document] = [...composer.next(part), ...composer.end()];
        const { items: all } = document!.contents as YAMLMap.Parsed | YAMLSeq.Parsed;
        items.push(...all.slice(skipped) as YamlItem[]);
        yield;
      }
      this.parted.set(token, { offset, items });
    }
  }

  /** The `yaml` package would create a stack trace for each error. */
  #createComposer(): Composer {
    const composer = new Composer(OPTIONS);
    const onError = (source: ErrorSource, code: string, message: string, isWarning = false) => {
      if (!isWarning) this.#report(source, message);
      else {
        const fault = code === "TAG_RESOLVE_FAILED"
          ? `the tag ${message.replace("Unresolved tag: ", "")} is unknown and ignored`
          : `is not YAML: ${message}`;
        this.#diagnostics.add("note", fault, () => offsetOfError(source));
      }
    };
    Reflect.set(composer, "onError", onError);
    return composer;
  }

  #report(source: ErrorSource, message: string): void {
    if (this.#errors.length === LIMITS.errors) throw ENOUGH;
    this.#errors.push({ offset: offsetOfError(source), message });
  }
}

const UNCLOSED = /^Missing closing (["'])quote$/;

type ErrorSource = number | readonly number[] | { readonly offset: number };

const offsetOfError = (source: ErrorSource): number =>
  typeof source === "number" ? source : "offset" in source ? source.offset : source[0]!;

/** A large collection, whose items have been taken out of the document. */
interface Large {
  readonly token: CollectionToken;
  readonly offset: number;
  readonly parts: readonly Part[];
}

/** Some items of a large collection, as the only items of a small one. */
interface Part {
  readonly value: CollectionToken;
  /**
   * 1 if the first item stands for the items before this part, so that the second one may begin
   * with a comma.
   */
  readonly skipped: 0 | 1;
}

function partOf(token: CollectionToken, from: number, to: number): Part {
  const items: CST.CollectionItem[] = token.items.slice(from, to);
  if (from === 0 && token.type !== "flow-collection") {
    return { value: { ...token, items } as CollectionToken, skipped: 0 };
  }
  const before = from === 0 ? token.offset + 1 : endOfItem(token.items[from - 1]!);
  if (token.type !== "flow-collection") {
    return { value: { ...token, offset: before, items } as CollectionToken, skipped: 0 };
  }
  const { indent, start } = token;
  const source = start.source === "{" ? "}" : "]";
  const type = source === "}" ? "flow-map-end" : "flow-seq-end";
  const end: CST.SourceToken = { type, offset: endOfItem(items.at(-1)!), indent, source };
  const value = { ...token, offset: before - 1, items, end: [end] };
  if (from === 0) return { value, skipped: 0 };
  const key: CST.FlowScalar = { type: "scalar", offset: before - 1, indent, source: "0" };
  return { value: { ...value, items: [{ start: [], key, sep: [] }, ...items] }, skipped: 1 };
}

function endOfItem({ start, key, sep, value }: CST.CollectionItem): number {
  if (value) return endOfToken(value);
  const last = sep?.at(-1) ?? key ?? start.at(-1);
  return last ? endOfToken(last) : 0;
}

function endOfToken(token: CST.Token): number {
  const last = "end" in token ? token.end?.at(-1) : undefined;
  if (last) return last.offset + last.source.length;
  if (CST.isCollection(token)) {
    const item = token.items.at(-1);
    return item ? endOfItem(item) : token.offset;
  }
  const prop = token.type === "block-scalar" ? token.props.at(-1) : undefined;
  const offset = prop ? endOfToken(prop) : token.offset;
  return "source" in token ? offset + token.source.length : offset;
}

/** @throws {TextError} unless the document is empty */
function checkNextDocument({ value, offset }: CST.Document): void {
  if (!value) return;
  throw new TextError("a second document begins here; a description must be one document", offset);
}
