/**
 * Encodes and decodes JSON-RPC 2.0 for the node's info, descriptions and calls. Values stay JSON text: numbers are
 * never parsed and printed again.
 *
 * @module
 */
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import { shorten } from "../untrusted-text.ts";

export const RPC_HEADERS = { "content-type": "application/json", accept: "application/json" };

/** Writes a call; `params` is an array or an object as JSON. */
export function writeCall(method: string, id: number, params: string | undefined): string {
  const start = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  return params === undefined ? `${start}}` : `${start},"params":${params}}`;
}

/** The response to one call, with its members as JSON. Nodes may omit members that JSON-RPC 2.0 requires. */
export interface RpcResponse {
  readonly id?: string | undefined;
  readonly result?: string | undefined;
  /** `undefined` if null, which JSON-RPC 1 nodes write beside a result. */
  readonly error?: string | undefined;
}

/** Parses the response to a call or a batch. The last of duplicate keys wins. */
export function readRpcResponse(
  text: string,
  depthMax: number,
  takesDuplicates = false,
): RpcResponse | RpcResponse[] {
  const isBatch = /^\s*\[/.test(text);
  const wanted = {
    levels: isBatch ? 2 : 1,
    member: (name: string) => /^(?:id|result|error)$/.test(name),
    takesDuplicates,
  };
  const root = readParts(text, wanted, depthMax);
  const read = ({ members }: Part): RpcResponse => {
    const member = (name: string) => {
      const part = members?.get(name);
      return part && textOfPart(text, part);
    };
    const error = member("error");
    return {
      id: member("id"),
      result: member("result"),
      error: error === "null" ? undefined : error,
    };
  };
  return root.items?.map(read) ?? read(root);
}

export interface RpcError {
  /** As written; `undefined` if it is not a number. */
  readonly code: string | undefined;
  readonly message: string;
  readonly data: string | undefined;
}

/** The longest part of an error, in UTF-16 code units. */
const CODE_MAX = 32, MESSAGE_MAX = 1024, DATA_MAX = 16_384;

/**
 * Reads the members of an error that JSON-RPC defines (section 5.1); others may expose the node's stack and
 * directories.
 */
export function readRpcError(text: string, depthMax: number): RpcError {
  const { members } = readParts(text, {
    levels: 1,
    member: (name) => /^(?:code|message|data)$/.test(name),
  }, depthMax);
  const read = (name: string, ...kinds: readonly Part["kind"][]) => {
    const part = members?.get(name);
    const isRight = part && (kinds.length === 0 || kinds.includes(part.kind));
    return isRight ? textOfPart(text, part) : undefined;
  };
  const [code, data] = [read("code", "number"), read("data")];
  // Some JSON-RPC 1 nodes respond with a string.
  const message = text.startsWith('"')
    ? text
    : read("message", "string", "number") ?? '"The node responded with an error"';
  return {
    code: code !== undefined && code.length <= CODE_MAX ? code : undefined,
    message: shorten(message.startsWith('"') ? JSON.parse(message) : message, MESSAGE_MAX),
    data: data !== undefined && data.length <= DATA_MAX ? data : undefined,
  };
}
