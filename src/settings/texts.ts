/**
 * The schemas of settings that are written as text.
 *
 * @module
 */
import * as v from "valibot";
import { CREDENTIALS_DIRECTORY, isAnchored } from "../platform.ts";
import { KIND_ALIASES, KIND_NAMES } from "../generated/kind-names.js";
import { RESERVED_KEYS } from "../info/settings.ts";
import { REFERENCE } from "../info/query-plan.ts";
import type { Reference } from "../kinds/parts.ts";
import { bytesOf, DURATION, type Duration, milliseconds, SIZE as SIZE_FORM } from "../units.ts";
import { didYouMean } from "../nearest.ts";
import { EXPRESSION_MAX, mistakeInExpression } from "../regular-expression.ts";
import { anyOf, choice, meantWord, mustBe, type Schema, secret, text, typed } from "./schema.ts";

export const LINE: Schema<string> = text("a line of text", /^[^\r\n]+$/);

const VARIABLE_FORM = /^(?![\da-fA-F]{32,}$)[A-Za-z_]\w*$/;

/** Its messages do not show what stands in its place, which may be the secret itself. */
export const VARIABLE: Schema<string> = secret(
  text("a variable's name", VARIABLE_FORM),
);

export const REASON: Schema<string> = text(
  "a line of text, with places in braces such as {net#/version}",
  /^(?:[^{}\r\n]|\{[\w-]+#[^{}\r\n]*\})+$/,
);

export const TITLE: Schema<string> = text(
  "a line of text, at most 80 characters",
  /^(?=.*\S)[^\r\n]{1,80}$/,
);

const SWITCH_WORDS = { on: "true", yes: "true", 1: "true", off: "false", no: "false", 0: "false" };

export const SWITCH: Schema<boolean> = v.pipe(
  choice(["true", "false"], "true or false", SWITCH_WORDS as Record<string, "true" | "false">),
  v.transform((text) => text === "true"),
);

export const FILE: Schema<string> = text("the path of a file", /^[^\r\n]+$/, {
  explain(path) {
    if (!/^\$\{?\w+\}?\//.test(path) || isAnchored(path)) return undefined;
    return `must be the path of a file; the only variable that it ` +
      `may begin with is $${CREDENTIALS_DIRECTORY}`;
  },
});

/** A name with its password, a JSON Web Token (RFC 7519), a hexadecimal number, or Base64. */
const SECRET_ITSELF = new RegExp(
  String.raw`^(?:[^/\\:$~]{2,}:.+|eyJ[\w-]+\.[\w-]+\.[\w-]*|(?:0x)?[\da-fA-F-]{32,}` +
    String.raw`|(?![/~])(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w+/=-]{32,})$`,
);

/** Its messages do not show what stands in its place, which may be the secret itself. */
const NO_SECRET: Schema<string> = secret(
  text("the path of a file", /^[^\r\n]+$/, {
    explain: (path) =>
      SECRET_ITSELF.test(path)
        ? "must be the path of a file, not the secret itself; a file of this folder begins with ./"
        : undefined,
  }),
);

export const secretFile = (path: Schema<string>): Schema<string> =>
  v.pipe(NO_SECRET, path as v.GenericSchema<string>);

const ANY_ADDRESS =
  'must be an address, not "*"; use 0.0.0.0 for all IPv4 addresses, or :: for all';

export const HOST: Schema<string> = text(
  "a host name or an address, without a port",
  /^(\[[^\s/[\]]+\]|[^\s/[\]*?#@\\]+)$/,
  {
    explain: (text) => text === "*" ? ANY_ADDRESS : undefined,
    isValid: isHost,
    read: withoutBrackets,
  },
);

/** A link-local address may name its interface, as in `fe80::1%eth0`. */
function isHost(text: string): boolean {
  const host = withoutBrackets(text);
  const hasBrackets = host !== text || /:.*:/.test(host);
  return URL.canParse(`http://${hasBrackets ? `[${host.replace(/%[\w.-]+$/, "")}]` : host}`) &&
    (hasBrackets || !host.includes(":"));
}

const isPort = (digits: string) => Number(digits) <= 65535;

export const PORT: Schema<number> = text("a whole number from 0 to 65535", /^\d{1,5}$/, {
  isValid: isPort,
  read: Number,
});

const ADDRESS = /^(\[[^\s/[\]]+\]|[^\s/[\]:*?#@\\]+):(\d{1,5})$/;

export const LISTEN: Schema<{ host: string; port: number }> = text(
  "an address and a port up to 65535, as in 127.0.0.1:8080",
  ADDRESS,
  {
    explain: (text) => text.startsWith("*:") ? ANY_ADDRESS : undefined,
    isValid(text) {
      const [, host, port] = ADDRESS.exec(text)!;
      return isHost(host!) && isPort(port!);
    },
    read(text) {
      const [, host = "", port] = ADDRESS.exec(text)!;
      return { host: withoutBrackets(host), port: Number(port) };
    },
  },
);

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

export const PLACE: Schema<string> = text("the path of a file, a URL, or none", /^[^\r\n]+$/, {
  explain(place) {
    if (/^file:(?!\/\/)/i.test(place)) return "must be a path, or a URL that begins with file:///";
    if (!/^(https?|file):/i.test(place) || URL.canParse(place)) return undefined;
    return "must be the path of a file, or a valid URL";
  },
});

/** A file must exist when the service starts, but a URL may become available later. */
export function isFilePlace(place: string): boolean {
  return place !== "none" && !/^(?:https?|file):/i.test(place);
}

export const BASE: Schema<string> = text(
  "a path such as /v1",
  /^\/[^\s?#{}\\]*$/,
  { isValid: (text) => !text.startsWith("//") },
);

export const URL_EXAMPLE = "a URL such as http://127.0.0.1:8545";

/** A node's URL must not contain a secret, since process lists would show the secret. */
export const NODE_URL: Schema<string> = secret(
  text(URL_EXAMPLE, /^[hH][tT][tT][pP][sS]?:\/\/[^\s\/?#@]+(\/[^\s?#]*)?$/, {
    explain: explainUrl,
    isValid: (url) => URL.canParse(url),
    read: (url) => url.replace(/^\w+/, (scheme) => scheme.toLowerCase()),
  }),
);

export const WS_URL: Schema<string> = secret(
  text("a URL such as ws://127.0.0.1:8546", /^wss?:\/\/[^\s?#@]+$/i, {
    isValid: (url) => URL.canParse(url),
  }),
);

const NO_USER =
  "must not contain a user or a password; put them into a file, and name the file under node.auth";
const hasUser = (url: string) => /^[a-z]+:\/\/[^/?#]*@/i.test(url);

function explainUrl(text: string): string | undefined {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^]*)$/i.exec(text) ?? [];
  if (scheme === undefined) {
    const [, start = "http:", address = ""] = /^(https?:)?\/{0,2}(.*)$/i.exec(text) ?? [];
    const isPlain = /^[\w.-]+(:\d+)?(\/[\w./-]*)?$/.test(address);
    const meant = isPlain ? `; did you mean ${start.toLowerCase()}//${address}?` : "";
    return `must begin with http:// or https://${meant}`;
  }
  if (!/^https?$/i.test(scheme)) return `must begin with http:// or https://, not ${scheme}://`;
  if (hasUser(text)) return NO_USER;
  if (text.includes("?")) return 'must have no query: remove the "?" and the rest';
  if (text.includes("#")) return 'must have no fragment: remove the "#" and the rest';
  if (/^[\da-f]*:[\da-f]*:/i.test(rest)) {
    return "must have brackets around an IPv6 address, as in http://[::1]:8545";
  }
  const port = /^(?:\[[^\]]*\]|[^/:]*):(\d+)/.exec(rest)?.[1];
  return port && Number(port) > 65535 ? "must have a port up to 65535" : undefined;
}

const WITHOUT_USER = { explain: (text: string) => hasUser(text) ? NO_USER : undefined };

export const SOURCE_PATH: Schema<string> = text(
  "a path such as /status, or a URL",
  /^(\/|[hH][tT][tT][pP][sS]?:\/\/)\S*$/,
  WITHOUT_USER,
);

export const SOURCE_GET: Schema<string> = text(
  "a path such as /status, a URL, or a link in another response, such as id#/link",
  /^(\/|[hH][tT][tT][pP][sS]?:\/\/|[\w-]+#\/)\S*$/,
  WITHOUT_USER,
);

export const PATH_OR_LINK: Schema<string> = text(
  "a path such as /status, or a link in another response, such as id#/link",
  /^(\/|[\w-]+#\/)\S*$/,
);

/** Names that stand for those who are no named client. */
const NOT_CLIENTS = ["anonymous", "unknown", "none"];

export const CLIENT_NAME: Schema<string> = text(
  `a name of 1 to 32 lower-case letters, digits and "-", other than ${NOT_CLIENTS.join(", ")}`,
  /^[a-z0-9-]{1,32}$/,
  { isValid: (name) => !NOT_CLIENTS.includes(name) },
);

export const HOST_NAME: Schema<string> = text(
  'a host name without a port, or "*" in place of the list',
  /^[^\s\/?#@:*\\[\]]+$/,
  {
    isValid: (name) => URL.canParse(`http://${name}`),
    read: (name) => new URL(`http://${name}`).hostname.replace(/\.$/, ""),
  },
);

/**
 * The origin is converted to the form that browsers send: in lower case, without a default port.
 * Browser extensions and the pages of apps have other schemes than HTTP.
 */
export const ORIGIN: Schema<string> = text(
  'an origin such as https://app.example, or "*" in place of the list',
  /^[A-Za-z][A-Za-z\d+.-]*:\/\/[^\s\/?#@*]+$/,
  {
    isValid: (origin) => URL.canParse(origin) && !WITHOUT_ORIGIN.test(origin),
    read: readOrigin,
  },
);

/** No page has an origin with such a scheme. */
const WITHOUT_ORIGIN = /^(?:file|ftp|wss?):/i;

function readOrigin(text: string): string {
  const { protocol, host } = new URL(text);
  return `${protocol}//${host.toLowerCase()}`;
}

export const PREFIX: Schema<string> = text(
  'a path such as "/node1", with a slash in front and none at the end',
  // URL parsers remove the segments "." and "..".
  /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)*$/,
);

export const KIND_NAME: Schema<string> = text(
  'a name of lower-case letters, digits and "-", other than "none"',
  /^(?!none$)[a-z][a-z0-9-]*$/,
);

const KIND_FILE_FORM = /(?:^|[/\\])(?!none\.)([a-z][a-z0-9-]*)\.(?:ya?ml|json)$/;
const KIND_FILE_EXPECTED = "a file such as mine.yaml, named after its kind";
export const KIND_FILE: Schema<string> = text(KIND_FILE_EXPECTED, KIND_FILE_FORM);

export function kindNameOf(path: string): string | undefined {
  return KIND_FILE_FORM.exec(path)?.[1];
}

export const isKindFile = (kind: string): boolean => /[/\\]|\.(?:ya?ml|json)$/.test(kind);
const KIND_EXPECTED = 'a kind of node (see "nodeface kinds") or none';

export const KIND_OR_FILE: Schema<string> = text(KIND_EXPECTED, /^[^\r\n]+$/, {
  explain(text) {
    const isWrongFile = isKindFile(text) && kindNameOf(text) === undefined;
    return isWrongFile ? `must be ${KIND_FILE_EXPECTED}` : undefined;
  },
});

export function kindName(own: readonly string[]): Schema<string> {
  const names = [...KIND_NAMES, ...own];
  return v.pipe(
    // Editors suggest the listed names, but accept any string.
    typed("string", v.union([v.picklist(names), v.string()], KIND_EXPECTED)),
    v.rawCheck(({ dataset: { value }, addIssue }) => {
      if (typeof value !== "string" || value === "none" || names.includes(value)) return;
      const meant = meantWord(value, [...names, "none"], KIND_ALIASES);
      addIssue({ message: mustBe(KIND_EXPECTED, value) + didYouMean(meant) });
    }),
  );
}

export const WEB_URL: Schema<string> = text(
  "a URL such as https://github.com/owner/name/blob/v1.0.0/api.yaml",
  /^https?:\/\/[^\s\/?#@]+\/\S*$/,
);

export const PATH: Schema<`/${string}`> = text("a path such as /openapi.json", /^\/\S*$/);

export const REFERENCE_TEXT: Schema<Reference> = typed(
  "Reference",
  text("a source name and a JSON Pointer joined by #, such as net#/subversion", REFERENCE),
);

export const POINTER: Schema<string> = text("a JSON Pointer such as /up", /^\//);
export const HEADER: Schema<string> = text("the name of a header", /^[\w-]+$/);
export const SOURCE_NAME: Schema<string> = text("a name of letters, digits, - and _", /^[\w-]+$/);

const keyExcept = (...keys: string[]): Schema<string> =>
  text(
    `a key in snake_case other than ${keys.join(", ")}`,
    new RegExp(`^(?!(?:${keys.join("|")})$)[a-z][a-z0-9_]*$`),
  );

export const INFO_KEY: Schema<string> = keyExcept(...RESERVED_KEYS);
/** Each history has columns with the further names. */
export const HISTORY_KEY: Schema<string> = keyExcept(
  ...RESERVED_KEYS,
  "at",
  "interval",
  "response_ms",
);

export const EXPRESSION: Schema<string> = v.pipe(
  v.string("a regular expression"),
  v.maxLength(EXPRESSION_MAX, `a regular expression of at most ${EXPRESSION_MAX} characters`),
  v.check(
    (source) => source.length > EXPRESSION_MAX || mistakeInExpression(source) === undefined,
    ({ input }) => mistakeInExpression(input)!,
  ),
);

function duration(longest: Duration, shortest?: Duration, or = ""): Schema<Duration> {
  const range = (shortest ? `from ${shortest} to ${longest}` : `at most ${longest}`) + or;
  const [least, most] = [milliseconds(shortest ?? "0ms"), milliseconds(longest)];
  const schema = text<Duration>(`a duration such as "2s", "500ms" or "1m", ${range}`, DURATION, {
    isValid(text) {
      const time = milliseconds(text as Duration);
      return time >= least && time <= most;
    },
  });
  return typed("Duration", schema);
}

export const TIMEOUT: Schema<Duration> = duration("10s", "1ms");
export const CALL_TIMEOUT: Schema<Duration> = duration("10m", "100ms");
export const AGE: Schema<Duration> = duration("24h");
export const WATCH: Schema<Duration | "off"> = durationOrOff("24h", "1s");
export const HISTORY: Schema<Duration | "off"> = durationOrOff("24h", "4m");
export const STALLED_AFTER: Schema<Duration | "off"> = durationOrOff("24h", "10s");

function durationOrOff(longest: Duration, shortest: Duration): Schema<Duration | "off"> {
  const expected = `a duration from ${shortest} to ${longest}, or off`;
  return anyOf([duration(longest, shortest, ", or off"), choice(["off"], expected)], expected);
}

export const SIZE: Schema<string> = text('a size such as "32MiB", from 1KiB to 1GiB', SIZE_FORM, {
  isValid: (text) => bytesOf(text) >= 1024 && bytesOf(text) <= 1024 ** 3,
});
