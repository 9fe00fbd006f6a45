/**
 * The form of a kind of node: how it is detected, what it is asked, where values lie in its responses and what they say of
 * its health. A kind is data, one file of `spec/kinds/`; `src/settings/kind.ts` checks it.
 *
 * @module
 */
import type { KindInterface } from "./interface.ts";

/** A span of time as it is written: `500ms`, `2s`, `1m`, `1h`. */
export type Duration = `${number}${"ms" | "s" | "m" | "h"}`;

/** A place in a response: the source's name, `#`, and a JSON Pointer (RFC 6901). */
export type Reference = `${string}#${string}`;

/** The options of every source. */
export interface SourceOptions {
  /** The longest time that a response may take. @default the node's `timeout` */
  timeout?: Duration | undefined;
  /** The time that a response is good for. @default the info's `ttl` */
  ttl?: Duration | undefined;
  /** Not every node of the kind has this method or path, so that its absence is no fault. */
  optional?: boolean | undefined;
  /**
   * An error with which the node responds is a value as well: of JSON-RPC the whole response, `{ result }` or
   * `{ error }`; of HTTP the content, whatever the status. A missing method or path stays an error.
   */
  keep_errors?: boolean | undefined;
}

/** A call of JSON-RPC 2.0 over HTTP. */
export interface JsonRpcSource extends SourceOptions {
  jsonrpc: string;
  /** In a list, `{ from: reference }` stands for the value there. */
  params?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined;
  /** The path that calls are posted to, below the node's URL. @default the node's URL itself */
  path?: string | undefined;
}

/** JSON by HTTP GET. */
export interface GetSource extends SourceOptions {
  /** A path below the node's URL, a whole URL, or the place of a link in another response. */
  get: string;
  /** The media type asked for. @default "application/json" */
  accept?: string | undefined;
}

