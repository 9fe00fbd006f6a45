/**
 * The types of settings. Written by `npm run schema` from the tables in `src/settings/` and
 * `src/options-schema.ts`.
 *
 * @module
 */
import type { Field, Source } from "./kinds/kind.ts";
import type { SecretPlace } from "./kinds/parts.ts";
import type { Duration } from "./units.ts";

/** The keys of `node`: see [Configuration](../docs/configuration.md#node). */
export interface NodeOptions {
  /** The node's URL, such as http://127.0.0.1:8545. */
  url?: string | URL | undefined;
  /**
   * The kind of the node, or "none" to use only the settings in info.
   * @default detected
   */
  kind?: string | undefined;
  /**
   * The URL for WebSocket connections to the same node: expect is verified at url.
   * @default url, with the path and port of the kind
   */
  ws?: string | undefined;
  /**
   * The file or variable with the node's secret. Only the origin of node.url receives the
   * secret. Responses that contain a secret of at least 8 characters are refused or cut off.
   * @default on this machine, the usual secret files of this kind of node
   */
  auth?: SecretPlace | undefined;
  /**
   * An additional certificate authority to trust for https.
   * @default the authorities that the runtime trusts
   */
  tls?: { ca_file: string } | undefined;
  /**
   * The maximum time of a query, but at least 3s until the kind is known; calls have
   * forward.timeout.
   * @default 2s
   */
  timeout?: Duration | undefined;
  /**
   * The identity of the node: values that /v1/info must have. If another node responds, its
   * status is degraded (wrong_network), and calls are not forwarded.
   * @default any node
   */
  expect?: Readonly<Record<string, string | number>> | undefined;
  /**
   * If true, the service asks the node which methods of its kind it lacks. Only a node on this
   * machine or in its network is asked.
   * @default true
   */
  ask_methods?: boolean | undefined;
}

/** The keys of `node`: see [Configuration](../docs/configuration.md#node). */
export interface NodeSettings extends NodeOptions {
  /** The node's URL, such as http://127.0.0.1:8545. */
  url?: string | undefined;
}

/** The keys of `info`: see [Configuration](../docs/configuration.md#info). */
export interface InfoSettings {
  /**
   * The minimum time between queries of a responding node.
   * @default 1s
   */
  ttl?: Duration | undefined;
  /**
   * The time for which the last known values are shown after the node stops responding.
   * @default 60s
   */
  stale?: Duration | undefined;
  /** Keys to add, each with a constant value. */
  static?: Readonly<Record<string, unknown>> | undefined;
  /** Keys to omit. */
  hide?: readonly string[] | undefined;
  /**
   * The longest interval between queries of the node, even without requests of clients. In a
   * host program, the default is off.
   * @default 30s
   */
  watch?: Duration | "off" | undefined;
  /**
   * The period that /v1/history covers: at most 24h, in at most 240 samples.
   * @default 1h
   */
  history?: Duration | "off" | undefined;
  /**
   * The node counts as stalled if it has no new block for this time.
   * @default depends on the kind and network
   */
  stalled_after?: Duration | "off" | undefined;
  /** Sources by name, which extend or replace the kind's sources. */
  sources?: Readonly<Record<string, Source>> | undefined;
  /**
   * Keys to add or replace. Each key needs a place such as net#/version, or an object with
   * "from".
   */
  fields?: Readonly<Record<string, Field>> | undefined;
}

/** The keys of `events`: see [Configuration](../docs/configuration.md#events). */
export interface EventSettings {
  /**
   * The maximum number of concurrent /v1/events streams.
   * @default 1000
   */
  listeners?: number | undefined;
  /**
   * The maximum number of streams to one client address. Behind a proxy, all clients have the
   * proxy's address. If the host does not pass the client's address, only `listeners` counts.
   * @default 250
   */
  per_address?: number | undefined;
}

/** The keys of `forward.clients`: see [Configuration](../docs/configuration.md#forwardclients). */
export interface ClientSettings {
  /** The name of the client in the log and in metrics. */
  name: string;
  /**
   * A file with the client's token: at least 32 characters, preferably hexadecimal. A new token
   * works within a second.
   */
  token_file?: string | undefined;
  /** An environment variable with the client's token. */
  token_env?: string | undefined;
  /**
   * The operations that the client may call, named as in forward.open. Operations marked "write"
   * or "secret" must be named in full, without "*". "/wallet/NAME METHOD" allows a method for
   * one wallet of Bitcoin Core.
   */
  allow: readonly string[];
  /**
   * The maximum number of slots that the client may use at the same time.
   * @default all slots that other clients do not need
   */
  concurrency?: number | undefined;
  /**
   * The maximum number of the client's calls per minute.
   * @default unlimited
   */
  per_minute?: number | undefined;
}

/** The keys of `forward`: see [Configuration](../docs/configuration.md#forward). */
export interface ForwardSettings {
  /**
   * The operations that need no token, by name; "reads" allows all read operations. A name is a
   * JSON-RPC method, an operationId, or an HTTP method with a path template. A "*" in a name
   * matches any text. Operations marked "write" or "secret" always need a token. Marks, "*" and
   * operationIds from a URL or the node do not work here.
   * @default []
   */
  open?: readonly string[] | undefined;
  /**
   * Clients with a name. Each may call the operations in forward.open and in its own list.
   * @default []
   */
  clients?: readonly ClientSettings[] | undefined;
  /**
   * The origins whose pages may call the node, in addition to this service's origin. "*" allows
   * only calls that need no token.
   * @default []
   */
  origins?: readonly string[] | "*" | undefined;
  /**
   * The maximum duration of a call with its response, unless it waits for events.
   * @default 30s
   */
  timeout?: Duration | undefined;
  /**
   * The maximum size of a response (of JSON-RPC at most 40MiB, with a token 64MiB), and of the
   * body of a REST call.
   * @default 32MiB
   */
  limit?: string | undefined;
  /**
   * The maximum number of concurrent calls. Of each share, up to 1000 more calls wait, for at
   * most 15 s.
   * @default 64 (Monero 16, Bitcoin's family 8)
   */
  concurrency?: number | undefined;
  /**
   * The maximum number of calls per minute from all callers without a token together.
   * @default unlimited
   */
  per_minute?: number | undefined;
  /**
   * If true, the node's own paths are also served at the root.
   * @default true, but false in a host program
   */
  at_root?: boolean | undefined;
}

/** The keys of `page`: see [Configuration](../docs/configuration.md#page). */
export interface PageSettings {
  /**
   * The title of the page.
   * @default the name of the node
   */
  title?: string | undefined;
  /**
   * An image file: PNG, SVG, JPEG, WebP, GIF or ICO, at most 256 KiB. The image appears beside
   * the title and as the page icon.
   * @default the first letter of the title
   */
  logo?: Uint8Array | undefined;
  /**
   * The page at /v1/spec: Scalar's reference, or the simple page.
   * @default reference, or simple if the description has more than 300 operations
   */
  view?: "reference" | "simple" | undefined;
}
