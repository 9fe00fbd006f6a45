/** Bundles descriptions whose files exist only in memory. */
import { bundle } from "../../src/openapi/bundle.ts";
import { formatDiagnostic } from "../../src/openapi/diagnostics.ts";
import { diagnosticsIn } from "../../src/openapi/load.ts";
import { ReadError } from "../../src/openapi/files.ts";
import { resolve } from "../../src/openapi/resolve.ts";
import { referenceAt, structureOf, walk } from "../../src/openapi/structure.ts";
import { upgradeSwagger } from "../../src/openapi/upgrade.ts";
import type { Json } from "../../src/json/values.ts";

/** Files by path. A file is given as YAML text, or as a value that is converted to JSON. */
export type FilesOf = Readonly<Record<string, unknown>>;

export interface Bundled {
  // deno-lint-ignore no-explicit-any -- each test accesses a different part of the document
  readonly document: any;
  readonly diagnostics: readonly string[];
  /** The values of all `$ref`s in the bundled document, in order. */
  readonly references: readonly string[];
  /** The paths of the requested files. */
  readonly asked: readonly string[];
}

const FOLDER = "http://node.example/api/";

/**
 * Bundles files into one document.
 *
 * @param files the files, of which the first is the root document
 * @param moved maps the URL of each redirect to its target
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

/** Creates a document whose only operation has the given members. */
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

/** Returns the schema in a bundled document from {@linkcode describeSchema}. */
export const schemaOf = ({ document }: Bundled): unknown =>
  document.paths["/a"].get.responses[200].content["application/json"].schema;
