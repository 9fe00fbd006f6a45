/**
 * `npm run dev`: prepares the explorer's files and serves, again after every change.
 *
 * @module
 */
await import("./assets.ts");
await import("../main.ts");
