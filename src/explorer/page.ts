/**
 * `GET /v1/spec`: the explorer page, from the static file `static/explorer.html`.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";
import type { Platform } from "../platform.ts";
import type { Manifest } from "./manifest.ts";

/**
 * What the page may do: run this service's own files, and ask this service and the servers of the
 * description (CSP level 3).
 */
const contentSecurityPolicy = (origins: readonly string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    ["connect-src 'self'", ...origins].join(" "),
    "img-src 'self' data:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** What the page needs to know of the description. */
export interface Described {
  /** The origins of its servers. */
  readonly origins: readonly string[];
  /** What a reader should know of it, as plain text. */
  readonly notice: string | undefined;
}

/**
 * Prepares the explorer page.
 *
 * @param template the page, in which `{explorer}` and `{scalar}` stand for the folders of the
 * explorer's files
 * @param manifest names these folders
 * @param description what is shown
 * @param platform what encodes brotli, if anything does
 */
export function preparePage(
  template: string,
  manifest: Pick<Manifest, "explorer" | "scalar">,
  { origins, notice }: Described,
  platform: Platform,
): Promise<Representation> {
  const html = template
    .replaceAll("{notice}", notice === undefined ? "" : `<p role="alert">${notice}</p>`)
    .replaceAll("{explorer}", manifest.explorer)
    .replaceAll("{scalar}", manifest.scalar);
  return represent(html, {
    type: "text/html; charset=utf-8",
    cache: "public, no-cache",
    headers: {
      "content-security-policy": contentSecurityPolicy(origins),
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    },
  }, platform);
}
