/**
 * The forms of single texts: what each looks like, what it stands for, and what is wrong with others.
 *
 * @module
 */
import { bytesOf, SIZE_FORM } from "../gateway/forward-settings.ts";
import * as v from "valibot";
import { REFERENCE } from "../info/source-reference.ts";
import { RESERVED_KEYS } from "../info/node-and-info-settings.ts";
import { DURATION, milliseconds } from "../info/parse-duration.ts";
import type { Duration } from "../kinds/kind.ts";
import { KIND_FILE_RULE } from "./kind-name.ts";
import { type Schema, secret, text } from "./schema-builders.ts";
import {
  FILE_RULE,
  hasUser,
  LISTEN_RULE,
  NO_USER,
  NODE_URL_RULE,
  PLACE_RULE,
  SERVERS_RULE,
} from "./text-rules.ts";

/** A line of text. */
export const LINE: Schema<string> = text({ right: "a line of text", pattern: /^[^\r\n]+$/ });

/** What a page is called. */
export const TITLE: Schema<string> = text({
  right: "a line of text, at most 80 characters",
  pattern: /^(?=.*\S)[^\r\n]{1,80}$/,
});

/** Any text. */
export const TEXT: Schema<string> = v.string("text");

/** The path of a file. */
export const FILE: Schema<string> = text(FILE_RULE);

/** An address and a port. */
export const LISTEN: Schema<{ host: string; port: number }> = text(LISTEN_RULE);

/** Where a description is: the path of a file, a URL, or `none`. */
export const PLACE: Schema<string> = text(PLACE_RULE);

/** What becomes of the servers at the top of a description. */
export const SERVERS: Schema<string> = text(SERVERS_RULE);

/** The URL of a node. */
export const NODE_URL: Schema<string> = secret(text(NODE_URL_RULE));

/** Where a source of the info is: below the node's URL, or a whole URL. */
export const SOURCE_PATH: Schema<string> = secret(
  text({
    right: "a path such as /status, or a URL",
    pattern: /^(\/|[hH][tT][tT][pP][sS]?:\/\/)\S*$/,
    why: mistakeInSource,
  }),
);

/** What a source of the info gets: as above, or the place of a link in another answer. */
export const SOURCE_GET: Schema<string> = secret(
  text({
    right: "a path such as /status, a URL, or the place of a link such as id#/link",
    pattern: /^(\/|[hH][tT][tT][pP][sS]?:\/\/|[\w-]+#\/)\S*$/,
    why: mistakeInSource,
  }),
);

/** A host name without a port, which may have letters of any script. */
export const HOST_NAME: Schema<string> = text({
  right: 'a host name without a port, or "*" in place of the list',
  pattern: /^[^\s\/?#@:*\\[\]]+$/,
  isRight: (name) => URL.canParse(`http://${name}`),
  read: (name) => new URL(`http://${name}`).hostname,
});

/** An origin, as browsers send it: in lower case, without a port that is the usual one. */
export const ORIGIN: Schema<string> = text({
  right: 'an origin such as https://app.example, or "*" in place of the list',
  pattern: /^[hH][tT][tT][pP][sS]?:\/\/[^\s\/?#@*]+$/,
  isRight: (origin) => URL.canParse(origin),
  read: (origin) => new URL(origin).origin,
});

/** The path that comes before all others where a server has others besides. */
export const PREFIX: Schema<string> = text({
  right: 'a path such as "/node1", with a slash in front and none at the end',
  // URLs leave out the parts "." and "..".
  pattern: /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)*$/,
});

/** What a kind of node is called. */
export const KIND_NAME: Schema<string> = text({
  right: "a name of lower-case letters, digits and -, other than none",
  pattern: /^(?!none$)[a-z][a-z0-9-]*$/,
});

/** The file of a kind. */
export const KIND_FILE: Schema<string> = text(KIND_FILE_RULE);

/** A page of the web. */
export const WEB_URL: Schema<string> = text({
  right: "a URL such as https://github.com/owner/name/blob/v1.0.0/api.yaml",
  pattern: /^https?:\/\/[^\s\/?#@]+\/\S*$/,
});

/** A path below the node's URL. */
export const PATH: Schema<string> = text({
  right: "a path such as /openapi.json",
  pattern: /^\/\S*$/,
});

/** A place in an answer. */
export const REFERENCE_TEXT: Schema<string> = text({
  right: "a source, # and a JSON Pointer, such as net#/subversion",
  pattern: REFERENCE,
});

/** A JSON Pointer into the value that a field takes. */
export const POINTER: Schema<string> = text({
  right: "a JSON Pointer such as /up",
  pattern: /^\//,
});

/** The name of a header. */
export const HEADER: Schema<string> = text({ right: "the name of a header", pattern: /^[\w-]+$/ });

/** The name of a source. */
export const SOURCE_NAME: Schema<string> = text({
  right: "a name of letters, digits, - and _",
  pattern: /^[\w-]+$/,
});

const INFO_KEY_FORM = new RegExp(`^(?!(?:${RESERVED_KEYS.join("|")})$)[a-z][a-z0-9_]*$`);

/** A key of the info that an operator may set. */
export const INFO_KEY: Schema<string> = text({
  right: `a key in snake_case other than ${RESERVED_KEYS.join(", ")}`,
  pattern: INFO_KEY_FORM,
});

/** A key of the info that may be hidden. */
export const HIDDEN_KEY: Schema<string> = text({
  right: `a key that can be hidden, which ${RESERVED_KEYS.join(", ")} cannot`,
  pattern: INFO_KEY_FORM,
});

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
  return text({
    right: `a duration such as "2s", "500ms" or "1m", at most ${most}`,
    pattern: DURATION,
    why: (text) => isTooShort(text) ? `must be at least ${least}, not "${text}"` : undefined,
    isRight: (text) => milliseconds(text as Duration) <= milliseconds(most),
  });
}

/** How long an answer may take. */
export const TIMEOUT: Schema<string> = duration("10s", "1ms");

/** How long a call of the node may take. */
export const CALL_TIMEOUT: Schema<string> = duration("10m", "100ms");

/** The size of an answer. */
export const SIZE: Schema<string> = text({
  right: 'a size such as "32MiB", at most 1GiB',
  pattern: SIZE_FORM,
  isRight: (text) => bytesOf(text) >= 1024 && bytesOf(text) <= 1024 ** 3,
});

/** How long an answer is good for, or is shown when the node has stopped answering. */
export const AGE: Schema<string> = duration("24h");

function mistakeInSource(text: string): string | undefined {
  return hasUser(text) ? NO_USER : undefined;
}

function isExpression(pattern: string): boolean {
  try {
    return !!new RegExp(pattern);
  } catch {
    return false;
  }
}
