/**
 * Creates descriptions of nodes. Each contains the service's own operations too, as in the real
 * service.
 */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { createNodeface } from "../../src/index.ts";
import { formatJson, parseJson } from "../../src/json/lossless.ts";
import type { JsonObject } from "../../src/json/values.ts";
import { withScalarExtensions } from "../../src/explorer/scalar-extensions.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { openApiOfMethods } from "../../src/openapi/openrpc.ts";
import { withServiceOperations } from "../../src/openapi/merge.ts";
import { pathOf } from "../description/_load.ts";

export async function describeChain(): Promise<JsonObject> {
  const { openrpc } = await loadInterface("bitcoin");
  const parts = await openApiOfMethods(openrpc);
  return await complete({ ...START, info: { title: "Bitcoin", version: "1" }, ...parts });
}

export async function describeErgo(): Promise<JsonObject> {
  return await complete(parse(readFileSync(pathOf("ergo-openapi.yaml"), "utf8")));
}

export async function describeBroker(): Promise<JsonObject> {
  const get = (tag: string, summary: string, marks: JsonObject) => ({
    get: { tags: [tag], summary, responses: { 200: { description: "The answer." } }, ...marks },
  });
  return await complete({
    ...START,
    info: { title: "Monitoring", version: "2" },
    tags: [{ name: "Clients" }],
    paths: {
      "/stacksz": get("Server", "What its threads do", { "x-access": "secret", "x-cost": "heavy" }),
      "/jsz": get("Server", "Show its streams", { "x-access": "read", "x-since": "2.2" }),
      "/varz": get("Server", "Show the server", { "x-access": "read", "x-common": true }),
      "/connz": get("Clients", "List who is connected", { "x-access": "secret" }),
    },
  });
}

const START = { openapi: "3.1.1", servers: [{ url: "." }] };

async function complete(node: JsonObject): Promise<JsonObject> {
  const own = await createNodeface().fetch(new Request("http://localhost/spec.json"));
  const document = await withServiceOperations(await own.json(), node);
  return parseJson(formatJson(await withScalarExtensions(document, {}))) as JsonObject;
}
