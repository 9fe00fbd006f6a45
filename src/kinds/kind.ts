/**
 * TypeScript types for the files in `spec/kinds/`, each of which defines a kind of node.
 * `src/settings/kind-schema.ts` validates these files.
 *
 * @module
 */
import type { Duration } from "../units.ts";
import type { KindInterface } from "./interface.ts";

export type { Duration };

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
   * If true, an error response is used as a value, unless the method or path is missing. For
   * JSON-RPC, the value is an object with `result` or `error`. For HTTP, the value is the content
   * of the response.
   */
  keep_errors?: boolean | undefined;
}

/** A JSON-RPC method to call. */
export interface MethodCall {
  readonly jsonrpc: string;
  /** The path for calls, below the node's URL. @default the node's URL itself */
  readonly path?: string | undefined;
}

/** A JSON-RPC 2.0 call over HTTP. */
export interface JsonRpcSource extends SourceOptions, MethodCall {
  /** In a list of parameters, `{ from: reference }` is replaced by the value at the reference. */
  params?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined;
}

/** An HTTP GET request for JSON. */
export interface GetSource extends SourceOptions {
  /** A path below the node's URL, an absolute URL, or a link in another response. */
  get: string;
  /** The media type to request. @default "application/json" */
  accept?: string | undefined;
}

/** An HTTP POST request for JSON. */
export interface PostSource extends SourceOptions {
  /** A path below the node's URL, or an absolute URL. */
  post: string;
  /** The content of the request, as a JSON value. @default none */
  json?: unknown;
}

/** A file with JSON or plain text. */
export interface FileSource extends SourceOptions {
  file: string;
}

/** A program whose standard output is JSON or plain text. */
export interface CommandSource extends SourceOptions {
  /** The program and its arguments, run without a shell. */
  command: readonly string[];
}

/** A source of values: see [Configuration](../docs/configuration.md#infosourcesname). */
export type Source = JsonRpcSource | GetSource | PostSource | FileSource | CommandSource;

/**
 * A conversion of a value:
 * - `hex`: a number from hexadecimal text, or hexadecimal text from a number
 * - `base16`: hexadecimal text without `0x`, from decimal text or a number
 * - `number`: a number from decimal text
 * - `not`: true if the value is false or 0, otherwise false
 * - `count`: the number of members; with a pointer, the number of members whose value at this
 *   pointer is true
 * - `match`: the first group of a regular expression, or the whole match if the expression has no
 *   group
 * - `time`: an RFC 3339 time, from text or from a Unix time in seconds or smaller units (decimal or
 *   `0x`)
 * - `uptime`: the start time (RFC 3339), computed from the uptime, which is in seconds by default
 * - `sum`: the sum of the values at all places
 * - `add`: the sum of the value and a constant, such as -1
 * - `times`: the product of the value and a constant, such as 0.001
 * - `join`: the values at all places, joined into one text by a separator
 */
export type Conversion =
  | "hex"
  | "base16"
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
  /**
   * One or more places to read the value from. The first value found is used, unless the conversion
   * `sum` or `join` combines the values at all places.
   */
  from: Reference | readonly Reference[];
  as?: Conversion | undefined;
  /**
   * The field is omitted if the value at this place is true. Some nodes send placeholders for
   * hidden values.
   */
  unless?: Reference | undefined;
}

/**
 * The place of a value for `/v1/info`, optionally with a conversion: see [Kinds](../docs/kinds.md).
 */
export type Field = Reference | FieldOptions;

/**
 * A file with a secret. The secret is the whole content, or the first group of the regular
 * expression `match`.
 */
export type AuthFile =
  & { match?: string | undefined }
  & (
    /** `user:password`, for HTTP Basic (RFC 7617). */
    | { basic_file: string }
    /** A bearer token (RFC 6750). */
    | { bearer_file: string }
    /** `user:password`, for HTTP Digest (RFC 7616). */
    | { digest_file: string }
    /** A header in the form `Name: value`. If `header` is set, the file holds only the value. */
    | { header_file: string; header?: string | undefined }
  );

export interface KindAuth {
  /**
   * A header of a 401 or 403 response, and a pattern for its value. Secrets in `files` are sent
   * only if the header matches the pattern.
   */
  refusal?: { readonly header: string; readonly pattern: string } | undefined;
  /** The files in which a node of this kind stores its secret for programs of the same user. */
  files?: readonly AuthFile[] | undefined;
  /**
   * With `none`, the service calls `read` operations without the secret, so that responses contain
   * no private data.
   */
  reads?: "none" | undefined;
  /** An example of `node.auth` for kinds without `files`. */
  example?: AuthFile | undefined;
}

/**
 * A test of a value. A string is a regular expression that the value must match; with `not`, the
 * value must be a text, a number or a boolean that does not match. The test `null` passes if the
 * value is missing or `null`.
 */
export type Test =
  | string
  | null
  | { readonly not: string }
  | { readonly above: number }
  | { readonly below: number };

/** The reasons why a node that responds is not `ok`. */
export type KindStatusCode =
  | "warming_up"
  | "syncing"
  | "no_leader"
  | "alarm"
  | "no_peers"
  | "stalled";

