/**
 * The labels of an operation on both explorer pages: its name, its URL fragments, and marks such as
 * "slow".
 *
 * @module
 */
import { decodePercent } from "../decode.ts";
import { CALL_MARK } from "../gateway/annotate-operations.ts";
import { type JsonObject, textOf } from "../json/values.ts";
import type { OperationMarks } from "../kinds/interface.ts";
import { isMethodPath, METHODS_PATH } from "../openapi/home.ts";
import { excerpt } from "../untrusted-text.ts";

/** The tag that Scalar gives to operations without a tag. */
export const UNTAGGED = "default";
const ANCHOR_NAME = /^[\w.~:/-]{1,100}$/;

export function methodNameOf(path: string): string {
  return isMethodPath(path) ? decodePercent(path.slice(METHODS_PATH.length)) : "";
}

/**
 * Returns a fragment such as `op/getInfo`, or an empty string if the name is not safe in a
 * fragment.
 */
export function anchorOf(path: string, operation: JsonObject): string {
  const name = methodNameOf(path) || (textOf(operation.operationId) ?? "");
  return ANCHOR_NAME.test(name) ? `op/${name}` : "";
}

/** Returns the URL fragment that Scalar gives to a tag. */
export function tagFragment(name: string): string {
  const slug = name.slice(0, 200).replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "").trim()
    .replace(/[\s_-]+/g, "-").toLowerCase();
  return `tag/${slug}`;
}

export const NOT_ENABLED = "not enabled";

export const MARK_LABELS: readonly (readonly [
  name: keyof OperationMarks | typeof CALL_MARK,
  value: string | true,
  word: string,
  meaning: string,
])[] = [
  ["x-access", "read", "read", "reads public data"],
  ["x-access", "write", "write", "may change something"],
  ["x-access", "secret", "sensitive", "shows private data, changes nothing"],
  ["x-cost", "heavy", "slow", "may keep the node busy for seconds"],
  ["x-streaming", true, "streams", "stays open"],
  ["x-connection", true, "WebSocket", "belongs to the connection that calls it"],
  [CALL_MARK, "open", "public", "anyone can call it here"],
  [CALL_MARK, "token", "token", "can be called here with a client's token"],
  [CALL_MARK, "refused", NOT_ENABLED, "cannot be called here"],
];

/** The methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS = ["GET", "HEAD", "OPTIONS", "QUERY"];

/** Like the gateway, treats an unknown `x-access` as missing. */
export function mayChange(method: string, operation: JsonObject): boolean {
  const access = operation["x-access"];
  return access === "write" ||
    (access !== "read" && access !== "secret" && !SAFE_METHODS.includes(method));
}

export function wordsOf(operation: JsonObject): string[] {
  const words = MARK_LABELS.filter(([name, value]) => operation[name] === value)
    .map(([, , word]) => word);
  const since = excerpt(textOf(operation["x-since"]) ?? "", 20);
  return since ? [...words, `since ${since}`] : words;
}
