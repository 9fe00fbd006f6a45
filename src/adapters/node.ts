/**
 * Serves an app on Node.
 *
 * @module
 */
export { listener, serve } from "./node-http.ts";
