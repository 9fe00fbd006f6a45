/**
 * The clients that the operator has named in `forward.clients`. A client is recognized by its token
 * alone.
 *
 * @module
 */
import { LightSignal } from "../abort-signal.ts";
import { decodeBase64Url } from "../decode.ts";
import { isEqual } from "../json/values.ts";
import { partsOfPlace, readNow, type Unusable, unusable } from "../node/secrets.ts";
import { unrefTimer } from "../with-timeout.ts";
import type { ResolvedClient } from "./policy.ts";
import { Quota } from "./quota.ts";
import { TOKEN_ENDED } from "./refusal.ts";

export const TOKEN_LENGTH_MIN = 32;
/** The syntax of a token (RFC 6750, section 2.1). */
const FORM = new RegExp(`^[A-Za-z0-9._~+/-]{${TOKEN_LENGTH_MIN},}=*$`);
/** A word in base64 that is long enough to contain a token. */
const BASE64 = new RegExp(`[\\w+/-]{${TOKEN_LENGTH_MIN},}={0,2}`, "g");

/**
 * A token that has been read. It is aborted when it is replaced, removed or cannot be read any
 * more, which ends what runs under it.
 */
export class Token extends LightSignal {
  readonly text: string;
  readonly #onListener: () => void;
  constructor(text: string, onListener: () => void) {
    super();
    this.text = text;
    this.#onListener = onListener;
  }

  override addEventListener(type: "abort", listener: () => void): void {
    super.addEventListener(type, listener);
    this.#onListener();
  }

  end(): void {
    this.abort(TOKEN_ENDED);
  }
}

export class Client {
  readonly settings: ResolvedClient;
  /** Why the client cannot be recognized. */
  trouble: Unusable | undefined;
  /** The last token that could be read. */
  token: Token | undefined;
  readonly quota: Quota | undefined;
  constructor(settings: ResolvedClient) {
    this.settings = settings;
    this.quota = settings.per_minute === undefined ? undefined : new Quota(settings.per_minute);
  }

  get name(): string {
    return this.settings.name;
  }

  /** @param onListener is called when something begins to run under the token */
  async read(onListener: () => void): Promise<void> {
    const { key, name } = partsOfPlace(this.settings);
    const found = await readNow(this.settings);
    const start = `the token of the client ${this.name} (${key} ${name}):`;
    if ("reason" in found) {
      return this.fail(unusable(`${start} cannot read it: ${found.reason}`, found));
    }
    const token = found.text.trim();
    const problem = mistakeInToken(token);
    if (problem !== undefined) return this.fail(wrong(`${start} ${problem}`));
    this.trouble = undefined;
    if (this.token?.text === token && !this.token.aborted) return;
    this.token?.end();
    this.token = new Token(token, onListener);
  }

  fail(trouble: Unusable): void {
    this.trouble = trouble;
    this.token?.end();
  }
}

function mistakeInToken(token: string): string | undefined {
  if (token === "") return "it is empty";
  if (FORM.test(token)) return undefined;
  return `it must be at least ${TOKEN_LENGTH_MIN} characters from A-Z a-z 0-9 . _ ~ + / -`;
}

const wrong = (message: string): Unusable => ({ message, dependsOnReader: false });

/** Whose token a request has. */
export interface Identity {
  readonly client?: Client | undefined;
  /** The clients that cannot be recognized, and may have sent the request. */
  readonly candidates: readonly Client[];
}

export const NOBODY: Identity = { candidates: [] };

/** The time for which tokens are used before their files are read again, in milliseconds. */
const READING_MS = 1000;
/** The interval of readings while something runs under a token: a right ends within a second. */
const WATCH_MS = 900;

export class Clients {
  all: readonly Client[];
  readonly #onTrouble: (message: string) => void;
  #readAt = -Infinity;
  #reading: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param onTrouble takes a message for the operator if a token cannot be used */
  constructor(
    settings: readonly ResolvedClient[],
    onTrouble: (message: string) => void = () => {},
  ) {
    this.all = settings.map((client) => new Client(client));
    this.#onTrouble = onTrouble;
  }

  /** The reasons why clients cannot be recognized, by their messages. */
  get troubles(): ReadonlyMap<string, Unusable> {
    return new Map(this.all.flatMap(({ trouble }) => trouble ? [[trouble.message, trouble]] : []));
  }

  /** Reads the tokens, unless they have been read in the last second. */
  read(): Promise<void> {
    return performance.now() - this.#readAt < READING_MS ? this.#reading : this.#readNow();
  }

  /** Compares all tokens to their ends, so that the time reveals no more than their lengths. */
  async identify(text: string | undefined): Promise<Identity> {
    if (text === undefined) return NOBODY;
    await this.read();
    const owners = this.all.filter(({ token }) => token && equalInConstantTime(text, token.text));
    const unknown = this.all.filter(({ token }) => token === undefined);
    const [owner] = owners;
    if (owner && owner.trouble === undefined) return { client: owner, candidates: [] };
    return { candidates: owner ? owners : unknown };
  }

  /** Tells whether a text contains a token, either as it is or in base64, as in HTTP Basic. */
  holdsToken(text: string): boolean {
    const texts = [
      text,
      ...[...text.matchAll(BASE64)].map(([word]) => decodeBase64Url(word) ?? ""),
    ];
    return this.all.some(({ token }) => token && texts.some((text) => text.includes(token.text)));
  }

  /** Forgets the clients whose right is not among those of `settings`, and ends what they run. */
  endAllBut(settings: readonly ResolvedClient[]): void {
    const ended = this.all.filter((client) => {
      const right = rightOf(client.settings);
      return !settings.some((other) => isEqual(rightOf(other), right));
    });
    this.all = this.all.filter((client) => !ended.includes(client));
    for (const { token } of ended) token?.end();
  }

  /** One reading follows the other, since a slow one would put former tokens back. */
  #readNow(): Promise<void> {
    this.#readAt = performance.now();
    return this.#reading = this.#reading.catch(() => {}).then(() => this.#read());
  }

  async #read(): Promise<void> {
    const before = this.troubles;
    await Promise.all(this.all.map((client) => client.read(() => this.#watch())));
    const usable = this.all.filter(({ trouble }) => trouble === undefined);
    for (const { token } of usable) {
      const same = usable.filter((client) => client.token!.text === token!.text);
      if (same.length === 1) continue;
      const names = same.map(({ name }) => name).join(", ");
      for (const client of same) {
        client.fail(wrong(`the clients ${names} have the same token; give each its own`));
      }
    }
    for (const message of this.troubles.keys()) {
      if (!before.has(message)) this.#onTrouble(message);
    }
  }

  /** Reads the tokens until nothing runs under one of them. */
  #watch(): void {
    this.#timer ??= setTimeout(async () => {
      await this.#readNow();
      this.#timer = undefined;
      if (this.all.some(({ token }) => token?.hasListeners)) this.#watch();
    }, WATCH_MS);
    unrefTimer(this.#timer);
  }
}

const rightOf = (
  { name, token_file, token_env, allow }: ResolvedClient,
): unknown[] => [name, token_file, token_env, allow];

function equalInConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
