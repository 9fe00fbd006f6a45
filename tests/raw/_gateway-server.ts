/** Serves a service that forwards to the node of `GATEWAY_NODE`, by the settings of `GATEWAY_OPTIONS`. */
import process from "node:process";
import { createNodeface } from "../../src/index.ts";
import { serveHere } from "./_serve.ts";

await serveHere(
  createNodeface({ ...JSON.parse(process.env.GATEWAY_OPTIONS!), log() {} }),
);
