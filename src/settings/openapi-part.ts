/**
 * Checks a part of an OpenAPI or OpenRPC document, as kinds and host programs supply it.
 *
 * @module
 */
import { type JsonObject, valueAt } from "../json/values.ts";
import { validatePart } from "../openapi/resolve.ts";
import type { SettingDiagnostic, SettingPath } from "./schema.ts";

/**
 * Nothing of a part is omitted: each fault is an error.
 *
 * @param version an object with the version, such as `{ openapi: "3.1.1" }`
 */
export function diagnosticsOfPart(part: JsonObject, version: JsonObject): SettingDiagnostic[] {
  return validatePart(part, version).map(({ place, fault, hint = "", more }) => {
    const others = more > 0 ? ` (and ${more} more)` : "";
    return diagnosticAt(part, place, fault + hint + others);
  });
}

export const diagnosticAt = (
  part: JsonObject,
  path: readonly string[],
  message: string,
): SettingDiagnostic => ({
  path: withIndices(part, path),
  message: `is wrong: ${message}`,
  isKey: path.at(-1) !== "$ref",
});

function withIndices(root: unknown, path: readonly string[]): SettingPath {
  let value = root;
  return path.map((key) => {
    const isIndex = Array.isArray(value);
    value = valueAt(value, [key]);
    return isIndex ? Number(key) : key;
  });
}
