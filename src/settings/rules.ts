/**
 * The forms of single texts: what each looks like, what it stands for, and what is wrong with others.
 *
 * @module
 */
import { REFERENCE } from "../info/source-reference.ts";
import { DURATION, milliseconds } from "../info/settings.ts";
import type { Duration } from "../kinds/kind.ts";
import type { TextRule } from "./shapes.ts";

/** A line of text. */
export const LINE: TextRule = { pattern: /^[^\r\n]+$/, right: "a line of text" };

/** The path of a file. */
export const FILE: TextRule = { ...LINE, right: "the path of a file" };

const HOST_NAME = /^(\[[\da-fA-F:.]+\]|[^\s/[\]*]+)$/;

/** What to say of an address that is meant to be every address. */
const ANY_ADDRESS =
  'must be an address; 0.0.0.0 listens on all addresses of IPv4, :: on all, not "*"';

/** A host name or an IP literal, which loses its brackets: `[::1]` is `::1`. */
export const HOST: TextRule<string> = {
  pattern: HOST_NAME,
  right: "a host name or an address",
  read: withoutBrackets,
  why: (text) => text === "*" ? ANY_ADDRESS : undefined,
};

/** A port as it is written. */
export const PORT: TextRule<number> = {
  pattern: /^\d{1,5}$/,
  right: "a whole number from 0 to 65535",
  read: (digits) => Number(digits) <= 65535 ? Number(digits) : undefined,
};

/** An address and a port. */
export const LISTEN: TextRule<{ host: string; port: number }> = {
  pattern: /^(\[[\da-fA-F:.]+\]|[^\s/[\]:*]+):\d{1,5}$/,
  right: "an address and a port, as in 127.0.0.1:8080",
  read(address) {
    const colon = address.lastIndexOf(":");
    const port = PORT.read!(address.slice(colon + 1));
    const host = withoutBrackets(address.slice(0, colon));
    return port === undefined ? undefined : { host, port };
  },
  why(text) {
    if (text.startsWith("*:")) return ANY_ADDRESS;
    return LISTEN.pattern.test(text) ? "must have a port from 0 to 65535" : undefined;
  },
};

/** Where a description is: the path of a file, a URL, or `none`. */
export const PLACE: TextRule<string> = {
  ...LINE,
  right: "the path of a file, a URL, or none",
  read: (place) => mistakeInPlace(place) === undefined ? place : undefined,
  why: mistakeInPlace,
};

