/** Runs a service that forwards calls. The first argument contains the options of the service. */
import process from "node:process";
import { createNodeface } from "../../src/index.ts";
import { serveHere } from "./_serve.ts";

await serveHere(createNodeface({ ...JSON.parse(process.argv[2]!), log() {} }));
