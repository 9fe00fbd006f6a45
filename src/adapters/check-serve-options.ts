/**
 * Checks the options of a server.
 *
 * @module
 */
import { describeValue } from "../untrusted-text.ts";
import type { ServeOptions } from "./shared.ts";

/** Where a server is to listen. */
export interface Address {
  /** A host name, or an IP literal without brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** What each option must be. */
const RULES: Readonly<
  Record<keyof ServeOptions, { isRight: (value: unknown) => boolean; right: string }>
> = {
  hostname: {
    isRight: (value) =>
      typeof value === "string" && /^([^\s/:[\]]+|\[?[\da-f:.]+(%[\w.-]+)?\]?)$/i.test(value),
    right: 'a host name or an IP address such as "127.0.0.1"',
  },
  port: {
    isRight: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
    right: "a whole number from 0 to 65535",
  },
  onAnswer: { isRight: isFunction, right: "a function" },
  onError: { isRight: isFunction, right: "a function" },
};

/**
 * Checks the options of a server and gives the defaults of its address.
 *
 * @returns rejects with a `TypeError` that has a line for each option that is wrong
 */
export async function checkServeOptions(options: ServeOptions = {}): Promise<Address> {
  const mistakes: string[] = [];
  for (const [key, value] of Object.entries(options)) {
    const rule = Object.hasOwn(RULES, key) ? RULES[key as keyof ServeOptions] : undefined;
    if (!rule) mistakes.push(await describeUnknown(key));
    else if (value !== undefined && !rule.isRight(value)) {
      mistakes.push(`${key} must be ${rule.right}, not ${describeValue(value)}`);
    }
  }
  if (mistakes.length === 1) throw new TypeError(mistakes[0]);
  if (mistakes.length > 1) throw new TypeError(["wrong options:", ...mistakes].join("\n  "));
  const { hostname = "127.0.0.1", port = 8080 } = options;
  return { hostname: hostname.replace(/^\[|\]$/g, ""), port };
}

async function describeUnknown(key: string): Promise<string> {
  // Only a mistake needs it, so that a right start does not load it.
  const { didYouMean, nearest } = await import("../nearest.ts");
  const names = Object.keys(RULES);
  const meant = nearest(key, names);
  const right = meant ? didYouMean(meant) : `; expected one of ${names.join(", ")}`;
  return `unknown key ${key}${right}`;
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
