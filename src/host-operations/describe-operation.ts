/**
 * Describes a host's operations, and diagnoses their paths and parameters.
 *
 * @module
 */
import { parsePathTemplate } from "../http/path-template.ts";
import type { DescribedOperation } from "../openapi/merge.ts";
import { followReference } from "../openapi/operations.ts";
import type { ComponentsObject, Operation, ParameterObject } from "./operation.ts";
import type { Diagnostic, Path } from "../settings/schema.ts";
import { describeValue } from "../untrusted-text.ts";

function namesOf(path: string): string[] {
  return [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!);
}

/** Adds the path parameters that the host has not described. Their type is string. */
export function describeOperation(
  { method, path, operation }: Operation,
  components: ComponentsObject | undefined,
): DescribedOperation {
  const { parameters = [] } = operation;
  const known = parameters.map((parameter) => followReference({ components }, parameter));
  // An unresolved reference could stand for any path parameter. In this case, no parameter is
  // added.
  const missing = known.some(({ name }) => name === undefined)
    ? []
    : namesOf(path).filter((name) =>
      !known.some((parameter) => parameter.in === "path" && parameter.name === name)
    );
  if (missing.length === 0) return { method, path, operation: { ...operation } };
  const schema = { type: "string" };
  const added = missing.map((name) => ({ name, in: "path", required: true, schema }));
  return { method, path, operation: { ...operation, parameters: [...parameters, ...added] } };
}

export function* diagnosticsOfOperations(
  operations: readonly Operation[],
  components: ComponentsObject | undefined,
): Generator<Diagnostic> {
  const first = new Map<string, { at: number; path: string }>();
  const taken = new Map<string, number>();
  for (const [at, operation] of operations.entries()) {
    const { method, path } = operation;
    const wrong = explainPath(path);
    if (wrong) {
      yield diagnostic(["operations", at, "path"], wrong);
      continue;
    }
    yield* diagnosticsOfParameters(operation, components, ["operations", at, "operation"]);
    const template = parsePathTemplate(path).source;
    const earlier = first.get(template);
    const same = taken.get(`${method} ${template}`);
    if (same !== undefined) {
      const message = `is served already: operations[${same}] is ${method} ${earlier!.path}`;
      yield diagnostic(["operations", at], `(${method} ${path}) ${message}`);
    } else if (earlier && earlier.path !== path) {
      const message =
        `must be ${describeValue(earlier.path)}, as in operations[${earlier.at}], not ` +
        `${describeValue(path)}: OpenAPI does not distinguish these two paths`;
      yield diagnostic(["operations", at, "path"], message);
    }
    if (!earlier) first.set(template, { at, path });
    taken.set(`${method} ${template}`, at);
  }
}

const diagnostic = (path: Path, message: string): Diagnostic => ({ path, message, isKey: false });

function explainPath(path: string): string | undefined {
  const wrong = (right: string) => `must ${right}, not ${describeValue(path)}`;
  if (!path.startsWith("/")) return wrong("begin with a slash");
  if (path !== "/" && path.endsWith("/")) return wrong("have no slash at its end");
  if (/\/\.\.?(\/|$)/.test(path)) {
    return wrong('have no segment "." or "..", which URL parsers remove');
  }
  if (/[?#]/.test(path)) return wrong('have no "?" and no "#", which end the path of a URL');
  if (/%(?![\dA-Fa-f]{2})/.test(path)) return wrong('have two hexadecimal digits after each "%"');
  if (/[\ud800-\udfff]/u.test(path)) return wrong("be valid Unicode");
  if (/[{}]/.test(path.replaceAll(/\{[^{}/]+\}/g, ""))) {
    return wrong("have a name in each pair of braces");
  }
  const names = path.match(/\{[^}]*\}/g) ?? [];
  if (new Set(names).size < names.length) return wrong("have each parameter once");
  return undefined;
}

const PLACES = ["path", "query", "header", "cookie"];

function* diagnosticsOfParameters(
  { path, operation }: Operation,
  components: ComponentsObject | undefined,
  at: Path,
): Generator<Diagnostic> {
  const names = namesOf(path);
  const seen = new Set<string>();
  for (const [i, given] of (operation.parameters ?? []).entries()) {
    const here = [...at, "parameters", i];
    const parameter = followReference({ components }, given);
    // The reference may point to a component of the node's description.
    if ("$ref" in given && parameter.name === undefined) continue;
    const { name, in: place, required } = parameter as Partial<ParameterObject>;
    if (typeof name !== "string") yield diagnostic(here, 'needs "name", a string');
    else if (!PLACES.includes(place!)) {
      yield diagnostic(
        [...here, "in"],
        `must be one of ${PLACES.join(", ")}, not ${describeValue(place)}`,
      );
    } else if (seen.has(`${place} ${name}`)) {
      yield diagnostic(here, `(${name}) is a duplicate`);
    } else if (place === "path" && !names.includes(name)) {
      const known = names.length > 0 ? `; the path has ${names.join(", ")}` : "";
      yield diagnostic([...here, "name"], `is not in the path: ${describeValue(name)}${known}`);
    } else if (place === "path" && required !== true) {
      yield diagnostic(
        [...here, "required"],
        `must be true, as ${describeValue(name)} is in the path`,
      );
    }
    seen.add(`${place} ${name}`);
  }
}
