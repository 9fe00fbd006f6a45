/**
 * Serves `GET /spec.json` and `GET /spec.yaml`: one OpenAPI document in two formats.
 *
 * @module
 */
import { identityOf, keep, type KeptContent } from "../http/content-coding.ts";
import { represent, type Representation } from "../http/representation.ts";
import type { Json } from "../json/values.ts";
import { lazy, type Resource } from "../lazy.ts";
import { type DescribedOperation, type DocumentOfHost, withHost, withoutPaths } from "./merge.ts";
import { createWriter, encodeForm, type Form, rebaseServers, yamlFormOf } from "./write.ts";

/** Writing YAML is slow, so the first request for YAML writes it. */
export interface Description {
  readonly json: Representation;
  readonly yaml: Resource<Representation>;
  /** The documents below `/v1/`, with server URLs relative to `/v1/`. */
  readonly versioned: Record<"json" | "yaml", Resource<Representation>>;
}

export interface Forms {
  readonly json: Form;
  readonly yaml: Form;
}

export async function documentOf({ json }: Forms): Promise<Json> {
  return JSON.parse(new TextDecoder().decode(await identityOf(json))) as Json;
}

/** The host's operations and document parts are in the returned `document`, but not in `own`. */
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
  const json = await encodeForm(await writer.json());
  const yaml = await encodeForm(await writer.yaml());
  return { document, own, ...await prepareForms({ json, yaml }) };
}

/** @param yaml the form as YAML, if it has been written already */
export async function prepareForms(
  { json, yaml }: { readonly json: Form; readonly yaml?: Form },
): Promise<Description> {
  const written = lazy(async () => yaml ?? await yamlFormOf(json));
  return {
    json: await represented(json, "json"),
    yaml: lazy(async () => await represented(await written.get(), "yaml")),
    versioned: {
      json: lazy(async () => await rebased(json, "json")),
      yaml: lazy(async () => await rebased(await written.get(), "yaml")),
    },
  };
}

async function rebased(form: Form, name: keyof Forms): Promise<Representation> {
  return await represented(await keep(rebaseServers(await identityOf(form), form.dots)), name);
}

function represented(content: KeptContent, name: keyof Forms): Promise<Representation> {
  return represent(content, {
    type: `application/${name}`,
    cache: "public, no-cache",
    headers: { "content-disposition": `inline; filename="spec.${name}"` },
  });
}
