/**
 * `GET /v1/health`: one word for a probe, never mixed into the info.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";
import type { Status } from "./info-object.ts";

/** Prepares the answer: 503 where nothing is known of the node. */
export function prepareHealth(status: Status): Promise<Representation> {
  return represent(JSON.stringify({ status }) + "\n", {
    tag: status,
    type: "application/json",
    cache: "no-store",
    status: status === "unreachable" ? 503 : 200,
  });
}
