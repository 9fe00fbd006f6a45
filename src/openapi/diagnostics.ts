/**
 * Collects the diagnostics of a description, and defines the limits on descriptions.
 *
 * @module
 */
import { type JsonObject, type Path, valueAt } from "../json/values.ts";
import { formatSize, groupDigits } from "../units.ts";
import { excerpt, printable, quote, shorten } from "../untrusted-text.ts";

export const LIMITS = {
  depth: 256,
  references: 100_000,
  /**
   * The maximum size (`estimateSize`) that inlined path items, what operations repeat, or a
   * conversion to OpenAPI 3, may add to a description.
   */
  added: 300_000,
  aliases: 10_000,
  /** The maximum length of one text in YAML. The `yaml` package reads a text at once. */
  scalar: 1_048_576,
  lines: 1_000_000,
  errors: 100,
  findings: 10_000,
  /**
   * The maximum number of URLs of one server. Each combination of variable values results in one
   * URL.
   */
  combinations: 64,
  /**
   * Proxies limit the size of headers, so the page's `Content-Security-Policy` lists at most this
   * many origins.
   */
  origins: 64,
  /**
   * The maximum number of schemes in a document's `security`, and of members in a path's
   * `additionalOperations`.
   */
  inherited: 64,
  /** The maximum number of servers of a document, a path or an operation. */
  servers: 100,
  /**
   * The maximum number of members of an object, and of items of a list. Only the maps and lists of
   * the document itself, its components and its schemas may be larger.
   */
  members: 1000,
  /** The maximum number of members in a map or list of a schema, such as `properties`. */
  schemaMembers: 10_000,
  /** The maximum length of the URL of a server, which each operation repeats. */
  url: 1024,
  /** The maximum length of a name, and of other texts that operations may share. */
  name: 1024,
} as const;

export const formatCount = (count: number): string => groupDigits(String(count), ",");

/** Quotes the beginning of a name in a description. */
export const quoteName = (name: unknown, most: number = 80): string =>
  quote(shorten(String(name), most));

export const MESSAGES = {
  duplicateKey: "duplicate key; the last value is used",
  largeNumber: "this number is too large for most JSON parsers; it is served as a string",
  tooDeep: `is nested more than ${LIMITS.depth} levels deep`,
};

/** The source of a description. Text from a host program, and the kinds, count as `disk`. */
export type Provenance = "network" | "disk";

export const provenanceOf = ({ protocol }: URL): Provenance =>
  /^(?:https?|jsonrpc):$/.test(protocol) ? "network" : "disk";

type Counted = "bytes" | "values" | "text" | "tokens";
type Size = Counted | "operations";

interface SizeLimit extends Readonly<Record<Provenance, number>> {
  readonly format: (count: number) => string;
  /** The words after the formatted limit. */
  readonly noun: string;
}

/**
 * The limits of one description. Values and text are counted after aliases are expanded, since 30
 * kB of YAML can stand for a million values. The tokens of YAML include those for white space.
 */
export const SIZES: Readonly<Record<Size, SizeLimit>> = {
  bytes: { network: 4_194_304, disk: 33_554_432, format: formatSize, noun: "" },
  values: { network: 300_000, disk: 600_000, format: formatCount, noun: " names and values" },
  text: { network: 8_388_608, disk: 33_554_432, format: formatSize, noun: " of text" },
  tokens: { network: 500_000, disk: 2_500_000, format: formatCount, noun: " YAML tokens" },
  /** The methods of OpenRPC count as operations. */
  operations: { network: 1_250, disk: 20_000, format: formatCount, noun: " operations" },
};

/** Returns a predicate, such as `has more than 4 MiB, …`. */
export function explainSize(size: Size, source: Provenance): string {
  const { format, noun, network, disk } = SIZES[size];
  return source === "network"
    ? `has more than ${format(network)}${noun}, the limit for a description from the network; ` +
      `a file may have ${format(disk)}`
    : `has more than ${format(disk)}${noun}; omit operations and examples that are not needed`;
}

/** Counts the sizes of a description while it is read. */
export class SizeCounter {
  readonly #source: Provenance;
  readonly #counts: Record<Counted, number> = { bytes: 0, values: 0, text: 0, tokens: 0 };

  constructor(source: Provenance) {
    this.#source = source;
  }

