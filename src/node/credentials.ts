/**
 * Credentials for the node, which are sent only to the node's origin. If no credentials are
 * configured, the default files of a kind may be tried. The node must be on this machine, and its
 * 401 or 403 must be typical of this kind and of no other kind.
 *
 * @module
 */
import { isLoopback, isNearby } from "../http/host-names.ts";
import type { Kinds } from "../kinds/kind.ts";
import type { AuthFile, SecretPlace } from "../kinds/parts.ts";
import type { Resource } from "../lazy.ts";
import { keysInPath } from "../untrusted-text.ts";
import { Digest } from "./digest.ts";
import { SECRET_LENGTH_MIN, SecretSearch, withoutSecrets } from "./echo.ts";
import type { SourceError } from "./failures.ts";
import { type HttpClient, isRedirect, type NodeRequest, type NodeResponse } from "./http1.ts";
import {
  challengesIn,
  type CredentialFailure,
  credentialsRejected,
  credentialsUnreadable,
  credentialsWanted,
  looksLike,
  type Rejection,
} from "./rejection.ts";
import { partsOfPlace, readSecret, type Secret } from "./secrets.ts";

export interface AuthorizedResponse {
  readonly response: NodeResponse;
  readonly isSecret: boolean;
  readonly rejection?: SourceError | undefined;
}

/** The parts of a node that decide which secret is sent to the node. */
export interface SecretOwner {
  readonly url: string | undefined;
  /** The name of the node's kind, or `none`; `undefined` while the kind is unknown. */
  readonly kind: string | undefined;
  readonly kinds: Resource<Kinds>;
  readonly auth: SecretPlace | undefined;
  readonly client: HttpClient;
}

export interface SecretChoice {
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

/** A request, as it was sent, and its response. */
interface Attempt {
  readonly sent: Authorization;
  /** On the clock of `performance.now()`. */
  readonly sentAt: number;
  readonly response: NodeResponse;
  /** The keys in the URL that the response must not contain. */
  readonly keys: readonly string[];
}

export interface SocketHandshake {
  readonly headers: Authorization["headers"];
  readonly secrets: SecretSearch | undefined;
}

/** Returns the keys in the path of a hosted node's URL. */
const keysAt = (url: string): readonly string[] =>
  isNearby(new URL(url).hostname) ? [] : keysInPath(url);

/** Some servers use a new nonce for each connection, so a request may need a retry. */
const RETRIES = 2;
const WITHOUT_SECRET: Authorization = { headers: {}, secrets: [] };

export class Credentials {
  readonly #owner: SecretOwner;
  readonly #origin: string | undefined;
  readonly #digest = new Digest();
  /**
   * monerod uses a new nonce for each connection, so concurrent requests must not share a
   * connection.
   */
  readonly #isDigest: boolean;
  readonly #connections: object[] = [];
  /** The default file whose secret the node accepted last. */
  #cached: AuthFile | undefined;
  #search: { readonly key: string; readonly secrets: SecretSearch } | undefined;

  /** The keys in the path of a hosted node's URL, which a server may repeat in an error. */
  readonly #keys: readonly string[];

  constructor(owner: SecretOwner) {
    const { url, auth } = owner;
    this.#owner = owner;
    this.#keys = url === undefined ? [] : keysAt(url);
    this.#origin = url === undefined ? undefined : new URL(url).origin;
    this.#isDigest = auth !== undefined && partsOfPlace(auth).scheme === "digest";
  }

  /** With HTTP Digest, no other request uses the node's connection until `read` has finished. */
  send<T>(
    request: Omit<NodeRequest, "connectionKey">,
    read: (exchanged: AuthorizedResponse) => T | Promise<T>,
    use: SecretChoice = {},
  ): Promise<T> {
    // A request with `isSentOnce` gets its own connection. A retry with credentials uses the same
    // connection.
    if (request.isSentOnce) return this.#send({ ...request, connectionKey: {} }, use).then(read);
    return this.#isDigest && request.url.origin === this.#origin
      ? this.#sendAlone(request, read, use)
      : this.#send(request, use).then(read);
  }

