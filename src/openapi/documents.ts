/**
 * One OpenAPI document in two formats at two places: `/spec.json` and `/spec.yaml`, and the
 * same below `/v1/`.
 *
 * @module
 */
import { digest, type KeptContent } from "../http/content-coding.ts";
import { represent, type Representation, type RepresentationInit } from "../http/representation.ts";
import { buildingJson, readNumber, WRITTEN_DEPTH_MAX } from "../json/lossless.ts";
import { JsonScanner } from "../json/scan.ts";
import type { JsonObject } from "../json/values.ts";
import { lazy, type Resource } from "../lazy.ts";
import { inSlices } from "../slices.ts";
import { type DescribedOperation, type DocumentOfHost, withHost, withoutPaths } from "./merge.ts";
import { mapServers, mapUrls } from "./servers.ts";
import { writeJson, writeYaml } from "./write.ts";

export const DOCUMENT_PATHS = [
  "/spec.json",
  "/v1/spec.json",
  "/spec.yaml",
  "/v1/spec.yaml",
] as const;

export type DocumentPath = (typeof DOCUMENT_PATHS)[number];

/** All but the JSON at `/spec.json` is written from this JSON at its first request. */
export interface Documents {
  /** The document at `/spec.json`. */
  readonly json: Representation;
  /**
   * Tells whether a page shows this document. Unlike the entity tag, it is the same for all example
   * values from the node, and so after a restart and in all replicas. `/spec.json` has it in the
   * header `x-description-version`.
   */
  readonly version: string;
  /** Those below `/v1/` have server URLs relative to `/v1/`. */
  readonly documents: Readonly<Record<DocumentPath, Resource<Representation>>>;
}

async function documentOf(json: KeptContent): Promise<JsonObject> {
  const text = new TextDecoder().decode(json.identity);
  const scanner = new JsonScanner(text, { depthMax: WRITTEN_DEPTH_MAX });
  return await inSlices(buildingJson(scanner, readNumber)) as JsonObject;
}

/** The host's operations and document parts are in the returned `document`, but not in `own`. */
export async function prepareOwn(
  whole: JsonObject,
  operations: readonly DescribedOperation[],
  ofHost: DocumentOfHost = {},
  omitted: readonly string[] = [],
): Promise<
  { readonly document: JsonObject; readonly own: JsonObject; readonly served: Documents }
> {
  const own = withoutPaths(whole, omitted);
  const document = await withHost(own, operations, ofHost);
  return { document, own, served: await prepareDocuments(await writeJson(document)) };
}

/** @param knownVersion as in {@linkcode Documents}; by default, the digest of the content */
export async function prepareDocuments(
  content: KeptContent,
  knownVersion?: string,
): Promise<Documents> {
  const tag = await digest(content.identity);
  const version = knownVersion ?? tag;
  const headers = { "x-description-version": version };
  const json = await represented("json", content, { tag, headers });
  const atRoot = () => documentOf(content);
  const belowV1 = async () => withServersFromV1(await atRoot());
  return {
    json,
    version,
    documents: {
      "/spec.json": { get: () => json },
      "/v1/spec.json": lazy(async () => represented("json", await writeJson(await belowV1()))),
      "/spec.yaml": lazy(async () => represented("yaml", await writeYaml(await atRoot()))),
      "/v1/spec.yaml": lazy(async () => represented("yaml", await writeYaml(await belowV1()))),
    },
  };
}

/** Seen from `/v1/`, this service is one level up: `./v1/node` becomes `../v1/node`. */
function withServersFromV1(document: JsonObject): Promise<JsonObject> {
  const change = (url: string) => url.startsWith(".") ? `.${url}` : url;
  return inSlices(mapServers(document, (servers) => mapUrls(servers, change)));
}

function represented(
  format: "json" | "yaml",
  content: KeptContent,
  { headers, ...others }: Pick<RepresentationInit, "tag" | "headers"> = {},
): Promise<Representation> {
  return represent(content, {
    type: `application/${format}`,
    cache: "public, no-cache",
    headers: { "content-disposition": `inline; filename="spec.${format}"`, ...headers },
    ...others,
  });
}
