/**
 * What a text may be, by rules that flags, variables and the schemas share. Nothing here needs
 * valibot, which takes the command longer to load than all that it does to start (2 ms on Bun 1.4).
 *
 * @module
 */
import { CREDENTIALS_DIRECTORY, isAnchored } from "../expand-path.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { show } from "./show.ts";

/** What a text has to be. */
export interface TextRule<T = string> {
  /** What would be right, after "must be". */
  readonly right: string;
  /** What every right text matches. */
  readonly pattern: RegExp;
  /** What is wrong with a text, where more can be said than what would be right. */
  readonly why?: (text: string) => string | undefined;
  /** Whether a text that matches is right. @default every one is */
  readonly isRight?: (text: string) => boolean;
  /** What a right text stands for. @default itself */
  readonly read?: (text: string) => T;
  /** Whether a message must not repeat the text, since it may be a secret in the wrong place. */
  readonly isSecret?: boolean;
}

/** What is wrong with a text; `undefined` where it is right. */
export function mistakeInText(text: string, rule: TextRule<unknown>): string | undefined {
  const mistake = rule.why?.(text);
  if (mistake !== undefined) return mistake;
  if (rule.pattern.test(text) && (rule.isRight?.(text) ?? true)) return undefined;
  return `must be ${rule.right}${rule.isSecret ? "" : `, not ${show(text)}`}`;
}

/** What a right text stands for. */
export function readText<T>(text: string, { read = (text) => text as T }: TextRule<T>): T {
  return read(text);
}

/**
 * Makes the rule of a text that is one of some words.
 *
 * @param also further words that people give, by what they mean
 */
export function oneWordOf<W extends string>(
  words: readonly W[],
  right: string = `one of ${words.join(", ")}`,
  also: Readonly<Record<string, W>> = {},
): TextRule<W> {
  return {
    right,
    pattern: /^/,
    why(text) {
      if ((words as readonly string[]).includes(text)) return undefined;
      return `must be ${right}, not ${show(text)}${didYouMean(meantWord(text, words, also))}`;
    },
  };
}

/** The word that somebody meant who gave another one; `undefined` where none is like it. */
export function meantWord(
  typed: string,
  words: readonly string[],
  also: Readonly<Record<string, string>>,
): string | undefined {
  const lower = typed.toLowerCase();
  if (Object.hasOwn(also, lower)) return also[lower];
  return nearest(typed, words) ?? also[nearest(typed, Object.keys(also)) ?? ""];
}

/** A switch; one that has a flag is on where that stands alone. */
export const SWITCH_RULE: TextRule<boolean> = {
  ...oneWordOf(["true", "false"], "true or false", {
    ...{ on: "true", yes: "true", 1: "true" },
    ...{ off: "false", no: "false", 0: "false" },
  }),
  read: (text) => text === "true",
};

/** The path of a file. */
export const FILE_RULE: TextRule = {
  right: "the path of a file",
  pattern: /^[^\r\n]+$/,
  why: (path) => /^\$\{?\w+\}?\//.test(path) && !isAnchored(path) ? NO_VARIABLE : undefined,
};

/** What to say of a path that begins with another variable. */
const NO_VARIABLE = `must be the path of a file, in which no variable is read but ` +
  `$${CREDENTIALS_DIRECTORY} at its start`;

/** What to say of an address that is meant to be every address. */
const ANY_ADDRESS =
  'must be an address; 0.0.0.0 listens on all addresses of IPv4, :: on all, not "*"';

/** A host name or an IP literal, which loses its brackets: `[::1]` is `::1`. */
export const HOST_RULE: TextRule = {
  right: "a host name or an address",
  pattern: /^(\[[\da-fA-F:.]+\]|[^\s/[\]*]+)$/,
  why: (text) => text === "*" ? ANY_ADDRESS : undefined,
  read: withoutBrackets,
};

