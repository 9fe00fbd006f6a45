/**
 * The types of a kind's interface, which consists of parts of OpenRPC and OpenAPI documents.
 * `src/settings/kind-interface.ts` validates interfaces.
 *
 * @module
 */

/** The effect that calling an operation may have. */
export type Access = "read" | "write" | "secret";

/** The other methods that a subscription needs. */
export interface SubscriptionMark {
  readonly unsubscribe: string;
  /** If it is missing, the notifications are further responses with the id of the call. */
  readonly notification?: string | undefined;
  /** The events with which the node ends the subscription itself. */
  readonly ends?: readonly string[] | undefined;
}

/** The marks of an operation. {@linkcode MARKS} explains each mark. */
export interface OperationMarks {
  "x-access": Access;
  "x-cost"?: "heavy" | undefined;
  "x-streaming"?: true | "waits" | undefined;
  "x-since"?: string | undefined;
  "x-software"?: readonly string[] | undefined;
  "x-unlisted"?: true | undefined;
  "x-common"?: true | undefined;
  "x-checked"?: true | undefined;
  "x-subscription"?: SubscriptionMark | undefined;
  "x-connection"?: true | undefined;
}

export interface Mark {
  readonly on: "operation" | "parameter" | "schema of a parameter" | "schema";
  readonly value: string;
  /** The meaning of the mark, without a final period. */
  readonly text: string;
}

type MarkName =
  | keyof OperationMarks
  | "x-multi-segment"
  | "x-excludes"
  | "x-heavy-from"
  | "x-example-from"
  | "x-unit"
  | "x-position";

/** `docs/kinds.md` and the schema of a kind are generated from this table. */
export const MARKS: Readonly<Record<MarkName, Mark>> = {
  "x-access": {
    on: "operation",
    value: "`read`, `write` or `secret`",
    text: "The effect of a call. Every operation needs `x-access`, whatever its HTTP method. A " +
      "`read` call changes nothing and returns public data. A `secret` call changes " +
      "nothing, but returns private data, such as wallet balances, keys, peer addresses, " +
      "configuration or logs. All other operations are `write`, including those whose " +
      "effect depends on parameters. An operation that blocks other clients must not be " +
      "marked `read`",
  },
  "x-cost": {
    on: "operation",
    value: "`heavy`",
    text:
      "The operation may keep a node busy for seconds, or return megabytes. Only one heavy call " +
      "runs at a time",
  },
  "x-streaming": {
    on: "operation",
    value: "`true` or `waits`",
    text: "`true`: the response never ends. The operation is shown, but cannot be called. " +
      "`waits`: the node sends one response, but only after an event. Such calls take up to " +
      "65 s, and have 32 separate slots. One client, or all callers without a token, can have " +
      "16 of these. If nodes have few threads for calls, do not use this mark",
  },
  "x-since": {
    on: "operation",
    value: 'a version, as in `"0.19"`',
    text: "The version that introduced the operation. If x-software is set, x-since is a version " +
      "of that software. Operations without x-since exist in all versions",
  },
  "x-software": {
    on: "operation",
    value: "names in lower case, as in `[mastodon]`",
    text: "The programs that have this operation, if nodes of this kind can run one of several " +
      "programs. Operations without x-software do not depend on the software. Operations " +
      "with x-software are omitted if the node does not report its software",
  },
  "x-unlisted": {
    on: "operation",
    value: "`true`",
    text: "A method that nodes have, although the node's own list or description may omit it",
  },
  "x-common": {
    on: "operation",
    value: "`true`",
    text: "A common operation, which is shown before others",
  },
  "x-checked": {
    on: "operation",
    value: "`true`",
    text: "With some parameters, the call would not be a `read`: it would write, reveal private " +
      "data or cost too much. The service accepts only calls that match the description, " +
      "and rewrites queries and `params`. It refuses an unknown parameter. It adds a " +
      "required query parameter with only one possible value. With a `pattern`, it refuses " +
      "a text that does not match, or has more than 1000 characters. The refusal quotes the " +
      "schema's `description`. A pattern must be anchored. A body must be JSON. No value " +
      "matches a schema with `not`, `if`, `patternProperties` or other unsupported keywords. A " +
      "node's own description cannot use this mark. Calls of all other operations are sent " +
      "unchanged",
  },
  "x-subscription": {
    on: "operation",
    value: "`unsubscribe` and `notification`, as in `{ unsubscribe: eth_unsubscribe, " +
      "notification: eth_subscription }`",
    text: "The method subscribes to notifications, so clients call it over WebSocket or for " +
      "events. `unsubscribe` is the method that ends the subscription. `notification` is " +
      "the method of the notifications. The result of the call is `subscription` in their " +
      "`params`. Without `notification`, the notifications are further responses with the " +
      "id of the call. `ends` lists the events with which the node ends the subscription. An " +
      "event is the notification's result, its `event`, or a key of the result or its `value`",
  },
  "x-connection": {
    on: "operation",
    value: "`true`",
    text: "The effect of the method belongs to the connection, as with a subscription. Over " +
      "WebSocket, each client has its own connection to the node for such calls. A " +
      "subscription with this mark is not available as events",
  },
  "x-multi-segment": {
    on: "parameter",
    value: "`true` or `encoded`",
    text: "A path parameter that may contain slashes. `true`: the value spans several " +
      "segments. `encoded`: " +
      "the value is one segment, with slashes sent as %2F",
  },
  "x-excludes": {
    on: "schema of a parameter",
    value: "a list, as in `[ipns/*.*]`",
    text: "With `x-checked`: sequences of path segments that a value must not contain. `*` " +
      "matches any characters within a segment. Upper and lower case are the same",
  },
  "x-heavy-from": {
    on: "schema of a parameter",
    value: "a number or a text",
    text: "A JSON-RPC call is heavy (`x-cost`) if the parameter is at least this number, or " +
      "this text. `true` counts as 1",
  },
  "x-example-from": {
    on: "schema of a parameter",
    value: "a place, as in `head#/hash`, or `none`",
    text: "For a `read` operation, the explorer fills this parameter with the value at this " +
      "place, if the whole value matches the schema's `pattern`. The place refers to a " +
      "source that is queried for `/v1/info`, or to the response of another operation, as " +
      "in `op/getblock#/tx/0`. `none`: users must enter a value. Only built-in kinds can " +
      "use this mark. Served descriptions omit it",
  },
  "x-unit": {
    on: "schema",
    value: "`quantity`, `wei`, `satoshi` or `unix-time`",
    text: "The unit of a number in a response. The simple page shows it converted. " +
      "`quantity` is a hexadecimal number, and `unix-time` is in seconds",
  },
  "x-position": {
    on: "parameter",
    value: "a whole number of at least 0",
    text:
      "The parameter's position in a list of parameters. The service derives this mark from the " +
      "order of `params`",
  },
};