  async #sendAlone<T>(
    request: Omit<NodeRequest, "connectionKey">,
    read: (exchanged: AuthorizedResponse) => T | Promise<T>,
    use: SecretChoice,
  ): Promise<T> {
    const connectionKey = this.#connections.pop() ?? {};
    try {
      return await read(await this.#send({ ...request, connectionKey }, use));
    } finally {
      this.#connections.push(connectionKey);
    }
  }

  /**
   * Returns the headers that a WebSocket handshake needs, and what no message of the node may
   * contain. A secret for HTTP Digest is not sent.
   */
  async handshakeFor(url: URL, isAnonymous: boolean): Promise<SocketHandshake> {
    const { auth } = this.#owner;
    const origin = new URL(url.href.replace(/^ws/, "http")).origin;
    const secret = !auth || isAnonymous || origin !== this.#origin
      ? undefined
      : await readSecret(auth);
    const given = secret && "text" in secret ? plainAuthorization(auth!, secret.text) : undefined;
    const { headers, secrets } = given ?? WITHOUT_SECRET;
    const all = [...secrets, ...keysAt(url.href)];
    return { headers, secrets: all.length > 0 ? new SecretSearch(all) : undefined };
  }

  #send(request: NodeRequest, { isAnonymous, filesOf }: SecretChoice): Promise<AuthorizedResponse> {
    const { auth } = this.#owner;
    if (isAnonymous || request.url.origin !== this.#origin) return this.#sendBare(request);
    return auth ? this.#sendConfigured(auth, request) : this.#sendDefault(request, filesOf);
  }

  async #sendBare(request: NodeRequest): Promise<AuthorizedResponse> {
    const attempt = await this.#attempt(request, WITHOUT_SECRET);
    const { response } = attempt;
    return this.#result(attempt, isRejected(response) ? credentialsWanted(response) : undefined);
  }

  async #attempt(request: NodeRequest, sent: Authorization): Promise<Attempt> {
    const headers = { "accept-encoding": "identity", ...request.headers, ...sent.headers };
    const sentAt = performance.now();
    const response = await this.#owner.client({ ...request, headers });
    // A redirect is not passed on, and what is said of it is masked.
    const isSearched = request.url.origin === this.#origin && !isRedirect(response.status);
    return { sent, sentAt, response, keys: isSearched ? this.#keys : [] };
  }

  #result({ response, sent, keys }: Attempt, rejection?: SourceError): AuthorizedResponse {
    const isSecret = sent !== WITHOUT_SECRET;
    const secrets = [...sent.secrets, ...keys];
    return {
      response: secrets.length > 0 ? withoutSecrets(response, this.#searchFor(secrets)) : response,
      isSecret,
      rejection,
    };
  }

  #searchFor(secrets: readonly string[]): SecretSearch {
    const key = secrets.join("\n");
    if (this.#search?.key !== key) this.#search = { key, secrets: new SecretSearch(secrets) };
    return this.#search.secrets;
  }

  async #sendConfigured(place: SecretPlace, request: NodeRequest): Promise<AuthorizedResponse> {
    const first = this.#authorizeFirst(place, await readSecret(place), request);
    let attempt = await this.#attempt(request, first);
    for (let retries = 0; isRejected(attempt.response); retries++) {
      const { response, sent, sentAt } = attempt;
      // The daemon may have written another secret since the request was sent.
      const secret = await readSecret(place, sentAt);
      if ("reason" in secret) {
        return this.#result(attempt, credentialsUnreadable(response, place, secret.reason));
      }
      const given = this.#authorize(place, secret.text, request, attempt);
      if (retries === RETRIES || !given || isSameAuthorization(given, sent)) {
        const name = looksLike(response.headers, await this.#owner.kinds.get());
        return this.#result(attempt, credentialsRejected(response, place, name));
      }
      await discard(response);
      attempt = await this.#attempt(request, given);
    }
    return this.#result(attempt);
  }

