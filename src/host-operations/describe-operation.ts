/**
 * Describes a host's operations, and diagnoses their paths and parameters.
 *
 * @module
 */
import { parsePathTemplate } from "../http/path-template.ts";
import type { DescribedOperation } from "../openapi/merge.ts";
import { followReference } from "../openapi/operations.ts";
import { listOf } from "../json/values.ts";
import type { ComponentsObject, DocumentOptions, Operation } from "./operation.ts";
import { diagnosticsOfPart } from "../settings/kind-interface.ts";
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
  const known = listOf(parameters).map((parameter) => followReference({ components }, parameter));
  const missing = namesOf(path).filter((name) =>
    !known.some((parameter) => parameter.in === "path" && parameter.name === name)
  );
  if (missing.length === 0 || !Array.isArray(parameters)) {
    return { method, path, operation: { ...operation } };
  }
  const schema = { type: "string" };
  const added = missing.map((name) => ({ name, in: "path", required: true, schema }));
  return { method, path, operation: { ...operation, parameters: [...parameters, ...added] } };
}

/** The operations and the other parts of their document are checked as one OpenAPI document. */
export function diagnosticsOfOperations(
  operations: readonly Operation[],
  document: DocumentOptions = {},
): Diagnostic[] {
  const found: Diagnostic[] = [];
  const first = new Map<string, { at: number; path: string }>();
  const taken = new Map<string, number>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [at, operation] of operations.entries()) {
    const { method, path } = operation;
    const wrong = explainPath(path);
    if (wrong) {
      found.push({ path: ["operations", at, "path"], message: wrong });
      continue;
    }
    const template = parsePathTemplate(path).source;
    const earlier = first.get(template);
    const same = taken.get(`${method} ${template}`);
    if (same !== undefined) {
      const message = `is served already: operations[${same}] is ${method} ${earlier!.path}`;
      found.push({ path: ["operations", at], message: `(${method} ${path}) ${message}` });
      continue;
    }
    if (earlier && earlier.path !== path) {
      const message =
        `must be ${describeValue(earlier.path)}, as in operations[${earlier.at}], not ` +
        `${describeValue(path)}: OpenAPI does not distinguish these two paths`;
      found.push({ path: ["operations", at, "path"], message });
    }
    if (!earlier) first.set(template, { at, path });
    taken.set(`${method} ${template}`, at);
    const described = describeOperation(operation, document.components).operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: described };
  }
  const inDocument = diagnosticsOfPart({ ...document, paths }, { openapi: "3.1.1" });
  return [
    ...found,
    ...inDocument.map(({ path: [section, ...rest], ...others }): Diagnostic => {
      if (section !== "paths") return { ...others, path: ["document", section!, ...rest] };
      const [path, method, ...inner] = rest as [string, string, ...Path];
      const at = taken.get(`${method.toUpperCase()} ${parsePathTemplate(path).source}`)!;
      return { ...others, path: ["operations", at, "operation", ...inner] };
    }),
  ];
}

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
  if (/[{}]/.test(path.replaceAll(/\{[^{}/&+;]+\}/g, ""))) {
    return wrong("have a name in each pair of braces");
  }
  const names = path.match(/\{[^}]*\}/g) ?? [];
  if (new Set(names).size < names.length) return wrong("have each parameter once");
  return undefined;
}
