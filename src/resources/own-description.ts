/**
 * The description of the service itself, as it was packed when the service was built.
 *
 * @module
 */
import { type PackedContent, unpack } from "../http/build-time-content.ts";
import { lazy, type Resource } from "../lazy.ts";
import type { Form, Forms } from "../openapi/serve-description.ts";

/** In both forms; all services of a process share it. */
export const OWN_DESCRIPTION: Resource<Forms> = lazy(async () => {
  const { SPEC_JSON, SPEC_YAML, SPEC_DOTS } = await import("../generated/description.js");
  const [json, yaml] = await Promise.all([
    formOf(SPEC_JSON, SPEC_DOTS.json),
    formOf(SPEC_YAML, SPEC_DOTS.yaml),
  ]);
  return { json, yaml };
});

async function formOf(packed: PackedContent, dots: readonly number[]): Promise<Form> {
  const codings = await unpack(packed);
  return { codings, size: codings.identity.byteLength, dots };
}
