/**
 * The types of the files in `spec/kinds/`, each of which defines a kind of node. Written by
 * `npm run schema` from `src/settings/kind-schema.ts` and `src/settings/node-schema.ts`.
 *
 * @module
 */
import type { Duration } from "../units.ts";
import type { KindInterface } from "./interface.ts";
import type {
  AuthFile,
  Conversion,
  DerivedKeys,
  KindStatusCode,
  Listing,
  MethodCall,
  Reference,
  Test,
} from "./parts.ts";

export interface SourceOptions {
  /**
   * The maximum time for a response.
   * @default node.timeout
   */
  timeout?: Duration | undefined;
  /**
   * The time for which a response is valid.
   * @default info.ttl
   */
  ttl?: Duration | undefined;
  /**
   * If true, a missing method, path, file or program is not an error, nor is a path that is
   * forbidden (401, 403) while other sources respond.
   * @default false
   */
  optional?: boolean | undefined;
  /**
   * If true, a failure does not affect the status. That of your own source beside those of a
   * kind never does.
   * @default false
   */
  extra?: boolean | undefined;
  /**
   * If true, a JSON error response is used as the value, unless the method or path is missing.
   * The value is then the content, or, for a JSON-RPC source, an object with "result" or
   * "error".
   * @default false
   */
  keep_errors?: boolean | undefined;
}

/** A JSON-RPC 2.0 call over HTTP. */
export interface JsonRpcSource extends SourceOptions {
  /** The JSON-RPC method to call. */
  jsonrpc: string;
  /** The parameters. In a list, { from: PLACE } is replaced by a value from another response. */
  params?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined;
  /**
   * The path below node.url to which the call is posted.
   * @default node.url itself
   */
  path?: string | undefined;
}

/** An HTTP GET request for JSON. */
export interface GetSource extends SourceOptions {
  /** A path below node.url, a URL, or a link in another response. */
  get: string;
  /**
   * The media type to request.
   * @default application/json
   */
  accept?: string | undefined;
}

/** An HTTP POST request for JSON. */
export interface PostSource extends SourceOptions {
  /** The POST target: a path below node.url, or a URL. */
  post: string;
  /** The JSON to post. */
  json?: unknown;
}

/** A file with JSON or plain text. */
export interface FileSource extends SourceOptions {
  /** A file with JSON or plain text. */
  file: string;
}

/** A program whose standard output is JSON or plain text. */
export interface CommandSource extends SourceOptions {
  /**
   * A program and its arguments. The program prints JSON or plain text, and runs without a
   * shell.
   */
  command: readonly string[];
}

/** A source of values: see [Configuration](../docs/configuration.md#infosourcesname). */
export type Source = JsonRpcSource | GetSource | PostSource | FileSource | CommandSource;

export interface FieldOptions {
  /**
   * The place of the value: a source name and a JSON Pointer, joined by #. If several places are
   * listed, the first value found is used, but "sum" and "join" use all values.
   */
  from: Reference | readonly Reference[];
  /**
   * The conversion of the value: hex (to or from hexadecimal), base16 (to hexadecimal without
   * 0x), number (from decimal), not (true becomes false), count (of members), time (to RFC
   * 3339), uptime (seconds become the start time), sum (of all values), { count: POINTER }, {
   * match: EXPRESSION }, { add: NUMBER }, { times: NUMBER }, { uptime: ms } or { join: TEXT }.
   */
  as?: Conversion | undefined;
  /**
   * The key is omitted from /v1/info if the value at this place is true. Some nodes send
   * placeholders for hidden values.
   */
  unless?: Reference | undefined;
}

/**
 * The place of a value for `/v1/info`, optionally with a conversion: see
 * [Kinds](../docs/kinds.md).
 */
export type Field = Reference | FieldOptions;

export interface KindAuth {
  /**
   * The response with which the node refuses access. Secrets from auth.files are sent only after
   * this response.
   */
  refusal?: { header: string; pattern: string } | undefined;
  /**
   * The files in which nodes of this kind store their secret for programs of the same user. Each
   * entry is written like node.auth.
   */
  files?: readonly AuthFile[] | undefined;
  /**
   * If "none", read operations are called without the secret. With the secret, the node would
   * return private data.
   */
  reads?: "none" | undefined;
  /** An example of node.auth, for nodes without secret files. */
  example?: AuthFile | undefined;
}

export interface HealthRule {
  /**
   * A test for each place: a regular expression, null (the value is missing), { not: EXPRESSION
   * }, { above: NUMBER } or { below: NUMBER }. The rule applies if all tests pass. A test fails
   * if its source has no response.
   */
  when: Readonly<Record<Reference, Test>>;
  /** The value of status_code. */
  code: KindStatusCode;
  /**
   * The text of status_reason, a clause. {source#/pointer} is replaced by the value at that
   * place.
   */
  reason: string;
}

export interface NetworkRules {
  /** The name of the network for people. */
  name?: string | undefined;
  /**
   * The longest normal time between two blocks. A synced node whose last block is older is
   * stalled.
   */
  quiet?: Duration | undefined;
  /** The minimum number of peers. A node with fewer peers has the status_code no_peers. */
  peers?: number | undefined;
  /**
   * True for a network such as regtest, whose blocks the node makes itself when it is told to.
   * Neither synced, progress nor a rule with the code syncing counts there.
   * @default false
   */
  private?: boolean | undefined;
}

