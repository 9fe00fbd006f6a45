/**
 * The labels that both documents give an operation: its name, the fragments that lead to it, and its marks in words.
 *
 * @module
 */
import { CALL_MARK } from "../gateway/annotate-operations.ts";
import { type Json, textOf } from "../json/values.ts";
import type { OperationMarks } from "../kinds/interface.ts";
import { decodePercent, excerpt } from "../untrusted-text.ts";

/** The start of the paths of methods of JSON-RPC; see `openapi/openrpc.ts`. */
const RPC = "/v1/rpc/";

/** The tag that Scalar gives to operations without one. */
export const UNTAGGED = "default";

const ANCHOR_NAME = /^[\w.~:/-]{1,100}$/;

/** Reads the name of a method of JSON-RPC from its path; an empty text for any other path. */
export function methodNameOf(path: string): string {
  return path.startsWith(RPC) ? decodePercent(path.slice(RPC.length)) : "";
}

/** Writes the short fragment of an operation, such as `op/getInfo`; empty where it has no name that is safe in one. */
export function anchorOf(path: string, operation: Json): string {
  const name = methodNameOf(path) || (textOf(operation.operationId) ?? "");
  return ANCHOR_NAME.test(name) ? `op/${name}` : "";
}

/** Writes the fragment of a tag, as Scalar makes it. That of an operation goes on with its method and its path. */
export function tagFragment(name: string): string {
  const slug = name.slice(0, 200).replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "").trim()
    .replace(/[\s_-]+/g, "-").toLowerCase();
  return `tag/${slug}`;
}

/** A mark: the member of an operation with its value, the word for it, its meaning and its colour. */
export const MARKS: readonly (readonly [
  name: keyof OperationMarks | typeof CALL_MARK,
  value: string | true,
  word: string,
  meaning: string,
  colour: string,
])[] = [
  ["x-access", "read", "read", "reads public data", "#0f7a3d"],
  ["x-access", "write", "write", "may change something", "#b3261e"],
  ["x-access", "secret", "sensitive", "changes nothing, and shows what is private", "#7139a8"],
  ["x-cost", "heavy", "slow", "may keep the node busy for seconds", "#974d00"],
  ["x-streaming", true, "streams", "does not end, or waits until something happens", "#974d00"],
  [CALL_MARK, "open", "public", "can be called here by anybody", "#0a62ae"],
  [CALL_MARK, "token", "token", "can be called here with the operator's token", "#974d00"],
  [CALL_MARK, "refused", "not enabled", "cannot be called here", "#525b69"],
];

/** The methods of what changes nothing, where no mark says so (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "QUERY"]);

/** Tells whether an operation may change something; a mark that is not known is none, as in the gateway. */
export function mayChange(method: string, operation: Json): boolean {
  const access = operation["x-access"];
  return access === "write" ||
    (access !== "read" && access !== "secret" && !SAFE_METHODS.has(method));
}

/** In UTF-16 code units. */
const SINCE_LENGTH_MAX = 20;

export function wordsOf(operation: Json): string[] {
  const words = MARKS.filter(([name, value]) => operation[name] === value)
    .map(([, , word]) => word);
  const since = excerpt(textOf(operation["x-since"]) ?? "", SINCE_LENGTH_MAX);
  return since ? [...words, `since ${since}`] : words;
}
