/**
 * This service's own description, `spec/openapi.yaml`, in both forms.
 *
 * @module
 */
import type { PackedContent } from "../http/build-time-content.ts";

export const SPEC_JSON: PackedContent;
export const SPEC_YAML: PackedContent;
/** Where another dot makes the description below `/v1`, in bytes; see `openapi/relative-servers.ts`. */
export const SPEC_DOTS: Record<"json" | "yaml", readonly number[]>;
