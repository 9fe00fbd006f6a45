/**
 * The operator's token, which opens what not everybody may call.
 *
 * @module
 */
import { PlatformError, readFile, readVariable } from "../platform.ts";

/** What a token looks like (RFC 6750, section 2.1). */
const FORM = /^[A-Za-z0-9._~+/-]{32,}=*$/;

const BOUNDS = { limit: 4096, timeout: 2000 } as const;

/** Where the token lies. */
export interface TokenPlace {
  readonly token_file?: string | undefined;
  readonly token_env?: string | undefined;
}

/** A token, or why there is none: a line for the operator. */
export type Token = { readonly token: string } | { readonly reason: string };

/** Reads the token, anew each time. */
export async function readToken(place: TokenPlace): Promise<Token> {
  const { token_file: file, token_env: variable } = place;
  if (file === undefined && variable === undefined) {
    return { reason: "there is no token; set token_file or token_env" };
  }
  const name = file === undefined ? `forward.token_env ${variable}` : `forward.token_file ${file}`;
  let text: string | undefined;
  try {
    text = file === undefined
      ? readVariable(variable!)
      : new TextDecoder().decode(await readFile(file, BOUNDS));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { reason: `cannot read ${name}: ${error.message}` };
  }
  const token = text?.trim() ?? "";
  if (token === "") return { reason: `${name} holds no token` };
  if (FORM.test(token)) return { token };
  return { reason: `${name} must hold 32 or more characters of A-Z, a-z, 0-9, . _ ~ + / and -` };
}

/**
 * Whether somebody has the token. Digests of equal length are compared, so that the time says nothing of it.
 *
 * @param authorization the header, in which any other scheme counts as no token
 */
export async function hasToken(token: string, authorization: string | null): Promise<boolean> {
  const [, given] = /^bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  if (given === undefined) return false;
  const [a, b] = await Promise.all(
    [token, given].map(async (text) =>
      new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
    ),
  );
  let difference = 0;
  for (let at = 0; at < a!.length; at++) difference |= a![at]! ^ b![at]!;
  return difference === 0;
}
