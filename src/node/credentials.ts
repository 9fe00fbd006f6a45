/**
 * Credentials for the node, which are sent only to the node's origin. If no credentials are
 * configured, the default files of a kind may be tried. The node must be on this machine, and its
 * 401 or 403 must be typical of this kind and of no other kind.
 *
 * @module
 */
import { md5 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { isLoopback } from "../http/request.ts";
import type { AuthFile, Kinds } from "../kinds/kind.ts";
import type { Resource } from "../lazy.ts";
import { SECRET_LENGTH_MIN, SecretSearch, withoutSecrets } from "./echo.ts";
import type { SourceError } from "./failures.ts";
import type { Client, NodeRequest, NodeResponse } from "./http1.ts";
import {
  challengesIn,
  type Failure,
  looksLike,
  type NodeRefusal,
  parseChallenges,
  refused,
  unreadable,
  wanted,
} from "./refusal.ts";
import { readSecret, type Scheme, type SecretPlace, settingOf } from "./secrets.ts";

export interface Exchanged {
  readonly response: NodeResponse;
  readonly isSecret: boolean;
  readonly refusal?: SourceError | undefined;
}

/** The parts of a node that decide which secret is sent to the node. */
export interface SecretOwner {
  readonly url: string | undefined;
  /** The name of the node's kind, or `none`; `undefined` while the kind is unknown. */
  readonly kind: string | undefined;
  readonly kinds: Resource<Kinds>;
  readonly auth: SecretPlace | undefined;
  readonly client: Client;
}

export interface SecretUse {
  /** If true, no secret is sent. */
  readonly isAnonymous?: boolean;
  /**
   * The kind whose default files may be tried, or `none`. @default the node's kind; any kind while
   * it is unknown
   */
  readonly filesOf?: string | undefined;
}

interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  /** The texts that a response must not contain. */
  readonly secrets: readonly string[];
}

type Attempts = AsyncGenerator<Authorization, SourceError, NodeRefusal>;

/** Some servers use a new nonce for each connection, so a request may need a retry. */
const RETRIES = 2;
const NONE: Authorization = { headers: {}, secrets: [] };

export class Credentials {
  readonly #owner: SecretOwner;
  readonly #origin: string | undefined;
  readonly #authorize: Authorize = createAuthorize();
  /**
   * monerod uses a new nonce for each connection, so concurrent requests must not share a
   * connection.
   */
  readonly #isDigest: boolean;
  readonly #connections: object[] = [];
  /** The default file whose secret the node accepted last. */
  #cached: AuthFile | undefined;
  #search: { readonly key: string; readonly secrets: SecretSearch } | undefined;

  constructor(owner: SecretOwner) {
    const { url, auth } = owner;
    this.#owner = owner;
    this.#origin = url === undefined ? undefined : new URL(url).origin;
    this.#isDigest = auth !== undefined && settingOf(auth).scheme === "digest";
  }

