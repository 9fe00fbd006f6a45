/**
 * Prepares a node's description: the document as JSON and YAML, the parts of the page, and the list of operations.
 *
 * @module
 */
import { type PageParts, renderParts } from "../explorer/render-content.ts";
import { annotateCalls } from "../gateway/annotate-operations.ts";
import type { ResolvedForward } from "../gateway/policy.ts";
import { type Diagnostic, diagnosticOf, diagnosticOfError } from "../openapi/diagnostics.ts";
import { load, type Loaded, type LoadJob } from "../openapi/load.ts";
import { nameOf, type Reader } from "../openapi/files.ts";
import { originsOf } from "../openapi/servers.ts";
import {
  describedBy,
  listServersElsewhere,
  type NodeOperation,
} from "../openapi/callable-operations.ts";
import { createWriter, encodeForm, type Form, type Writer } from "../openapi/write.ts";
import { excerpt } from "../untrusted-text.ts";
import { nextTurn } from "../slices.ts";

export interface Content {
  readonly json: Form;
  /** The YAML is ready later than the other parts. This promise never rejects. */
  readonly yaml: Promise<WrittenYaml>;
  readonly page: PageParts;
  readonly origins: readonly string[];
  readonly operations: readonly NodeOperation[];
  readonly elsewhere: readonly string[];
}

/** A `diagnostic` tells why JSON is served instead of YAML. */
export type WrittenYaml = { readonly form: Form } | { readonly diagnostic: Diagnostic };

export interface PrepareJob extends LoadJob {
  readonly forward?: ResolvedForward | undefined;
}

export interface Prepared extends Omit<Loaded, "document"> {
  /** `undefined` if a diagnostic is fatal. */
  readonly content: Content | undefined;
  /** Maps the URL of each file to its `stamp`, or to an empty string if the file cannot be read. */
  readonly stamps: ReadonlyMap<string, string>;
}

export type Prepare = (job: PrepareJob, read: Reader) => Promise<Prepared>;

export async function allDiagnostics(
  { diagnostics, content }: Pick<Prepared, "diagnostics" | "content">,
): Promise<readonly Diagnostic[]> {
  const yaml = await content?.yaml;
  return yaml && "diagnostic" in yaml ? [...diagnostics, yaml.diagnostic] : diagnostics;
}

/** Never rejects: errors become diagnostics. */
export const prepare: Prepare = async ({ forward, ...job }, read) => {
  const stamps = new Map<string, string>();
  const stampedRead: Reader = async (url) => {
    stamps.set(url.href, "");
    const file = await read(url);
    if (file) stamps.set(url.href, file.stamp);
    return file;
  };
  try {
    const loaded = await load(job, stampedRead);
    const { document: whole, ...others } = loaded;
    if (!whole) return { content: undefined, ...others, stamps };
    const by = describedBy(job.entry);
    const { document, operations } = annotateCalls(whole, forward, by);
    const origins = originsOf(document);
    const page = await renderParts(document, by);
    const writer = createWriter(document);
    const json = await encodeForm(writer.json());
    const yaml = prepareYaml(job.entry, writer);
    const elsewhere = listServersElsewhere(document);
    return { content: { json, yaml, page, origins, operations, elsewhere }, ...others, stamps };
  } catch (error) {
    return failed(job.entry, stamps, error);
  }
};

async function prepareYaml(entry: string, writer: Writer): Promise<WrittenYaml> {
  try {
    await nextTurn();
    return { form: await encodeForm(writer.yaml()) };
  } catch (error) {
    return withoutYaml(entry, error);
  }
}

export function failed(entry: string, stamps: Prepared["stamps"], error: unknown): Prepared {
  return { content: undefined, diagnostics: [diagnosticOfError(nameOf(entry), error)], stamps };
}

export function withoutYaml(entry: string, error: unknown): WrittenYaml {
  const message = `cannot be written as YAML: ${excerpt(String((error as Error).message))}; ` +
    "/spec.yaml contains JSON, which is also valid YAML";
  return { diagnostic: diagnosticOf(nameOf(entry), "note", message) };
}
