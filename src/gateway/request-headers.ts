/**
 * The names of the request headers that may be sent to the node. Headers by which a client could
 * claim an identity that the node believes, or change what the request means, are never sent.
 *
 * @module
 */
import { memoize } from "../lazy.ts";
import { isToken } from "../untrusted-text.ts";

/** Headers that say what is wanted of any server (RFC 9110, RFC 7240, Trace Context). */
export const STANDARD: readonly string[] =
  `accept accept-language cache-control content-encoding content-language content-type
   idempotency-key if-match if-modified-since if-none-match if-range if-unmodified-since prefer
   range traceparent tracestate user-agent`.split(/\s+/);

/**
 * Headers that proxies add to say who the client is, or what the client asked for. `*` stands for
 * any text. Names are in lower case.
 */
const BY_PROXIES = patternOf(
  // Addresses, hosts and paths
  `forwarded forwarded-* via x-forwarded x-forwarded-* x-real-* client-ip true-client-* x-client-*
   x-cluster-client-* x-coming-from* x-original-* x-originating-* x-rewrite-* x-host x-http-host-*
   x-script-name x-scheme x-url-scheme x-proxy-* x-proxyuser-* x-remote-* remote-* front-end-https`,
  // Content delivery networks and clouds
  `akamai-* x-akamai-* cdn-* x-cdn-* cf-* cloudfront-* do-connecting-ip fastly-* fly-* x-appengine-*
   x-arr-* x-azure-* x-nf-* x-sucuri-* x-vercel-* x-amzn-* x-goog-* x-ms-client-* x-ms-token-*
   x-envoy-* x-endpoint-api-* x-apigateway-* x-serverless-*`,
  // Certificates of clients (RFC 9440 and its forerunners)
  "client-cert client-cert-* ssl-* x-ssl-* x-tls-* x-mtls-*",
  // Users
  `x-auth-request-* x-auth-user* x-auth-email x-auth-name x-auth-groups x-auth-roles x-authelia-*
   x-authentik-* x-authenticated-* x-webauth x-webauth-* x-user x-user-* x-userid x-token-subject
   x-userinfo x-username x-email x-groups x-roles x-consumer-* x-credential-* x-anonymous-consumer
   x-jwt-* x-iap-* x-oidc-* oidc-* x-saml-* mellon-* x-shib-* shib-* x-sso-* x-vouch-* x-pomerium-*
   tailscale-* teleport-* x-teleport-* ngrok-* x-ngrok-* impersonate-* x-impersonate-*`,
);

/** Headers that steer connections, and headers that belong to this service or to browsers. */
const DENIED = patternOf(
  `accept-encoding access-control-* alt-used authorization connection content-length cookie cookie2
   early-data expect host http2-settings keep-alive max-forwards origin proxy-* referer sec-*
   service-worker* te trailer transfer-encoding upgrade upgrade-insecure-requests x-nodeface*`,
);

/** Matches the names in the lists, in which `*` stands for any text. */
export function patternOf(...lists: readonly string[]): RegExp {
  const names = lists.flatMap((list) => list.split(/\s+/));
  return new RegExp(`^(?:${names.join("|").replaceAll("*", ".*")})$`);
}

/** Many servers do not distinguish `_` from `-` in the name of a header. */
const canonical = (name: string) => name.toLowerCase().replaceAll("_", "-");

/**
 * Tells whether a client's header may be sent if the operator's file or the kind describes it. The
 * patterns take quadratic time for what is no name.
 */
export const isForwardable: (name: string) => boolean = memoize((name) =>
  isToken(name) && !isAddedByProxies(name) && !DENIED.test(canonical(name))
);

/** Tells whether only a proxy may send this header. A call that requires it cannot be forwarded. */
export const isAddedByProxies = (name: string): boolean =>
  isToken(name) && BY_PROXIES.test(canonical(name));
