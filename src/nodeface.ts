/**
 * The service as programs see it. It stands apart from the service itself, so that the published
 * types do not include those of its parts.
 *
 * @module
 */
import type { Closeable } from "./closeable.ts";

/**
 * A service. Its `fetch` works in any server that uses `Request` and `Response`: see
 * [Embedding](../docs/embedding.md).
 */
export interface Nodeface extends Closeable {
  /**
   * Responds to a request; never throws or rejects. Handlers of host operations get `context` as
   * extra arguments.
   */
  fetch(request: Request, ...context: unknown[]): Promise<Response>;
  /**
   * Tells whether this service has a route for the path of a request. If false, the host can handle
   * the request itself.
   *
   * @example
   * ```ts
   * if (nodeface.matches(request)) return nodeface.fetch(request);
   * ```
   */
  matches(request: { readonly url: string; readonly originalUrl?: string | undefined }): boolean;
  /**
   * Reloads the node's description if it has changed. An invalid description does not replace the
   * last valid one. While requests arrive, the service also checks for changes: every 2 seconds in
   * a file, every 30 seconds at a URL.
   */
  refresh(): Promise<void>;
  /**
   * Prepares responses so that the first request does not have to wait for them. The explorer's
   * files, `/v1/spec.*` and responses with values from the node are not prepared.
   *
   * @throws {Error} if a response cannot be prepared
   */
  ready(): Promise<void>;
  /**
   * Ends child processes and requests to the node. Responses after `close` contain only data that
   * was read earlier. A process can also exit without closing its service.
   */
  close(): Promise<void>;
}
