/**
 * From the place of a node's description to all that is shown of it.
 *
 * @module
 */
import { type PageParts, renderParts } from "../explorer/page-parts.ts";
import { encode, type EncodedContent } from "../http/content-coding.ts";
import { failureOf } from "../openapi/diagnostics.ts";
import { load, type Loaded, type LoadJob, nameOf } from "../openapi/load.ts";
import type { Reader } from "../openapi/read-file-or-url.ts";
import { markServers } from "../openapi/depths.ts";
import { originsOf } from "../openapi/server-origins.ts";
import { writeJson, writeYaml } from "../openapi/write.ts";
import { breathe } from "../openapi/yield-to-requests.ts";

/** What is shown of a description: plain data. */
export interface Content {
  /** The document as JSON. */
  readonly json: EncodedContent;
  /** The document as YAML. */
  readonly yaml: EncodedContent;
  /** Where another dot in them makes what is served one folder deeper; see `openapi/depths.ts`. */
  readonly dots: Record<"json" | "yaml", readonly number[]>;
  readonly page: PageParts;
  /** The origins of its servers. */
  readonly origins: readonly string[];
}

/** What came of a description. */
export interface Prepared extends Omit<Loaded, "document"> {
  /** `undefined` where a finding is fatal. */
  readonly content: Content | undefined;
}

/** Prepares a description. */
export type Prepare = (job: LoadJob, read: Reader) => Promise<Prepared>;

/** Prepares a description in this thread. Never rejects: what is thrown on the way is a finding. */
export const prepare: Prepare = async (job, read) => {
  const { document, findings, stamps } = await load(job, read);
  if (!document) return { content: undefined, findings, stamps };
  try {
    const origins = originsOf(document);
    const page = await renderParts(document);
    const marked = markServers(document);
    const inJson = marked.read(writeJson(marked.document));
    await breathe();
    const inYaml = marked.read(writeYaml(marked.document));
    const [json, yaml] = await Promise.all([encodeAll(inJson.bytes), encodeAll(inYaml.bytes)]);
    const dots = { json: inJson.dots, yaml: inYaml.dots };
    return { content: { json, yaml, dots, page, origins }, findings, stamps };
  } catch (error) {
    return failed(job, stamps, error);
  }
};

async function encodeAll(identity: Uint8Array<ArrayBuffer>): Promise<EncodedContent> {
  return { identity, ...await encode(identity) };
}

/** What came of a description, where that is something thrown. */
export function failed({ entry }: LoadJob, stamps: Prepared["stamps"], error: unknown): Prepared {
  return { content: undefined, findings: [failureOf(nameOf(entry), error)], stamps };
}