/**
 * This symbol replaces the key `x-example-from` in a document. Symbols are never serialized, and no
 * node can send a symbol.
 */
export const EXAMPLE_FROM: unique symbol = Symbol("x-example-from");

/**
 * The key that marks the `POST` of a method whose node takes an object of parameters as well as a
 * list (`either`, the default of OpenRPC's `paramStructure`).
 */
export const BY_NAME_TOO = "x-by-name";

/** The key that marks a path item whose `GET` and `POST` call the same JSON-RPC method. */
export const ONE_METHOD = "x-one-method";

/**
 * `true` if the value of a path parameter may span several segments, `encoded` if slashes are sent
 * as `%2F`.
 */
export type MultiSegment = true | "encoded";

export function multiSegmentOf(
  parameter: Readonly<Record<string, unknown>>,
): MultiSegment | undefined {
  const mark = parameter["x-multi-segment"];
  return mark === true || mark === "encoded" ? mark : undefined;
}

/**
 * A JSON Schema (2020-12), which may refer to `#/components/schemas/…` in the same interface.
 */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A parameter or the result of a method (OpenRPC: Content Descriptor). */
export interface ContentDescriptor {
  readonly name: string;
  readonly summary?: string | undefined;
  /** @default false */
  readonly required?: boolean | undefined;
  readonly schema: JsonSchema;
}

export interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** A call and its response, recorded from a real node (OpenRPC: Example Pairing). */
export interface MethodExample {
  readonly name: string;
  readonly params: readonly NamedValue[];
  readonly result: NamedValue;
}

export type ParamStructure = "by-name" | "by-position" | "either";

/** A JSON-RPC method (OpenRPC: Method) with marks: see [Kinds](../docs/kinds.md). */
export interface Method extends OperationMarks {
  readonly name: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly tags?: readonly { readonly name: string }[] | undefined;
  /** @default "either" */
  readonly paramStructure?: ParamStructure | undefined;
  /** The parameters, in the order of a call by position. */
  readonly params: readonly ContentDescriptor[];
  readonly result: Omit<ContentDescriptor, "required">;
  readonly examples?: readonly MethodExample[] | undefined;
  readonly deprecated?: boolean | undefined;
}

/** The part of an OpenRPC 1.3 document that a kind may contain. */
export interface OpenRpcPart {
  /** The path for calls, below the node's URL. @default the node's URL itself */
  readonly path?: string | undefined;
  readonly methods: readonly Method[];
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> } | undefined;
}

/**
 * A REST operation: an Operation Object of OpenAPI 3.1 with marks. See [Kinds](../docs/kinds.md).
 */
export interface RestOperation extends OperationMarks {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly parameters?: readonly JsonSchema[] | undefined;
  readonly requestBody?: JsonSchema | undefined;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly deprecated?: boolean | undefined;
}

/** The part of an OpenAPI 3.1 document that a kind may contain. */
export interface OpenApiPart {
  /**
   * Path items by path template. The templates are relative to the node's URL and the base path.
   */
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  readonly tags?:
    | readonly { readonly name: string; readonly description?: string | undefined }[]
    | undefined;
  /**
   * At most one server, whose URL must be a path. All operation paths are below the server's path.
   */
  readonly servers?: readonly { readonly url: string }[] | undefined;
}

export interface KindInterface {
  openrpc?: OpenRpcPart;
  openapi?: OpenApiPart;
}

/** Tells whether a version comes before another one; false if one of them is not known. */
export function isOlder(version: string | undefined, than: string | undefined): boolean {
  const [is, other] = [version, than].map(numbersIn);
  const at = is && other ? other.findIndex((number, i) => number !== (is[i] ?? 0)) : -1;
  return at >= 0 && (is![at] ?? 0) < other![at]!;
}

const numbersIn = (version: string | undefined): number[] | undefined =>
  /\d+(?:\.\d+)*/.exec(version ?? "")?.[0].split(".").map(Number);
