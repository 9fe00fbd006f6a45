/**
 * The types of a kind of node, which is data: one file of `spec/kinds/`, checked by `src/settings/kind.ts`.
 *
 * @module
 */
import type { KindInterface } from "./interface.ts";

/** A span of time, such as `500ms` or `2s`. */
export type Duration = `${number}${"ms" | "s" | "m" | "h"}`;

/** A place in a response: the source's name, `#`, and a JSON Pointer (RFC 6901). */
export type Reference = `${string}#${string}`;

export interface SourceOptions {
  /** The longest time that a response may take. @default the node's `timeout` */
  timeout?: Duration | undefined;
  /** The time for which a response is valid. @default the info's `ttl` */
  ttl?: Duration | undefined;
  /** If true, a missing method or path is not an error. */
  optional?: boolean | undefined;
  /**
   * If true, an error of the node is a value as well: of JSON-RPC the whole response, `{ result }` or `{ error }`;
   * of HTTP the content, whatever the status. A missing method or path stays an error.
   */
  keep_errors?: boolean | undefined;
}

/** A method of JSON-RPC that is called without parameters. */
export interface MethodCall {
  readonly jsonrpc: string;
  /** The path that calls are posted to, below the node's URL. @default the node's URL itself */
  readonly path?: string | undefined;
}

/** A call of JSON-RPC 2.0 over HTTP. */
export interface JsonRpcSource extends SourceOptions, MethodCall {
  /** In a list, `{ from: reference }` stands for the value there. */
  params?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined;
}

/** JSON by HTTP GET. */
export interface GetSource extends SourceOptions {
  /** A path below the node's URL, a whole URL, or the place of a link in another response. */
  get: string;
  /** The media type of the request. @default "application/json" */
  accept?: string | undefined;
}

