/** Bundles descriptions whose files exist only in memory. */
import { bundle } from "../../src/openapi/bundle.ts";
import { formatDiagnostic } from "../../src/openapi/diagnostics.ts";
import { diagnosticsIn } from "../../src/openapi/load.ts";
import { ReadError } from "../../src/openapi/files.ts";
import { resolve } from "../../src/openapi/resolve.ts";
import { referenceAt, structureOf, walk } from "../../src/openapi/structure.ts";
import { upgradeSwagger } from "../../src/openapi/upgrade.ts";
import type { Json } from "../../src/json/values.ts";

/** The keys are paths. A string is YAML; any other value is converted to JSON. */
export type FilesOf = Readonly<Record<string, unknown>>;

export interface Bundled {
  // deno-lint-ignore no-explicit-any -- each test accesses a different part of the document
  readonly document: any;
  readonly diagnostics: readonly string[];
  readonly references: readonly string[];
  readonly asked: readonly string[];
}

const FOLDER = "http://node.example/api/";

/**
 * @param files the files of the description, beginning with the root document
 * @param moved maps the path of each redirect to its target
 */
export async function bundleFiles(
  files: FilesOf,
  moved: Readonly<Record<string, string>> = {},
): Promise<Bundled> {
  const asked: string[] = [];
  const found = await resolve(new URL(Object.keys(files)[0]!, FOLDER), (url) => {
    const name = url.href.replace(FOLDER, "");
    asked.push(name);
    const to = moved[name] ?? name;
    if (!Object.hasOwn(files, to)) throw new ReadError("no such file");
    const content = files[to];
    const isJson = typeof content !== "string";
    const bytes = new TextEncoder().encode(isJson ? JSON.stringify(content) : content);
    return Promise.resolve({ url: new URL(to, FOLDER), bytes, isJson, stamp: "" });
  });
  const bundled = bundle(found);
  const document = bundled.swagger === undefined ? bundled : upgradeSwagger(bundled);
  const start = { shape: "document", value: document };
  const references = [...walk(start, structureOf(document))].flatMap((place) => {
    const reference = referenceAt(place);
    return reference?.isPlain ? [reference.ref] : [];
  });
  return { document, diagnostics: diagnosticsIn(found).map(formatDiagnostic), references, asked };
}

export function describe(
  operation: Json,
  more: Json = {},
  openapi = "3.1.1",
): Json {
  return {
    openapi,
    info: { title: "Test", version: "1" },
    paths: { "/a": { get: { responses: { 200: { description: "OK" } }, ...operation } } },
    ...more,
  };
}

export function describeSchema(schema: unknown, more: Json = {}, openapi?: string): Json {
  const content = { "application/json": { schema } };
  return describe({ responses: { 200: { description: "OK", content } } }, more, openapi);
}

export const schemaOf = ({ document }: Bundled): unknown =>
  document.paths["/a"].get.responses[200].content["application/json"].schema;
