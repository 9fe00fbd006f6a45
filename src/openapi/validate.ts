/**
 * Validates a part of a description that is no file of its own, such as what the file of a kind holds, as a
 * description is.
 *
 * @module
 */
import { resolveFragment } from "../json/pointer.ts";
import type { Json } from "../json/values.ts";
import { quote, shorten } from "../untrusted-text.ts";
import { pathOf, structureOf, walk } from "./document-structure.ts";
import { createComplaints } from "./gather-complaints.ts";
import { mendOperations } from "./mend-operations.ts";
import type { Complaint } from "./parse.ts";
import { pathOfReference, REF_MAX, referenceAt } from "./references.ts";
import { faultsOf, refuse } from "./validity.ts";

/**
 * Validates a part of an OpenAPI or OpenRPC document whose references lead into itself.
 *
 * @param part may have any form
 * @param version says of which it is a part: `{ openapi: "3.1.1" }`, `{ openrpc: "1.3.2" }`
 * @returns what is wrong, each with the path of its first place
 */
export function validatePart(part: Json, version: Json): Complaint[] {
  const document = { info: { title: "", version: "" }, ...version, ...part };
  const structure = structureOf(document);
  const complaints = createComplaints();
  const start = { shape: "document", value: document };
  const validate = ({ shape, value }: typeof start | { shape: string; value: unknown }) =>
    faultsOf(structure, shape, value);
  for (const place of walk(start, structure, new Map(), validate)) {
    for (const [key, { message, isError }] of validate(place)) {
      complaints.add({ message, isError }, () => [...pathOf(place), key]);
    }
    const reference = referenceAt(place);
    if (!reference) continue;
    const target = resolveFragment(document, reference.ref.replace(/^#/, ""));
    const refusal = target === undefined
      ? "leads nowhere"
      : refuse(structure, reference.expected, target);
    if (refusal === undefined) continue;
    const message = `the reference to ${quote(shorten(reference.ref, REF_MAX))} ${refusal}`;
    complaints.add({ message, isError: true }, () => pathOfReference(reference));
  }
  mendOperations(document, complaints);
  return complaints.list();
}
