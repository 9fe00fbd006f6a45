/**
 * The clients that the operator has named in `forward.clients`. A client is recognized by its token
 * alone.
 *
 * @module
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { readPlace, settingOf } from "../node/secrets.ts";
import type { ResolvedClient } from "./policy.ts";
import { Quota } from "./quota.ts";

export const TOKEN_LENGTH_MIN = 32;
/** The syntax of a token (RFC 6750, section 2.1). */
const FORM = new RegExp(`^[A-Za-z0-9._~+/-]{${TOKEN_LENGTH_MIN},}=*$`);
/** A word in base64 that is long enough to contain a token. */
const BASE64 = new RegExp(`[\\w+/-]{${TOKEN_LENGTH_MIN},}={0,2}`, "g");

export class Client {
  readonly settings: ResolvedClient;
  /** Why the client cannot be recognized. */
  trouble: string | undefined;
  /** The last token that could be read. */
  token: string | undefined;
  /** The digest of `token`. */
  digest: Uint8Array | undefined;
  readonly quota: Quota | undefined;
  constructor(settings: ResolvedClient) {
    this.settings = settings;
    this.quota = settings.per_minute === undefined ? undefined : new Quota(settings.per_minute);
  }

  get name(): string {
    return this.settings.name;
  }

  async read(): Promise<void> {
    const { key, name } = settingOf(this.settings);
    const found = await readPlace(this.settings, performance.now());
    const token = "text" in found ? found.text.trim() : "";
    const problem = "reason" in found
      ? `cannot read it: ${found.reason}`
      : token === ""
      ? "it is empty"
      : FORM.test(token)
      ? undefined
      : `it must be at least ${TOKEN_LENGTH_MIN} characters from A-Z a-z 0-9 . _ ~ + / -`;
    this.trouble = problem && `the token of the client ${this.name} (${key} ${name}): ${problem}`;
    if (problem !== undefined || token === this.token) return;
    this.token = token;
    this.digest = digestOf(token);
  }
}

/** Whose token a request has. */
export interface Identity {
  readonly client?: Client | undefined;
  /** The clients that cannot be recognized, and may have sent the request. */
  readonly candidates: readonly Client[];
}

const NOBODY: Identity = { candidates: [] };

/** How long a reading of the tokens is used, in milliseconds. */
const READING_MS = 1000;

export class Clients {
  readonly all: readonly Client[];
  readonly #onTrouble: (message: string) => void;
  #readAt = -Infinity;
  #reading: Promise<void> = Promise.resolve();

  /** @param onTrouble takes a message for the operator if a token cannot be used any more */
  constructor(
    settings: readonly ResolvedClient[],
    onTrouble: (message: string) => void = () => {},
  ) {
    this.all = settings.map((client) => new Client(client));
    this.#onTrouble = onTrouble;
  }

  /** The reasons why clients cannot be recognized. */
  get troubles(): ReadonlySet<string> {
    return new Set(this.all.flatMap(({ trouble }) => trouble ?? []));
  }

  /** Reads the tokens, unless they have been read in the last second. */
  read(): Promise<void> {
    const now = performance.now();
    if (now - this.#readAt >= READING_MS) {
      this.#reading = this.#read(this.#readAt === -Infinity);
      this.#readAt = now;
    }
    return this.#reading;
  }

  /**
   * Compares the digests of all tokens to their ends, so that the time reveals nothing about a
   * token.
   */
  async identify(token: string | undefined): Promise<Identity> {
    if (token === undefined || this.all.length === 0) return NOBODY;
    await this.read();
    const digest = digestOf(token);
    const owners = this.all.filter((client) => isEqual(digest, client.digest));
    const unknown = this.all.filter(({ digest }) => digest === undefined);
    const [owner] = owners;
    if (owner && owner.trouble === undefined) return { client: owner, candidates: [] };
    return { candidates: owner ? owners : unknown };
  }

  /** Tells whether a text contains a token, either as it is or in base64, as in HTTP Basic. */
  holdsToken(text: string): boolean {
    const texts = [text, ...[...text.matchAll(BASE64)].map(([word]) => decode(word))];
    return this.all.some(({ token }) =>
      token !== undefined && texts.some((text) => text.includes(token))
    );
  }

  async #read(isFirst: boolean): Promise<void> {
    const before = this.troubles;
    await Promise.all(this.all.map((client) => client.read()));
    const usable = this.all.filter(({ trouble }) => trouble === undefined);
    const tokens = usable.map(({ token }) => token);
    for (const client of usable) {
      if (tokens.indexOf(client.token) === tokens.lastIndexOf(client.token)) continue;
      const names = usable.filter(({ token }) => token === client.token).map(({ name }) => name);
      client.trouble = `the clients ${names.join(", ")} have the same token; give each its own`;
    }
    if (isFirst) return;
    for (const trouble of this.troubles) if (!before.has(trouble)) this.#onTrouble(trouble);
  }
}

const digestOf = (text: string): Uint8Array => sha256(utf8ToBytes(text));

function isEqual(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (!a || !b) return false;
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= a[at]! ^ b[at]!;
  return difference === 0;
}

function decode(word: string): string {
  try {
    return atob(word.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
