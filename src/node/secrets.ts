/**
 * Reads a secret from its file or environment variable whenever it is used, since a daemon may
 * write a new secret at each start. A file is read at most once a second, unless the node refuses
 * the secret.
 *
 * @module
 */
import type { SecretPlace } from "../kinds/parts.ts";
import { ExpressionError, findAll } from "../regular-expression.ts";
import { inSlices } from "../slices.ts";
import { PlatformError, readFile, requireVariable, warnOfReaders } from "../platform.ts";

export type Scheme = "basic" | "bearer" | "digest" | "header";

/** Why there is no secret. */
export interface NoSecret {
  readonly reason: string;
  /** The error, if the file or the variable could not be read. */
  readonly error?: PlatformError;
}

export type Secret = { readonly text: string } | NoSecret;

const BOUNDS = { limit: 1024 * 1024, timeout: 2000 } as const;

/** `name` is a file path or the name of an environment variable. */
export function partsOfPlace(place: object): { key: string; name: string; scheme: Scheme } {
  const [key = "", name = ""] = Object.entries(place)
    .find(([key, value]) => /_(file|env)$/.test(key) && value !== undefined) ?? [];
  return { key, name, scheme: key.replace(/_.*/, "") as Scheme };
}

/** How long a reading of a file is used, in milliseconds. */
const READING_MS = 1000;

interface SecretReading {
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly secret: Promise<Secret>;
}

const readings = new Map<string, SecretReading>();

/**
 * Returns the last reading of a file if it has started after `since`. What `match` finds in it is
 * kept, too, since a search may take longer than a call.
 */
function readFileSince(name: string, since: number, match?: string): Promise<Secret> {
  const key = JSON.stringify([name, match]);
  let reading = readings.get(key);
  if (!reading || reading.startedAt <= since) {
    const secret = readSecretFile(name).then((whole) => matchIn(whole, match));
    reading = { startedAt: performance.now(), secret };
    readings.set(key, reading);
  }
  return reading.secret;
}

async function readSecretFile(file: string): Promise<Secret> {
  return await secretOf(async () => new TextDecoder().decode(await readFile(file, BOUNDS)));
}

async function secretOf(read: () => string | Promise<string>): Promise<Secret> {
  try {
    return { text: await read() };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { reason: error.message, error };
  }
}

/** Reads a file in any case, even if it has just been read. */
export async function readNow(place: object): Promise<Secret> {
  const { key, name } = partsOfPlace(place);
  return await (key.endsWith("_file")
    ? readSecretFile(name)
    : secretOf(() => requireVariable(name)));
}

/**
 * @param since an earlier reading of a file is not used (in the time of `performance.now()`)
 * @param match the expression that finds the secret in what is read
 */
export async function readPlace(
  place: object,
  since: number = performance.now() - READING_MS,
  match?: string,
): Promise<Secret> {
  const { key, name } = partsOfPlace(place);
  if (key.endsWith("_file")) return await readFileSince(name, since, match);
  return await matchIn(await readNow(place), match);
}

/** @param since as for {@linkcode readPlace} */
export async function readSecret(place: SecretPlace, since?: number): Promise<Secret> {
  const { scheme } = partsOfPlace(place);
  const match = "match" in place ? place.match : undefined;
  const found = await readPlace(place, since, match);
  if ("reason" in found) return found;
  const text = found.text.trim();
  if (text === "") return { reason: match ? "match finds nothing in it" : "it is empty" };
  // Every runtime accepts printable ASCII in a header. For any other character, a runtime might
  // throw an error that quotes the secret.
  if (!/^[\x20-\x7e]+$/.test(text)) return { reason: "must be one line of printable ASCII" };
  const isPair = scheme === "basic" || scheme === "digest";
  if (isPair && !text.includes(":")) return { reason: "must have the form user:password" };
  if (scheme === "header" && !("header" in place && place.header) && !/^[\w-]+:/.test(text)) {
    return { reason: 'must have the form "Name: value"' };
  }
  return { text };
}

async function matchIn(read: Secret, expression: string | undefined): Promise<Secret> {
  if ("reason" in read || !expression) return read;
  try {
    return { text: await inSlices(findSecret(read.text, expression)) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { reason: "takes too long to search with match" };
  }
}

function* findSecret(text: string, expression: string): Generator<void, string> {
  for (const match of findAll(text, expression, false)) {
    if (match) return match.group ?? "";
    yield;
  }
  return "";
}

export async function checkPlace(place: SecretPlace): Promise<{ name: string; reason?: string }> {
  const secret = await readSecret(place);
  const { name } = partsOfPlace(place);
  return "reason" in secret ? { name, reason: secret.reason } : { name };
}

/** A secret or certificate that the service cannot use. */
export interface Unusable {
  readonly message: string;
  /** As in {@linkcode PlatformError}. */
  readonly dependsOnReader: boolean;
}

export const unusable = (message: string, { error }: NoSecret): Unusable => ({
  message,
  dependsOnReader: error?.dependsOnReader ?? false,
});

export async function checkCredentials(place: SecretPlace): Promise<Unusable | undefined> {
  const secret = await readSecret(place);
  return "reason" in secret ? unusable(cannotRead(place, secret.reason), secret) : undefined;
}

export function cannotRead(place: SecretPlace, reason: string): string {
  const { key, name } = partsOfPlace(place);
  return `cannot read node.auth.${key} ${name}: ${reason}`;
}

export async function findOpenSecrets(place: SecretPlace | undefined): Promise<string[]> {
  const { key, name } = partsOfPlace(place ?? {});
  if (!key.endsWith("_file")) return [];
  const warning = await warnOfReaders(`node.auth.${key}`, name);
  return warning === undefined ? [] : [warning];
}