/** The URL of a node. A secret does not belong into it: lists of processes would show it. */
export const NODE_URL: TextRule<string> = {
  pattern: /^[hH][tT][tT][pP][sS]?:\/\/[^\s\/?#@]+(\/[^\s?#]*)?$/,
  right: "a URL such as http://127.0.0.1:8545",
  isSecret: true,
  read: (url) => URL.canParse(url) ? url.replace(/^\w+/, lowerCase) : undefined,
  why: mistakeInUrl,
};

/** Where a source of the info is: below the node's URL, or a whole URL. */
export const SOURCE_PATH: TextRule<string> = {
  pattern: /^(\/|[hH][tT][tT][pP][sS]?:\/\/)\S*$/,
  right: "a path such as /status, or a URL",
  read: (path) => hasUser(path) ? undefined : path,
  why: mistakeInSource,
};

/** What a source of the info gets: as above, or the place of a link in another answer. */
export const SOURCE_GET: TextRule<string> = {
  ...SOURCE_PATH,
  pattern: /^(\/|[hH][tT][tT][pP][sS]?:\/\/|[\w-]+#\/)\S*$/,
  right: "a path such as /status, a URL, or the place of a link such as id#/link",
};

/** A host name without a port, which may have letters of any script. */
export const HOST_NAMES: TextRule<string> = {
  pattern: /^[^\s\/?#@:*\\[\]]+$/,
  right: 'a host name without a port, or "*" in place of the list',
  read: (name) => URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : undefined,
};

/** An origin, as browsers send it: in lower case, without a port that is the usual one. */
export const ORIGINS: TextRule<string> = {
  pattern: /^[hH][tT][tT][pP][sS]?:\/\/[^\s\/?#@*]+$/,
  right: 'an origin such as https://app.example, or "*" in place of the list',
  read: (origin) => URL.canParse(origin) ? new URL(origin).origin : undefined,
};

/** The path that comes before all others where a server has others besides. */
export const PREFIX: TextRule = {
  pattern: /^(\/[\w.~-]+)*$/,
  right: 'a path such as "/node1", with a slash in front and none at the end',
};

/** A place in an answer. */
export const REFERENCE_TEXT: TextRule = {
  pattern: REFERENCE,
  right: "a source, # and a JSON Pointer, such as net#/subversion",
};

/** A JSON Pointer into the value that a field takes. */
export const POINTER: TextRule = { pattern: /^\//, right: "a JSON Pointer such as /up" };

/** The name of a header. */
export const HEADER: TextRule = { pattern: /^[\w-]+$/, right: "the name of a header" };

/** The name of a source. */
export const SOURCE_NAME: TextRule = {
  pattern: /^(?!__proto__$)[\w-]+$/,
  right: "a name of letters, digits, - and _",
};

/** Keys of the info that only the service itself sets. */
const RESERVED = "status|status_code|status_reason|updated_at|api|links";

/** A key of the info that an operator may set. */
export const INFO_KEY: TextRule = {
  pattern: new RegExp(`^(?!(?:${RESERVED})$)[a-z][a-z0-9_]*$`),
  right: `a key in snake_case other than ${RESERVED.split("|").join(", ")}`,
};

/** A key of the info that may be hidden. */
export const HIDDEN_KEY: TextRule = {
  ...INFO_KEY,
  right: `a key that can be hidden, which ${RESERVED.split("|").join(", ")} cannot`,
};

/** A regular expression. */
export const EXPRESSION: TextRule = {
  pattern: /^/,
  right: "a regular expression",
  read: (pattern) => isExpression(pattern) ? pattern : undefined,
};

/**
 * A span of time.
 *
 * @param most the longest
 * @param least the shortest
 */
export function duration(most: Duration, least: Duration = "0ms"): TextRule {
  return {
    pattern: DURATION,
    right: `a duration such as "2s", "500ms" or "1m", at most ${most}`,
    read(text) {
      const length = milliseconds(text as Duration);
      return length <= milliseconds(most) && length >= milliseconds(least) ? text : undefined;
    },
    why(text) {
      const isShort = DURATION.test(text) && milliseconds(text as Duration) < milliseconds(least);
      return isShort ? `must be at least ${least}, not "${text}"` : undefined;
    },
  };
}

/** How long an answer may take. */
export const TIMEOUT: TextRule = duration("60s", "1ms");

/** How long an answer is good for, or is shown when the node has stopped answering. */
export const AGE: TextRule = duration("24h");

/** What is wrong with the URL of a node, which is not repeated: it may hold a secret. */
function mistakeInUrl(text: string): string {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^]*)$/i.exec(text) ?? [];
  if (scheme === undefined) {
    const isPlain = /^[\w.-]+(:\d+)?(\/[\w./-]*)?$/.test(text);
    const meant = isPlain ? `; did you mean http://${text}?` : "";
    return `must begin with http:// or https://${meant}`;
  }
  if (!/^https?$/i.test(scheme)) return `must begin with http:// or https://, not ${scheme}://`;
  if (hasUser(text)) {
    return "must not hold a user or a password; node.auth says in which file they are";
  }
  if (text.includes("?")) return 'must have no query: nothing from the "?" on';
  if (text.includes("#")) return 'must have no fragment: nothing from the "#" on';
  const port = /^(?:\[[^\]]*\]|[^/:]*):(\d+)/.exec(rest)?.[1];
  if (port !== undefined && Number(port) > 65535) return "must have a port up to 65535";
  return `must be ${NODE_URL.right}`;
}

function mistakeInSource(text: string): string | undefined {
  if (!hasUser(text)) return undefined;
  return "must not hold a user or a password; node.auth says in which file they are";
}

function mistakeInPlace(place: string): string | undefined {
  if (/^file:(?!\/\/)/i.test(place)) return "must be a path, or a URL that begins with file:///";
  if (!/^(https?|file):/i.test(place) || URL.canParse(place)) return undefined;
  return "must be the path of a file, or a URL that can be parsed";
}

/** Whether a URL holds a user or a password, as in `http://user:password@host/`. */
function hasUser(url: string): boolean {
  return /^[a-z]+:\/\/[^/?#]*@/i.test(url);
}

function isExpression(pattern: string): boolean {
  try {
    return !!new RegExp(pattern);
  } catch {
    return false;
  }
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

const lowerCase = (text: string) => text.toLowerCase();
