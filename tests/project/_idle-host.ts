/**
 * Creates services with different options, and sends a request to each service. After these
 * requests, the process must exit by itself.
 */
import { createNodeface, type NodefaceOptions } from "../../src/index.ts";

const log = () => {};
const hosts: NodefaceOptions[] = [
  {},
  { description: "spec/openapi.yaml", log },
  // Nothing listens on port 9, the port of the discard protocol.
  { node: { url: "http://127.0.0.1:9" }, log },
  { info: () => ({ height: 1 }) },
  { info: () => new Promise(() => {}), log },
];

for (const options of hosts) {
  const nodeface = createNodeface(options);
  for (const path of ["/v1/spec", "/v1/info", "/spec.json"]) {
    const { status } = await nodeface.fetch(new Request(`http://localhost${path}`));
    if (status !== 200) throw new Error(`${path} responds with ${status}`);
  }
}
console.log("all were asked");
