/**
 * `npm run build:worker`: bundles the service for workerd as one ES module, `dist/worker.js`.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle-for-runtime.ts";

const outfile = fileURLToPath(new URL("../../dist/worker.js", import.meta.url));
await bundle("worker", outfile);