/** JSON by HTTP POST. */
export interface PostSource extends SourceOptions {
  /** A path below the node's URL, or a whole URL. */
  post: string;
  /** The content. @default none */
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

export type Source = JsonRpcSource | GetSource | PostSource | FileSource | CommandSource;

/**
 * A conversion of a value:
 * - `hex`: a number from its hexadecimal form, or that form from a number
 * - `number`: a number from its decimal form
 * - `not`: true for false, null, 0 and "", otherwise false
 * - `count`: the number of members; with a pointer, of those that are true there
 * - `match`: the first group of a regular expression, or all that it matches
 * - `time`: RFC 3339 from a text or from the seconds (or milliseconds, …) since 1970, decimal or `0x`
 * - `uptime`: the time of the start, RFC 3339, from the seconds since then, or from another unit
 * - `sum`: the sum of all places
 * - `add`, `times`: the number plus this one, such as -1, or times this one, such as 0.001
 * - `join`: the texts of all places, with a separator
 */
export type Conversion =
  | "hex"
  | "number"
  | "not"
  | "count"
  | "time"
  | "uptime"
  | "sum"
  | { count: string }
  | { match: string }
  | { add: number }
  | { times: number }
  | { uptime: "ms" | "s" | "m" | "h" }
  | { join: string };

export interface FieldOptions {
  /** The place of the value; of several, the first that has one. */
  from: Reference | readonly Reference[];
  as?: Conversion | undefined;
  /** The value is omitted where this place is true: some nodes hide values behind placeholders. */
  unless?: Reference | undefined;
}

/** The origin of a key of the info. */
export type Field = Reference | FieldOptions;

/** A file with a secret: its whole content, or the first group of an expression. */
export type AuthFile =
  & { match?: string | undefined }
  & (
    /** `user:password`, for HTTP Basic (RFC 7617). */
    | { basic_file: string }
    /** A bearer token (RFC 6750). */
    | { bearer_file: string }
    /** `user:password`, for HTTP Digest (RFC 7616). */
    | { digest_file: string }
    /** A header line; with `header`, its value alone. */
    | { header_file: string; header?: string | undefined }
  );

export interface KindAuth {
  /** A header of a refusal and a regular expression for it. The secrets in `files` are sent to no other node. */
  refusal?: { readonly header: string; readonly pattern: string } | undefined;
  /** The files where such a node leaves its secret for programs of the same user. */
  files?: readonly AuthFile[] | undefined;
  /** `none` if reads are called without the secret: a node with accounts shows its user private data. */
  reads?: "none" | undefined;
  /** An example of `node.auth` for kinds without `files`. */
  example?: AuthFile | undefined;
}

/** A test of a value: `null` if it is missing or `null`, a regular expression for its text, or a bound of its number. */
export type Test = string | null | { readonly above: number } | { readonly below: number };

/** The reasons for which a node that responds is not `ok`. */
export type KindStatusCode =
  | "warming_up"
  | "syncing"
  | "no_leader"
  | "alarm"
  | "no_peers"
  | "stalled";

export interface HealthRule {
  /** Tests of places; all have to hold. None holds of a source without a response. */
  when: Readonly<Record<Reference, Test>>;
  code: KindStatusCode;
  /** One sentence for people. `{source#/pointer}` stands for the value there. */
  reason: string;
}

/** A tree of names: the member of each that has its name, and the one with the list of those below it. */
export interface NameTree {
  readonly name: string;
  readonly children: string;
}

/** The position of names in a response. */
export type NamesIn =
  | {
    /** A regular expression; its first group is a name, at each match in the text of the response. */
    readonly names: string;
    /** If set, the names are groups: the part of a method's name before this. */
    readonly before?: string | undefined;
  }
  /** The names are paths from the root, without it, such as `block/get`. */
  | { readonly tree: NameTree };

/**
 * A request for the operations of a node: names of methods if its kind has methods, otherwise paths without their first
 * slash. Operations of the kind that are not listed are omitted; methods that only the node lists are shown, without marks.
 */
export type Listing =
  & NamesIn
  & (
    | MethodCall
    /** A path below the node's URL. */
    | { readonly get: string }
    | { readonly post: string; readonly json?: unknown }
  );

export interface NetworkRules {
  /** The longest time between two blocks; `head_at` older than that is `stalled`. */
  quiet?: Duration | undefined;
  /** The fewest peers; a node with fewer has `no_peers`. */
  peers?: number | undefined;
}

export interface KindHealth {
  /** The meaning of `ok`, for people: a clause such as "it has a leader and raises no alarm". */
  ok: string;
  /** Codes of JSON-RPC errors, or statuses of HTTP, of a node that is starting. */
  warming_up?: readonly number[] | undefined;
  /** The first that holds decides. */
  rules?: readonly HealthRule[] | undefined;
  /** The `sync_progress` of a node that is in sync, such as 1. */
  complete?: number | undefined;
  /** The highest block that the node or its peers know of, decimal or `0x`; of several places, the highest. */
  target?: Reference | readonly Reference[] | undefined;
  /** The number of blocks by which a node may be behind `target`. @default 2 */
  lag?: number | undefined;
  /** By `chain_id` or `network` as the info has it; `*` for any other. */
  networks?: Readonly<Record<string, NetworkRules>> | undefined;
}

/** A kind of node. The interface of a known one is in `src/generated/interfaces.js`, so that it is read only if needed. */
export interface Kind extends KindInterface {
  /** The built-in kind that it extends. */
  extends?: string | undefined;
  /** The operations that are less restricted than in that kind. */
  loosen?: readonly string[] | undefined;
  /** Its name, for people. */
  title: string;
  /** The usual URL of such a node, for people: nothing is sent there by itself. */
  url: string;
  /** Names of programs and networks that stand for the kind. */
  aliases?: readonly string[] | undefined;
  /** The node's own description: a path to OpenAPI or Swagger, or a method of JSON-RPC that returns OpenRPC. */
  description?: `/${string}` | MethodCall | undefined;
  listing?: Listing | undefined;
  /** The evidence in its responses: places, each with a regular expression. */
  detect: Readonly<Record<Reference, string>>;
  auth?: KindAuth | undefined;
  /** Values that are always the same. */
  static?: Readonly<Record<string, unknown>> | undefined;
  sources: Readonly<Record<string, Source>>;
  fields: Readonly<Record<string, Field>>;
  health: KindHealth;
  /** The keys of the info for `/v1/history`, at most four. @default height and peers */
  history?: readonly string[] | undefined;
  /** The places of values with which the page fills reads in, each with its pattern; built from `x-example-from`. */
  examples?: Readonly<Record<Reference, string>> | undefined;
  /** The URLs of the files or folders that its operations were written from, at a version. */
  written_from?: readonly string[] | undefined;
  /** The node that its reads were tested with, and its version, such as `hsd 8.0.0`. */
  tried?: string | undefined;
}
