/**
 * The description of the service itself, packed when the service was built.
 *
 * @module
 */
import { type PackedContent, unpack } from "../http/content-coding.ts";
import { lazy, type Resource } from "../lazy.ts";
import type { Forms } from "../openapi/serve.ts";
import type { Form } from "../openapi/write.ts";

const WITHOUT_METRICS = lazy(async () => formsOf(await import("../generated/description.js")));
const WITH_METRICS = lazy(async () =>
  formsOf(await import("../generated/description-with-metrics.js"))
);

/** Returns what all services of a process share. */
export function ownDescription(hasMetrics: boolean): Resource<Forms> {
  return hasMetrics ? WITH_METRICS : WITHOUT_METRICS;
}

async function formsOf(
  { SPEC_JSON, SPEC_YAML, SPEC_DOTS }: typeof import("../generated/description.js"),
): Promise<Forms> {
  return {
    json: await formOf(SPEC_JSON, SPEC_DOTS.json),
    yaml: await formOf(SPEC_YAML, SPEC_DOTS.yaml),
  };
}

async function formOf(packed: PackedContent, dots: readonly number[]): Promise<Form> {
  const codings = await unpack(packed);
  return { codings, size: codings.identity.byteLength, dots };
}
