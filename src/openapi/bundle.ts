/**
 * Makes one document of a description in several files: what the root refers to is put under `x-ext`,
 * a member for each file, and the references lead there.
 *
 * @module
 */
import { bundle, type LoaderPlugin } from "@scalar/json-magic/bundle";
import type { Edit } from "./document-edits.ts";
import type { Files, Link } from "./resolve-files.ts";
import { referencesOf } from "./references.ts";
import { isObject, type Json } from "../json/values.ts";

/** Where the bundler thinks that the files are; it follows URLs of HTTP only in the way URLs work. */
const FILES = "http://localhost";

/** What the root is called where other files refer to it. */
const ROOT = "root";

/**
 * Bundles the files, all of which have been read: nothing is fetched, and what was refused or could not
 * be read is an empty object in the result. The values are changed in place.
 *
 * @returns the document of the root
 */
export async function bundleFiles({ root, members }: Files): Promise<Json> {
  const document = root.source.value as Json;
  const origin = root.url.replace(/^file:\/\//, FILES);
  const loader: LoaderPlugin = {
    type: "loader",
    validate: () => true,
    exec: (address) => {
      const url = root.url.startsWith("file:") ? address.replace(FILES, "file://") : address;
      const value = members.get(url)?.source.value;
      const data = isObject(value) ? value : value === undefined ? {} : { value };
      return Promise.resolve({ ok: true, data, raw: "" });
    },
  };
  const relativeRoot = decodeURI(new URL(origin).pathname.split("/").at(-1)!);
  const names = new Set([ROOT]);
  await bundle(document, {
    plugins: [loader],
    treeShake: false,
    origin,
    // The root is there already and is not to be put below itself.
    cache: new Map([[relativeRoot, Promise.resolve({ ok: true, data: document, raw: "" })]]),
    compress: (path) => {
      if (path === relativeRoot) return ROOT;
      let name = path.replace(/\.\w+$/, "").replaceAll(/[^A-Za-z0-9]+/g, "_").replace(/^_|_$/g, "");
      for (const stem = name || "file"; names.has(name) || !/[a-z]/i.test(name);) {
        name += `${stem}_`;
      }
      names.add(name);
      return name;
    },
  });
  redirectToRoot(document);
  return document;
}

/** What the bundling of a document has changed in it, so that its text can be changed likewise. */
export function bundlingEdits(document: Json, links: readonly Link[]): Edit[] {
  const edits: Edit[] = [];
  for (const { path, ref } of links) {
    const value = path.reduce<unknown>((value, key) => (value as Json)[key], document);
    if (value !== ref) edits.push({ kind: "value", path, value });
  }
  if (document["x-ext"]) edits.push({ kind: "value", path: ["x-ext"], value: document["x-ext"] });
  return edits;
}

/** Makes references to the root itself what they are within one document. */
function redirectToRoot(document: Json): void {
  const prefix = `#/x-ext/${ROOT}`;
  for (const { path, ref } of referencesOf(document)) {
    if (ref !== prefix && !ref.startsWith(`${prefix}/`)) continue;
    let parent = document;
    for (const key of path.slice(0, -1)) parent = parent[key] as Json;
    parent.$ref = `#${ref.slice(prefix.length)}`;
  }
}
