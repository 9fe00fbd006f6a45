/**
 * The service as a worker: `export default { fetch }`. It is bundled together with the files it
 * serves, since a worker has no disk (see `build/worker.ts`).
 *
 * @module
 */
import { createNodeface, type Nodeface } from "../nodeface.ts";

const nodeface: Nodeface = createNodeface();

export default nodeface;
