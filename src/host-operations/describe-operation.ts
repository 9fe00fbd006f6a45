/**
 * Describes a host's operations, and checks them.
 *
 * @module
 */
import { PathTemplate } from "../http/path-template.ts";
import type { DescribedOperation } from "../openapi/merge.ts";
import { followReference } from "../openapi/operations.ts";
import { type JsonObject, listOf } from "../json/values.ts";
import { diagnosticsOfPart } from "../settings/openapi-part.ts";
import type { SettingDiagnostic, SettingPath } from "../settings/schema.ts";
import type { ComponentsObject, DocumentOptions, Operation } from "./operation.ts";
import { describeValue } from "../untrusted-text.ts";

/** Adds the path parameters that the host has not described. Their type is string. */
export function describeOperation(
  { method, path, operation }: Operation,
  components: ComponentsObject | undefined,
): DescribedOperation {
  const { parameters = [] } = operation;
  const known = listOf(parameters).map((parameter) => followReference({ components }, parameter));
  const missing = new PathTemplate(path).names.filter((name) =>
    !known.some((parameter) => parameter.in === "path" && parameter.name === name)
  );
  // Parameters that are no list are reported with the other faults of the document.
  if (missing.length === 0 || !Array.isArray(parameters)) {
    return { method, path, operation: { ...operation } };
  }
  const schema = { type: "string" };
  const added = missing.map((name) => ({ name, in: "path", required: true, schema }));
  return { method, path, operation: { ...operation, parameters: [...parameters, ...added] } };
}

/** Checks the operations' paths. */
export function* diagnosticsOfPaths(
  operations: readonly Operation[],
): Generator<SettingDiagnostic> {
  const first = new Map<string, { at: number; path: string }>();
  const taken = new Map<string, number>();
  for (const [at, { method, path }] of operations.entries()) {
    const wrong = explainPath(path);
    if (wrong) {
      yield diagnostic(["operations", at, "path"], wrong);
      continue;
    }
    const template = new PathTemplate(path).source;
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

const diagnostic = (path: SettingPath, message: string): SettingDiagnostic => ({ path, message });

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
  const { names } = new PathTemplate(path);
  if (new Set(names).size < names.length) return wrong("have each parameter once");
  return undefined;
}

/**
 * Checks the operations as a document: its structure, references, security schemes and names. The
 * paths must be valid.
 */
export function diagnosticsOfDocument(
  operations: readonly Operation[],
  document: DocumentOptions = {},
): SettingDiagnostic[] {
  const paths: Record<string, JsonObject> = {};
  const indices = new Map<string, number>();
  for (const [at, operation] of operations.entries()) {
    const { components } = document;
    const { method, path, operation: described } = describeOperation(operation, components);
    const key = method.toLowerCase();
    paths[path] = { ...paths[path], [key]: described };
    indices.set(`${key} ${path}`, at);
  }
  return diagnosticsOfPart({ ...document, paths }, { openapi: "3.1.1" }).map((found) => {
    const [section, path, method, ...rest] = found.path;
    return {
      ...found,
      path: section === "paths"
        ? ["operations", indices.get(`${method} ${path}`)!, "operation", ...rest]
        : ["document", ...found.path],
    };
  });
}
