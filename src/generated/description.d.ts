/**
 * This service's own description, `spec/openapi.yaml`, as JSON.
 *
 * @module
 */
import type { PackedContent } from "../http/content-coding.ts";

export const SPEC_JSON: PackedContent;
