/**
 * Tells requests of pages of other origins from all others.
 *
 * @module
 */
import type { RequestHead } from "./message.ts";

/**
 * Whether a page of another origin sends a request. Browsers say so to HTTPS and loopback addresses in
 * `Sec-Fetch-Site` (Fetch Metadata, section 2.3). Elsewhere `Origin` is compared with `Host`, so a proxy
 * has to hand that on. Programs send neither.
 */
export function isFromOtherOrigin({ headers, url }: RequestHead): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = headers.get("origin");
  if (origin === null) return false;
  // Pages without an origin send `null`.
  if (!URL.canParse(origin)) return true;
  const { protocol, host } = new URL(origin);
  const own = headers.get("host");
  const address = own === null ? url : `${protocol}//${own}`;
  return !URL.canParse(address) || new URL(address).host !== host;
}
