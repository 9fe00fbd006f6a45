/**
 * Extracts the page's content from an untrusted OpenAPI document. Values of unexpected types are
 * ignored.
 *
 * @module
 */
import { callNoteOf } from "../gateway/annotate-operations.ts";
import { accessOf, type NodeOperation } from "../openapi/node-operation.ts";
import { CALL_METHODS } from "../gateway/policy.ts";
import {
  createFreeName,
  type JsonObject,
  listOf,
  objectOf,
  onceFor,
  textOf,
} from "../json/values.ts";
import { ONE_METHOD } from "../kinds/interface.ts";
import { homeOf } from "../openapi/home.ts";
import {
  type LocatedOperation,
  operationsOf,
  parametersOf,
  serversFor,
  SERVICE_TAG,
} from "../openapi/operations.ts";
import { trimSlashes, usualUrl } from "../openapi/server-url.ts";
import { PLACEHOLDER_ORIGIN } from "../openapi/servers.ts";
import { pause } from "../slices.ts";
import { shorten } from "../untrusted-text.ts";
import type { OperationForm } from "./form-request.ts";
import { anchorOf, methodNameOf, tagFragment, UNTAGGED, wordsOf } from "./labels.ts";
import { readForm } from "./read-form.ts";
import { type Items, readItems } from "./read-items.ts";

export interface Outline extends Record<"title" | "version" | "summary" | "description", string> {
  readonly sections: readonly Section[];
}

export interface Section {
  id: string;
  name: string;
  description: string;
  operations: ShownOperation[];
  isService: boolean;
}

export interface ShownOperation {
  /** The URL fragment in Scalar. */
  id: string;
  /**
   * The short URL fragment. Empty if an earlier entry has the same fragment, or if the name is
   * unsafe in a URL.
   */
  anchor: string;
  method: string;
  /** The path; for a webhook, its name. */
  path: string;
  /**
   * The name of a JSON-RPC method. For other operations, the first available of a short summary,
   * `operationId` and path.
   */
  title: string;
  /** Empty if the summary is already shown as `title`. */
  summary: string;
  description: string;
  deprecated: boolean;
  access: NodeOperation["access"];
  isHeavy: boolean;
  /** The marks as words. */
  marks: string[];
  isCommon: boolean;
  /** True for a method that is called over WebSocket, or for events. */
  isSubscription: boolean;
  /** The operation's name in settings; `undefined` if the node does not serve the operation. */
  nodeName: string | undefined;
  /** True for a GET operation if the page omits the equivalent POST operation. */
  isPostedToo: boolean;
  call: "open" | "token" | "refused" | undefined;
  callSentence: string;
  /** True if the operation cannot be called now, but a setting would enable it. */
  isOpenable: boolean;
  items: Items;
  /** `undefined` if the operation cannot be tried on the page. */
  form: OperationForm | undefined;
}

const TITLE_LENGTH_MAX = 100;
/** The maximum number of parameters, responses and facts in total; no page has room for more. */
const ITEMS_MAX = 250_000;
/** The maximum number of tags under which one operation is listed. */
const TAGS_MAX = 4;

export async function readOutline(document: unknown): Promise<Outline> {
  const root = objectOf(document);
  const info = objectOf(root.info);
  return {
    title: text(info.title) || "API",
    version: text(info.version),
    summary: text(info.summary),
    description: text(info.description),
    sections: await new SectionReader(root).read(),
  };
}

export const operationsOfOutline = ({ sections }: Outline): readonly ShownOperation[] =>
  sections.flatMap(({ operations }) => operations);

class SectionReader {
  readonly #root: JsonObject;
  readonly #sections = new Map<string, Section>();
  /** The names of the tags that Scalar hides. */
  readonly #hidden = new Set<string>();
  readonly #anchors = new Set<string>();
  readonly #freeId = createFreeName(new Set(), "-");
  #itemsLeft = ITEMS_MAX;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  async read(): Promise<Section[]> {
    const { tags, webhooks, paths } = this.#root;
    for (const tag of listOf(tags).map(objectOf)) {
      await pause();
      const name = text(tag.name);
      if (isHiddenByScalar(tag)) this.#hidden.add(name);
      else if (name) this.#sectionOf(name, text(tag.description));
    }
    for (const [path, value] of Object.entries(objectOf(paths))) {
      await this.#readPathItem(path, objectOf(value), false);
    }
    for (const [name, value] of Object.entries(objectOf(webhooks))) {
      await this.#readPathItem(name, objectOf(value), true);
    }
    const shown = [...this.#sections.values()].filter(({ operations }) => operations.length > 0);
    for (const { operations } of shown) {
      operations.sort((a, b) => Number(b.isCommon) - Number(a.isCommon));
    }
    return shown.sort((a, b) => Number(a.isService) - Number(b.isService));
  }

