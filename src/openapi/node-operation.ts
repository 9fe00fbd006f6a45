/**
 * An operation of the node, as the gateway uses it.
 *
 * @module
 */
import type { JsonObject } from "../json/values.ts";
import type { MultiSegment, SubscriptionMark } from "../kinds/interface.ts";

export interface NodeParameter {
  readonly name: string;
  readonly in: ParameterLocation | "body";
  readonly isRequired: boolean;
  /** The schema without references, present only if the operation is marked `x-checked`. */
  readonly schema?: JsonObject | undefined;
  /** The types that the schema allows, such as `string`. Present only for methods. */
  readonly types?: readonly string[] | undefined;
  /** From this number on, or with this text, a call of the method is heavy. */
  readonly heavyFrom?: number | string | undefined;
  /**
   * True if a list is sent as a repeated parameter, false if it is sent as one comma-separated
   * value.
   */
  readonly isExploded?: boolean;
  readonly multiSegment?: MultiSegment | undefined;
}

/** The request headers that an operation describes, with names in lower case. */
export interface DescribedHeaders {
  readonly parameters: readonly string[];
  /** The names of cookies that are parameters. */
  readonly cookies: readonly string[];
  /** The names of cookies of security schemes. */
  readonly keyCookies: readonly string[];
  /** The headers of security schemes, which carry a client's own credentials for the node. */
  readonly credentials: readonly string[];
}

export interface NodeBody {
  readonly isRequired: boolean;
  /** The schemas by media type, empty unless the operation is marked `x-checked`. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
}

export interface NodeOperation {
  /**
   * The operation's name in settings and in the log, such as `getblock` or `GET /blocks/{height}`.
   */
  readonly name: string;
  readonly operationId: string | undefined;
  /** True for JSON-RPC, false for REST. */
  readonly isMethod: boolean;
  readonly method: string;
  /** The path template below the node's URL, including the base path. Empty for JSON-RPC. */
  readonly path: string;
  /** True for `/` below a base path: the node also has the base path without a slash. */
  readonly isBase?: boolean;
  readonly access: "read" | "write" | "secret" | undefined;
  /**
   * True if the description comes from the network, or if the kind does not describe the operation.
   * For an untrusted operation, the gateway trusts neither the `operationId` nor the path.
   */
  readonly isUntrusted: boolean;
  readonly isHeavy: boolean;
  readonly isStreaming: boolean;
  /** Present for a method that is called over WebSocket, or for events. */
  readonly subscription?: SubscriptionMark | undefined;
  /** True for a method whose effect belongs to the connection that calls it. */
  readonly isOfConnection?: boolean;
  /** True if the node responds once, but only after an event or after a time. */
  readonly isLongPoll?: boolean;
  /**
   * `undefined` if the parameters are unknown. If `isByPosition` is true, the parameters are sorted
   * by position.
   */
  readonly parameters: readonly NodeParameter[] | undefined;
  /** True if a JSON-RPC call sends its parameters as a list. */
  readonly isByPosition?: boolean;
  /** True if a JSON-RPC call may also send its parameters as an object. */
  readonly isByNameToo?: boolean;
  /** True if a JSON-RPC method can also be called with GET. */
  readonly isGettable?: boolean;
  readonly body?: NodeBody | undefined;
  /** True if a call must be as described, since its safety depends on a parameter. */
  readonly isChecked: boolean;
  /** Empty if the operation is untrusted: its description could ask for credentials. */
  readonly headers: DescribedHeaders;
  readonly obstacle?: string | undefined;
  /**
   * The name of an operation with an equal path template: calls of this operation are calls of that
   * one.
   */
  readonly twin?: string | undefined;
}

/**
 * The source of a description. `operator` means that the description was given as a file or as
 * text.
 */
export type DescribedBy = "operator" | "kind" | "network";

export type ParameterLocation = "path" | "query" | "header";

export const isParameterLocation = (place: unknown): place is ParameterLocation =>
  place === "path" || place === "query" || place === "header";

/** Treats an unknown `x-access` as missing. */
export const accessOf = ({ "x-access": mark }: JsonObject): NodeOperation["access"] =>
  mark === "read" || mark === "write" || mark === "secret" ? mark : undefined;
