/**
 * The request headers that are never forwarded, whoever describes them. A client could otherwise
 * claim an identity that the node believes, or change what the request means.
 *
 * @module
 */

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
  `x-auth-* x-authelia-* x-authentik-* x-authenticated-* x-webauth x-webauth-* x-user x-user-*
   x-userid x-userinfo x-username x-email x-groups x-roles x-consumer-* x-credential-*
   x-anonymous-consumer x-jwt-* x-iap-* x-oidc-* oidc-* x-saml-* mellon-* x-shib-* shib-* x-sso-*
   x-vouch-* x-pomerium-* tailscale-* teleport-* x-teleport-* ngrok-* x-ngrok-* impersonate-*
   x-impersonate-*`,
);

/** Credentials that belong to the client or to this service. */
const SECRET = patternOf(
  `*authorization* *authorisation* *apikey* *api-key* *token* *secret* *password* cookie cookie2`,
);

/** Headers that the service sets, and headers that change what a request means. */
const DENIED = patternOf(
  `accept accept-encoding access-control-* connection content-encoding content-length content-type
   expect host if-* keep-alive origin proxy-* range referer sec-* te trailer transfer-encoding
   upgrade user-agent x-nodeface* x-http-method* x-method-override x-method -method`,
);

function patternOf(...lists: readonly string[]): RegExp {
  const names = lists.flatMap((list) => list.split(/\s+/));
  return new RegExp(`^(?:${names.join("|").replaceAll("*", ".*")})$`);
}

/** Many servers do not distinguish `_` from `-` in the name of a header. */
const canonical = (name: string) => name.toLowerCase().replaceAll("_", "-");

/**
 * The syntax of a header name (RFC 9110, section 5.1). The patterns take quadratic time for some
 * other names.
 */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Tells whether the gateway forwards a client's header if the operation describes it. */
export function isForwardable(name: string): boolean {
  if (!NAME.test(name)) return false;
  const known = canonical(name);
  return ![BY_PROXIES, SECRET, DENIED].some((pattern) => pattern.test(known));
}

/** Tells whether only a proxy may send this header. A call that requires it cannot be forwarded. */
export function isAddedByProxies(name: string): boolean {
  const known = canonical(name);
  return NAME.test(name) && BY_PROXIES.test(known) && !SECRET.test(known);
}
