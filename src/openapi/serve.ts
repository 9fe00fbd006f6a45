/**
 * `GET /spec.json` and `GET /spec.yaml`: the OpenAPI description, one document in two forms. And the catalogue that leads
 * to it.
 *
 * @module
 */
import { identityOf, keep, type KeptContent } from "../http/content-coding.ts";
import { represent, type Representation } from "../http/representation.ts";
import type { Json } from "../json/values.ts";
import { lazy, type Resource } from "../lazy.ts";
import { type DescribedOperation, type DocumentOfHost, withHost, withoutPaths } from "./merge.ts";
import { createWriter, encodeForm, type Form, rebaseServers } from "./write.ts";

/** A description may be kept, but is asked after at every use. */
const REVALIDATE = "public, no-cache";

/** The description as it is served. All of it changes together. */
export interface Description {
  readonly json: Representation;
  /** Those who ask for it before it is written wait for it. */
  readonly yaml: Resource<Representation>;
  /** The same one folder deeper, made when it is first asked for. */
  readonly versioned: Record<"json" | "yaml", Resource<Representation>>;
}

export interface Forms {
  readonly json: Form;
  readonly yaml: Form;
}

export async function documentOf({ json }: Forms): Promise<Json> {
  return JSON.parse(new TextDecoder().decode(await identityOf(json))) as Json;
}

/**
 * Prepares the service's own description.
 *
 * @param omitted paths of it that are not served
 * @returns it, and `own`, which is that of the service alone
 */
export async function prepareOwn(
  forms: Forms,
  operations: readonly DescribedOperation[],
  ofHost: DocumentOfHost = {},
  omitted: readonly string[] = [],
): Promise<Description & { readonly document: Json; readonly own: Json }> {
  const own = withoutPaths(await documentOf(forms), omitted);
  const isAsPacked = operations.length + omitted.length + Object.keys(ofHost).length === 0;
  if (isAsPacked) return { document: own, own, ...await prepareForms(forms) };
  const document = withHost(own, operations, ofHost);
  const writer = createWriter(document);
  const [json, yaml] = [await encodeForm(writer.json()), await encodeForm(writer.yaml())];
  return { document, own, ...await prepareForms({ json, yaml }) };
}

/** Prepares both forms of a description, with this service's operations. The YAML may be written later. */
export async function prepareForms(
  { json, yaml }: { json: Form; yaml: Form | Promise<Form> },
): Promise<Description> {
  const inYaml = lazy(async () => await represented(await yaml, YAML_FORM));
  const prepared = inYaml.get();
  // The next `get` tries again.
  prepared.catch(() => {});
  if ("codings" in yaml) await prepared;
  return {
    json: await represented(json, JSON_FORM),
    yaml: inYaml,
    versioned: {
      json: lazy(async () => await deeper(json, JSON_FORM)),
      yaml: lazy(async () => await deeper(await yaml, YAML_FORM)),
    },
  };
}

/** A form as it is served one folder deeper. Few ask for it, and to encode it takes long. */
async function deeper(form: Form, kind: typeof JSON_FORM): Promise<Representation> {
  return await represented(await keep(rebaseServers(await identityOf(form), form.dots)), kind);
}

const JSON_FORM = { type: "application/json", filename: "spec.json" };
const YAML_FORM = { type: "application/yaml", filename: "spec.yaml" };

function represented(content: KeptContent, { type, filename }: typeof JSON_FORM) {
  return represent(content, {
    type,
    cache: REVALIDATE,
    headers: { "content-disposition": `inline; filename="${filename}"` },
  });
}
