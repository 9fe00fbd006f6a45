/**
 * What is wrong between the parts of what a kind offers to be called, though each may be right: names that
 * stand twice, references that lead nowhere, parameters that a path does not have.
 *
 * @module
 */
import { parseFragment, valueAt } from "../json/pointer.ts";
import { isObject, type Json, listOf, objectOf } from "../json/values.ts";
import { pathOfReference, referencesOf } from "../openapi/structure.ts";
import { COMMON_METHODS } from "../openapi/tables.ts";
import {
  nameOfShape,
  OPENRPC,
  pathOf,
  shapeAt,
  type Structure,
  structureOf,
  walk,
} from "../openapi/structure.ts";
import { validate } from "../openapi/validate.ts";
import type { Mistake, Path } from "./check.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { show } from "./show.ts";

/** The types of JSON Schema. */
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

const OPENAPI = structureOf({ openapi: "3.1" });

/** What is wrong in `openrpc` and `openapi` of a kind; each of them may have any form. */
export function mistakesInInterface(kind: unknown): Mistake[] {
  const { openrpc, openapi } = objectOf(kind);
  return [
    ...within("openrpc", [
      ...mistakesInMethods(openrpc),
      ...mistakesInSchemas(openrpc, OPENRPC),
      ...mistakesInMembers(openrpc, OPENRPC),
    ]),
    ...within("openapi", [
      ...mistakesInOperations(openapi),
      ...mistakesInSchemas(openapi, OPENAPI),
      ...mistakesInMembers(openapi, OPENAPI),
    ]),
  ];
}

const within = (key: string, mistakes: readonly Mistake[]): Mistake[] =>
  mistakes.map((mistake) => ({ ...mistake, path: [key, ...mistake.path] }));

const mistake = (path: Path, message: string, isKey = false): Mistake => ({ path, message, isKey });

/** A name and where it stands. */
type Named = readonly [name: unknown, path: Path];

/** Names that stand twice in a part, which `part` is the key of. */
function* twice(part: string, names: Iterable<Named>): Generator<Mistake> {
  const first = new Map<unknown, Path>();
  for (const [name, path] of names) {
    if (name === undefined) continue;
    const other = first.get(name);
    if (other) {
      yield mistake(path, `is ${show(name)} a second time; ${owner([part, ...other])} is it, too`);
    } else first.set(name, path);
  }
}

/** What a name belongs to: `openrpc.methods[0]`. */
const owner = (path: Path) =>
  path.slice(0, -1).map((key, at) =>
    typeof key === "number" ? `[${key}]` : at > 0 ? `.${key}` : key
  )
    .join("");

function* mistakesInMethods(openrpc: unknown): Generator<Mistake> {
  const methods = listOf(objectOf(openrpc).methods).map(objectOf);
  yield* twice("openrpc", methods.map(({ name }, at): Named => [name, ["methods", at, "name"]]));
  for (const [at, { params, examples }] of methods.entries()) {
    const names = listOf(params).map((param) => objectOf(param).name);
    yield* twice(
      "openrpc",
      names.map((name, of): Named => [name, ["methods", at, "params", of, "name"]]),
    );
    for (const [number, example] of listOf(examples).entries()) {
      for (const [of, value] of listOf(objectOf(example).params).entries()) {
        const { name } = objectOf(value);
        if (typeof name !== "string" || names.includes(name)) continue;
        const path = ["methods", at, "examples", number, "params", of, "name"];
        yield mistake(path, `is ${show(name)}, which is no parameter of the method`);
      }
    }
  }
}

function* mistakesInOperations(openapi: unknown): Generator<Mistake> {
  const { paths, components } = objectOf(openapi);
  const items = Object.entries(objectOf(paths));
  const operations = items.flatMap(([path, item]) =>
    COMMON_METHODS.flatMap((method) => {
      const operation = objectOf(item)[method];
      return isObject(operation) ? [{ path, item: objectOf(item), method, operation }] : [];
    })
  );
  yield* twice(
    "openapi",
    operations.map(({ path, method, operation }): Named => [
      operation.operationId,
      ["paths", path, method, "operationId"],
    ]),
  );
  yield* samePaths(items.map(([path]) => path));
  for (const { path, item, method, operation } of operations) {
    const parameters = [...listOf(item.parameters), ...listOf(operation.parameters)]
      .map((parameter) => resolved(parameter, components));
    yield* mistakesInPath(path, ["paths", path, method], parameters);
  }
}

/** Paths that differ in the names of their parameters alone, and so are one. */
function* samePaths(paths: readonly string[]): Generator<Mistake> {
  const first = new Map<string, string>();
  for (const path of paths) {
    const form = path.replaceAll(/\{[^{}]*\}/g, "{}");
    const other = first.get(form);
    if (other) yield mistake(["paths", path], `is the same path as ${other}`, true);
    else first.set(form, path);
  }
}

