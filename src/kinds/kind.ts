/**
 * The form of a kind of node: what to ask it, where its answers lie, and how it is recognised. A
 * kind is data; `info` reads it, and it imports nothing.
 *
 * @module
 */

/** A span of time as it is written: `500ms`, `2s`, `1m`, `1h`. */
export type Duration = `${number}${"ms" | "s" | "m" | "h"}`;

/** A place in an answer: the source's name, `#`, and a JSON Pointer (RFC 6901). */
export type Reference = `${string}#${string}`;

/** What every source may say. */
export interface SourceOptions {
  /**
   * How long an answer may take.
   *
   * @default the node's `timeout`
   */
  timeout?: Duration;
  /**
   * How long an answer is good for.
   *
   * @default the info's `ttl`
   */
  ttl?: Duration;
  /** Not every node of the kind answers this, so that a refusal is no trouble. */
  optional?: boolean;
}

/** A call of JSON-RPC 2.0 over HTTP. */
export interface JsonRpcSource extends SourceOptions {
  /** The method's name. */
  jsonrpc: string;
  params?: readonly unknown[] | Readonly<Record<string, unknown>>;
  /** Where calls are posted to, below the node's URL. @default the node's URL itself */
  path?: string;
}

/** JSON by HTTP GET. */
export interface GetSource extends SourceOptions {
  /** A path below the node's URL, a whole URL, or the place of a link in another answer. */
  get: string;
  /** The media type asked for. @default "application/json" */
  accept?: string;
}

/** JSON by HTTP POST. */
export interface PostSource extends SourceOptions {
  /** A path below the node's URL, or a whole URL. */
  post: string;
  /** What is posted; nothing where it is left out. */
  json?: unknown;
}

/** A file with JSON or plain text. */
export interface FileSource extends SourceOptions {
  file: string;
}

/** A program whose standard output is JSON or plain text. */
export interface CommandSource extends SourceOptions {
  /** The program and its arguments; no shell reads them. */
  command: readonly string[];
}

/** Where answers come from. */
export type Source = JsonRpcSource | GetSource | PostSource | FileSource | CommandSource;

/**
 * What is made of a value:
 * - `hex`: a number from its hexadecimal form, or the form from a number
 * - `not`: true for false, null, 0 and "", false for the rest
 * - `count`: how many members; with a pointer, those that are true there
 * - `match`: the first group of a regular expression, or all it matched
 * - `time`: RFC 3339 from text or from the seconds (or milliseconds, …) since 1970
 * - `uptime`: when it started, RFC 3339, from the seconds since
 * - `sum`: of all the places named
 * - `join`: all the places named, with a separator
 */
export type Conversion =
  | "hex"
  | "not"
  | "count"
  | "time"
  | "uptime"
  | "sum"
  | { count: string }
  | { match: string }
  | { join: string };

/** A value and what is made of it. */
export interface FieldOptions {
  /** Where it is; of several places, the first that has a value. */
  from: Reference | readonly Reference[];
  as?: Conversion;
  /** Left out where this place is true: some nodes hide values behind placeholders. */
  unless?: Reference;
}

/** Where a key of the info comes from. */
export type Field = Reference | FieldOptions;

/** Where a secret lies: in a file, as a whole or as the first group of an expression. */
export type AuthFile =
  & { match?: string }
  & (
    /** `user:password`, for HTTP Basic (RFC 7617). */
    | { basic_file: string }
    /** A bearer token (RFC 6750). */
    | { bearer_file: string }
    /** A header line; with `header`, its value alone. */
    | { header_file: string; header?: string }
  );

/** Where nodes of a kind leave their secret for programs of the same user. */
export interface UsualAuth {
  /** A header of the refusal, and a regular expression for it: nobody else is sent a secret. */
  refusal: readonly [header: string, pattern: string];
  files: readonly AuthFile[];
}

/** A kind of node. */
export interface Kind {
  /** What it is, for people. */
  title: string;
  /** Where such a node listens as a rule. */
  url: string;
  /** Where it describes its own interface: a path below the node's URL, to OpenAPI or Swagger. */
  description?: `/${string}`;
  /** What its answers show, each in full: a place and a regular expression. */
  recognise: Readonly<Record<Reference, string>>;
  /** Where such a node leaves its secret, for a node on this machine where none is configured. */
  auth?: UsualAuth;
  /** Values that are always the same. */
  static?: Readonly<Record<string, unknown>>;
  sources: Readonly<Record<string, Source>>;
  fields: Readonly<Record<string, Field>>;
}

/** The names of the kinds that are known; `index.ts` has what each of them is. */
export const KIND_NAMES = [
  "activitypub",
  "algorand",
  "aptos",
  "beacon",
  "bee",
  "bitcoin",
  "cosmos",
  "ergo",
  "etcd",
  "ethereum",
  "handshake",
  "kubo",
  "monero",
  "nats",
  "near",
  "nostr",
  "solana",
  "stacks",
  "substrate",
  "syncthing",
] as const;

/** The name of a kind. */
export type KindName = (typeof KIND_NAMES)[number];

/** Names of programs and networks that people give in place of the kind they mean. */
export const PROGRAM_KINDS: Readonly<Record<string, KindName>> = {
  anvil: "ethereum",
  besu: "ethereum",
  bitcoind: "bitcoin",
  cometbft: "cosmos",
  dogecoin: "bitcoin",
  erigon: "ethereum",
  evm: "ethereum",
  geth: "ethereum",
  hsd: "handshake",
  ipfs: "kubo",
  lighthouse: "beacon",
  litecoin: "bitcoin",
  litecoind: "bitcoin",
  lodestar: "beacon",
  mastodon: "activitypub",
  misskey: "activitypub",
  monerod: "monero",
  nethermind: "ethereum",
  nimbus: "beacon",
  polkadot: "substrate",
  prysm: "beacon",
  reth: "ethereum",
  swarm: "bee",
  tendermint: "cosmos",
  teku: "beacon",
};
