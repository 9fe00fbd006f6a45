/** Starts services in this process, for a browser to visit. */
import { serve } from "../../src/adapters/node.ts";
import { Icons } from "../../src/explorer/files.ts";
import { type DocumentName, Page } from "../../src/explorer/page.ts";
import { renderParts } from "../../src/explorer/render-content.ts";
import { FAVICON } from "../../src/generated/page.js";
import { createCommonHeaders } from "../../src/http/common-headers.ts";
import { represent, type Representation } from "../../src/http/representation.ts";
import { createNodeface } from "../../src/index.ts";
import { NodeEvents } from "../../src/info/events.ts";
import type { Info } from "../../src/info/info.ts";
import { formatJson } from "../../src/json/lossless.ts";

/** The URL ends with a slash. */
export interface Served {
  url: string;
  close(): Promise<void>;
}

export interface Shown {
  /** Returns `undefined` to make requests for `/v1/info` fail. */
  info?: () => Record<string, unknown> | undefined;
  /** The OpenAPI description to show instead of the service's own. */
  document?: unknown;
  /**
   * Returns a response that replaces the service's own, or `undefined` to keep the service's own.
   */
  answer?: (request: Request) => Promise<Response | undefined>;
}

export function serveNode({ info, document, answer: first }: Shown = {}): Promise<Served> {
  const own = createNodeface();
  const page = pageOf(document);
  const events = new NodeEvents({ listeners: 1000, perAddress: 1000, onListeners() {} });
  const replaced = async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    const known = info?.();
    const special = await first?.(request);
    if (special) return special;
    if (pathname === "/v1/info" && info) {
      if (!known) return new Response(null, { status: 503 });
      // Each response is created anew, because a suite may change the info object at any time.
      return answer(await json(known), request);
    }
    if (pathname === "/v1/events" && info) {
      if (!known) return new Response(null, { status: 503 });
      events.begin(known as Info);
      events.note(known as Info);
      return events.stream.open(request, searchParams, undefined);
    }
    const found = /^\/v1\/spec(?:\/(reference|simple))?$/.exec(pathname);
    if (found) {
      const name = (found[1] ?? "") as DocumentName;
      return answer(await (await page).prepare(name, false, known ?? SELF), request);
    }
    if (pathname === "/favicon.ico") {
      return answer(await icons.get(searchParams.get("name") ?? ""), request);
    }
    if (pathname === "/spec.json" && document) return answer(await json(document), request);
    return await own.fetch(request);
  };
  return serve({ fetch: replaced }, { hostname: "127.0.0.1", port: 0 });
}

const headersFor = createCommonHeaders("*");
const answer = (representation: Representation, request: Request): Response | Promise<Response> =>
  representation.respond(request, headersFor(request));

const SELF = { name: "nodeface", software: "nodeface", version: "0.1.0" };

async function pageOf(document: unknown) {
  const own = await createNodeface().fetch(new Request("http://localhost/spec.json"));
  const described = document ?? await own.json();
  const version = document ? "" : own.headers.get("x-description-version")!;
  const view = "reference" as const;
  const options = { origins: [], notice: undefined, version, title: undefined, view };
  return new Page(await renderParts(described), { ...options, icons });
}

const icons = new Icons(FAVICON);

const json = (value: unknown) =>
  represent(formatJson(value, 2), { type: "application/json", cache: "public, no-cache" });
