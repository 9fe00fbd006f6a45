/**
 * `npm run assets`: makes the modules in `src/generated/` again if a source has changed since they
 * were made. A plain script that imports nothing large, since every `npm start` runs it.
 *
 * @module
 */
import { isCurrent } from "./stamp.mjs";

if (!isCurrent()) {
  const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
  if (isNode) (await import("tsx/esm/api")).register();
  await import("./generated-modules.ts");
}
