/**
 * `GET /.well-known/api-catalog`: where the interface is described, for programs (RFC 9727).
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";

/**
 * A link set (RFC 9264) with the relations of RFC 8631. Its references are relative to the
 * catalogue's own URL, so that they are right behind any prefix.
 */
const CATALOG = {
  linkset: [
    {
      anchor: "../v1/info",
      "service-desc": [
        { href: "../spec.json", type: "application/json" },
        { href: "../spec.yaml", type: "application/yaml" },
      ],
      "service-doc": [{ href: "../v1/spec", type: "text/html" }],
      status: [{ href: "../v1/health", type: "application/json" }],
    },
  ],
};

/** Prepares the catalogue. */
export function prepareCatalog(): Promise<Representation> {
  return represent(JSON.stringify(CATALOG, null, 2) + "\n", {
    type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    cache: "public, no-cache",
    headers: { link: '<api-catalog>; rel="api-catalog"' },
  });
}