/** A parameter, or what its reference leads to. */
function resolved(parameter: unknown, components: unknown): Json {
  const { $ref } = objectOf(parameter);
  if (typeof $ref !== "string") return objectOf(parameter);
  const path = parseFragment($ref.replace(/^#/, ""));
  return objectOf(path && valueAt({ components }, path));
}

/** What is wrong between the template of a path and the parameters of an operation. */
function* mistakesInPath(
  template: string,
  path: Path,
  parameters: readonly Json[],
): Generator<Mistake> {
  const wanted = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
  const given = parameters.filter((parameter) => parameter.in === "path");
  for (const name of wanted) {
    const parameter = given.find((parameter) => parameter.name === name);
    if (!parameter) {
      yield mistake(path, `needs the parameter ${show(name)}, which is in its path`, true);
    } else if (parameter.required !== true) {
      yield mistake(path, `has ${show(name)} in its path, so it must be required: true`, true);
    }
  }
  for (const { name } of given) {
    if (typeof name !== "string" || wanted.includes(name)) continue;
    const meant = didYouMean(nearest(name, wanted));
    yield mistake(path, `has the parameter ${show(name)}, which is not in its path${meant}`, true);
  }
  for (const parameter of parameters) {
    const mark = ["x-multi-segment", "x-spans"].find((mark) => parameter[mark] !== undefined);
    if (mark === undefined || parameter.in === "path") continue;
    yield mistake(path, `has ${mark} at ${show(parameter.name)}, which is not in its path`, true);
  }
}

/** References that lead nowhere, and types that are none. */
function* mistakesInSchemas(part: unknown, structure: Structure): Generator<Mistake> {
  if (!isObject(part)) return;
  const start = { shape: "document", value: part };
  for (const reference of referencesOf(start, structure)) {
    if (!reference.isPlain) continue;
    const { ref, expected } = reference;
    const path = ref.startsWith("#") ? parseFragment(ref.slice(1)) : undefined;
    const at = keysOf(part, pathOfReference(reference));
    if (!path) {
      yield mistake(at, `must lead to #/components/…, not to ${show(ref)}`);
    } else if (valueAt(part, path) === undefined) {
      const names = Object.keys(objectOf(valueAt(part, path.slice(0, -1))));
      yield mistake(at, `is ${show(ref)}, which is not there${meantBy(path, names)}`);
    } else if (shapeAt(structure, path) !== expected) {
      yield mistake(at, `must lead to a ${nameOfShape(expected)}, and ${show(ref)} is none`);
    }
  }
  for (const place of walk(start, structure)) {
    if (place.shape !== "schema") continue;
    const { type } = objectOf(place.value);
    const wrong = [type].flat().find((type) => type !== undefined && !TYPES.includes(String(type)));
    if (wrong === undefined) continue;
    const right = didYouMean(nearest(String(wrong), TYPES)) || `; there are ${TYPES.join(", ")}`;
    const at = keysOf(part, [...pathOf(place), "type"]);
    yield mistake(at, `is ${show(wrong)}, which is no type of JSON Schema${right}`);
  }
}

/** What the schema of the settings takes as any JSON; it knows all other shapes itself. */
const UNCHECKED: ReadonlySet<string> = new Set([
  "response",
  "requestBody",
  "header",
  "mediaType",
  "example",
  "encoding",
  "schema",
]);

/** Members that the standard does not know, or that are something else than it wants. */
function* mistakesInMembers(part: unknown, structure: Structure): Generator<Mistake> {
  if (!isObject(part)) return;
  for (const place of walk({ shape: "document", value: part }, structure)) {
    if (!UNCHECKED.has(place.shape)) continue;
    for (const [key, { message }] of validate(structure, place.shape, place.value)) {
      // Of types more is said above.
      if (place.shape === "schema" && key === "type") continue;
      // What becomes of it in a description is no matter here: a kind has to be right.
      const what = message.replace(/; [^;]*$/, "");
      yield mistake(keysOf(part, [...pathOf(place), key]), what, true);
    }
  }
}

const meantBy = (path: readonly string[], names: readonly string[]) =>
  didYouMean(nearest(path.at(-1) ?? "", names));

/** A path of texts with the indices of lists as numbers. */
function keysOf(root: unknown, path: readonly string[]): Path {
  let value = root;
  return path.map((key) => {
    const isIndex = Array.isArray(value);
    value = valueAt(value, [key]);
    return isIndex ? Number(key) : key;
  });
}
