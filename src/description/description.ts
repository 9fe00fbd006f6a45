/**
 * `GET /spec.json` and `GET /spec.yaml`: the OpenAPI description, one document in two forms.
 *
 * @module
 */
import { parse } from "yaml";
import { represent, type Representation } from "../http/representation.ts";
import type { Platform } from "../platform.ts";

/** A description may be kept, but is asked after at every use. */
const REVALIDATE = "public, no-cache";

/** The description, ready to be served. */
export interface Description {
  /** The document as JSON values. */
  readonly document: Record<string, unknown>;
  readonly json: Representation;
  readonly yaml: Representation;
}

/**
 * Prepares both forms of a description from its YAML text, which is served as it was written.
 *
 * @param yaml an OpenAPI document as YAML 1.2
 * @param platform what encodes brotli, if anything does
 * @throws {YAMLParseError} where the text is not YAML
 */
export async function prepareDescription(yaml: string, platform: Platform): Promise<Description> {
  const document = parse(yaml) as Record<string, unknown>;
  const [jsonForm, yamlForm] = await Promise.all([
    form(JSON.stringify(document), "application/json", "spec.json", platform),
    form(yaml, "application/yaml", "spec.yaml", platform),
  ]);
  return { document, json: jsonForm, yaml: yamlForm };
}

function form(text: string, type: string, filename: string, platform: Platform) {
  return represent(text, {
    type,
    cache: REVALIDATE,
    headers: { "content-disposition": `inline; filename="${filename}"` },
  }, platform);
}
