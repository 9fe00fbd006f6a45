/**
 * The service as a worker: `export default { fetch }`. Whoever wants it with options writes
 * `export default createNodeface(options)`.
 *
 * @module
 */
import { createNodeface, type Nodeface } from "../nodeface.ts";

/** Answers for any name: no page can make its own name lead to what runs at a provider. */
const nodeface: Nodeface = createNodeface({ hosts: "*" });

export default nodeface;
