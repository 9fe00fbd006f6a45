/**
 * Tells browsers from programs, and pages of the service from those of other origins.
 *
 * | asked                 | of                                 | against                          |
 * | --------------------- | ---------------------------------- | -------------------------------- |
 * | `isAllowedCaller`     | calls, `/v1/events`, `/v1/history` | pages of other origins that call |
 * | `isFromOtherOrigin`   | a host's operations that change    | the same, where the host has     |
 * |                       | something                          | CORS middleware of its own       |
 * | `isReadByOtherOrigin` | a host's `GET`, `/v1/metrics`      | such pages that read             |
 * | `isProgram`           | names that anybody may claim,      | DNS rebinding, and credentials   |
 * |                       | tokens in HTTP Basic, cookies      | that a browser adds by itself    |
 * | `looksLikeBrowser`    | the headers that are passed on     | what the node would take amiss   |
 *
 * @module
 */

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
   sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-gpc sec-purpose`.split(/\s+/);

type PageRequest = Pick<Request, "url" | "headers">;

/** @param trustsHeader false if pages of other origins may send `X-Nodeface` */
export function isAllowedCaller(
  request: PageRequest & Pick<Request, "method">,
  origins: readonly string[] | "*",
  trustsHeader: boolean,
): boolean {
  const { method, headers } = request;
  const [origin, site] = [headers.get("origin"), headers.get("sec-fetch-site")];
  if (origin === "null") return false;
  const destination = headers.get("sec-fetch-dest");
  const mode = headers.get("sec-fetch-mode");
  const isUsual = destination === null || destination === "empty" ||
    // WebKit names the destination of a handshake, which the Fetch standard leaves empty.
    (destination === "websocket" && mode === "websocket") ||
    (destination === "document" && method === "GET" && mode === "navigate");
  if (!isUsual) return false;
  if (origin !== null && (origins === "*" || origins.includes(origin))) return true;
  // `Sec-Fetch-Site` is checked first, since a proxy may allow a cross-site page to send
  // `X-Nodeface`.
  if (site !== null) return isOwnSite(site);
  // A page that may send the header to another origin sends `Origin`, too.
  if (headers.has(OWN_HEADER) && (trustsHeader || origin === null)) return true;
  const from = origin ?? headers.get("referer");
  return from === null ? !looksLikeBrowser(headers) : isOwnPage(from, request);
}

/** Browsers send `Sec-Fetch-Site` only to HTTPS and loopback addresses (Fetch Metadata, 2.3). */
export function isFromOtherOrigin(request: PageRequest): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return !isOwnSite(site);
  const origin = request.headers.get("origin");
  return origin !== null && !isOwnPage(origin, request);
}

/**
 * Tells whether a page of another origin could read the response, if the host's own CORS middleware
 * allowed it. A link of a page, which browsers follow without `Origin`, shows it no response.
 */
export function isReadByOtherOrigin(request: PageRequest): boolean {
  return request.headers.has("origin") && isFromOtherOrigin(request);
}

/**
 * Tells programs from browsers where a page could have the same host name as this service, and
 * would then be allowed to send any header that is not forbidden (Fetch standard). Every browser
 * sends `Accept-Language`, and no page can leave it out. Node's `fetch` sends it too, with
 * `Sec-Fetch-Mode` but no `Sec-Fetch-Site`. Deno's `fetch` sends `*`, and no `Connection` (Node 20
 * to 26, Deno 2.9).
 */
export function isProgram(headers: Pick<Headers, "get" | "has">): boolean {
  if (looksLikeBrowser(isOwnHandshake(headers) ? withoutOrigin(headers) : headers)) return false;
  const language = headers.get("accept-language");
  if (language === null || headers.has("sec-fetch-mode")) return true;
  return language === "*" && !headers.has("connection") &&
    /^deno\//i.test(headers.get("user-agent") ?? "");
}

/**
 * Python's `websocket-client` and Swift's Starscream send the origin of the address to which they
 * connect, the latter with its scheme.
 */
function isOwnHandshake(headers: Pick<Headers, "get" | "has">): boolean {
  const [origin, host] = ["origin", "host"].map((name) => headers.get(name));
  const [scheme] = /^(?:http|ws)s?:\/\/(?=[^/@]+$)/.exec(origin ?? "") ?? [];
  const isOwn = !!host && !!scheme && authorityOf(origin!) === authorityOf(scheme + host);
  return isOwn && headers.has("sec-websocket-key");
}

const withoutOrigin = (headers: Pick<Headers, "get" | "has">): typeof headers => ({
  get: (name) => name === "origin" ? null : headers.get(name),
  has: (name) => name !== "origin" && headers.has(name),
});

export function looksLikeBrowser(
  headers: Pick<Headers, "get" | "has">,
): boolean {
  return BROWSER_HEADERS.some((name) => headers.has(name)) ||
    // A browser's handshake has `Origin`. Other clients send these headers with a handshake only.
    (headers.has("sec-websocket-key") && !headers.has("upgrade")) ||
    hasNameOfBrowser(headers);
}

function hasNameOfBrowser(headers: Pick<Headers, "get">): boolean {
  const name = headers.get("user-agent") ?? "";
  return NAME_OF_BROWSER.test(name) && !NAME_OF_PROGRAM.test(name);
}

/** Some programs have such a name, too. */
export const NAME_OF_BROWSER: RegExp = /^Mozilla\//i;

/**
 * PowerShell, Visual Basic and Google Apps Script. As with `X-Nodeface`, a page of another origin
 * cannot send such a name without a CORS preflight.
 */
const NAME_OF_PROGRAM = new RegExp(
  String.raw`\) (?:Windows)?PowerShell/\S+$` +
    String.raw`|\(compatible; (?:Win32; WinHttp\.WinHttpRequest\.|Google-Apps-Script;)`,
);

const isOwnSite = (site: string): boolean => site === "same-origin" || site === "none";

/**
 * Tells whether a page belongs to this service. Some proxies add the default port to `Host`, which
 * browsers leave out of `Origin`. The pages of files and apps have other schemes.
 */
function isOwnPage(page: string, { url, headers }: PageRequest): boolean {
  const [scheme] = /^(?:http|ws)s?:/i.exec(page) ?? [];
  const host = headers.get("host") ?? authorityOf(url) ?? "";
  const own = scheme && authorityOf(`${scheme}//${host}`);
  return own !== undefined && authorityOf(page) === own;
}

function authorityOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