export interface HealthRule {
  /**
   * For each value, named by its place, a test that the value must pass. The rule applies if all
   * tests pass. A test fails if its source has no response.
   */
  when: Readonly<Record<Reference, Test>>;
  code: KindStatusCode;
  /**
   * The reason for the status, as a clause. `{source#/pointer}` is replaced by the value at that
   * place.
   */
  reason: string;
}

/** Describes a tree of names: the key of each item's name, and the key of the item's children. */
export interface NameTree {
  readonly name: string;
  readonly children: string;
}

/** Describes how to find names in a response. */
export type NamesIn =
  | {
    /** A regular expression whose first group captures a name. */
    readonly names: string;
    /** A regular expression for names to omit. */
    readonly except?: string | undefined;
    /**
     * If set, the response lists groups of methods. A method's group is the part of its name before
     * this separator.
     */
    readonly before?: string | undefined;
  }
  /** The names are paths below the root, such as `block/get`. */
  | { readonly tree: NameTree };

/**
 * A request whose response lists the operations of a node. The list contains method names. If the
 * kind has no methods, the list contains paths without the leading slash. Operations that are not
 * listed are omitted. Listed methods that the kind does not describe are shown without marks.
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
  /** The name of the network for people, such as `Ethereum mainnet`. */
  name?: string | undefined;
  /** The maximum age of the latest block, above which a node is `stalled`. */
  quiet?: Duration | undefined;
  /** The minimum number of peers, below which a node gets the code `no_peers`. */
  peers?: number | undefined;
}

export interface KindHealth {
  /** The meaning of `ok`, for people: a clause such as "it has a leader and raises no alarm". */
  ok: string;
  /** The JSON-RPC error codes or HTTP statuses that a starting node returns. */
  warming_up?: readonly number[] | undefined;
  /** The rules for the status. The first matching rule decides. */
  rules?: readonly HealthRule[] | undefined;
  /** The minimum `progress` of a node that is in sync, such as 0.9999. */
  complete?: number | undefined;
  /**
   * The place of the highest known block number (decimal or `0x`). If several places are given, the
   * highest number is used.
   */
  target?: Reference | readonly Reference[] | undefined;
  /** The place of the number of blocks that a syncing node lacks, for estimates of its time. */
  behind?: Reference | undefined;
  /**
   * The place of the highest block that a syncing node has, for estimates, if its height remains
   * the same until it is in sync.
   */
  reached?: Reference | undefined;
  /** The number of blocks by which a node may be behind `target`. @default 2 */
  lag?: number | undefined;
  /**
   * The rules for each `chain_id`, `software` with `network` (`Satoshi main`), or `network` in
   * `/v1/info`. The key `*` stands for all other networks.
   */
  networks?: Readonly<Record<string, NetworkRules>> | undefined;
}

/** Kinds by name. */
export type Kinds = Readonly<Record<string, Kind>>;

export interface WebSocketPlace {
  /** The path below the node's URL. */
  readonly path?: string | undefined;
  /** The number that is added to the port of the node's URL. */
  readonly port_offset?: number | undefined;
}

/**
 * A kind of node: see [Kinds](../docs/kinds.md). The interfaces of built-in kinds are in
 * `src/generated/interfaces.js`, which is loaded on demand.
 */
export interface Kind extends KindInterface {
  /** The built-in kind that this kind extends. */
  extends?: string | undefined;
  /** The operations that are less restricted than in the built-in kind. */
  loosen?: readonly string[] | undefined;
  /** The display name of the kind. */
  title: string;
  /** The usual URL of a node of this kind, for display only. */
  url: string;
  /** Other names for the kind, such as the names of programs and networks. */
  aliases?: readonly string[] | undefined;
  /**
   * The node's own description: a path to OpenAPI or Swagger, or a JSON-RPC method that returns
   * OpenRPC.
   */
  description?: `/${string}` | MethodCall | undefined;
  listing?: Listing | undefined;
  /** The number of calls that the node can handle at once. @default 64 */
  concurrency?: number | undefined;
  /** The number of calls that the node takes in one JSON-RPC batch. @default 1000 */
  batch_max?: number | undefined;
  /** Where the node takes WebSocket connections. @default where it takes JSON-RPC */
  websocket?: WebSocketPlace | undefined;
  /**
   * The evidence for this kind: places in the node's responses, each with a regular expression that
   * must match.
   */
  detect: Readonly<Record<Reference, string>>;
  auth?: KindAuth | undefined;
  /** Constant values of `/v1/info`. */
  static?: Readonly<Record<string, unknown>> | undefined;
  sources: Readonly<Record<string, Source>>;
  fields: Readonly<Record<string, Field>>;
  health: KindHealth;
  /** The keys of `/v1/info` to record for `/v1/history`, at most four. @default height and peers */
  history?: readonly string[] | undefined;
  /**
   * Maps the place of each example value to a pattern for the value. Generated from
   * `x-example-from`.
   */
  examples?: Readonly<Record<Reference, string>> | undefined;
  /** The member `path` of `openrpc`, in a kind whose interface is loaded apart from it. */
  rpc_path?: string | undefined;
  /**
   * URLs of the files or folders that the operations were taken from. Each URL contains a version.
   */
  written_from?: readonly string[] | undefined;
  /**
   * The node software and version with which `read` operations were tested, such as `hsd 8.0.0`.
   */
  tried?: string | undefined;
}
