/** Loads descriptions from the files in this folder, or from text. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Diagnostic } from "../../src/openapi/diagnostics.ts";
import { prepareDescription, type PrepareOptions } from "../../src/description/prepare.ts";
import type { Representation } from "../../src/http/representation.ts";
import { type DescriptionPlace, sourceAt } from "../../src/description/source.ts";
import type { ServerContext } from "../../src/openapi/servers.ts";
import type { JsonObject } from "../../src/json/values.ts";
import { parseJson } from "../../src/json/lossless.ts";
import { createReader, type FetchUrl } from "../../src/openapi/files.ts";
import { openNode } from "../../src/info/open-node.ts";
import { ROOT } from "../_paths.ts";
import { contentOf } from "../_representation.ts";

export const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/**
 * A short version of the service's own description, which loads five times as fast as the full
 * version.
 */
const LITTLE = `
openapi: 3.1.1
info: { title: Own, version: "1" }
servers: [{ url: . }]
paths:
  /v1/info: { get: { operationId: getInfo, responses: { "200": { description: The info } } } }
`;

export const OWN: string = readFileSync(`${ROOT}spec/openapi.yaml`, "utf8");

export interface Loaded {
  diagnostics: readonly Diagnostic[];
  origins: readonly string[];
  document: JsonObject | undefined;
  json: string;
  yaml: string;
}

/** A string in `place` is the name of a file in this folder. */
export async function load(
  place: DescriptionPlace,
  where: ServerContext & Pick<PrepareOptions, "forward"> & { fetch?: FetchUrl } = NEAR,
  own: string = LITTLE,
): Promise<Loaded> {
  const found = typeof place === "string" ? pathOf(place) : place;
  const { fetch, ...others } = where;
  const source = await sourceAt(found, openNode({}, {}));
  const options = { own: parseOnce(own), operations: [], ...others };
  const { url } = source.file!;
  const file = fetch && url.protocol === "http:"
    ? { url, read: createReader(url, fetch) }
    : source.file;
  const { description, diagnostics } = await prepareDescription({ ...source, file }, {}, options);
  const text = async (form: Representation | undefined) => form ? await contentOf(form) : "";
  const json = await text(description?.json);
  return {
    diagnostics,
    origins: description?.origins ?? [],
    document: description && parseJson(json) as JsonObject,
    json,
    yaml: await text(await description?.documents["/spec.yaml"].get()),
  };
}

function parseOnce(own: string): JsonObject {
  const parsed = parsedBefore.get(own) ?? parse(own) as JsonObject;
  parsedBefore.set(own, parsed);
  return parsed;
}

const parsedBefore = new Map<string, JsonObject>();

export function parseYaml(yaml: string): JsonObject {
  return parse(yaml, { maxAliasCount: -1, intAsBigInt: false }) as JsonObject;
}

const NEAR = { node: "http://127.0.0.1:9053" };
