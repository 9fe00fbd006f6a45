/**
 * The service as a worker with default options. For others, `export default createNodeface(options)`.
 *
 * @module
 */
import { createNodeface, type Nodeface } from "../index.ts";

/** Serves any host: DNS rebinding attacks private networks, and a worker runs at a provider. */
const nodeface: Nodeface = createNodeface({ hosts: "*" });

export default nodeface;
