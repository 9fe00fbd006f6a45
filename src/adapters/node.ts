/**
 * Serves an app on Node.
 *
 * @module
 */
import { executionAsyncResource } from "node:async_hooks";
import process from "node:process";
import type { App, Listening, ListenOptions } from "./server.ts";
import * as nodeHttp from "./node-http.ts";

export { listener } from "./node-http.ts";

/** What is held for as long as the process runs. */
const held: object[] = [];

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen
 * @returns the server, listening; rejects where it cannot listen there
 */
export function serve(app: App, options: ListenOptions): Promise<Listening> {
  // Where garbage is collected while there is no tick, V8 forgets what ticks look like and never
  // makes them the fast way again: a tenth of the time of all later requests on Node 26.
  process.nextTick(() => held.push(executionAsyncResource()));
  return nodeHttp.serve(app, options);
}
