/**
 * Serves an app on Node.
 *
 * @module
 */
export { serve } from "./node-http.ts";
