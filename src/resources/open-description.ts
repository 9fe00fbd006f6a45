/**
 * Opens the description that is shown: the operator's, the node's own or its kind's, and the service's.
 *
 * @module
 */
import type { DescriptionPlace } from "../description/watch.ts";
import type { DescriptionReport } from "../description/watch.ts";
import type { Content } from "../description/prepare.ts";
import type { Live } from "../description/watch.ts";
import type { Icons } from "../explorer/icon.ts";
import type { Page } from "../explorer/page.ts";
import { VERSION } from "../generated/build-info.js";
import { lazy, type Resource } from "../lazy.ts";
import { describeOperation } from "../host-operations/describe-operation.ts";
import type { ResolvedOptions } from "../options.ts";
import { withTimeout } from "../with-timeout.ts";
import type { NodeBeside } from "./node-beside.ts";
import { ownDescription } from "./own-description.ts";

/** What is shown, and how it is kept current. */
export type OpenDescription = Live<Resource<Page>>;

type PageContent = Pick<Content, "page" | "origins">;

/** How long a page waits for a description that is read for the first time, in milliseconds. */
const PATIENCE = 10_000;

/** How long it waits until the kind of the node and what it can do are known, in milliseconds. */
const PATIENCE_FOUND = 3000;

/** How often it is looked whether the node's description has changed, in milliseconds. */
export const LOOK_AT = { file: 2000, url: 30_000 } as const;

/**
 * Opens the description. Resolves when there is something to show, and that is soon: our own operations are shown
 * while a large description is read, or a node has not answered yet.
 *
 * @param beside the node, where nobody has named a description
 * @param icons those of the page
 */
export async function openDescription(
  options: ResolvedOptions,
  beside: NodeBeside,
  icons: Resource<Icons>,
): Promise<OpenDescription> {
  const { log, onError, node, document: documentOfHost, description: place } = options;
  const operations = options.operations.map((operation) =>
    describeOperation(operation, documentOfHost.components)
  );
  const makePage = createMakePage(options.page, icons);
  const [{ documentOf, prepareOwn }, own] = await Promise.all([
    import("../openapi/serve.ts"),
    ownDescription(options.meters !== undefined).get(),
  ]);
  const { document, ...forms } = await prepareOwn(own, operations, documentOfHost);
  const parts = lazy(async () => {
    const { renderParts } = await import("../explorer/render-content.ts");
    return await renderParts(document);
  });
  const alone = (notice?: string) => ({
    ...forms,
    page: lazy(async () => makePage({ page: await parts.get(), origins: [] }, notice)),
  });
  const url = node.url || undefined;
  // A host that says itself how its node is leaves nobody to ask for the kind.
  const hasKind = node.kind !== "none" &&
    (node.kind ?? (typeof options.info === "function" ? undefined : url)) !== undefined;
  if (place === "none" || (place === undefined && !hasKind)) {
    const current = { ...alone(), operations: [] };
    return { current, ready: Promise.resolve(), refresh: () => Promise.resolve() };
  }
  const [{ createPrepare }, { createFetchDescription }, { logReport }] = await Promise.all([
    import("../description/thread.ts"),
    import("../description/ask-node.ts"),
    import("../description/watch.ts"),
  ]);
  const tellNames = createTellNames(options);
  const common = {
    prepare: createPrepare((message) => log(message, { code: "description", level: "warn" })),
    makePage: async (content: PageContent) => {
      const page = await makePage(content);
      return { get: () => Promise.resolve(page) };
    },
    alone,
    own: await documentOf(own),
    operations,
    documentOfHost,
    report: (report: DescriptionReport) => {
      logReport(report, log);
      void tellNames(report).catch(onError);
      options.onDescription(report);
    },
    base: url,
    node: url,
    publicUrl: node.public_url,
    servers: options.servers,
    fetch: createFetchDescription(node, beside.kinds),
    forward: options.forward,
  };
  if (place !== undefined) {
    const { keepCurrent } = await import("../description/watch.ts");
    const live = keepCurrent({ place, ...common });
    await withTimeout(live.ready, PATIENCE, () => {});
    return live;
  }
  const { keepFound } = await import("../description/unnamed-description.ts");
  const tell = (message: string) => log(message, { code: "description", level: "info" });
  const found = { url, version: VERSION, find: beside.find, log: tell };
  const live = keepFound({ ...found, ...common }, alone());
  await withTimeout(live.refresh().catch(onError), PATIENCE_FOUND, () => {});
  return live;
}

/** Makes what tells of the names in `forward`, each time that the description was read. */
function createTellNames({ forward, log }: ResolvedOptions) {
  if (!forward) return () => Promise.resolve();
  const watch = lazy(async () => {
    const { createNameWatch } = await import("../gateway/lint-settings.ts");
    return createNameWatch(forward);
  });
  return async ({ operations }: DescriptionReport): Promise<void> => {
    if (!operations) return;
    for (const { level, message } of (await watch.get())(operations)) {
      log(message, { code: "description", level });
    }
  };
}

function createMakePage({ title, view }: ResolvedOptions["page"], icons: Resource<Icons>) {
  return async ({ page, origins }: PageContent, notice?: string) => {
    const { createPage } = await import("../explorer/page.ts");
    return createPage(page, { origins, notice, title, view, icons: await icons.get() });
  };
}

/** How often it is looked at a description that may change, in milliseconds. */
export function lookInterval(
  place: DescriptionPlace | undefined,
  node: string | undefined,
): number {
  if (place === undefined && !node) return Infinity;
  if (place === "none" || (typeof place === "object" && "text" in place)) return Infinity;
  return /^https?:/i.test(String(place)) ? LOOK_AT.url : LOOK_AT.file;
}