  /** @throws {TextError} if the total exceeds the limit */
  add(size: Counted, more: number, offset = 0): void {
    this.#counts[size] += more;
    if (this.#counts[size] <= SIZES[size][this.#source]) return;
    throw new TextError(explainSize(size, this.#source), offset);
  }
}

/** The message is a predicate, such as `is empty` or `cannot be read`. */
export class TextError extends Error {
  override name = "TextError";
  readonly offset: number;
  /** Why the text cannot be read. */
  readonly reason: string | undefined;

  constructor(message: string, offset = 0, reason?: string) {
    super(message);
    this.offset = offset;
    this.reason = reason;
  }
}

export interface Diagnostic {
  /** The name of the description's file. Local paths are never revealed. */
  readonly file: string;
  readonly line: number;
  /** The column, counted from 1 in UTF-16 code units. */
  readonly column: number;
  readonly message: string;
  /** Why the file cannot be read, if this is known. */
  readonly reason?: string;
  /** True if this diagnostic prevents the document from being shown. */
  readonly isFatal: boolean;
  /** An `error` affects users of the description; a `note` does not. */
  readonly level: "error" | "note";
  readonly more?: number;
}

export type Severity = "fatal" | Diagnostic["level"];
type DiagnosticPlace = Path | number;

/** What may follow the fault in a message. */
export interface Addition {
  /** Why a file cannot be read. */
  readonly reason?: string | undefined;
  /** What happens to the value, such as `it is omitted`. */
  readonly consequence?: string | undefined;
  /** A suggestion, as `didYouMean` returns it: empty, or `; did you mean get?`. */
  readonly hint?: string | undefined;
}

export interface DiagnosticAt<P extends DiagnosticPlace = DiagnosticPlace> extends Addition {
  readonly severity: Severity;
  /** What is wrong, such as `"tags" must be a list`. */
  readonly fault: string;
  readonly place: P;
  readonly more: number;
}

/** What happens to most invalid values. */
export const OMITTED: Addition = { consequence: "it is omitted" };

const messageOf = (
  { fault, reason, consequence, hint = "" }: Addition & Pick<DiagnosticAt, "fault">,
) =>
  fault + (reason === undefined ? "" : `: ${reason}`) +
  (consequence === undefined ? "" : `; ${consequence}`) + hint;

/** Equal diagnostics are stored once, with the first position and the number of repeats. */
export class Diagnostics {
  readonly #all = new Map<string, { -readonly [K in keyof DiagnosticAt]: DiagnosticAt[K] }>();
  /** The number of diagnostics above the limit. */
  omittedCount = 0;

  /** `placeOf` is called only for the first diagnostic with this severity and message. */
  add(
    severity: Severity,
    fault: string,
    placeOf: () => DiagnosticPlace,
    { reason, consequence, hint }: Addition = {},
  ): void {
    const key = `${severity} ${messageOf({ fault, reason, consequence, hint })}`;
    const known = this.#all.get(key);
    if (known) known.more++;
    else if (this.#all.size === LIMITS.findings) this.omittedCount++;
    else {
      const place = placeOf();
      this.#all.set(key, { severity, fault, reason, consequence, hint, place, more: 0 });
    }
  }

  get hasFatal(): boolean {
    return this.list().some(({ severity }) => severity === "fatal");
  }

  list(): DiagnosticAt[] {
    return [...this.#all.values()];
  }
}

/** A file that has been read, with the places of its values. */
export interface ParsedFile {
  readonly name: string;
  readonly text: string;
  /** `undefined` if a diagnostic is fatal. */
  readonly value: unknown;
  readonly offsets: Offsets;
}

/** The returned diagnostics are sorted by position. */
export function locate(file: ParsedFile, all: readonly DiagnosticAt[]): Diagnostic[] {
  const { name, text } = file;
  let line = 1, start = 0, end = text.indexOf("\n");
  return all
    .map((one) => ({
      ...one,
      offset: typeof one.place === "number" ? one.place : offsetIn(file, one.place),
    }))
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, ...one }) => {
      for (; end !== -1 && end < offset; end = text.indexOf("\n", start)) {
        [line, start] = [line + 1, end + 1];
      }
      return {
        ...diagnosticOf(name, one.severity, messageOf(one), line, offset - start + 1),
        ...one.reason !== undefined && { reason: one.reason },
        ...one.more > 0 && { more: one.more },
      };
    });
}

/** Maps each object or list to the text offsets of its members or items. */
export type Offsets = Map<unknown, JsonObject | number[]>;

/** If the path has no value, returns the offset of the nearest existing ancestor. */
function offsetIn({ value: root, offsets }: ParsedFile, path: Path): number {
  let value = root, offset = 0;
  for (const key of path) {
    const next = valueAt(offsets.get(value), [key]);
    if (next === undefined) break;
    offset = next as number;
    value = (value as JsonObject)[key];
  }
  return offset;
}

/**
 * Returns a number or a boolean as the file spells it, such as `1.0`. The value of an alias or of
 * a tag has the usual spelling.
 */
export function spellingOf({ text, offsets }: ParsedFile, holder: unknown, key: string): string {
  const offset = valueAt(offsets.get(holder), [key]);
  const spelling = typeof offset === "number" && /^[\w.+-]+/.exec(text.slice(offset, offset + 400));
  return spelling ? spelling[0] : String((holder as JsonObject)[key]);
}

export const diagnosticOf = (
  file: string,
  severity: Severity,
  message: string,
  line: number = 1,
  column: number = 1,
): Diagnostic => ({
  file,
  line,
  column,
  message,
  isFatal: severity === "fatal",
  level: severity === "note" ? "note" : "error",
});

export function diagnosticOfError(file: string, error: unknown): Diagnostic {
  const message = `cannot be shown: ${excerpt(String((error as Error).message))}`;
  return diagnosticOf(file, "fatal", message);
}

/** Lists the diagnostics of a file by position. The last one stands for those above the limit. */
export function diagnosticsIn(
  file: ParsedFile & { readonly diagnostics: Diagnostics },
): Diagnostic[] {
  const { omittedCount } = file.diagnostics;
  const located = locate(file, file.diagnostics.list());
  if (omittedCount === 0) return located;
  const last = diagnosticOf(file.name, "note", "further diagnostics are not listed");
  return [...located, { ...last, ...omittedCount > 1 && { more: omittedCount - 1 } }];
}

export function formatDiagnostic({ file, line, column, message, more = 0 }: Diagnostic): string {
  const others = more > 0 ? ` (and ${formatCount(more)} more)` : "";
  return printable(`${file}:${line}:${column} ${message}${others}`);
}

export const errorsFirst = (all: readonly Diagnostic[]): Diagnostic[] =>
  [...all].sort((a, b) => Number(b.level === "error") - Number(a.level === "error"));

const LOGGED_MAX = 20;

export function forLog(all: readonly Diagnostic[]): { logged: Diagnostic[]; more: number } {
  const logged = errorsFirst(all).slice(0, LOGGED_MAX);
  return { logged, more: all.length - logged.length };
}
