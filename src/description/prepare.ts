/**
 * Prepares a node's description: the document as JSON, the parts of the page, and the list of
 * operations.
 *
 * @module
 */
import { type PageParts, renderParts } from "../explorer/render-content.ts";
import { annotateCalls } from "../gateway/annotate-operations.ts";
import type { ResolvedForward } from "../gateway/policy.ts";
import type { KeptContent } from "../http/content-coding.ts";
import { diagnosticOfError } from "../openapi/diagnostics.ts";
import { load, type Loaded, type LoadJob } from "../openapi/load.ts";
import { nameOf, type Reader } from "../openapi/files.ts";
import { clientAddress, withDropInPaths } from "../openapi/drop-in.ts";
import { originsOf, type ServerContext } from "../openapi/servers.ts";
import {
  describedBy,
  listServersElsewhere,
  type NodeOperation,
} from "../openapi/callable-operations.ts";
import { writeJson } from "../openapi/write.ts";
import { pause } from "../slices.ts";
import type { DescriptionSource } from "./source.ts";

export interface Content {
  readonly json: KeptContent;
  readonly page: PageParts;
  readonly origins: readonly string[];
  readonly operations: readonly NodeOperation[];
  readonly elsewhere: readonly string[];
  /** The path that a client of the node needs in its address. */
  readonly address: string;
  /** True if the operations are those of a built-in kind. */
  readonly isBuiltIn: boolean;
}

/** Everything but the source that decides what is shown of a description. */
export interface DescribeOptions
  extends Pick<LoadJob, "own" | "operations" | "documentOfHost">, ServerContext {
  readonly forward?: ResolvedForward | undefined;
}

export interface Prepared extends Omit<Loaded, "document"> {
  /** `undefined` if a diagnostic is fatal. */
  readonly content: Content | undefined;
  /** Maps the URL of each file to its `stamp`, or to an empty string if the file cannot be read. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** Never rejects: errors become diagnostics. */
export async function describe(
  source: DescriptionSource,
  { forward, node, base, ...options }: DescribeOptions,
): Promise<Prepared> {
  const entry = source.entry.href;
  const stamps = new Map<string, string>();
  const read: Reader = async (url) => {
    stamps.set(url.href, "");
    const file = await source.read(url);
    if (file) stamps.set(url.href, file.stamp);
    return file;
  };
  try {
    const where = { node, base };
    const job = { ...options, entry, kind: source.kind, where };
    const { document: whole, ...others } = await load(job, read);
    if (!whole) return { content: undefined, ...others, stamps };
    const by = describedBy(entry);
    const { document: below, operations } = await annotateCalls(whole, forward, by);
    await pause();
    const { isBuiltIn = false } = source;
    const { at_root: isAtRoot = false } = forward ?? {};
    const address = clientAddress(below, isAtRoot);
    const document = isAtRoot ? await withDropInPaths(below, isBuiltIn) : below;
    const origins = originsOf(document);
    const page = await renderParts(document, by, address);
    const json = await writeJson(document);
    const content = {
      json,
      page,
      origins,
      operations,
      elsewhere: listServersElsewhere(document),
      address,
      isBuiltIn,
    };
    return { content, ...others, stamps };
  } catch (error) {
    const diagnostics = [diagnosticOfError(nameOf(entry), error)];
    return { content: undefined, diagnostics, stamps };
  }
}
