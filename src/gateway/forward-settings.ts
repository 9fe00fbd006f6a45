/**
 * What an operator allows to be called at the node.
 *
 * @module
 */

/** What `forward` may be in short: nothing, or what is marked as a read. */
export const FORWARDS = ["off", "reads"] as const;

/** What else people write for these. */
export const FORWARD_ALIASES: Readonly<Record<string, (typeof FORWARDS)[number]>> = {
  ...{ true: "reads", on: "reads", yes: "reads", read: "reads" },
  ...{ false: "off", no: "off", none: "off" },
};

/** How calls of the node are forwarded, in the form of the configuration file. */
export interface ForwardSettings {
  /**
   * What may be called without a token: `reads`, or operations by name, in which `*` stands for any part, but not for
   * what is marked `write` or `secret`. A name is that of a method, an `operationId`, or a method of HTTP with a
   * template of a path, as in `GET /blocks/*`. Where the description is read by HTTP there is neither `*` nor an
   * `operationId`, since whoever serves it decides what these mean.
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

/** What may be called. */
export type Forward = typeof FORWARDS[number] | ForwardSettings;

/** The name of all that is marked as a read. */
export const READS = "reads";

/** The settings of what is said in short; `undefined` where nothing is forwarded. */
export function settingsOf(forward: Forward | undefined): ForwardSettings | undefined {
  if (forward === undefined || forward === "off") return undefined;
  return forward === READS ? { open: [READS] } : forward;
}

/** What else is set, as far as calls depend on it. */
export interface Surroundings {
  /** The host names that are answered for. */
  readonly hosts: readonly string[] | "*";
  /** Whether it is said where the node answers; `undefined` where something else may say it. */
  readonly hasNode: boolean | undefined;
}

/** What does not go together with `forward`: the setting, and what is wrong with it. */
export function* clashesWith(
  settings: ForwardSettings | undefined,
  { hosts, hasNode }: Surroundings,
): Generator<{ readonly key: "hosts" | "forward"; readonly message: string }> {
  if (!settings) return;
  if (hosts === "*") {
    yield {
      key: "hosts",
      message: 'cannot be "*" where calls are forwarded; name the hosts that are served',
    };
  }
  if (settings.origins === "*" && (hosts === "*" || hosts.length === 0)) {
    yield { key: "forward", message: 'has origins: "*", which wants hosts to be named' };
  }
  if (hasNode === false) {
    yield { key: "forward", message: "needs node.url: there is nothing to call" };
  }
}

/** What holds where nothing is said. */
export const FORWARD_DEFAULTS = { timeout: "30s", limit: "32MiB", concurrency: 8 } as const;

/** A size as it is written: `500KiB`, `32MiB`. */
export const SIZE_FORM: RegExp = /^(\d+(?:\.\d+)?)(B|KiB|MiB|GiB)$/;

const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** A size in bytes. */
export function bytesOf(size: string): number {
  const [, number = "0", unit = "B"] = SIZE_FORM.exec(size) ?? [];
  return Math.round(Number(number) * UNITS[unit]!);
}

/** A size in bytes as people read it: `32 MiB`. */
export function sizeText(bytes: number): string {
  const unit = ["GiB", "MiB", "KiB"].find((unit) =>
    bytes >= UNITS[unit]! && bytes % UNITS[unit]! === 0
  );
  return unit === undefined ? `${bytes} bytes` : `${bytes / UNITS[unit]!} ${unit}`;
}

/** The methods of HTTP that are forwarded, where the node has them. OPTIONS is this service's own. */
export const CALL_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
