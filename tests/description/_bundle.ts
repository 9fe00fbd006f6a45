/** Bundles descriptions whose files are in memory. */
import { bundle } from "../../src/openapi/bundle.ts";
import { formatDiagnostic } from "../../src/openapi/diagnostics.ts";
import { diagnosticsIn } from "../../src/openapi/load.ts";
import { ReadError } from "../../src/openapi/files.ts";
import { resolve } from "../../src/openapi/resolve.ts";
import { referenceAt, structureOf, walk } from "../../src/openapi/structure.ts";
import { upgradeSwagger } from "../../src/openapi/upgrade.ts";
import type { Json } from "../../src/json/values.ts";

/** Files by their address within the folder; a string is YAML, anything else JSON. */
export type FilesOf = Readonly<Record<string, unknown>>;

/** One document and all that is said of it. */
export interface Bundled {
  // deno-lint-ignore no-explicit-any -- tests look at one place of it each
  readonly document: any;
  readonly diagnostics: readonly string[];
  /** What its `$ref`s say, in order. */
  readonly references: readonly string[];
  /** The files that were asked for. */
  readonly asked: readonly string[];
}

/** The folder that the files are in. */
const FOLDER = "http://node.example/api/";

/**
 * Makes one document of some files.
 *
 * @param files the first one is the root
 * @param moved where a file really is, by the address it is asked for at
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

/** A document with one operation, which has these parts. */
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

/** A document with one response, whose content is of a schema. */
export function describeSchema(schema: unknown, more: Json = {}, openapi?: string): Json {
  const content = { "application/json": { schema } };
  return describe({ responses: { 200: { description: "OK", content } } }, more, openapi);
}

/** The schema of {@linkcode describeSchema}. */
export const schemaOf = ({ document }: Bundled): unknown =>
  document.paths["/a"].get.responses[200].content["application/json"].schema;
