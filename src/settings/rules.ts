/**
 * The forms of single texts: what each looks like, what it stands for, and what is wrong with others.
 *
 * @module
 */
import * as v from "valibot";
import { REFERENCE } from "../info/source-reference.ts";
import { DURATION, milliseconds } from "../info/settings.ts";
import type { Duration } from "../kinds/kind.ts";
import { type Schema, secret, text } from "./schemas.ts";

/** A line of text. */
export const LINE: Schema<string> = text("a line of text", /^[^\r\n]+$/);

/** Any text. */
export const TEXT: Schema<string> = v.string("text");

/** The path of a file. */
export const FILE: Schema<string> = text("the path of a file", /^[^\r\n]+$/);

/** What to say of an address that is meant to be every address. */
const ANY_ADDRESS =
  'must be an address; 0.0.0.0 listens on all addresses of IPv4, :: on all, not "*"';

/** A host name or an IP literal, which loses its brackets: `[::1]` is `::1`. */
export const HOST: Schema<string> = text(
  "a host name or an address",
  /^(\[[\da-fA-F:.]+\]|[^\s/[\]*]+)$/,
  { why: (text) => text === "*" ? ANY_ADDRESS : undefined, read: withoutBrackets },
);

/** A port as it is written. */
export const PORT: Schema<number> = text("a whole number from 0 to 65535", /^\d{1,5}$/, {
  isRight: isPort,
  read: Number,
});

const ADDRESS = /^(\[[\da-fA-F:.]+\]|[^\s/[\]:*]+):(\d{1,5})$/;

/** An address and a port. */
export const LISTEN: Schema<{ host: string; port: number }> = text(
  "an address and a port, as in 127.0.0.1:8080",
  ADDRESS,
  {
    why(text) {
      if (text.startsWith("*:")) return ANY_ADDRESS;
      const port = ADDRESS.exec(text)?.[2];
      return port && !isPort(port) ? "must have a port from 0 to 65535" : undefined;
    },
    read(text) {
      const [, host = "", port] = ADDRESS.exec(text)!;
      return { host: withoutBrackets(host), port: Number(port) };
    },
  },
);

/** Where a description is: the path of a file, a URL, or `none`. */
export const PLACE: Schema<string> = text("the path of a file, a URL, or none", /^[^\r\n]+$/, {
  why: mistakeInPlace,
});

/** What a URL of a node looks like. */
export const URL_EXAMPLE = "a URL such as http://127.0.0.1:8545";

/** The URL of a node. A secret does not belong into it: lists of processes would show it. */
export const NODE_URL: Schema<string> = secret(
  text(URL_EXAMPLE, /^[hH][tT][tT][pP][sS]?:\/\/[^\s\/?#@]+(\/[^\s?#]*)?$/, {
    why: mistakeInUrl,
    isRight: (url) => URL.canParse(url),
    read: (url) => url.replace(/^\w+/, (scheme) => scheme.toLowerCase()),
  }),
);

/** Where a source of the info is: below the node's URL, or a whole URL. */
export const SOURCE_PATH: Schema<string> = secret(
  text("a path such as /status, or a URL", /^(\/|[hH][tT][tT][pP][sS]?:\/\/)\S*$/, {
    why: mistakeInSource,
  }),
);

/** What a source of the info gets: as above, or the place of a link in another answer. */
export const SOURCE_GET: Schema<string> = secret(
  text(
    "a path such as /status, a URL, or the place of a link such as id#/link",
    /^(\/|[hH][tT][tT][pP][sS]?:\/\/|[\w-]+#\/)\S*$/,
    { why: mistakeInSource },
  ),
);

/** A host name without a port, which may have letters of any script. */
export const HOST_NAME: Schema<string> = text(
  'a host name without a port, or "*" in place of the list',
  /^[^\s\/?#@:*\\[\]]+$/,
  {
    isRight: (name) => URL.canParse(`http://${name}`),
    read: (name) => new URL(`http://${name}`).hostname,
  },
);

/** An origin, as browsers send it: in lower case, without a port that is the usual one. */
export const ORIGIN: Schema<string> = text(
  'an origin such as https://app.example, or "*" in place of the list',
  /^[hH][tT][tT][pP][sS]?:\/\/[^\s\/?#@*]+$/,
  { isRight: (origin) => URL.canParse(origin), read: (origin) => new URL(origin).origin },
);

/** The path that comes before all others where a server has others besides. */
export const PREFIX: Schema<string> = text(
  'a path such as "/node1", with a slash in front and none at the end',
  /^(\/[\w.~-]+)*$/,
);

/** A place in an answer. */
export const REFERENCE_TEXT: Schema<string> = text(
  "a source, # and a JSON Pointer, such as net#/subversion",
  REFERENCE,
);

/** A JSON Pointer into the value that a field takes. */
export const POINTER: Schema<string> = text("a JSON Pointer such as /up", /^\//);

/** The name of a header. */
export const HEADER: Schema<string> = text("the name of a header", /^[\w-]+$/);

/** The name of a source. */
export const SOURCE_NAME: Schema<string> = text("a name of letters, digits, - and _", /^[\w-]+$/);

/** Keys of the info that only the service itself sets. */
const RESERVED = ["status", "status_code", "status_reason", "updated_at", "api", "links"];

const INFO_KEY_FORM = new RegExp(`^(?!(?:${RESERVED.join("|")})$)[a-z][a-z0-9_]*$`);

/** A key of the info that an operator may set. */
export const INFO_KEY: Schema<string> = text(
  `a key in snake_case other than ${RESERVED.join(", ")}`,
  INFO_KEY_FORM,
);

/** A key of the info that may be hidden. */
export const HIDDEN_KEY: Schema<string> = text(
  `a key that can be hidden, which ${RESERVED.join(", ")} cannot`,
  INFO_KEY_FORM,
);

/** A regular expression. */
export const EXPRESSION: Schema<string> = v.pipe(
  v.string("a regular expression"),
  v.check(isExpression, "a regular expression"),
);

/**
 * A span of time.
 *
 * @param most the longest
 * @param least the shortest
 */
function duration(most: Duration, least: Duration = "0ms"): Schema<string> {
  const isTooShort = (text: string) =>
    DURATION.test(text) && milliseconds(text as Duration) < milliseconds(least);
  return text(`a duration such as "2s", "500ms" or "1m", at most ${most}`, DURATION, {
    why: (text) => isTooShort(text) ? `must be at least ${least}, not "${text}"` : undefined,
    isRight: (text) => milliseconds(text as Duration) <= milliseconds(most),
  });
}

/** How long an answer may take. */
export const TIMEOUT: Schema<string> = duration("60s", "1ms");

/** How long an answer is good for, or is shown when the node has stopped answering. */
export const AGE: Schema<string> = duration("24h");

/** What is wrong with the URL of a node, which is not repeated: it may hold a secret. */
function mistakeInUrl(text: string): string | undefined {
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
  return port && Number(port) > 65535 ? "must have a port up to 65535" : undefined;
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

function isPort(digits: string): boolean {
  return Number(digits) <= 65535;
}
