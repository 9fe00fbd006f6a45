/**
 * `GET /v1/spec`: the explorer page, from the static file `static/explorer.html`.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";
import type { Platform } from "../platform.ts";
import type { Manifest } from "./manifest.ts";

/** What the page may do: run this service's own files, and ask this service (CSP level 3). */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Prepares the explorer page.
 *
 * @param template the page, in which `{explorer}` and `{scalar}` stand for the folders of the
 * explorer's files
 * @param manifest names these folders
 * @param platform what encodes brotli, if anything does
 */
export function preparePage(
  template: string,
  manifest: Pick<Manifest, "explorer" | "scalar">,
  platform: Platform,
): Promise<Representation> {
  const html = template
    .replaceAll("{explorer}", manifest.explorer)
    .replaceAll("{scalar}", manifest.scalar);
  return represent(html, {
    type: "text/html; charset=utf-8",
    cache: "public, no-cache",
    headers: {
      "content-security-policy": CONTENT_SECURITY_POLICY,
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    },
  }, platform);
}
