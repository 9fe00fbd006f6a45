/**
 * `GET /v1/health`: one word for a probe, never mixed into the info.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";

/** Prepares the answer of a service that is well. */
export function prepareHealth(): Promise<Representation> {
  return represent(JSON.stringify({ status: "ok" }) + "\n", {
    type: "application/json",
    cache: "no-store",
  });
}
