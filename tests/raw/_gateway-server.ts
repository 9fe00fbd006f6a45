/** Runs a service. The first argument contains its options in JSON. */
import process from "node:process";
import { createNodeface } from "../../src/index.ts";
import { serveHere } from "./_serve.ts";

await serveHere(createNodeface({ ...JSON.parse(process.argv[2]!), log() {} }));
