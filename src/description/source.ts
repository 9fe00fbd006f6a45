/**
 * The sources of a node's description: a configured place, the node itself, and the node's kind.
 *
 * @module
 */
import type { NodeResponse } from "../node/http1.ts";
import { SourceError } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import { createReader, type File, fileOf, type Reader, ReadError } from "../openapi/files.ts";
import type { AboutKind, Offer } from "../openapi/kind.ts";
import { KIND_FILES } from "../openapi/load.ts";
import { fileUrl } from "../platform.ts";
import type { KnownKind } from "./known-interface.ts";

/** The source of a node's description: the path of a file, a URL, or the text itself. */
export type DescriptionPlace =
  | string
  | URL
  | { readonly text: string; readonly name?: string | undefined };

export interface DescriptionSource {
  /** The URL of the description. */
  readonly entry: URL;
  /** The name of the source in messages. */
  readonly name: string;
  /** Reads `entry`, and the files in `KIND_FILES`. */
  readonly read: Reader;
  /** True if the description is that of a built-in kind. */
  readonly isBuiltIn?: boolean;
  /** Completes the description with the node's kind. */
  readonly kind?: AboutKind | undefined;
}

/** Returns the operations that the node lists, and the methods that it lacks. */
export type ReadOffer = () => Offer;

/** Reads a configured description. */
export async function sourceAt(
  place: DescriptionPlace,
  node: Node,
  offer: ReadOffer,
): Promise<DescriptionSource> {
  const name = nameOf(place);
  if (typeof place === "object" && "text" in place) {
    const entry = new URL(encodeURI(place.name ?? "openapi.yaml"), "file:///description/");
    const file: File = {
      url: entry,
      bytes: new TextEncoder().encode(place.text),
      isJson: entry.pathname.endsWith(".json"),
      stamp: "text",
    };
    const readText: Reader = (_, stamp) => Promise.resolve(stamp === undefined ? file : undefined);
    return { entry, name, read: withOffer(readText, offer) };
  }
  const isUrl = place instanceof URL || /^(?:https?|file):\/\//i.test(place);
  const entry = isUrl ? new URL(place) : await fileUrl(place);
  return { entry, name, read: withOffer(readerFor(node), offer) };
}

/**
 * Returns the kind's own description, and then the node's, which is preferred if it can be read.
 */
export function sourcesOf(
  node: Node,
  known: KnownKind,
  version: string,
  offer: ReadOffer,
): { readonly ofKind?: DescriptionSource; readonly ofNode?: DescriptionSource } {
  const { description, title } = known.kind;
  const readFile = readerFor(node);
  const call = typeof description === "object" ? description : undefined;
  const read: Reader = async (url, stamp) => {
    if (url.href === KIND_FILES.interface) {
      // The interface of a kind does not change while the service runs.
      return stamp === undefined ? await fileOf(url, await known.loadJson()) : undefined;
    }
    if (url.protocol !== "jsonrpc:") return await readFile(url, stamp);
    const text = await known.ask(call!).catch((error: Error) => {
      throw new ReadError(`the node ${error.message}`);
    });
    return await fileOf(url, new TextEncoder().encode(text), stamp);
  };
  const common = { read: withOffer(read, offer), kind: { title, version } };
  const ofKind = {
    ...common,
    entry: new URL(KIND_FILES.interface),
    name: known.name,
    isBuiltIn: known.isBuiltIn,
  };
  return {
    ...known.hasInterface && { ofKind },
    ...description !== undefined && node.url !== undefined && {
      ofNode: { ...common, ...placeOf(node, description) },
    },
  };
}

function placeOf(node: Node, description: NonNullable<KnownKind["kind"]["description"]>) {
  if (typeof description === "string") {
    const entry = node.resolve(description);
    return { entry, name: entry.href };
  }
  const entry = new URL(`jsonrpc:${encodeURIComponent(description.jsonrpc)}`);
  return { entry, name: `${node.url} by ${description.jsonrpc}` };
}

function withOffer(read: Reader, offer: ReadOffer): Reader {
  return (url, stamp) =>
    url.href === KIND_FILES.offer
      ? fileOf(url, new TextEncoder().encode(JSON.stringify(offer())), stamp)
      : read(url, stamp);
}

export function nameOf(place: DescriptionPlace): string {
  const text = typeof place === "object" && "text" in place ? place.name : String(place);
  return text?.split("/").at(-1) || "the description";
}

/** Only requests to the node's own origin use the node's credentials. */
function readerFor(node: Node): Reader {
  return createReader(async (url, init) => {
    if (node.url === undefined || url.origin !== node.resolve("").origin) {
      return await fetch(url, init);
    }
    const { headers, signal } = init;
    const request = { url, method: "GET", headers, signal, body: undefined, isOnce: false };
    try {
      // A user and password in the description's URL take precedence over `node.auth`.
      if ("authorization" in headers) return toResponse(await node.client(request));
      return await node.send(request, ({ response, isSecret, refusal }) => {
        if (!refusal && !(isSecret && response.headers.get("location") !== null)) {
          return toResponse(response);
        }
        response.cancel();
        throw refusal ??
          new ReadError(
            "the node redirects a request that contains a secret; the redirect is not followed",
          );
      });
    } catch (error) {
      throw asReadError(error);
    }
  });
}

const asReadError = (error: unknown) =>
  error instanceof SourceError ? new ReadError(`the node ${error.message}`) : error;

function toResponse({ status, headers, next, cancel }: NodeResponse): Response {
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const part = await next();
        if (part) controller.enqueue(part);
        else controller.close();
      } catch (error) {
        controller.error(asReadError(error));
      }
    },
    cancel,
  }, { highWaterMark: 0 });
  return { ok: status >= 200 && status < 300, status, headers, body } as unknown as Response;
}
