/**
 * The types that the schema of a kind does not express: texts and objects in one of several forms,
 * and keys that the build adds.
 *
 * @module
 */

/** A place in a response: the source's name, `#`, and a JSON Pointer (RFC 6901). */
export type Reference = `${string}#${string}`;

/** A JSON-RPC method to call. */
export interface MethodCall {
  readonly jsonrpc: string;
  /** The path for calls, below the node's URL. @default the node's URL itself */
  readonly path?: string | undefined;
}

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

/** A secret in an environment variable. */
export type AuthVariable =
  | { basic_env: string }
  | { bearer_env: string }
  | { digest_env: string }
  | { header_env: string; header?: string | undefined };

/** The file or environment variable that holds a secret for the node. */
export type SecretPlace = AuthFile | AuthVariable;

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

/** Describes a tree of names: the key of each item's name, and the key of the item's children. */
export interface NameTree {
  readonly name: string;
  readonly children: string;
}

/** Describes how to find names in a response. */
export type NamesIn =
  & {
    /** A regular expression for names to omit. */
    readonly except?: string | undefined;
  }
  & (
    | {
      /** A regular expression whose first group captures a name. */
      readonly names: string;
      /**
       * If set, the response lists groups of methods. A method's group is the part of its name
       * before this separator.
       */
      readonly before?: string | undefined;
    }
    /** The names are paths below the root, such as `block/get`. */
    | { readonly tree: NameTree }
  );

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

/** The keys that the build adds to built-in kinds. */
export interface DerivedKeys {
  /**
   * Maps the place of each example value to a pattern for the value. Generated from
   * `x-example-from`.
   */
  examples?: Readonly<Record<Reference, string>> | undefined;
  /** The member `path` of `openrpc`, in a kind whose interface is loaded apart from it. */
  rpc_path?: string | undefined;
}