  /** With HTTP Digest, no other request uses the connection until `read` has finished. */
  async send<T>(
    request: Omit<NodeRequest, "owner">,
    read: (exchanged: Exchanged) => T | Promise<T>,
    use: SecretUse = {},
  ): Promise<T> {
    // A request with `isOnce` gets its own connection. A retry with credentials uses the same
    // connection.
    if (request.isOnce) return await read(await this.#send({ ...request, owner: {} }, use));
    if (!this.#isDigest) return await read(await this.#send(request, use));
    const owner = this.#connections.pop() ?? {};
    try {
      return await read(await this.#send({ ...request, owner }, use));
    } finally {
      this.#connections.push(owner);
    }
  }

  async #send(request: NodeRequest, use: SecretUse): Promise<Exchanged> {
    const { auth, client } = this.#owner;
    const attempts = use.isAnonymous || request.url.origin !== this.#origin
      ? withoutSecret()
      : auth
      ? this.#withConfigured(auth, request)
      : this.#withDefaults(request, use.filesOf);
    let attempt = await attempts.next();
    for (;;) {
      const given = attempt.value as Authorization;
      const headers = { "accept-encoding": "identity", ...request.headers, ...given.headers };
      const response = await client({ ...request, headers });
      const isSecret = given !== NONE;
      const show = () => isSecret ? withoutSecrets(response, this.#searchFor(given)) : response;
      const { status } = response;
      if (status !== 401 && status !== 403) return { response: show(), isSecret };
      attempt = await attempts.next({ status, headers: response.headers });
      if (attempt.done) return { response: show(), isSecret, refusal: attempt.value };
      await discard(response);
    }
  }

  #searchFor({ secrets }: Authorization): SecretSearch {
    const key = secrets.join("\n");
    if (this.#search?.key !== key) this.#search = { key, secrets: new SecretSearch(secrets) };
    return this.#search.secrets;
  }

  async *#withConfigured(place: SecretPlace, request: NodeRequest): Attempts {
    let refusal: NodeRefusal | undefined;
    let sent: Authorization | undefined;
    let sentAt: number | undefined;
    for (let retries = 0;; retries++) {
      // The daemon may have written another secret since the node was sent this one.
      const secret = await readSecret(place, sentAt);
      if ("reason" in secret) return unreadable(refusal ?? (yield NONE), place, secret.reason);
      const given = await this.#authorize(place, secret.text, request, refusal, sent);
      if (refusal && (retries > RETRIES || !given || isSame(given, sent))) {
        return refused(refusal, place, looksLike(refusal.headers, await this.#owner.kinds.get()));
      }
      sentAt = performance.now();
      refusal = yield sent = given ?? NONE;
    }
  }

  async *#withDefaults(request: NodeRequest, filesOf: string | undefined): Attempts {
    const known = this.#cached && filesOf !== "none" ? await readSecret(this.#cached) : undefined;
    const sentAt = performance.now();
    let refusal = yield known && "text" in known
      ? await this.#authorize(this.#cached!, known.text, request) ?? NONE
      : NONE;
    const kinds = await this.#owner.kinds.get();
    const name = looksLike(refusal.headers, kinds);
    const kind = filesOf ?? this.#owner.kind;
    const mayTry = name !== undefined && isLoopback(request.url.hostname) &&
      [undefined, name].includes(kind && (kinds[kind]?.extends ?? kind));
    const failures: Failure[] = [];
    for (const file of mayTry ? kinds[name]?.auth?.files ?? [] : []) {
      const secret = await readSecret(file, sentAt);
      const given = "text" in secret &&
        await this.#authorize(file, secret.text, request, refusal);
      if (given) {
        this.#cached = file;
        refusal = yield given;
      }
      const reason = "reason" in secret
        ? secret.reason
        : given
        ? "the node rejects these credentials"
        : "the node requires another scheme";
      failures.push({ file, reason });
    }
    this.#cached = undefined;
    return wanted(refusal, kinds, failures);
  }
}

async function* withoutSecret(): Attempts {
  return wanted(yield NONE);
}

const isSame = (a: Authorization, b: Authorization | undefined) =>
  JSON.stringify(a) === JSON.stringify(b);

const REFUSAL_MAX = 65_536;

/** Reads a response to its end, so that the connection can be reused. */
async function discard(response: NodeResponse): Promise<void> {
  for (let length = 0; length < REFUSAL_MAX;) {
    const part = await response.next();
    if (!part) return;
    length += part.byteLength;
  }
  response.cancel();
}

/** Returns `undefined` if the node requires another scheme or has rejected the secret. */
type Authorize = (
  place: SecretPlace,
  secret: string,
  request: NodeRequest,
  refusal?: NodeRefusal,
  sent?: Authorization,
) => Authorization | undefined | Promise<Authorization | undefined>;

interface DigestSession {
  readonly challenge: DigestChallenge;
  readonly cnonce: string;
  count: number;
}

function createAuthorize(): Authorize {
  const sessions = new WeakMap<object, DigestSession>();
  const anyConnection = {};
  const digest: Authorize = (_, secret, { url, method, owner }, refusal, sent) => {
    let session = sessions.get(owner ?? anyConnection);
    if (!refusal && !session) return NONE;
    if (refusal) {
      const challenge = findDigestChallenge(challengesIn(refusal.headers));
      if (!challenge) return undefined;
      const wasSent = sent?.headers.authorization?.includes(`nonce="${challenge.nonce}"`);
      if (wasSent && !challenge.isStale) return undefined;
      session = { challenge, cnonce: crypto.randomUUID().replaceAll("-", ""), count: 0 };
      sessions.set(owner ?? anyConnection, session);
    }
    const { challenge, cnonce } = session!;
    const colon = secret.indexOf(":");
    const authorization = writeDigest(challenge, {
      user: secret.slice(0, colon),
      password: secret.slice(colon + 1),
      method,
      uri: url.pathname + url.search,
      count: ++session!.count,
      cnonce,
    });
    const [, response = ""] = /response="([^"]*)"/.exec(authorization) ?? [];
    return { headers: { authorization }, secrets: [response, passwordOf(secret)] };
  };
  const schemes: Readonly<Record<Scheme, Authorize>> = {
    basic(_, secret) {
      const base64 = btoa(secret);
      const secrets = [base64, passwordOf(secret)];
      return { headers: { authorization: `Basic ${base64}` }, secrets };
    },
    bearer: (_, secret) => ({
      headers: { authorization: `Bearer ${secret}` },
      secrets: [secret],
    }),
    digest,
    header(place, secret) {
      const colon = secret.indexOf(":");
      const [name, value] = "header" in place && place.header
        ? [place.header, secret]
        : [secret.slice(0, colon), secret.slice(colon + 1).trim()];
      return { headers: { [name.toLowerCase()]: value }, secrets: [valueOf(value)] };
    },
  };
  return (place, ...rest) => schemes[settingOf(place).scheme](place, ...rest);
}

/** If the password is too short to be searched for, a response must not contain the pair. */
function passwordOf(pair: string): string {
  const password = pair.slice(pair.indexOf(":") + 1);
  return password.length < SECRET_LENGTH_MIN ? pair : password;
}

/** A node may show the value of a header without its scheme, or a cookie without its name. */
function valueOf(header: string): string {
  const value = header.replace(/^[\w-]+(?: +|=(?=[^=]))/, "");
  return value.length < SECRET_LENGTH_MIN ? header : value;
}

/** HTTP Digest is defined in RFC 7616. If the server does not send `qop`, RFC 2069 applies. */
type Algorithm = "SHA-256" | "MD5";

const ALGORITHMS: Readonly<Record<Algorithm, (data: Uint8Array) => Uint8Array>> = {
  "SHA-256": sha256,
  "MD5": md5,
};

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

export function writeDigest(challenge: DigestChallenge, credentials: DigestCredentials): string {
  const { realm, nonce, opaque, algorithm, algorithmName, isSession, hasQop } = challenge;
  const { user, password, method, uri, cnonce } = credentials;
  const hash = (...parts: string[]) =>
    bytesToHex(ALGORITHMS[algorithm](utf8ToBytes(parts.join(":"))));
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
