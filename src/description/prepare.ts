/**
 * Prepares a node's description: the document as JSON, the parts of the page, and the list of
 * operations.
 *
 * @module
 */
import { findExamples, paramsOf } from "../explorer/examples.ts";
import type { OperationForm } from "../explorer/form-request.ts";
import { methodNameOf } from "../explorer/labels.ts";
import { type PageParts, renderParts } from "../explorer/render-content.ts";
import { withScalarExtensions } from "../explorer/scalar-extensions.ts";
import { annotateCalls } from "../gateway/annotate-operations.ts";
import type { ResolvedForward } from "../gateway/policy.ts";
import { digest } from "../http/content-coding.ts";
import type { NodeExamples } from "../info/source-cache.ts";
import type { Resource } from "../lazy.ts";
import { diagnosticOfError } from "../openapi/diagnostics.ts";
import type { Offer } from "../openapi/kind-document.ts";
import type { File } from "../openapi/files.ts";
import { load, type Loaded, type LoadOptions } from "../openapi/load.ts";
import { addressForClients, withDropInPaths } from "../openapi/drop-in.ts";
import { type Documents, prepareDocuments } from "../openapi/documents.ts";
import { originsOf } from "../openapi/origins.ts";
import { listServersElsewhere } from "../openapi/callable-operations.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { writeJson } from "../openapi/write.ts";
import { pause } from "../slices.ts";
import type { DescriptionSource } from "./source.ts";

/** A description as it is served: its documents, the parts of its page, and its operations. */
export interface ServedDescription extends Documents {
  readonly page: Resource<PageParts>;
  /** The origins to which the page may send requests. */
  readonly origins: readonly string[];
  /** A sentence that the page shows above the description. */
  readonly notice?: string | undefined;
  /** `undefined` if the operations of the node are not known. */
  readonly operations?: readonly NodeOperation[] | undefined;
  /** The servers, other than the node, of operations that are not forwarded. */
  readonly elsewhere: readonly string[];
  /** The names of the described JSON-RPC methods, as in {@linkcode Loaded}. */
  readonly methods: readonly string[];
  /** A sentence with the address that clients of the node need; empty if they can call nothing. */
  readonly hint: string;
  /** True if the operations are those of a built-in kind. */
  readonly isBuiltIn: boolean;
}

/** Everything but the source that decides what is shown of a description. */
export interface PrepareOptions extends LoadOptions {
  readonly forward?: ResolvedForward | undefined;
  /** The path of the node's JSON-RPC endpoint, if it has one of its own. */
  readonly rpcPath?: string | undefined;
  /** Example values from the node. Those in the responses to operations are added. */
  readonly examples?: Record<string, string> | undefined;
  /** Calls a method that only reads. */
  readonly callMethod?: (method: string, params: readonly unknown[]) => Promise<unknown>;
}

export interface Prepared extends Pick<Loaded, "diagnostics"> {
  /** `undefined` if a diagnostic is fatal. */
  readonly description: ServedDescription | undefined;
  /** The file, if it can be read. */
  readonly file: File | undefined;
}

/**
 * Never rejects: errors become diagnostics.
 *
 * @param offer the operations that the node lists, and the methods that it lacks
 */
export async function prepareDescription(
  source: DescriptionSource,
  offer: Offer,
  { forward, rpcPath = "", examples, callMethod, ...options }: PrepareOptions,
): Promise<Prepared> {
  const { by, isBuiltIn = false } = source;
  let file: File | undefined;
  const read = async () => file = await source.file!.read();
  try {
    const parts = { ...source, file: source.file && { ...source.file, read } };
    const { document: loaded, ofNode, diagnostics, methods = [] } = await load(
      parts,
      offer,
      options,
    );
    if (!loaded) return { description: undefined, diagnostics, file };
    const { document: annotated, operations } = await annotateCalls(loaded, forward, by, ofNode);
    await pause();
    const { at_root: isAtRoot = false } = forward ?? {};
    const isRpc = operations.some(({ isMethod }) => isMethod);
    const isRest = operations.some(({ isMethod }) => !isMethod);
    const address = addressForClients(annotated, isAtRoot, isRest ? "" : rpcPath);
    const ofHost = options.operations.map(({ path }) => path);
    const document = isAtRoot ? await withDropInPaths(annotated, ofHost, isBuiltIn) : annotated;
    const origins = originsOf(document);
    const page = await renderParts(document, by, address);
    if (isBuiltIn && examples && callMethod) await addExamples(page, examples, callMethod);
    // Without a node, no setting would enable an operation.
    const notes = options.node === undefined ? new Map() : page.notes;
    const written = async (ofNode: NodeExamples) =>
      await writeJson(await withScalarExtensions(document, ofNode, notes));
    const version = examples && page.sources.length > 0
      ? await digest((await written({})).identity)
      : undefined;
    const description = {
      ...await prepareDocuments(await written(examples ?? {}), version),
      page: { get: () => Promise.resolve(page) },
      origins,
      operations,
      elsewhere: listServersElsewhere(document),
      methods,
      hint: operations.length > 0
        ? `A client of the node needs the address ${address} of this service` +
          (isAtRoot && isRpc && isRest && rpcPath ? `, and JSON-RPC is at ${rpcPath}` : "")
        : "",
      isBuiltIn,
    };
    return { description, diagnostics, file };
  } catch (error) {
    const diagnostics = [diagnosticOfError(source.name, error)];
    return { description: undefined, diagnostics, file };
  }
}

/** Looks for the values of all forms. A value that cannot be found is omitted. */
async function addExamples(
  { notes }: PageParts,
  examples: Record<string, string>,
  callMethod: NonNullable<PrepareOptions["callMethod"]>,
): Promise<void> {
  const operations = [...notes.values()];
  const sources = {
    examples,
    formAt: (wanted: string) => operations.find(({ anchor }) => anchor === wanted)?.form,
    call: (form: OperationForm, texts: readonly string[]) =>
      callMethod(methodNameOf(form.address), paramsOf(form, texts)),
  };
  for (const { form } of operations) {
    if (form) await findExamples(form, sources).catch(() => {});
  }
}