export interface KindHealth {
  /** A clause that describes a node whose status is ok. */
  ok: string;
  /** JSON-RPC error codes or HTTP statuses that a starting node returns. */
  warming_up?: readonly number[] | undefined;
  /**
   * A regular expression for the text with which a starting node refuses HTTP requests, or which
   * it sends instead of JSON.
   */
  warming_up_text?: string | undefined;
  /** Rules for the status. The first matching rule applies. */
  rules?: readonly HealthRule[] | undefined;
  /** The minimum progress of a node that is in sync. */
  complete?: number | undefined;
  /**
   * The highest block that the node or its peers know of (decimal or 0x). If several places are
   * listed, the highest number is used.
   */
  target?: Reference | readonly Reference[] | undefined;
  /** The number of blocks that a syncing node lacks, for estimates of the remaining time. */
  behind?: Reference | undefined;
  /**
   * The highest block that a syncing node has. Estimates need it if the node's height does not
   * grow.
   */
  reached?: Reference | undefined;
  /**
   * The maximum number of blocks that a synced node may be behind the target.
   * @default 2
   */
  lag?: number | undefined;
  /**
   * Members of `synced` that change even if the node makes no progress, such as the blocks of
   * another chain.
   */
  sync_ignores?: readonly Reference[] | undefined;
  /**
   * The longest time that a sync may go on without progress, since in some of its stages nothing
   * moves.
   * @default 1h
   */
  sync_pause?: Duration | undefined;
  /**
   * Limits by network. A key is a software with any network (anvil *), a chain_id, a software
   * and its network (Satoshi main), a network, or * for all other networks.
   */
  networks?: Readonly<Record<string, NetworkRules>> | undefined;
}

export interface WebSocketPlace {
  /** The path below the node's URL. */
  path?: string | undefined;
  /** The difference to the port of the node's URL. */
  port_offset?: number | undefined;
  /**
   * The number of WebSocket connections that the service may make. It must leave some of the
   * node's connections to calls and queries.
   * @default 256
   */
  connections?: number | undefined;
}

/**
 * A kind of node: see [Kinds](../docs/kinds.md). The interfaces of built-in kinds are in
 * `src/generated/interfaces.js`, which is loaded on demand.
 */
export interface Kind extends KindInterface, DerivedKeys {
  /** The display name of the kind. */
  title: string;
  /** The usual URL of nodes of this kind, for display only. */
  url: string;
  /** Other names for the kind: names of programs and networks. */
  aliases?: readonly string[] | undefined;
  /** Kinds whose interface a node of this kind may have, too; this kind is chosen then. */
  precedes?: readonly string[] | undefined;
  /**
   * The number of calls that the node can handle at once.
   * @default 64
   */
  concurrency?: number | undefined;
  /**
   * The number of calls that the node gets in one JSON-RPC batch; 1 if it takes no batches.
   * @default 1000
   */
  batch_max?: number | undefined;
  /**
   * Where the node takes WebSocket connections.
   * @default where it takes JSON-RPC
   */
  websocket?: WebSocketPlace | undefined;
  /** What is before the name of a wallet in a path at which the node takes JSON-RPC for it. */
  wallets?: string | undefined;
  /**
   * The place of the node's own description: a path below its URL that returns OpenAPI or
   * Swagger, or a JSON-RPC method that returns OpenRPC.
   */
  description?: `/${string}` | MethodCall | undefined;
  /**
   * The request that lists the node's operations, and a rule to find their names in the
   * response. If the kind has JSON-RPC methods, the names are method names; otherwise, they are
   * paths without the leading slash. Those that are not listed are omitted.
   */
  listing?: Listing | undefined;
  /** Places in the node's responses, each with a regular expression. All must match. */
  detect: Readonly<Record<Reference, string>>;
  /** How the node refuses access, and where it stores its secret. */
  auth?: KindAuth | undefined;
  /** Keys to add, each with a constant value. */
  static?: Readonly<Record<string, unknown>> | undefined;
  /** The sources by name. */
  sources: Readonly<Record<string, Source>>;
  /** The keys of the info, each with the place of its value. */
  fields: Readonly<Record<string, Field>>;
  /** The rules for the status. */
  health: KindHealth;
  /**
   * The keys of the info that /v1/history records, at most four.
   * @default [height, peers]
   */
  history?: readonly string[] | undefined;
  /** The source of the operations: URLs of files or folders at a fixed version. */
  written_from?: readonly string[] | undefined;
  /** The software and version with which the read operations were tested, such as hsd 8.0.0. */
  tried?: string | undefined;
  /**
   * The known kind that this kind extends, only in an operator's files. All other keys are then
   * optional. Methods, paths and other members are added to the known kind, or replace its
   * members of the same name.
   */
  extends?: string | undefined;
  /**
   * The operations, by method or operationId, that are less restricted in this file than in the
   * known kind. For example, a write operation becomes a read operation, or a read operation
   * gets other parameters.
   */
  loosen?: readonly string[] | undefined;
}

/** Kinds by name. */
export type Kinds = Readonly<Record<string, Kind>>;
