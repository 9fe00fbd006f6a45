/**
 * Serves an app on Node.
 *
 * @module
 */
import { executionAsyncResource } from "node:async_hooks";
import process from "node:process";
import type { App, Listening, ServeOptions } from "./shared.ts";
import { serve as serveHttp } from "./node-http-server.ts";

export { type Listener, listener } from "./node-listener.ts";
export type {
  AnswerRecord,
  App,
  Callbacks,
  Closeable,
  Listening,
  Outcome,
  ServeOptions,
} from "./shared.ts";

const kept: object[] = [];

/** Starts a server; rejects if it cannot listen, or with a `TypeError` if an option is wrong. */
export function serve(app: App, options?: ServeOptions): Promise<Listening> {
  // V8 drops the hidden class of `TickObject` if a garbage collection finds none, and later ones are
  // slower: 6 to 8 % of the time of a request (Node 26.10). Keeping one avoids that.
  process.nextTick(() => kept.push(executionAsyncResource()));
  return serveHttp(app, options);
}
