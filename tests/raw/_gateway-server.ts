/** Runs a service. The first command-line argument is the JSON of the service's options. */
import process from "node:process";
import { createNodeface } from "../../src/index.ts";
import { serveHere } from "./_serve.ts";

await serveHere(createNodeface({ ...JSON.parse(process.argv[2]!), log() {} }));
