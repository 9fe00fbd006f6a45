/**
 * The references (`$ref`) of a document: where they are and what they name.
 *
 * @module
 */
import type { Json, Path } from "../json/values.ts";

/** A reference and where it stands. */
export interface Reference {
  /** Leads to the `$ref` itself. */
  readonly path: Path;
  readonly ref: string;
}

/** Keys whose members have names of the author's choice, which mean nothing to OpenAPI. */
const NAMES: ReadonlySet<string> = new Set([
  ..."properties patternProperties definitions $defs dependentSchemas schemas responses".split(" "),
  ..."parameters requestBodies headers securitySchemes links callbacks pathItems paths".split(" "),
  ..."webhooks variables mapping scopes encoding content examples".split(" "),
]);

/** Keys whose values are data, in which `$ref` refers to nothing. */
const DATA: ReadonlySet<string> = new Set(["example", "default", "enum", "const", "value"]);

/** Finds the references of a document, in the order of its members. */
export function referencesOf(document: unknown): Reference[] {
  const found: Reference[] = [];
  const done = new Set<unknown>();
  const path: string[] = [];
  const visit = (value: Json, hasNames: boolean) => {
    if (done.has(value)) return;
    done.add(value);
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (!hasNames && key === "$ref" && typeof member === "string") {
        found.push({ path: [...path, key], ref: member });
      }
      if (typeof member !== "object" || member === null) continue;
      if (!hasNames && DATA.has(key)) continue;
      path.push(key);
      visit(member as Json, !hasNames && !Array.isArray(member) && NAMES.has(key));
      path.pop();
    }
  };
  if (typeof document === "object" && document !== null) visit(document as Json, false);
  return found;
}

/** A reference in its two parts: the file, and the fragment without `#`. */
export function splitReference(ref: string): [file: string, fragment: string] {
  const hash = ref.indexOf("#");
  return hash === -1 ? [ref, ""] : [ref.slice(0, hash), ref.slice(hash + 1)];
}

/** The names that schemas give themselves, to which references may lead as well. */
export function anchorsOf(document: unknown): Set<string> {
  const anchors = new Set<string>();
  const done = new Set<unknown>();
  const visit = (value: Json) => {
    if (done.has(value)) return;
    done.add(value);
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (typeof member === "object" && member !== null) visit(member as Json);
      else if (/^\$(?:anchor|dynamicAnchor|id)$/.test(key)) anchors.add(String(member));
    }
  };
  if (typeof document === "object" && document !== null) visit(document as Json);
  return anchors;
}
