/**
 * Reads plain batches: those that may be sent to the node as their client has written them.
 *
 * @module
 */
import { isObject } from "../json/values.ts";
import { CALLS_MAX } from "../node/json-rpc.ts";
import { CALL_DEPTH_MAX } from "./content.ts";

/** An `RpcCall` of a plain batch. */
interface PlainCall {
  readonly id: string;
  readonly method: string;
  readonly params: string | undefined;
  readonly isJsonRpc1: false;
}

/** A longer text would take more than about a millisecond. */
const LENGTH_MAX = 131_072;

/**
 * Reads a batch that is written as `JSON.stringify` writes it, so that all parsers read it alike,
 * and whose calls have no other members than those that we write. Returns `undefined` for any other
 * text.
 */
export function readPlainBatch(text: string): PlainCall[] | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  try {
    const values = JSON.parse(text);
    if (!Array.isArray(values) || JSON.stringify(values) !== text) return undefined;
    const calls = values.map(readPlainCall).filter((call) => call !== undefined);
    const isWhole = calls.length === values.length && calls.length > 0;
    return isWhole && calls.length <= CALLS_MAX ? calls : undefined;
  } catch {
    // The text is no JSON, or too deep.
    return undefined;
  }
}

const MEMBERS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

/** An id that every node returns as it came. */
const PLAIN_ID = /^(?:\d{1,15}|"[\w-]{1,64}")$/;

function readPlainCall(value: unknown): PlainCall | undefined {
  if (!isObject(value) || !Object.keys(value).every((name) => MEMBERS.has(name))) return undefined;
  const { jsonrpc, id: given, method, params } = value;
  const id = JSON.stringify(given);
  // The batch and the call are two levels.
  const isPlain = jsonrpc === "2.0" && PLAIN_ID.test(id) && typeof method === "string" &&
    (params === undefined || (isHolder(params) && !isDeeper(params, CALL_DEPTH_MAX - 2)));
  if (!isPlain) return undefined;
  return { id, method, params: params && JSON.stringify(params), isJsonRpc1: false };
}

const isHolder = (value: unknown): value is object => typeof value === "object" && value !== null;

const isDeeper = (value: unknown, levels: number): boolean =>
  isHolder(value) &&
  (levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1)));
