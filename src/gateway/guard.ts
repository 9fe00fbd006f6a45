/**
 * Recognizes callers by the operator's token and by the origin of their page. Any web page can make
 * a browser send requests to this machine, so a request from a browser must come from our page or
 * from an allowed origin.
 *
 * @module
 */
import { CODES } from "../node/json-rpc.ts";
import { readPlace, settingOf } from "../node/secrets.ts";
import type { Permission, PolicyEntry, ResolvedForward } from "./policy.ts";
import { invalidCall, LATER, Refusal } from "./response.ts";

export const TOKEN_IN_QUERY: Refusal = invalidCall(
  "Send the token in the Authorization header (Bearer), never in the URL",
);

const TOKEN_SETTING = "forward.token_file";

const NO_TOKEN = new Refusal(
  503,
  CODES.wantsToken,
  "The service cannot read the operator's token at the moment",
  { setting: TOKEN_SETTING, headers: LATER },
);

type ReadToken = { readonly token: string } | { readonly reason: string };

/** The client that sent a request. All calls of a batch are judged by one reading of the token. */
export class Caller {
  hasToken = false;
  readonly #request: Request;
  readonly #query: string;
  readonly #forward: ResolvedForward;
  #token: ReadToken | undefined;
  constructor(request: Request, query: string, forward: ResolvedForward) {
    this.#request = request;
    this.#query = query;
    this.#forward = forward;
  }

