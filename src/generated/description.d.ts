/**
 * This service's own description, `spec/openapi.yaml`, as JSON and as YAML.
 *
 * @module
 */
import type { PackedContent } from "../http/content-coding.ts";

export const SPEC_JSON: PackedContent;
export const SPEC_YAML: PackedContent;
/** The byte offsets at which `rebaseServers` inserts a dot, for the description at `/v1/spec.*`. */
export const SPEC_DOTS: Record<"json" | "yaml", readonly number[]>;
