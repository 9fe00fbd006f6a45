/**
 * The same as `description.js`, with `/v1/metrics`.
 *
 * @module
 */
export * from "./description.js";
