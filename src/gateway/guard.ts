/**
 * Authorizes callers, and refuses calls that the policy refuses. A page on any site can make a browser send requests to
 * this machine, so a request from a browser must prove that it is from our own page or an allowed origin.
 *
 * @module
 */
import { CODES } from "../node/json-rpc.ts";
import { readPlace, settingOf } from "../node/secrets.ts";
import type { Call } from "./call.ts";
import type { Permission, PolicyEntry, ResolvedForward } from "./policy.ts";
import { LATER, type Refusal } from "./response.ts";

export class Guard {
  readonly #forward: Pick<ResolvedForward, "origins" | "token_file" | "token_env">;
  constructor(forward: Pick<ResolvedForward, "origins" | "token_file" | "token_env">) {
    this.#forward = forward;
  }

  /** @param what completes the message "Pages of other origins may not call …" */
  refusalForPage(
    request: Request,
    permission: Permission = "open",
    what: string = "the node",
  ): Refusal | undefined {
    const { origins } = this.#forward;
    // `"*"` covers only public operations. Any origin may learn that an operation is refused.
    const allowed = origins === "*" && permission === "token" ? [] : origins;
    if (isAllowedCaller(request, allowed)) return undefined;
    return {
      ...{ status: 403, code: CODES.notAllowed, setting: "forward.origins" },
      message: `Pages of other origins may not call ${what}`,
      more: ", nor can a browser's address bar over plain http; use the explorer at /v1/spec",
    };
  }

  async refusalFor(
    { request, query }: Pick<Call, "request" | "query">,
    { operation: { name }, permission, reason }: PolicyEntry,
    what?: string,
  ): Promise<Refusal | undefined> {
    const foreign = this.refusalForPage(request, permission, what);
    if (foreign || permission === "open") return foreign;
    if (permission === "refused") {
      return {
        ...{ status: 403, code: CODES.notAllowed, setting: "forward" },
        message: `${name} is not forwarded: ${reason}`,
        more: '. See the setting "forward"',
      };
    }
    if (hasTokenInQuery(query)) return TOKEN_IN_QUERY;
    const about = { code: CODES.wantsToken, setting: "forward.token_file" };
    const known = await readToken(this.#forward);
    if ("reason" in known) {
      const message = "The service cannot read the operator's token at the moment";
      return { ...about, status: 503, message, headers: LATER };
    }
    const given = request.headers.get("authorization");
    if (await isToken(known.token, given)) return undefined;
    const isGiven = /^bearer /i.test(given ?? "");
    // RFC 6750, section 3.1.
    const error = isGiven ? ', error="invalid_token"' : "";
    return {
      ...{ ...about, status: 401 },
      message: isGiven ? "The token is not valid" : `${name} needs the operator's token`,
      more: isGiven ? "" : ": send it as Authorization: Bearer",
      headers: { "www-authenticate": `Bearer realm="nodeface"${error}` },
    };
  }

  async hasToken({ headers }: Request): Promise<boolean> {
    if (!headers.has("authorization")) return false;
    const known = await readToken(this.#forward);
    return "token" in known && await isToken(known.token, headers.get("authorization"));
  }
}

export const TOKEN_IN_QUERY: Refusal = {
  ...{ status: 400, code: CODES.invalidCall },
  message: "Send the token as Authorization: Bearer, never in the URL",
};

export function hasTokenInQuery(query: string): boolean {
  const parameters = new URLSearchParams(query);
  return parameters.has("token") || parameters.has("access_token");
}

/** The syntax of a token (RFC 6750, section 2.1). */
const FORM = /^[A-Za-z0-9._~+/-]{32,}=*$/;

export async function readToken(
  { token_file, token_env }: Pick<ResolvedForward, "token_file" | "token_env">,
): Promise<{ readonly token: string } | { readonly reason: string }> {
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
    reason: `${setting} must be a token of at least 32 characters from A-Z a-z 0-9 . _ ~ + / -`,
  };
}

/** Tells whether a request has the token. Digests are compared, since the time that takes does not reveal the token. */
async function isToken(token: string, authorization: string | null): Promise<boolean> {
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

/** A header that the explorer sends. A cross-origin page cannot send it without a CORS preflight. */
const OWN_HEADER = "x-nodeface";

/** Headers that only browsers send. `Sec-Fetch-Mode` is omitted, since `fetch` in Node 20 to 26 sends it too. */
const BROWSER_HEADERS = [
  ...["origin", "referer", "cookie", "sec-fetch-site", "sec-fetch-dest", "sec-fetch-user"],
  ...["sec-fetch-storage-access", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"],
  ...["sec-gpc", "sec-purpose", "sec-websocket-key", "sec-websocket-version"],
];

/** @param origins the origins whose pages may call; `"*"` for any */
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
  // Our own header does not override `Sec-Fetch-Site`: a proxy in front may have let a cross-site page send our header.
  if (site !== null) return site === "same-origin" || site === "none";
  if (headers.has(OWN_HEADER)) return true;
  const from = origin ?? headers.get("referer");
  if (from !== null) {
    const own = headers.get("host")?.toLowerCase() ?? authorityOf(url);
    return own !== undefined && authorityOf(from) === own;
  }
  return !looksLikeBrowser(headers);
}

export function looksLikeBrowser(headers: Pick<Headers, "get" | "has">): boolean {
  return BROWSER_HEADERS.some((name) => headers.has(name)) ||
    /^Mozilla\//i.test(headers.get("user-agent") ?? "");
}

function authorityOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
