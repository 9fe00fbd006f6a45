/**
 * Keeps pages of other origins away from the node. A page on any site can make a browser send requests to this
 * machine; so what comes from a browser has to show that it is ours, rather than fail to show that it is foreign.
 *
 * @module
 */

/** The header that the explorer sends, and its `curl` lines: it makes browsers ask first. */
export const OWN_HEADER = "x-nodeface";

/**
 * What only browsers send. `Sec-Fetch-Mode` is not among them: the `fetch` of Node 20 to 26 sends it alone, and
 * browsers never without `Sec-Fetch-Site` (Fetch Metadata, section 3).
 */
const BROWSER_HEADERS = [
  "origin",
  "referer",
  "cookie",
  "sec-fetch-site",
  "sec-fetch-dest",
  "sec-fetch-user",
  "sec-fetch-storage-access",
  "sec-ch-ua",
  "sec-ch-ua-mobile",
  "sec-ch-ua-platform",
  "sec-gpc",
  "sec-purpose",
  "sec-websocket-key",
  "sec-websocket-version",
];

/**
 * Whether a request for a call of the node may be answered. Where a browser says that a page of elsewhere sends it,
 * the header of our own does not count: a proxy in front may have let that page send it.
 *
 * @param origins whose pages may call; `"*"` for any
 */
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
  if (site !== null) return site === "same-origin" || site === "none";
  if (headers.has(OWN_HEADER)) return true;
  const from = origin ?? headers.get("referer");
  if (from !== null) {
    const own = headers.get("host")?.toLowerCase() ?? authorityOf(url);
    return own !== undefined && authorityOf(from) === own;
  }
  return !looksLikeBrowser(headers);
}

/** Whether something in a request is what only browsers send. Each of theirs has at least its `User-Agent`. */
export function looksLikeBrowser(headers: Pick<Headers, "get" | "has">): boolean {
  return BROWSER_HEADERS.some((name) => headers.has(name)) ||
    /^Mozilla\//i.test(headers.get("user-agent") ?? "");
}

/** The host and port of an origin or a URL, as `Host` has them; `undefined` where it has none. */
function authorityOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
