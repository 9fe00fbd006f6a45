/**
 * Selects the description from the operator, the node or its kind, and adds the service's operations.
 *
 * @module
 */
import { createFetchDescription } from "../description/ask-node.ts";
import { type Content, prepare } from "../description/prepare.ts";
import { keepFound } from "../description/unnamed-description.ts";
import {
  type DescriptionReport,
  keepCurrent,
  logReport,
  type WatchedDescription,
} from "../description/watch.ts";
import type { Icons } from "../explorer/files.ts";
import { createPage, type Page } from "../explorer/page.ts";
import { renderParts } from "../explorer/render-content.ts";
import { createNameWatch } from "../gateway/lint-settings.ts";
import type { Node } from "../node/node.ts";
import { VERSION } from "../generated/build-info.js";
import { lazy, type Resource } from "../lazy.ts";
import { hasOperationAt } from "../host-operations/call-operation.ts";
import { describeOperation } from "../host-operations/describe-operation.ts";
import { type KeptContent, type PackedContent, unpack } from "../http/content-coding.ts";
import { prepareOwn } from "../openapi/serve.ts";
import type { ResolvedOptions } from "../options.ts";
import { withTimeout } from "../with-timeout.ts";
import type { NodeBeside } from "./node-beside.ts";

type PageContent = Pick<Content, "page" | "origins">;

/** The longest times to wait for a configured description and for a discovered one, in milliseconds. */
const PATIENCE = 10_000, PATIENCE_FOUND = 3000;

/** Resolves with the service's own description if the node's description takes too long. */
export async function openDescription(
  options: ResolvedOptions,
  chainNode: Node,
  beside: NodeBeside,
  icons: Resource<Icons>,
): Promise<WatchedDescription<Resource<Page>>> {
  const { log, onError, node, document: documentOfHost, description: place } = options;
  const operations = options.operations.map((operation) =>
    describeOperation(operation, documentOfHost.components)
  );
  const { title, view } = options.page;
  const makePage = async ({ page, origins }: PageContent, notice?: string) =>
    createPage(page, { origins, notice, title, view, icons: await icons.get() });
  const hasNoHistory = typeof options.info === "object" && options.info.history === "off";
  // A host's operation at one of these paths replaces the service's own operation, even if the methods differ.
  const omitted = ["/v1/events", "/v1/history"].filter((path) =>
    hasOperationAt(options.operations, path) || (hasNoHistory && path === "/v1/history")
  );
  const packed = await ownDescription(options.meters !== undefined).get();
  const { document, own, ...forms } = await prepareOwn(packed, operations, documentOfHost, omitted);
  const parts = lazy(() => renderParts(document));
  const alone = (notice?: string) => ({
    ...forms,
    page: lazy(async () => makePage({ page: await parts.get(), origins: [] }, notice)),
  });
  const url = node.url || undefined;
  // If a function supplies the info, the node is not queried, so the node's kind stays unknown.
  const hasKind = node.kind !== "none" &&
    (node.kind ?? (typeof options.info === "function" ? undefined : url)) !== undefined;
  if (place === "none" || (place === undefined && !hasKind)) {
    const current = { ...alone(), operations: [] };
    return { current, ready: Promise.resolve(), refresh: () => Promise.resolve() };
  }
  const findNews = options.forward && createNameWatch(options.forward);
  const common = {
    prepare,
    makePage: async (content: PageContent) => {
      const page = await makePage(content);
      return { get: () => Promise.resolve(page) };
    },
    alone,
    own,
    operations,
    documentOfHost,
    report: (report: DescriptionReport) => {
      logReport(report, log);
      for (const { level, message } of report.operations && findNews?.(report.operations) || []) {
        log(message, { code: "description", level });
      }
      options.onDescription(report);
    },
    node: url,
    base: options.base,
    offer: () => ({ missing: beside.missing.names }),
    fetch: createFetchDescription(chainNode),
    forward: options.forward,
  };
  if (place !== undefined) {
    const live = describing(keepCurrent({ place, ...common }), beside);
    await withTimeout(live.ready, PATIENCE, () => {});
    return live;
  }
  const tell = (message: string) => log(message, { code: "description", level: "info" });
  const found = { url, version: VERSION, find: beside.find, log: tell };
  const live = describing(keepFound({ ...found, ...common }, alone()), beside);
  await withTimeout(live.refresh().catch(onError), PATIENCE_FOUND, () => {});
  return live;
}

/** Has the node asked about the methods of each description that is shown. */
function describing<T>(
  live: WatchedDescription<T>,
  { missing }: NodeBeside,
): WatchedDescription<T> {
  const tell = () => missing.describe(live.current.methods ?? []);
  return {
    get current() {
      return live.current;
    },
    ready: live.ready.then(tell),
    refresh: () => live.refresh().then(tell),
  };
}

const WITHOUT_METRICS = lazy(async () => kept(await import("../generated/description.js")));
const WITH_METRICS = lazy(async () =>
  kept(await import("../generated/description-with-metrics.js"))
);

export function ownDescription(hasMetrics: boolean): Resource<KeptContent> {
  return hasMetrics ? WITH_METRICS : WITHOUT_METRICS;
}

async function kept({ SPEC_JSON }: { readonly SPEC_JSON: PackedContent }): Promise<KeptContent> {
  const codings = await unpack(SPEC_JSON);
  return { codings, size: codings.identity.byteLength };
}
