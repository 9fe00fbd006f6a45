/**
 * The headers that carry credentials.
 *
 * @module
 */
import type { DigestChallenge } from "./digest-auth.ts";
import { challengeOf, type Refusal } from "./refusal.ts";
import { type Place, type Scheme, settingOf } from "./secret.ts";

/** The request that credentials are for. */
export interface AuthRequest {
  readonly url: string;
  readonly method: string;
  /** What its connection is known by, as for `CallOut`. */
  readonly owner?: object | undefined;
}

/** Writes headers from a secret; where an attempt was refused, from what the refusal says. */
export type Authorize = (
  place: Place,
  secret: string,
  request: AuthRequest,
  refused?: { refusal: Refusal; sent?: AuthHeaders | undefined },
) => Written | Promise<Written>;

/** `undefined` where the node wants another scheme, or no more of this one. */
type Written = AuthHeaders | undefined;

/** Headers by name. */
export type AuthHeaders = Readonly<Record<string, string>>;

/** A nonce of a server, which is used for later requests as well. */
interface DigestSession {
  readonly challenge: DigestChallenge;
  readonly cnonce: string;
  count: number;
}

/** Makes what writes headers. */
export function createAuthorize(): Authorize {
  /** By connection: monerod has a nonce for each. */
  const sessions = new WeakMap<object, DigestSession>();
  const anyConnection = {};

  const digest: Authorize = async (_, secret, request, refused) => {
    const { url, method, owner = anyConnection } = request;
    let session = sessions.get(owner);
    if (!refused && !session) return {};
    // On demand: few nodes want it, and it brings two hashes along.
    const { findDigestChallenge, writeDigestAnswer } = await import(
      "./digest-auth.ts"
    );
    if (refused) {
      const challenge = findDigestChallenge(
        challengeOf(refused.refusal.headers),
      );
      if (!challenge) return undefined;
      const wasSent = refused.sent?.authorization?.includes(
        `nonce="${challenge.nonce}"`,
      );
      if (wasSent && !challenge.isStale) return undefined;
      session = {
        challenge,
        cnonce: crypto.randomUUID().replaceAll("-", ""),
        count: 0,
      };
      sessions.set(owner, session);
    }
    if (!session) return {};
    const colon = secret.indexOf(":");
    const { pathname, search } = new URL(url);
    const answer = {
      user: secret.slice(0, colon),
      password: secret.slice(colon + 1),
      method,
      uri: pathname + search,
      count: ++session.count,
      cnonce: session.cnonce,
    };
    return { authorization: writeDigestAnswer(session.challenge, answer) };
  };

  const schemes: Readonly<Record<Scheme, Authorize>> = {
    basic: (_, secret) => ({ authorization: `Basic ${btoa(secret)}` }),
    bearer: (_, secret) => ({ authorization: `Bearer ${secret}` }),
    digest,
    header(place, secret) {
      if ("header" in place && place.header) return { [place.header]: secret };
      const colon = secret.indexOf(":");
      return { [secret.slice(0, colon)]: secret.slice(colon + 1).trim() };
    },
  };
  return (place, ...rest) => schemes[settingOf(place).scheme](place, ...rest);
}
