/**
 * What an operator allows to be called at the node.
 *
 * @module
 */

/** How calls of the node are forwarded, in the form of the configuration file. */
export interface ForwardSettings {
  /**
   * What may be called without a token: `reads`, or operations by name, which `*` stands for a part of. A name is
   * that of a method, an `operationId`, or a method of HTTP with a template of a path, as in `GET /blocks/*`.
   */
  open?: readonly string[] | undefined;
  /** What may be called with the token, in the same form. */
  with_token?: readonly string[] | undefined;
  /** The file that holds the token. */
  token_file?: string | undefined;
  /** The environment variable that holds the token. */
  token_env?: string | undefined;
  /** The origins whose pages may call; `"*"`, for what is open alone. @default [] */
  origins?: readonly string[] | "*" | undefined;
  /** For the whole answer. @default "30s" */
  timeout?: string | undefined;
  /** The longest answer. @default "32MiB" */
  limit?: string | undefined;
  /** How many calls may be at the node at a time. @default 8 */
  concurrency?: number | undefined;
}

/** The same in short: nothing, or what is marked as a read. */
export type Forward = "off" | "reads" | ForwardSettings;
