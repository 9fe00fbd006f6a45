/**
 * The single values of a configuration: what each looks like, and what would be right. The flags and
 * variables are read by these alone; the schema of the file, which takes long to load, is made of them.
 *
 * @module
 */
import type { Rule } from "../http/allowed.ts";

/** What is written about requests, to standard output. */
export const LOGS = ["text", "json", "off"] as const;

/** A host name or an IP literal, which loses its brackets: `[::1]` is `::1`. */
export const HOST: Rule = {
  pattern: /^(\[[\da-fA-F:.]+\]|[^\s/[\]]+)$/,
  right: "a host name or an address",
  normal: withoutBrackets,
};

/** A port as it is written. */
export const PORT: Rule<number> = {
  pattern: /^\d{1,5}$/,
  right: "a whole number from 0 to 65535",
  normal: (digits) => Number(digits) <= 65535 ? Number(digits) : undefined,
};

/** An address and a port. */
export const LISTEN: Rule<{ host: string; port: number }> = {
  pattern: /^(\[[\da-fA-F:.]+\]|[^\s/[\]:]+):\d{1,5}$/,
  right: "an address and a port, as in 127.0.0.1:8080",
  normal(address) {
    const colon = address.lastIndexOf(":");
    const port = PORT.normal(address.slice(colon + 1));
    return port === undefined
      ? undefined
      : { host: withoutBrackets(address.slice(0, colon)), port };
  },
  refusal: "must have a port from 0 to 65535",
};

/** What is written about requests. */
export const LOG: Rule<(typeof LOGS)[number]> = {
  pattern: new RegExp(`^(${LOGS.join("|")})$`),
  right: `one of ${LOGS.join(", ")}`,
  normal: (log) => log as (typeof LOGS)[number],
};

/** A line of text, such as the path of a file. */
export const LINE: Rule = {
  pattern: /^[^\r\n]+$/,
  right: "a line of text",
  normal: (line) => line,
};

/** Where a description is; `none` is nowhere. */
export const PLACE: Rule = {
  ...LINE,
  normal: (place) => !/^(https?|file):/i.test(place) || URL.canParse(place) ? place : undefined,
  refusal: "must be a path or a URL",
};

/** The URL of a node. A secret does not belong into it: it would be seen in lists of processes. */
export const NODE_URL: Rule = {
  pattern: /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/,
  right: "a URL such as http://127.0.0.1:8545",
  normal: (url) => !/@/.test(url) && URL.canParse(url) ? url : undefined,
  refusal: "names a secret, or cannot be parsed; secrets lie in files, see node.auth",
};

/** The name of a kind of node. */
export function kindRule(names: readonly string[]): Rule {
  return {
    pattern: new RegExp(`^(${names.join("|")}|none)$`),
    right: `one of ${names.join(", ")}, or none`,
    normal: (name) => name,
  };
}

/** What would be right in place of a text that breaks a rule. */
export function mistakeIn({ pattern, right, refusal }: Rule<unknown>, text: string): string {
  return refusal !== undefined && pattern.test(text) ? refusal : `must be ${right}`;
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