/** A port as it is written. */
export const PORT_RULE: TextRule<number> = {
  right: "a whole number from 0 to 65535",
  pattern: /^\d{1,5}$/,
  isRight: isPort,
  read: Number,
};

const ADDRESS = /^(\[[\da-fA-F:.]+\]|[^\s/[\]:*]+):(\d{1,5})$/;

/** An address and a port. */
export const LISTEN_RULE: TextRule<{ host: string; port: number }> = {
  right: "an address and a port, as in 127.0.0.1:8080",
  pattern: ADDRESS,
  why(text) {
    if (text.startsWith("*:")) return ANY_ADDRESS;
    const port = ADDRESS.exec(text)?.[2];
    return port && !isPort(port) ? "must have a port from 0 to 65535" : undefined;
  },
  read(text) {
    const [, host = "", port] = ADDRESS.exec(text)!;
    return { host: withoutBrackets(host), port: Number(port) };
  },
};

/** Where a description is: the path of a file, a URL, or `none`. */
export const PLACE_RULE: TextRule = {
  right: "the path of a file, a URL, or none",
  pattern: /^[^\r\n]+$/,
  why: mistakeInPlace,
};

/** What becomes of the servers at the top of a description. */
export const SERVERS_RULE: TextRule = {
  right: "keep, or a path such as /v1",
  pattern: /^(?:keep|\/[^\s?#{}\\]*)$/,
  isRight: (text) => !text.startsWith("//"),
};

/** What a URL of a node looks like. */
export const URL_EXAMPLE = "a URL such as http://127.0.0.1:8545";

/** The URL of a node. A secret does not belong into it: lists of processes would show it. */
export const NODE_URL_RULE: TextRule = {
  right: URL_EXAMPLE,
  pattern: /^[hH][tT][tT][pP][sS]?:\/\/[^\s\/?#@]+(\/[^\s?#]*)?$/,
  why: mistakeInUrl,
  isRight: (url) => URL.canParse(url),
  read: (url) => url.replace(/^\w+/, (scheme) => scheme.toLowerCase()),
  isSecret: true,
};

/** What to say of a URL with a user or a password. */
export const NO_USER = "must not hold a user or a password; node.auth says in which file they are";

/** Whether a URL holds a user or a password, as in `http://user:password@host/`. */
export function hasUser(url: string): boolean {
  return /^[a-z]+:\/\/[^/?#]*@/i.test(url);
}

/** What is wrong with the URL of a node, which is not repeated: it may hold a secret. */
function mistakeInUrl(text: string): string | undefined {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^]*)$/i.exec(text) ?? [];
  if (scheme === undefined) {
    const [, start = "http:", address = ""] = /^(https?:)?\/{0,2}(.*)$/i.exec(text) ?? [];
    const isPlain = /^[\w.-]+(:\d+)?(\/[\w./-]*)?$/.test(address);
    const meant = isPlain ? `; did you mean ${start.toLowerCase()}//${address}?` : "";
    return `must begin with http:// or https://${meant}`;
  }
  if (!/^https?$/i.test(scheme)) return `must begin with http:// or https://, not ${scheme}://`;
  if (hasUser(text)) return NO_USER;
  if (text.includes("?")) return 'must have no query: nothing from the "?" on';
  if (text.includes("#")) return 'must have no fragment: nothing from the "#" on';
  const port = /^(?:\[[^\]]*\]|[^/:]*):(\d+)/.exec(rest)?.[1];
  return port && Number(port) > 65535 ? "must have a port up to 65535" : undefined;
}

function mistakeInPlace(place: string): string | undefined {
  if (/^file:(?!\/\/)/i.test(place)) return "must be a path, or a URL that begins with file:///";
  if (!/^(https?|file):/i.test(place) || URL.canParse(place)) return undefined;
  return "must be the path of a file, or a URL that can be parsed";
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

function isPort(digits: string): boolean {
  return Number(digits) <= 65535;
}
