/**
 * Credentials that a node wants. They are sent to the node's own origin only, and those that nodes of a kind
 * leave on a machine only to a node on this machine that refuses as this kind alone does.
 *
 * @module
 */
import { isLoopback } from "../../http/hosts.ts";
import type { AuthFile, Kind } from "../../kinds/kind.ts";
import { type AuthHeaders, type AuthRequest, createAuthorize } from "./authorize.ts";
import { type Failure, looksLike, type Refusal, refused, unreadable, wanted } from "./refusal.ts";
import { type Place, readSecret, settingOf } from "./secret.ts";

export type { Place } from "./secret.ts";

/** The headers of one attempt. */
export interface Attempt {
  readonly headers: AuthHeaders;
  /**
   * What to try next.
   *
   * @throws {SourceError} if nothing is left
   */
  next(refusal: Refusal): Promise<Attempt>;
}

/** Gives credentials to requests. */
export interface Auth {
  /** Ready where no secret has to be read. */
  first(request: AuthRequest): Attempt | Promise<Attempt>;
  /** Runs the exchange of one request: with HTTP Digest on a connection of an owner that no other has meanwhile. */
  exchange<T>(work: (owner: object | undefined) => Promise<T>): Promise<T>;
}

/** Whose credentials to give. */
export interface AuthOptions {
  nodeUrl: string;
  /** Where the operator says that they lie. */
  configured: Place | undefined;
  /** The kind of the node, if the operator names it. */
  kind: string | undefined;
  /** All kinds by name, which refusals are compared with. */
  kinds: Readonly<Record<string, Kind>>;
  /** Whether secrets are offered that nodes of a kind leave on this machine. @default true */
  triesUsual?: boolean;
}

/**
 * Says why configured credentials cannot be read.
 *
 * @returns such as `cannot read node.auth.basic_file none.txt: there is no such file`
 */
export async function checkCredentials(place: Place): Promise<string | undefined> {
  const secret = await readSecret(place);
  const { key, name } = settingOf(place);
  return "reason" in secret ? `cannot read node.auth.${key} ${name}: ${secret.reason}` : undefined;
}

/** Says of a place whether a secret can be read there: its name, and why not. */
export async function checkPlace(place: Place): Promise<{ name: string; reason?: string }> {
  const secret = await readSecret(place);
  const { name } = settingOf(place);
  return "reason" in secret ? { name, reason: secret.reason } : { name };
}

/** Makes what gives credentials to the requests for one node. */
export function createAuth(options: AuthOptions): Auth {
  const { nodeUrl, configured, kind, kinds, triesUsual = true } = options;
  const { origin, hostname } = new URL(nodeUrl);
  const authorize = createAuthorize();
  // monerod has a nonce for each connection: requests side by side would take each other's.
  const isDigest = configured && settingOf(configured).scheme === "digest";
  const owners: object[] = [];
  const exchange: Auth["exchange"] = !isDigest ? (work) => work(undefined) : async (work) => {
    const owner = owners.pop() ?? {};
    try {
      return await work(owner);
    } finally {
      owners.push(owner);
    }
  };
  /** The usual place that was tried last. */
  let usual: AuthFile | undefined;

  const withConfigured = async (place: Place, request: AuthRequest): Promise<Attempt> => {
    let left = RETRIES;
    const attempt = async (refusal?: Refusal, before?: AuthHeaders): Promise<Attempt> => {
      const secret = await readSecret(place);
      if ("reason" in secret) {
        const next = async (refusal: Refusal) => {
          throw unreadable(refusal, (await checkCredentials(place)) ?? "");
        };
        return refusal ? await next(refusal) : { headers: {}, next };
      }
      const headers = await authorize(
        place,
        secret.text,
        request,
        refusal && { refusal, sent: before },
      );
      if (refusal && (left-- === 0 || !headers || isSame(headers, before))) {
        throw refused(refusal, place, looksLike(refusal.headers, kinds));
      }
      return { headers: headers ?? {}, next: (refusal) => attempt(refusal, headers) };
    };
    return await attempt();
  };

  const withUsual = async (
    files: readonly AuthFile[],
    request: AuthRequest,
    refusal: Refusal,
    failures: readonly Failure[] = [],
  ): Promise<Attempt> => {
    const [file, ...rest] = files;
    if (!file) {
      usual = undefined;
      const name = looksLike(refusal.headers, kinds);
      throw wanted(refusal, name, name === undefined ? undefined : kinds[name], failures);
    }
    const next = (reason: string, refusal: Refusal) =>
      withUsual(rest, request, refusal, [...failures, { file, reason }]);
    const secret = await readSecret(file);
    if ("reason" in secret) return await next(secret.reason, refusal);
    const headers = await authorize(file, secret.text, request, { refusal });
    if (!headers) return await next("the node wants another scheme", refusal);
    usual = file;
    return { headers, next: (refusal) => next("the node refuses what it holds", refusal) };
  };

  const bare = (request: AuthRequest): Attempt => ({
    headers: {},
    next: async (refusal) => {
      const name = looksLike(refusal.headers, kinds);
      const mayTry = triesUsual && name !== undefined && isLoopback(hostname) &&
        (kind ?? name) === name;
      return await withUsual(mayTry ? kinds[name]?.auth?.files ?? [] : [], request, refusal);
    },
  });

  /** With the usual place that was right before. */
  const again = async (place: AuthFile, request: AuthRequest): Promise<Attempt> => {
    const secret = await readSecret(place);
    if ("reason" in secret) return bare(request);
    const headers = await authorize(place, secret.text, request) ?? {};
    return { headers, next: bare(request).next };
  };

  const abroad: Attempt = {
    headers: {},
    next: (refusal) => Promise.reject(wanted(refusal, undefined, undefined, [])),
  };

  return {
    exchange,
    first(request) {
      // What stands before the first slash of a path is the origin.
      const isHome = request.url.startsWith(`${origin}/`) || new URL(request.url).origin === origin;
      if (!isHome) return abroad;
      if (configured) return withConfigured(configured, request);
      return usual ? again(usual, request) : bare(request);
    },
  };
}

/** How often a refused request is sent again: some servers have a nonce for each connection. */
const RETRIES = 2;

const isSame = (a: AuthHeaders, b: AuthHeaders | undefined) =>
  JSON.stringify(a) === JSON.stringify(b);
