/**
 * `npm run build:deno`: bundles the command for Deno as one module, `dist/nodeface-deno.js`.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle-for-runtime.ts";

await bundle("deno", fileURLToPath(new URL("../../dist/nodeface-deno.js", import.meta.url)));
