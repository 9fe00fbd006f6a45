/**
 * `GET /spec.json` and `GET /spec.yaml`: the OpenAPI description, one document in two forms.
 *
 * @module
 */
import { encode, type EncodedContent } from "../http/content-coding.ts";
import { represent, type Representation } from "../http/representation.ts";
import { type DocumentOfHost, withDocumentOfHost } from "./document-of-host.ts";
import { addOperations, type DescribedOperation, type Document } from "./operations-of-host.ts";
import { lazy, type Resource } from "../lazy.ts";
import type { Json } from "../json/values.ts";
import { deepen, markServers, type Written } from "./depths.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A description may be kept, but is asked after at every use. */
const REVALIDATE = "public, no-cache";

/** The description, ready to be served. All of it changes together. */
export interface Description {
  /** The document as JSON values; a whole number too large for `number` is a `bigint`. */
  readonly document: Json;
  readonly json: Representation;
  readonly yaml: Representation;
  /** The same one folder deeper, made when it is first asked for. */
  readonly versioned: Record<"json" | "yaml", Resource<Representation>>;
}

/** Both forms of a description in every coding, and the dots in them; see `depths.ts`. */
export interface Forms {
  readonly json: EncodedContent;
  readonly yaml: EncodedContent;
  readonly dots: Record<"json" | "yaml", readonly number[]>;
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
 * @param ofHost what a host says of the whole
 */
export async function prepareOwn(
  forms: Forms,
  operations: readonly DescribedOperation[],
  ofHost: DocumentOfHost = {},
): Promise<Description> {
  const document = documentOf(forms.json);
  if (operations.length > 0 || Object.keys(ofHost).length > 0) {
    const hosted = withDocumentOfHost(document, operations, ofHost);
    return describe(addOperations(hosted.document as Document, hosted.operations));
  }
  return { document, ...await prepareForms(forms) };
}

/** Prepares both forms of a document. What writes YAML is loaded where it is needed only. */
async function describe(document: Document): Promise<Description> {
  const { writeJson, writeYaml } = await import("./write.ts");
  const marked = markServers(document);
  const json = marked.read(writeJson(marked.document));
  const yaml = marked.read(writeYaml(marked.document));
  const forms = {
    json: { identity: json.bytes, ...await encode(json.bytes) },
    yaml: { identity: yaml.bytes, ...await encode(yaml.bytes) },
    dots: { json: json.dots, yaml: yaml.dots },
  };
  return { document, ...await prepareForms(forms) };
}

/** Prepares both forms of a description, with this service's operations. */
export async function prepareForms(
  { json, yaml, dots }: Forms,
): Promise<Omit<Description, "document">> {
  return {
    json: await form(json.identity, JSON_FORM, json),
    yaml: await form(yaml.identity, YAML_FORM, yaml),
    versioned: {
      json: deeper({ bytes: json.identity, dots: dots.json }, JSON_FORM),
      yaml: deeper({ bytes: yaml.identity, dots: dots.yaml }, YAML_FORM),
    },
  };
}

/** A form as it is served one folder deeper. Few ask for it, and to encode it takes long. */
function deeper(written: Written, description: typeof JSON_FORM): Resource<Representation> {
  return lazy(async () => await form(deepen(written), description));
}

const JSON_FORM = { type: "application/json", filename: "spec.json" };
const YAML_FORM = { type: "application/yaml", filename: "spec.yaml" };

function form(
  content: Bytes,
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
