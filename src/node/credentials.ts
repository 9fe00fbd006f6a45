/**
 * Credentials for the node, which are sent only to the node's origin. If no credentials are
 * configured, the default files of a kind may be tried. The node must be on this machine, and its
 * 401 or 403 must be typical of this kind and of no other kind.
 *
 * @module
 */
import { isLoopback } from "../http/host-names.ts";
import type { AuthFile, Kinds } from "../kinds/kind.ts";
import type { Resource } from "../lazy.ts";
import { Digest } from "./digest.ts";
import { SECRET_LENGTH_MIN, SecretSearch, withoutSecrets } from "./echo.ts";
import type { SourceError } from "./failures.ts";
import type { Client, NodeRequest, NodeResponse } from "./http1.ts";
import {
  challengesIn,
  type Failure,
  looksLike,
  type NodeRefusal,
  refused,
  unreadable,
  wanted,
} from "./refusal.ts";
import { readSecret, type SecretPlace, settingOf } from "./secrets.ts";

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
      // The daemon may have written another secret since the request was sent.
      const secret = await readSecret(place, sentAt);
      if ("reason" in secret && refusal) return unreadable(refusal, place, secret.reason);
      const given = "text" in secret
        ? this.#authorize(place, secret.text, request, refusal, sent)
        : undefined;
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
      ? this.#authorize(this.#cached!, known.text, request) ?? NONE
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
        this.#authorize(file, secret.text, request, refusal);
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

  /** Returns `undefined` if the node requires another scheme or has rejected the secret. */
  #authorize(
    place: SecretPlace,
    secret: string,
    request: NodeRequest,
    refusal?: NodeRefusal,
    sent?: Authorization,
  ): Authorization | undefined {
    const colon = secret.indexOf(":");
    switch (settingOf(place).scheme) {
      case "basic": {
        const base64 = btoa(secret);
        return authorizationOf(`Basic ${base64}`, base64, passwordOf(secret));
      }
      case "bearer":
        return authorizationOf(`Bearer ${secret}`, secret);
      case "digest": {
        const challenges = refusal && challengesIn(refusal.headers);
        const header = this.#digest.authorize(
          secret,
          request,
          challenges,
          sent?.headers.authorization,
        );
        if (!header) return header === undefined ? undefined : NONE;
        const [, response = ""] = /response="([^"]*)"/.exec(header) ?? [];
        return authorizationOf(header, response, passwordOf(secret));
      }
      case "header":
        return "header" in place && place.header
          ? authorizationInHeader(place.header, secret)
          : authorizationInHeader(secret.slice(0, colon), secret.slice(colon + 1).trim());
    }
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

const authorizationOf = (authorization: string, ...secrets: string[]): Authorization => ({
  headers: { authorization },
  secrets,
});

function authorizationInHeader(name: string, value: string): Authorization {
  return { headers: { [name.toLowerCase()]: value }, secrets: [valueOf(value)] };
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
