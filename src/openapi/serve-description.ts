/**
 * `GET /spec.json` and `GET /spec.yaml`: the OpenAPI description, one document in two forms.
 *
 * @module
 */
import type { EncodedContent } from "../http/content-coding.ts";
import { represent, type Representation } from "../http/representation.ts";
import { addOperations, type DescribedOperation, type Document } from "./operations-of-host.ts";
import type { Json } from "../json/values.ts";

/** A description may be kept, but is asked after at every use. */
const REVALIDATE = "public, no-cache";

/** The description, ready to be served. All of it changes together. */
export interface Description {
  /** The document as JSON values; a whole number too large for `number` is a `bigint`. */
  readonly document: Json;
  readonly json: Representation;
  readonly yaml: Representation;
}

/** What the service's own description says, by its JSON. */
export function documentOf({ identity }: Pick<EncodedContent, "identity">): Document {
  return JSON.parse(new TextDecoder().decode(identity)) as Document;
}

/**
 * Prepares both forms of the service's own description, from what the build step made of it.
 *
 * @param forms the document as JSON, and as YAML as it was written
 * @param operations further operations; with them both forms are made anew
 */
export async function prepareOwn(
  forms: { json: EncodedContent; yaml: EncodedContent },
  operations: readonly DescribedOperation[],
): Promise<Description> {
  const document = documentOf(forms.json);
  if (operations.length > 0) {
    return describe(addOperations(document, operations));
  }
  const [json, yaml] = await Promise.all([
    form(forms.json.identity, JSON_FORM, forms.json),
    form(forms.yaml.identity, YAML_FORM, forms.yaml),
  ]);
  return { document, json, yaml };
}

/** Prepares both forms of a document. What writes YAML is loaded where it is needed only. */
async function describe(document: Document): Promise<Description> {
  const { writeJson, writeYaml } = await import("./write.ts");
  const [json, yaml] = await Promise.all([
    form(writeJson(document), JSON_FORM),
    form(writeYaml(document), YAML_FORM),
  ]);
  return { document, json, yaml };
}

/**
 * Prepares both forms of a node's description.
 *
 * @param forms the description with this service's operations
 */
export async function prepareForms(
  { json, yaml }: Record<"json" | "yaml", EncodedContent>,
): Promise<Pick<Description, "json" | "yaml">> {
  return {
    json: await form(json.identity, JSON_FORM, json),
    yaml: await form(yaml.identity, YAML_FORM, yaml),
  };
}

const JSON_FORM = { type: "application/json", filename: "spec.json" };
const YAML_FORM = { type: "application/yaml", filename: "spec.yaml" };

function form(
  content: string | Uint8Array<ArrayBuffer>,
  { type, filename }: typeof JSON_FORM,
  encoded?: EncodedContent,
) {
  return represent(content, {
    type,
    cache: REVALIDATE,
    headers: { "content-disposition": `inline; filename="${filename}"` },
    ...(encoded && { encoded }),
  });
}