  async #sendDefault(
    request: NodeRequest,
    filesOf: string | undefined,
  ): Promise<AuthorizedResponse> {
    const cached = filesOf === "none" ? undefined : this.#cached;
    const first = cached
      ? this.#authorizeFirst(cached, await readSecret(cached), request)
      : WITHOUT_SECRET;
    let attempt = await this.#attempt(request, first);
    const { sentAt } = attempt;
    if (!isRejected(attempt.response)) return this.#result(attempt);
    const kinds = await this.#owner.kinds.get();
    const failures: CredentialFailure[] = [];
    for (const file of this.#filesFor(request.url, attempt.response, kinds, filesOf)) {
      const secret = await readSecret(file, sentAt);
      if ("reason" in secret) {
        failures.push({ file, ...secret });
        continue;
      }
      // Of `attempt`, what was sent may be the secret of another file.
      const given = this.#authorize(file, secret.text, request, { response: attempt.response });
      if (!given) {
        failures.push({ file, reason: "the node requires another scheme" });
        continue;
      }
      this.#cached = file;
      await discard(attempt.response);
      attempt = await this.#attempt(request, given);
      if (!isRejected(attempt.response)) return this.#result(attempt);
      failures.push({ file, reason: "the node rejects these credentials" });
    }
    this.#cached = undefined;
    const { kind } = this.#owner;
    return this.#result(attempt, credentialsWanted(attempt.response, kinds, failures, kind));
  }

  /** Returns the default files that may be tried: those of the kind that sends such a rejection. */
  #filesFor(
    { hostname }: URL,
    { headers }: Rejection,
    kinds: Kinds,
    filesOf: string | undefined = this.#owner.kind,
  ): readonly AuthFile[] {
    const name = looksLike(headers, kinds);
    if (name === undefined || !isLoopback(hostname)) return [];
    const isOfKind = filesOf === undefined || name === (kinds[filesOf]?.extends ?? filesOf);
    return isOfKind ? kinds[name]?.auth?.files ?? [] : [];
  }

  /** Returns what is sent unasked: nothing if the secret cannot be read, or needs a challenge. */
  #authorizeFirst(place: SecretPlace, secret: Secret, request: NodeRequest): Authorization {
    const given = "text" in secret ? this.#authorize(place, secret.text, request) : undefined;
    return given ?? WITHOUT_SECRET;
  }

  /** Returns `undefined` if the node requires another scheme or has rejected the secret. */
  #authorize(
    place: SecretPlace,
    secret: string,
    request: NodeRequest,
    rejected?: Pick<Attempt, "response"> & Partial<Attempt>,
  ): Authorization | undefined {
    const plain = plainAuthorization(place, secret);
    if (plain) return plain;
    if (!rejected && !this.#digest.isChallenged(request)) return WITHOUT_SECRET;
    const challenges = rejected && challengesIn(rejected.response.headers);
    const before = rejected?.sent?.headers.authorization;
    const header = this.#digest.authorize(secret, request, challenges, before);
    if (header === undefined) return undefined;
    const [, response = ""] = /response="([^"]*)"/.exec(header) ?? [];
    return authorizationOf(header, response, passwordOf(secret));
  }
}

/** Returns `undefined` for HTTP Digest, which responds to a challenge. */
function plainAuthorization(place: SecretPlace, secret: string): Authorization | undefined {
  switch (partsOfPlace(place).scheme) {
    case "basic": {
      const base64 = btoa(secret);
      return authorizationOf(`Basic ${base64}`, base64, passwordOf(secret));
    }
    case "bearer":
      return authorizationOf(`Bearer ${secret}`, secret);
    case "digest":
      return undefined;
    case "header": {
      if ("header" in place && place.header) return authorizationInHeader(place.header, secret);
      const colon = secret.indexOf(":");
      return authorizationInHeader(secret.slice(0, colon), secret.slice(colon + 1).trim());
    }
  }
}

const isRejected = ({ status }: NodeResponse): boolean => status === 401 || status === 403;

const isSameAuthorization = (a: Authorization, b: Authorization) =>
  JSON.stringify(a) === JSON.stringify(b);

const REJECTION_MAX = 65_536;

/** Reads a response to its end, so that the connection can be reused. */
async function discard(response: NodeResponse): Promise<void> {
  for (let length = 0; length < REJECTION_MAX;) {
    const part = await response.next();
    if (!part) return;
    length += part.byteLength;
  }
  response.cancel();
}

const authorizationOf = (authorization: string, ...secrets: string[]): Authorization => ({
  headers: { authorization },
  secrets,
});

function authorizationInHeader(name: string, value: string): Authorization {
  return { headers: { [name.toLowerCase()]: value }, secrets: [secretPartOf(value)] };
}

/** If the password is too short to be searched for, a response must not contain the pair. */
function passwordOf(pair: string): string {
  const password = pair.slice(pair.indexOf(":") + 1);
  return password.length < SECRET_LENGTH_MIN ? pair : password;
}

/** A node may show the value of a header without its scheme, or a cookie without its name. */
function secretPartOf(header: string): string {
  const value = header.replace(/^[\w-]+(?: +|=(?=[^=]))/, "");
  return value.length < SECRET_LENGTH_MIN ? header : value;
}
