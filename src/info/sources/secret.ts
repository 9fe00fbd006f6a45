/**
 * Where secrets lie, and what is there. A secret is read at every use, since a daemon may write a new one when it
 * starts.
 *
 * @module
 */
import type { AuthFile } from "../../kinds/kind.ts";
import { PlatformError, readFile, readVariable } from "../../platform.ts";
import type { AuthVariable } from "../settings.ts";

/** Where a secret may lie. */
export type Place = AuthFile | AuthVariable;

/** What a secret is for. */
export type Scheme = "basic" | "bearer" | "digest" | "header";

/** A secret, or a clause that says why there is none. */
export type Secret = { readonly text: string } | { readonly reason: string };

/** For one file: it holds a line of text. */
const BOUNDS = { limit: 1024 * 1024, timeout: 2000 } as const;

/** The setting that names a place, and its value: a path or a variable, never what is there. */
export function settingOf(place: Place): { key: string; name: string; scheme: Scheme } {
  const [key = "", name = ""] = Object.entries(place).find(([key]) => /_(file|env)$/.test(key)) ??
    [];
  return { key, name, scheme: key.replace(/_.*/, "") as Scheme };
}

/** Reads a secret. */
export async function readSecret(place: Place): Promise<Secret> {
  const { key, name, scheme } = settingOf(place);
  const found = key.endsWith("_file") ? await readText(name) : variable(name);
  if ("reason" in found) return found;
  const pattern = "match" in place && place.match;
  const text = (pattern ? new RegExp(pattern).exec(found.text)?.[1] : found.text)?.trim() ?? "";
  // Printable ASCII: what a header can carry on every runtime, none of which then quotes it in an error.
  if (!/^[\x20-\x7e]+$/.test(text)) return { reason: "it holds no line of printable ASCII" };
  const isPair = scheme === "basic" || scheme === "digest";
  if (isPair && !text.includes(":")) return { reason: "it holds no user:password" };
  if (scheme === "header" && !("header" in place && place.header) && !/^[\w-]+:/.test(text)) {
    return { reason: 'it holds no line "Name: value"' };
  }
  return { text };
}

async function readText(path: string): Promise<Secret> {
  try {
    return { text: new TextDecoder().decode(await readFile(path, BOUNDS)) };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { reason: error.message };
  }
}

function variable(name: string): Secret {
  const text = readVariable(name);
  return text === undefined ? { reason: "there is no such variable" } : { text };
}
