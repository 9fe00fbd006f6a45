/**
 * The service as a worker with default options. To set options, write `export default
 * createNodeface(options)`.
 *
 * @module
 */
import { createNodeface, type Nodeface } from "../index.ts";

/**
 * Accepts requests for any host name. DNS rebinding threatens private networks, but a worker runs
 * outside of them.
 */
const nodeface: Nodeface = createNodeface({ hosts: "*" });

export default nodeface;
