/**
 * `npm run dev`: writes the generated modules, then serves. `tsx watch` runs it again after a change.
 *
 * @module
 */
await import("./generated-modules.ts");
await import("../main.ts");
