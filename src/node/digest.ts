/**
 * HTTP Digest (RFC 7616). If the server does not send `qop`, RFC 2069 applies.
 *
 * @module
 */
import { hexDigest } from "../platform.ts";
import { SourceError } from "./failures.ts";
import { type NodeRequest, targetOf } from "./http1.ts";
import { parseChallenges } from "./rejection.ts";

interface DigestSession {
  readonly challenge: DigestChallenge;
  readonly cnonce: string;
  count: number;
}

const ANY_CONNECTION = {};

/** The sessions of all connections with one node. */
export class Digest {
  readonly #sessions = new WeakMap<object, DigestSession>();

  /** Tells whether the node has sent a challenge on the connection of a request. */
  isChallenged({ connectionKey = ANY_CONNECTION }: NodeRequest): boolean {
    return this.#sessions.has(connectionKey);
  }

  /**
   * Returns the value of `Authorization`, or `undefined` if the node requires another scheme or has
   * rejected the credentials.
   *
   * @param pair `user:password`
   * @param challenges the node's `WWW-Authenticate`, if it has rejected the request; must be given
   * before {@linkcode isChallenged}
   * @param sent the `Authorization` of the rejected request
   */
  authorize(
    pair: string,
    request: NodeRequest,
    challenges?: string,
    sent?: string,
  ): string | undefined {
    const { method, connectionKey = ANY_CONNECTION } = request;
    let session = this.#sessions.get(connectionKey);
    if (challenges !== undefined) {
      const challenge = findDigestChallenge(challenges);
      const wasSent = challenge && sent?.includes(`nonce="${challenge.nonce}"`);
      if (!challenge || (wasSent && !challenge.isStale)) return undefined;
      session = { challenge, cnonce: crypto.randomUUID().replaceAll("-", ""), count: 0 };
    }
    const { challenge, cnonce } = session!;
    const colon = pair.indexOf(":");
    const header = writeDigest(challenge, {
      user: pair.slice(0, colon),
      password: pair.slice(colon + 1),
      method,
      uri: targetOf(request),
      count: ++session!.count,
      cnonce,
    });
    // Without such an algorithm, the node is asked for a challenge each time.
    this.#sessions.set(connectionKey, session!);
    return header;
  }
}

type Algorithm = "SHA-256" | "MD5";

export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: Algorithm;
  /**
   * The name of the algorithm exactly as the server writes it, or `undefined` if the server sends
   * no name.
   */
  readonly algorithmName: string | undefined;
  readonly isSession: boolean;
  readonly hasQop: boolean;
  readonly isStale: boolean;
}

interface DigestCredentials {
  readonly user: string;
  readonly password: string;
  readonly method: string;
  readonly uri: string;
  readonly count: number;
  readonly cnonce: string;
}

export function findDigestChallenge(header: string): DigestChallenge | undefined {
  const challenges = parseChallenges(header)
    .filter(({ scheme }) => scheme === "digest")
    .map(({ parameters }) => readChallenge(parameters))
    .filter((challenge) => challenge !== undefined);
  return challenges.find(({ algorithm }) => algorithm === "SHA-256") ?? challenges[0];
}

function readChallenge(parameters: Readonly<Record<string, string>>): DigestChallenge | undefined {
  const { realm, nonce, opaque, algorithm: algorithmName, qop, stale } = parameters;
  const [, name, session] = /^(.*?)(-sess)?$/i.exec(algorithmName ?? "MD5") ?? [];
  const algorithm = name?.toUpperCase();
  if (realm === undefined || nonce === undefined) return undefined;
  if (algorithm !== "MD5" && algorithm !== "SHA-256") return undefined;
  const hasQop = qop !== undefined;
  if (hasQop && !/(^|[\s,])auth([\s,]|$)/i.test(qop)) return undefined;
  const isStale = stale?.toLowerCase() === "true";
  const isSession = session !== undefined;
  return { realm, nonce, opaque, algorithm, algorithmName, isSession, hasQop, isStale };
}

/** @throws {SourceError} if the runtime has no such algorithm: MD5 is off in FIPS mode */
function hashOf(algorithm: Algorithm, text: string): string {
  try {
    return hexDigest(algorithm === "MD5" ? "md5" : "sha256", text);
  } catch (error) {
    const message = `wants HTTP Digest with ${algorithm}, which this runtime cannot compute`;
    throw new SourceError("no_credentials", message, { hint: (error as Error).message });
  }
}

export function writeDigest(challenge: DigestChallenge, credentials: DigestCredentials): string {
  const { realm, nonce, opaque, algorithm, algorithmName, isSession, hasQop } = challenge;
  const { user, password, method, uri, cnonce } = credentials;
  const hash = (...parts: string[]) => hashOf(algorithm, parts.join(":"));
  const count = credentials.count.toString(16).padStart(8, "0");
  const login = hash(user, realm, password);
  const secret = isSession ? hash(login, nonce, cnonce) : login;
  const target = hash(method, uri);
  const response = hasQop
    ? hash(secret, nonce, count, cnonce, "auth", target)
    : hash(secret, nonce, target);
  return "Digest " + [
    `username=${quoted(user)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    ...(algorithmName === undefined ? [] : [`algorithm=${algorithmName}`]),
    `response="${response}"`,
    ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ...(hasQop ? ["qop=auth", `nc=${count}`] : []),
    ...(hasQop || isSession ? [`cnonce="${cnonce}"`] : []),
  ].join(", ");
}

const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
