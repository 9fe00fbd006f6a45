/**
 * The limits of a description. What comes from outside is never larger, deeper or longer than
 * this; beyond a limit stands a diagnostic, and what was shown before stays.
 *
 * @module
 */

const MIB = 1024 * 1024;

/** The limits; `docs/description.md` says them to operators. */
export const LIMITS = {
  /** Bytes of one file of JSON: 32 MiB. */
  json: 33_554_432,
  /** Bytes of one file of YAML, which takes far more memory to read: 12 MiB. */
  yaml: 12_582_912,
  /** Bytes of all files: 64 MiB. */
  total: 67_108_864,
  /** Bytes of all files where the runtime starts no thread: 4 MiB. */
  withoutThread: 4_194_304,
  /** Bytes of memory that a thread may take for its objects, where the runtime can hold it to that: 768 MiB. */
  memory: 805_306_368,
  /** Levels of objects and lists. */
  depth: 256,
  /** Files of one description. */
  files: 1_000,
  /** References of one description. */
  references: 100_000,
  /** Milliseconds from the first file to what is served. */
  time: 30_000,
  /** Values of one file, those that aliases stand for included. */
  nodes: 1_000_000,
  /** Characters of all texts of one file of YAML, those that aliases stand for included. */
  text: 33_554_432,
  /** Aliases of one file of YAML. */
  aliases: 10_000,
  /** Tokens of one file of YAML: each value has two or three, spaces and comments included. */
  tokens: 2_500_000,
  /** Lines of one file of YAML. */
  lines: 1_000_000,
  /** Syntax errors of one file of YAML that are kept. */
  errors: 100,
  /** Diagnostics that are kept. */
  findings: 10_000,
  /** Values of a server's variables that are tried together. */
  combinations: 64,
  /** Origins of servers that the page may ask: they stand in a header, which proxies limit. */
  origins: 64,
  /** What an operation may inherit: security schemes of the whole, and how many operations a path has beside the usual. */
  inherited: 64,
  /** Characters of a server's URL. */
  url: 8192,
} as const;

/** Bytes as people say it: `12 MiB`. */
export function formatSize(bytes: number): string {
  return `${bytes / MIB} MiB`;
}

/** A count as people say it: `1,000,000`. */
export function formatCount(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** The message for a key that stands twice in its object. */
export const DUPLICATE_KEY = "the same key stands here a second time; the last one counts";

/** The message for a number beyond 1.8e308. */
export const LARGE_NUMBER =
  "this number is above all that readers of JSON can hold; it is served as a string";

/** The message for a text that holds more than is read. */
export const TOO_MANY_NODES: string = `holds more than ${formatCount(LIMITS.nodes)} values`;
