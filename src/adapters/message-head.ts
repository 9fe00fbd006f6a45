/**
 * The head of a message of `node:http`, read where it stands.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { RequestHead } from "../http/head.ts";

/** What is read of a request, without a `Request` or `Headers` made for it. */
export class MessageHead implements RequestHead {
  readonly method: string;
  readonly url: string;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    const { method = "GET", url = "/" } = message;
    this.method = method;
    // The target `*` has no path; every runtime gives it this one.
    this.url = url === "*" ? "/*" : url;
    this.#message = message;
  }

  get headers(): RequestHead["headers"] {
    return this;
  }

  get(name: string): string | null {
    const { headers, rawHeaders } = this.#message;
    // Of several, the server gives the first: nothing would be seen of the others.
    if (name === "host" && isRepeated(rawHeaders, name)) return "";
    const value = headers[name];
    return typeof value === "string" ? value : value?.join(", ") ?? null;
  }

  has(name: string): boolean {
    return this.#message.headers[name] !== undefined;
  }
}

/** Whether a field is there more than once. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let isFound = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const other = rawHeaders[i]!;
    if (other.length !== name.length || other.toLowerCase() !== name) continue;
    if (isFound) return true;
    isFound = true;
  }
  return false;
}
