/**
 * `GET /spec.json` and `GET /spec.yaml`: the OpenAPI description, one document in two forms.
 *
 * @module
 */
import { parse } from "yaml";
import { represent, type Representation } from "../http/representation.ts";
import type { Platform } from "../platform.ts";
import type { Merged } from "./load.ts";
import type { Json } from "./values.ts";

/** A description may be kept, but is asked after at every use. */
const REVALIDATE = "public, no-cache";

/** The description, ready to be served. All of it changes together. */
export interface Description {
  /** The document as JSON values; a whole number too large for `number` is a `bigint`. */
  readonly document: Json;
  readonly json: Representation;
  readonly yaml: Representation;
  /** The origins that its servers name, which the page may ask. */
  readonly origins: readonly string[];
  /** What a reader of the page should know of the description; for people, without a period. */
  readonly notice: string | undefined;
}

/** This service's own description as it is read from its file. */
export function ownDescription(yaml: string): Merged {
  const document = parse(yaml) as Json;
  const encode = (text: string) => new TextEncoder().encode(text);
  return { document, json: encode(JSON.stringify(document)), yaml: encode(yaml), origins: [] };
}

/**
 * Prepares both forms of a description.
 *
 * @param merged the description
 * @param notice what a reader of the page should know of it
 * @param platform what encodes brotli, if anything does
 */
export async function prepareDescription(
  { document, json, yaml, origins }: Merged,
  notice: string | undefined,
  platform: Platform,
): Promise<Description> {
  // One after the other: a large text takes several times its size while it is encoded.
  const jsonForm = await form(json, "application/json", "spec.json", platform);
  const yamlForm = await form(yaml, "application/yaml", "spec.yaml", platform);
  return { document, json: jsonForm, yaml: yamlForm, origins, notice };
}

function form(bytes: Uint8Array<ArrayBuffer>, type: string, filename: string, platform: Platform) {
  return represent(bytes, {
    type,
    cache: REVALIDATE,
    headers: { "content-disposition": `inline; filename="${filename}"` },
  }, platform);
}
