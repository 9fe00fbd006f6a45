/**
 * Examples that are files of their own: `example: { $ref: ./block.json }`. By OpenAPI an example is data, in
 * which nothing is a reference; but bundlers follow it, and it is meant as one.
 *
 * @module
 */
import { isObject, type Json, objectOf } from "../json/values.ts";
import { quote, shorten } from "../untrusted-text.ts";
import { pathOf, type Place, type Shape } from "./document-structure.ts";
import type { Loader } from "./load-files.ts";
import { REF_MAX, splitReference } from "./references.ts";
import { findFragment } from "./resolve-reference.ts";
import type { Target } from "./resolve-files.ts";
import { withoutLogin } from "./server-url.ts";

/** What stands in the place of an example that names a file. */
export interface ExampleFile {
  readonly value: unknown;
  /** Says that it stays as it is; the reason is the end of a sentence about it. */
  readonly refuse: (reason: string) => void;
}

/** The members that are examples, by what they are members of. */
const EXAMPLES: Readonly<Record<Shape, string>> = {
  schema: "example",
  parameter: "example",
  header: "example",
  mediaType: "example",
  example: "value",
};

/** The example of a value that is nothing but a `$ref`, with its key. */
export function exampleReferenceIn(
  shape: Shape,
  value: unknown,
): { readonly key: string; readonly example: Json & { $ref: string } } | undefined {
  const key = EXAMPLES[shape];
  const example = key === undefined ? undefined : objectOf(value)[key];
  if (!isObject(example) || typeof example.$ref !== "string") return undefined;
  if (Object.keys(example).length > 1) return undefined;
  return { key: key!, example: example as Json & { $ref: string } };
}

/** Takes the file that an example names, where it is one of the description's folder. */
export async function takeExample(
  place: Place,
  start: Target,
  { load, members }: Loader,
  examples: Map<unknown, ExampleFile>,
): Promise<void> {
  const found = exampleReferenceIn(place.shape, place.value);
  if (!found || examples.has(found.example)) return;
  const { key, example } = found;
  const { member } = start;
  const refuse = (reason: string) => {
    const ref = quote(shorten(withoutLogin(example.$ref), REF_MAX));
    const message =
      `${ref} stands in an example, which is data; it stays as it is, since it ${reason}`;
    member.complaints.add({ message, isError: false }, () => [
      ...start.path,
      ...pathOf(place),
      key,
      "$ref",
    ]);
  };
  const [file, fragment] = splitReference(example.$ref);
  const [root] = members.keys();
  const isBeside = (url: string) =>
    url.startsWith(new URL(".", root).href) && !/%2f|%5c/i.test(url);
  const isRelative = file !== "" && !URL.canParse(file) && URL.canParse(file, member.url);
  if (!isRelative || !isBeside(new URL(file, member.url).href)) {
    return refuse("names no file of the description's folder");
  }
  const loaded = await load(file, member);
  if (!loaded.member) return refuse(loaded.failure);
  const { url, base } = loaded.member;
  if (!isBeside(url)) return refuse("names no file of the description's folder");
  const value = findFragment(loaded.member, base, fragment)?.value;
  if (value === undefined) return refuse("leads nowhere");
  examples.set(example, { value, refuse });
}