  #unique(wanted: string): string {
    return this.#freeId(shorten(wanted, 400).replaceAll(/[\s\p{Cc}]/gu, encodeURIComponent));
  }

  #sectionOf(name: string, description = ""): Section {
    let section = this.#sections.get(name);
    if (!section) {
      const id = this.#unique(tagFragment(name));
      section = { id, name, description, operations: [], isService: name === SERVICE_TAG };
      this.#sections.set(name, section);
    }
    return section;
  }

  async #readPathItem(path: string, item: JsonObject, isWebhook: boolean): Promise<void> {
    const isPostedToo = !isWebhook && methodNameOf(path) !== "" && item[ONE_METHOD] === true;
    for (const located of operationsOf(item)) {
      await pause();
      const { method, operation } = located;
      if (isHiddenByScalar(operation) || (isPostedToo && method === "POST")) continue;
      const read = this.#readOperation(item, located, path, isWebhook);
      const form = read.form && isPostedToo ? { ...read.form, isPostedToo } : read.form;
      const shown = { ...read, form, isPostedToo };
      const anchor = isWebhook ? "" : anchorOf(path, operation);
      const tags = listOf(operation.tags).map(text).filter(Boolean);
      const names = tags.length > 0 ? tags : [isWebhook ? "Webhooks" : UNTAGGED];
      for (const name of new Set(names.slice(0, TAGS_MAX))) {
        if (this.#hidden.has(name)) continue;
        const { id, operations } = this.#sectionOf(name);
        const place = isWebhook ? `webhook/${method}/${path}` : `${method}${path}`;
        operations.push({
          ...shown,
          id: this.#unique(isWebhook && tags.length === 0 ? place : `${id}/${place}`),
          anchor: this.#anchors.has(anchor) ? "" : anchor,
        });
        this.#anchors.add(anchor);
      }
    }
  }

  #readOperation(
    item: JsonObject,
    { method, operation }: LocatedOperation,
    path: string,
    isWebhook: boolean,
  ): Omit<ShownOperation, "id" | "anchor" | "isPostedToo"> {
    const root = this.#root;
    const note = callNoteOf(operation);
    const rpcName = methodNameOf(path);
    const nodeName = homeOf(operation)?.name;
    const isCalled = note.permission ? note.permission !== "refused" : nodeName === undefined;
    const hasRoom = this.#itemsLeft > 0;
    const parameters = hasRoom ? parametersOf(root, item, operation) : [];
    const items = hasRoom ? readItems(root, operation, parameters, rpcName !== "") : [];
    for (const { facts } of items.flatMap(([, all]) => all)) this.#itemsLeft -= 1 + facts.length;
    const server = serverAddress(objectOf(serversFor([operation, item, root])[0]));
    const isOff = nodeName !== undefined && note.permission === undefined;
    const sentence = isOff ? "Calls are switched off." : note.sentence;
    const summary = text(operation.summary);
    const named = summary.length > TITLE_LENGTH_MAX ? "" : summary;
    const title = rpcName || named || text(operation.operationId) || path;
    return {
      method,
      path,
      nodeName,
      items,
      title,
      summary: title === summary ? "" : summary,
      description: note.description,
      deprecated: operation.deprecated === true,
      access: accessOf(operation),
      isHeavy: operation["x-cost"] === "heavy",
      marks: wordsOf(operation),
      isCommon: operation["x-common"] === true,
      isSubscription: operation["x-subscription"] !== undefined,
      call: note.permission,
      callSentence: isWebhook ? "Sent by the API to its subscribers." : sentence,
      isOpenable: isOff
        ? operation["x-streaming"] !== true && CALL_METHODS.includes(method)
        : note.isOpenable,
      form: isCalled && hasRoom && !isWebhook && operation["x-connection"] !== true &&
          server !== undefined
        ? readForm(
          root,
          operation,
          parameters.filter(({ place, name }) =>
            !note.unsent.some((one) => one.in === place && one.name === name)
          ),
          method,
          server + path,
        )
        : undefined,
    };
  }
}

/**
 * Returns `undefined` for an invalid URL, and for one without HTTP, such as `localhost:8545`, whose
 * scheme is `localhost`. Cached, since most operations have the document's server.
 */
const serverAddress = onceFor((server: JsonObject): string | undefined => {
  try {
    const { protocol, origin, pathname } = new URL(usualUrl(server) ?? "", PLACEHOLDER_ORIGIN);
    if (!/^https?:$/.test(protocol)) return undefined;
    const path = trimSlashes(pathname);
    return origin === PLACEHOLDER_ORIGIN ? path : origin + path;
  } catch {
    return undefined;
  }
});

const isHiddenByScalar = (value: JsonObject) =>
  Boolean(value["x-internal"] || value["x-scalar-ignore"]);
const text = (value: unknown): string => textOf(value) ?? "";
