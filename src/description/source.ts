/**
 * The sources of a node's description: a configured place, the node itself, and the node's kind.
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import type { NodeResponse } from "../node/http1.ts";
import { OWN_NAME } from "../node/own-headers.ts";
import { clauseOf, SourceError } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import {
  createReader,
  type Fetched,
  type File,
  fileOf,
  type Reader,
  ReadError,
} from "../openapi/files.ts";
import type { DescriptionFile, DescriptionParts } from "../openapi/load.ts";
import { fileUrl } from "../platform.ts";
import type { KnownKind } from "./known-interface.ts";

/** The source of a node's description: the path of a file, a URL, or the text itself. */
export type DescriptionPlace =
  | string
  | URL
  | { readonly text: string; readonly name?: string | undefined };

export interface DescriptionSource extends DescriptionParts {
  /** The name of the source in messages. */
  readonly name: string;
  /** True if the description is that of a built-in kind. */
  readonly isBuiltIn?: boolean;
}

/**
 * What was read last from a configured description. A reloaded service has it until it has read the
 * description itself, so that a broken file or a server that is away does not prevent the reload.
 */
export class LastFile {
  #last: { readonly place: string; readonly file: File; readonly readAt: number } | undefined;

  note(place: DescriptionPlace, file: File): void {
    this.#last = { place: String(place), file, readAt: performance.now() };
  }

  /** `readAt` is a time of `performance.now()`. */
  at(place: DescriptionPlace): { readonly file: File; readonly readAt: number } | undefined {
    return String(place) === this.#last?.place ? this.#last : undefined;
  }
}

/** Reads a configured description. */
export async function sourceAt(place: DescriptionPlace, node: Node): Promise<DescriptionSource> {
  const isText = typeof place === "object" && "text" in place;
  const file = isText ? fileOfText(place) : await fileAt(place, node);
  return {
    file,
    name: nameOfPlace(place),
    by: isText || file.url.protocol === "file:" ? "operator" : "network",
  };
}

function fileOfText({ text, name = "openapi.yaml" }: { text: string; name?: string | undefined }) {
  const url = new URL(`file:///description/${encodeURIComponent(name.split(/[\\/]/).at(-1)!)}`);
  const isJson = url.pathname.endsWith(".json");
  const bytes = encodeText(text);
  const read: Reader = (stamp) =>
    Promise.resolve(stamp === undefined ? { url, bytes, isJson, stamp: "text" } : undefined);
  return { url, read };
}

async function fileAt(place: string | URL, node: Node): Promise<DescriptionFile> {
  const isUrl = place instanceof URL || /^(?:https?|file):\/\//i.test(place);
  const url = isUrl ? new URL(place) : await fileUrl(place);
  return { url, read: readerFor(node, url) };
}

/**
 * Returns the kind's own description, and then the node's, which is preferred if it can be read.
 */
export function descriptionSourcesOf(
  node: Node,
  known: KnownKind,
): { readonly ofKind?: DescriptionSource; readonly ofNode?: DescriptionSource } {
  const { description, title } = known.kind;
  const kind = { title, loadInterface: () => known.loadInterface() };
  const { name, isBuiltIn } = known;
  return {
    ...known.hasInterface && { ofKind: { name, isBuiltIn, by: "kind", kind } },
    ...description !== undefined && node.url !== undefined && {
      ofNode: { ...sourceOfNode(node, known, description), by: "network", kind },
    },
  };
}

function sourceOfNode(
  node: Node,
  known: KnownKind,
  description: NonNullable<KnownKind["kind"]["description"]>,
): Required<Pick<DescriptionSource, "name" | "file">> {
  if (typeof description === "string") {
    const url = node.resolve(description);
    return { name: url.href, file: { url, read: readerFor(node, url) } };
  }
  const url = new URL(`jsonrpc:${encodeURIComponent(description.jsonrpc)}`);
  const read: Reader = async (stamp) => {
    const text = await known.ask(description).catch((error: Error) => {
      throw new ReadError(`the node ${clauseOf(error.message)}`);
    });
    return await fileOf(url, encodeText(text), stamp);
  };
  return { name: `${node.url} by ${description.jsonrpc}`, file: { url, read } };
}

export function nameOfPlace(place: DescriptionPlace): string {
  const text = typeof place === "object" && "text" in place ? place.name : String(place);
  return text?.split("/").at(-1) || "the description";
}

/** Only requests to the node's own origin use the node's credentials. */
function readerFor(node: Node, file: URL): Reader {
  return createReader(file, async (url, init) => {
    if (node.url === undefined || url.origin !== node.resolve("").origin) {
      return await fetch(url, init);
    }
    const { signal } = init;
    const headers = { ...init.headers, "user-agent": OWN_NAME };
    const request = { url, method: "GET", headers, signal, body: undefined, isSentOnce: false };
    try {
      // A user and password in the description's URL take precedence over `node.auth`.
      if ("authorization" in headers) return toFetched(await node.client(request));
      return await node.send(request, ({ response, isSecret, rejection }) => {
        if (!rejection && !(isSecret && response.headers.get("location") !== null)) {
          return toFetched(response);
        }
        response.cancel();
        throw rejection ??
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
  error instanceof SourceError ? new ReadError(`the node ${clauseOf(error.message)}`) : error;

function toFetched({ status, headers, next, cancel }: NodeResponse): Fetched {
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
  return { status, headers, body };
}
