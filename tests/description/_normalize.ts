/** Normalizes descriptions that exist only in memory. */
import { diagnosticsIn, formatDiagnostic } from "../../src/openapi/diagnostics.ts";
import { normalize } from "../../src/openapi/normalize.ts";
import { parse } from "../../src/openapi/parse.ts";
import { resolve } from "../../src/openapi/resolve.ts";
import { referenceAt, structureOf, walk } from "../../src/openapi/structure.ts";
import { upgradeSwagger } from "../../src/openapi/upgrade.ts";
import type { JsonObject } from "../../src/json/values.ts";
import { atOnce } from "../../src/slices.ts";

export interface Normalized {
  // deno-lint-ignore no-explicit-any -- each test accesses a different part of the document
  readonly document: any;
  readonly diagnostics: readonly string[];
  readonly references: readonly string[];
}

/** @param given the description; a string is YAML, and any other value is converted to JSON */
export async function normalizeDocument(
  given: unknown,
  url: string = "http://node.example/api/root.json",
): Promise<Normalized> {
  const isJson = typeof given !== "string";
  const bytes = new TextEncoder().encode(isJson ? JSON.stringify(given) : given);
  const source = await parse(url.split("/").at(-1)!, { bytes, isJson });
  const normalized = await normalize(atOnce(resolve(source, url)));
  const document = normalized.swagger === undefined ? normalized : await upgradeSwagger(normalized);
  const start = { shape: "document", value: document };
  const references = [...walk(start, structureOf(document))].flatMap((place) => {
    const reference = referenceAt(place);
    return reference?.isPlain ? [reference.ref] : [];
  });
  return { document, diagnostics: diagnosticsIn(source).map(formatDiagnostic), references };
}

export function describe(
  operation: JsonObject,
  more: JsonObject = {},
  openapi = "3.1.1",
): JsonObject {
  return {
    openapi,
    info: { title: "Test", version: "1" },
    paths: { "/a": { get: { responses: { 200: { description: "OK" } }, ...operation } } },
    ...more,
  };
}

export function describeSchema(schema: unknown, more: JsonObject = {}, openapi?: string): JsonObject {
  const content = { "application/json": { schema } };
  return describe({ responses: { 200: { description: "OK", content } } }, more, openapi);
}

export const schemaOf = ({ document }: Normalized): unknown =>
  document.paths["/a"].get.responses[200].content["application/json"].schema;