  /** Must be called before any other method. */
  async readToken(): Promise<void> {
    const authorization = this.#request.headers.get("authorization");
    // The file is not opened for clients that send no token.
    if (authorization === null && this.#forward.token_file !== undefined) return;
    const token = this.#token = await readToken(this.#forward);
    this.hasToken = "token" in token && await isToken(token.token, tokenIn(this.#request.headers));
  }

  /** `what` completes the message "Pages of other origins may not call …". */
  refusalForPage(permission: Permission = "open", what: string = "the node"): Refusal | undefined {
    const { origins } = this.#forward;
    // `origins: "*"` does not allow calls that need the token.
    const allowed = origins === "*" && permission === "token" ? [] : origins;
    if (isAllowedCaller(this.#request, allowed)) return undefined;
    return new Refusal(403, CODES.notAllowed, `Pages of other origins may not call ${what}`, {
      setting: "forward.origins",
      more: "; if you typed this URL into a browser, use the explorer at /v1/spec instead",
    });
  }

  /** Must be called before anything is sent to the node. */
  refusal(
    { operation: { name }, permission, reason }: PolicyEntry,
    what?: string,
  ): Refusal | undefined {
    const foreign = this.refusalForPage(permission, what);
    if (foreign || permission === "open") return foreign;
    if (permission === "refused") {
      return new Refusal(403, CODES.notAllowed, `${name} is not forwarded: ${reason}`, {
        setting: "forward",
        more: '. See the setting "forward"',
      });
    }
    if (hasTokenInQuery(this.#query)) return TOKEN_IN_QUERY;
    if (this.hasToken) return undefined;
    if (this.#token && "reason" in this.#token) return NO_TOKEN;
    const isGiven = /^bearer /i.test(this.#request.headers.get("authorization") ?? "");
    // A client that sent no token gets no error code (RFC 6750, section 3.1).
    const error = isGiven ? ', error="invalid_token"' : "";
    const message = isGiven ? "The token is not valid" : `${name} needs the operator's token`;
    return new Refusal(401, CODES.wantsToken, message, {
      setting: TOKEN_SETTING,
      more: isGiven ? "" : ": send it as Authorization: Bearer",
      headers: { "www-authenticate": `Bearer realm="nodeface"${error}` },
    });
  }

  /**
   * @param described the headers for the node that its operation describes
   * @param others the other headers, the path and the query
   * @throws {Refusal} if one of them contains the operator's token
   */
  async checkSent(
    described: Readonly<Record<string, string>>,
    others: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { token_file, token_env } = this.#forward;
    const sent = { ...others, ...described };
    const long = Object.entries(sent).filter(([, value]) => LONG_WORD.test(value));
    if (long.length === 0 || (token_file ?? token_env) === undefined) return;
    const known = this.#token ??= await readToken(this.#forward);
    if ("reason" in known) {
      // Most calls have a long word, and must not fail with the token.
      if (long.some(([name]) => name in described)) throw NO_TOKEN;
      return;
    }
    const leak = long.find(([, value]) => holdsToken(value, known.token));
    if (!leak) return;
    const place = /^(?:path|query)$/.test(leak[0]) ? leak[0] : `header ${leak[0]}`;
    throw invalidCall(`The ${place} contains the operator's token, which is never forwarded`);
  }
}

export function hasTokenInQuery(query: string): boolean {
  const parameters = new URLSearchParams(query);
  return parameters.has("token") || parameters.has("access_token");
}

export const TOKEN_LENGTH_MIN = 32;
/** The syntax of a token (RFC 6750, section 2.1). */
const FORM = new RegExp(`^[A-Za-z0-9._~+/-]{${TOKEN_LENGTH_MIN},}=*$`);
/** A word that may contain a token. */
const LONG_WORD = new RegExp(`[\\w.~+/-]{${TOKEN_LENGTH_MIN}}`);
/** A word in base64 that is long enough to contain a token. */
const BASE64 = new RegExp(`[\\w+/-]{${TOKEN_LENGTH_MIN},}={0,2}`, "g");

export async function readToken(
  { token_file, token_env }: Pick<ResolvedForward, "token_file" | "token_env">,
): Promise<ReadToken> {
  const place = token_file === undefined ? { token_env } : { token_file };
  const { key, name } = settingOf(place);
  if (key === "") return { reason: "no token is configured; set token_file or token_env" };
  const setting = `forward.${key} ${name}`;
  const found = await readPlace(place);
  if ("reason" in found) return { reason: `cannot read ${setting}: ${found.reason}` };
  const token = found.text.trim();
  if (token === "") return { reason: `${setting} is empty` };
  if (FORM.test(token)) return { token };
  return {
    reason: `${setting} must be a token of at least ${TOKEN_LENGTH_MIN} characters from A-Z a-z ` +
      `0-9 . _ ~ + / -`,
  };
}

/**
 * Returns the token of a request. Programs such as `bitcoin-cli` can send it only as the password
 * of HTTP Basic. A browser that knows a password sends it with requests of foreign pages, too.
 */
function tokenIn(headers: Headers): string | undefined {
  const authorization = headers.get("authorization") ?? "";
  const [, scheme = "", word = ""] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === "bearer") return word;
  if (scheme === "" || !isProgram(headers)) return undefined;
  try {
    const pair = atob(word);
    return pair.slice(pair.indexOf(":") + 1);
  } catch {
    return undefined;
  }
}

/** Compares digests, so that the time of the comparison does not reveal the token. */
async function isToken(token: string, given: string | undefined): Promise<boolean> {
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

/** Tells whether a text contains the token, either as it is or in base64, as in HTTP Basic. */
export function holdsToken(text: string, token: string): boolean {
  if (text.includes(token)) return true;
  return [...text.matchAll(BASE64)].some(([word]) => {
    try {
      return atob(word.replaceAll("-", "+").replaceAll("_", "/")).includes(token);
    } catch {
      return false;
    }
  });
}

/**
 * The explorer sends this header. A page of another origin cannot send this header without a CORS
 * preflight.
 */
const OWN_HEADER = "x-nodeface";

/**
 * Headers that only browsers send. `Sec-Fetch-Mode` is missing here: Node's `fetch` sends it too
 * (Node 20 to 26).
 */
const BROWSER_HEADERS: readonly string[] =
  `origin referer cookie sec-fetch-site sec-fetch-dest sec-fetch-user sec-fetch-storage-access
   sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-gpc sec-purpose sec-websocket-key
   sec-websocket-version`.split(/\s+/);

export function isAllowedCaller(
  { method, url, headers }: Pick<Request, "method" | "url" | "headers">,
  origins: readonly string[] | "*",
): boolean {
  const [origin, site] = [headers.get("origin"), headers.get("sec-fetch-site")];
  if (origin === "null") return false;
  const destination = headers.get("sec-fetch-dest");
  const isUsual = destination === null || destination === "empty" ||
    (destination === "document" && method === "GET" &&
      headers.get("sec-fetch-mode") === "navigate");
  if (!isUsual) return false;
  if (origin !== null && (origins === "*" || origins.includes(origin))) return true;
  // `Sec-Fetch-Site` is checked first, since a proxy may allow a cross-site page to send
  // `X-Nodeface`.
  if (site !== null) return site === "same-origin" || site === "none";
  if (headers.has(OWN_HEADER)) return true;
  const from = origin ?? headers.get("referer");
  if (from !== null) {
    const own = headers.get("host")?.toLowerCase() ?? authorityOf(url);
    return own !== undefined && authorityOf(from) === own;
  }
  return !looksLikeBrowser(headers);
}

/**
 * Tells programs from browsers where a page could have the same host name as this service, and
 * would then be allowed to send any header that is not forbidden (Fetch standard). Every browser
 * sends `Accept-Language`, and no page can leave it out. Node's `fetch` sends it too, with
 * `Sec-Fetch-Mode` but no `Sec-Fetch-Site`. Deno's `fetch` sends `*`, and no `Connection` (Node 20
 * to 26, Deno 2.9).
 */
export function isProgram(headers: Pick<Headers, "get" | "has">): boolean {
  if (looksLikeBrowser(headers)) return false;
  const language = headers.get("accept-language");
  if (language === null || headers.has("sec-fetch-mode")) return true;
  return language === "*" && !headers.has("connection") &&
    /^deno\//i.test(headers.get("user-agent") ?? "");
}

export function looksLikeBrowser(
  headers: Pick<Headers, "get" | "has">,
): boolean {
  return BROWSER_HEADERS.some((name) => headers.has(name)) ||
    /^Mozilla\//i.test(headers.get("user-agent") ?? "");
}

function authorityOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