/** JSON by HTTP POST. */
export interface PostSource extends SourceOptions {
  /** A path below the node's URL, or a whole URL. */
  post: string;
  /** The content; nothing where it is left out. */
  json?: unknown | undefined;
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

/** The source of responses. */
export type Source = JsonRpcSource | GetSource | PostSource | FileSource | CommandSource;

/**
 * A conversion of a value:
 * - `hex`: a number from its hexadecimal form, or the form from a number
 * - `number`: a number from its decimal form
 * - `not`: true for false, null, 0 and "", false for the rest
 * - `count`: how many members; with a pointer, those that are true there
 * - `match`: the first group of a regular expression, or all it matched
 * - `time`: RFC 3339 from text or from the seconds (or milliseconds, …) since 1970, decimal or `0x`
 * - `uptime`: when it started, RFC 3339, from the seconds since, or from another unit
 * - `sum`: of all the places named
 * - `add`: the number with this one added, such as -1
 * - `times`: the number multiplied by this one, such as 0.001
 * - `join`: all the places named, with a separator
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

/** A value and what is made of it. */
export interface FieldOptions {
  /** Its place; of several places, the first that has a value. */
  from: Reference | readonly Reference[];
  as?: Conversion | undefined;
  /** Left out where this place is true: some nodes hide values behind placeholders. */
  unless?: Reference | undefined;
}

/** The origin of a key of the info. */
export type Field = Reference | FieldOptions;

/** The place of a secret: in a file, as a whole or as the first group of an expression. */
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

/** The way that nodes of a kind refuse, and the places where they leave their secret for programs of the same user. */
export interface KindAuth {
  /**
   * A header of the refusal and a regular expression for it. Nobody else is sent what lies in `files`;
   * without it there are none.
   */
  refusal?: { readonly header: string; readonly pattern: string } | undefined;
  /** The places where such a node leaves its secret on this machine. */
  files?: readonly AuthFile[] | undefined;
  /**
   * Reads are called with the secret, but for `none`, where people have accounts at a node, since it shows whoever
   * has logged in what it shows nobody else.
   */
  reads?: "none" | undefined;
  /** An example of node.auth, for when there are no such files, as in a configuration. */
  example?: AuthFile | undefined;
}

/**
 * A test of a value: `null` for a place that the response does not have, or where it has `null`;
 * otherwise a regular expression for its text, or a bound of its number, which may be written as text.
 */
export type Test = string | null | { readonly above: number } | { readonly below: number };

/** The reason that a node that responds is not `ok`. The service finds out most; a kind may name these. */
export type KindStatusCode =
  | "warming_up"
  | "syncing"
  | "no_leader"
  | "alarm"
  | "no_peers"
  | "stalled";

/** A state that a node's responses show. */
export interface HealthRule {
  /** Places and what each is tested for; all have to hold. A source that gave nothing never holds. */
  when: Readonly<Record<Reference, Test>>;
  code: KindStatusCode;
  /** One sentence for people. `{source#/pointer}` stands for the value there. */
  reason: string;
}

/** A method of JSON-RPC that is called without parameters. */
export interface MethodCall {
  readonly jsonrpc: string;
  /** The path that calls are posted to, below the node's URL. @default the node's URL itself */
  readonly path?: string | undefined;
}

/** Names within names, as JSON: the members of each that hold its name and the list of those below it. */
export interface NameTree {
  readonly name: string;
  readonly children: string;
}

/** The ways in which names are found in a response. */
export type NamesIn =
  | {
    /** A regular expression; its first group is a name, wherever it matches in the text of the response. */
    readonly names: string;
    /** The names are those of groups: what stands before this in the name of a method. */
    readonly before?: string | undefined;
  }
  /** The names are the ways from the root, without it, such as `block/get`. */
  | { readonly tree: NameTree };

/**
 * The way that a node says what it has: the names of methods where its kind has some, else the paths without their first
 * slash. What is shown is what both the node and the kind name; methods that the node alone names are shown
 * as well, without a mark.
 */
export type Listing =
  & NamesIn
  & (
    | MethodCall
    /** A path below the node's URL. */
    | { readonly get: string }
    | { readonly post: string; readonly json?: unknown }
  );

/** The rules for nodes in a network. */
export interface NetworkRules {
  /** The longest time between two blocks; `head_at` older than that is `stalled`. */
  quiet?: Duration | undefined;
  /** The fewest peers; a node with fewer has `no_peers`. */
  peers?: number | undefined;
}

/** The rules by which responses of a node say that something is wrong with it. */
export interface KindHealth {
  /** The ground of `ok`, for people: a clause such as "it has a leader and raises no alarm". */
  ok: string;
  /** Codes of JSON-RPC errors, or statuses of HTTP, by which a node says that it is starting. */
  warming_up?: readonly number[] | undefined;
  /** The first that holds decides. */
  rules?: readonly HealthRule[] | undefined;
  /** The `sync_progress` of a node that is in sync, such as 1. */
  complete?: number | undefined;
  /**
   * The highest block that the node or its peers know of: a number, or its decimal or `0x` form as
   * text. Of several places the highest counts.
   */
  target?: Reference | readonly Reference[] | undefined;
  /** By how many blocks a node may be behind `target`. @default 2 */
  lag?: number | undefined;
  /** By `chain_id` or `network` as the info has it; `*` for any other. */
  networks?: Readonly<Record<string, NetworkRules>> | undefined;
}

/**
 * A kind of node. The interface of a known one is not here but in a module of its own, so that a kind that
 * is not used takes no memory: `src/generated/interfaces.js`.
 */
export interface Kind extends KindInterface {
  /** The built-in kind that it was laid over. */
  extends?: string | undefined;
  /** The operations that it opens further than that kind. */
  loosen?: readonly string[] | undefined;
  /** Its name, for people. */
  title: string;
  /** The URL where such a node listens as a rule: for people alone, it is never asked there by itself. */
  url: string;
  /** Names of programs and networks that stand for the kind. */
  aliases?: readonly string[] | undefined;
  /**
   * The place where it describes its own interface: a path below the node's URL, to OpenAPI or Swagger, or a method of
   * JSON-RPC that gives OpenRPC.
   */
  description?: `/${string}` | MethodCall | undefined;
  /** The way that such a node says itself what it has; what it lacks is not shown. */
  listing?: Listing | undefined;
  /** The evidence in its responses: places, each with a regular expression. */
  detect: Readonly<Record<Reference, string>>;
  auth?: KindAuth | undefined;
  /** Values that are always the same. */
  static?: Readonly<Record<string, unknown>> | undefined;
  sources: Readonly<Record<string, Source>>;
  fields: Readonly<Record<string, Field>>;
  health: KindHealth;
  /** The keys of the info whose values over time say most, at most four. @default height and peers */
  history?: readonly string[] | undefined;
  /**
   * The places of values with which the page fills reads in, each with its pattern. The build makes them of the marks
   * `x-example-from` of a known kind.
   */
  examples?: Readonly<Record<Reference, string>> | undefined;
  /** The URLs of what its operations were written from: a file or a folder, at a version. */
  written_from?: readonly string[] | undefined;
  /** The node that its reads were tested with, and its version, such as `hsd 8.0.0`. */
  tried?: string | undefined;
}
