/**
 * Selects the description from the operator, the node or its kind, and adds the service's
 * operations.
 *
 * @module
 */
import { Description } from "../description/description.ts";
import { logReport } from "../description/report.ts";
import { mayAskMethods } from "../description/missing-methods.ts";
import type { Content } from "../description/prepare.ts";
import type { Icons } from "../explorer/files.ts";
import { createPage } from "../explorer/page.ts";
import { renderParts } from "../explorer/render-content.ts";
import { SELF_PATH } from "../http/own-paths.ts";
import { createNameWatch } from "../gateway/lint-settings.ts";
import { hasOperationAt } from "../host-operations/call-operation.ts";
import { describeOperation } from "../host-operations/describe-operation.ts";
import { unpack } from "../http/content-coding.ts";
import type { Monitor } from "../info/monitor.ts";
import type { Json } from "../json/values.ts";
import { lazy, type Resource } from "../lazy.ts";
import type { Node } from "../node/node.ts";
import { prepareOwn } from "../openapi/serve.ts";
import type { ResolvedOptions } from "../options.ts";
import { withTimeout } from "../with-timeout.ts";

type PageContent = Pick<Content, "page" | "origins">;

/**
 * The longest times to wait for a configured description and for a discovered one, in milliseconds.
 */
const PATIENCE = 10_000, PATIENCE_FOUND = 3000;

/** Resolves with the service's own description if the node's description takes too long. */
export async function openDescription(
  options: ResolvedOptions,
  chainNode: Node,
  monitor: Monitor,
  icons: Resource<Icons>,
): Promise<Description> {
  const { log, onError, node, document: documentOfHost, description: place } = options;
  const operations = options.operations.map((operation) =>
    describeOperation(operation, documentOfHost.components)
  );
  const { title, view } = options.page;
  const makePage = async ({ page, origins }: PageContent, notice?: string) =>
    createPage(page, { origins, notice, title, view, icons: await icons.get() });
  const hasNoHistory = typeof options.info === "object" && options.info.history === "off";
  // A host's operation at one of these paths replaces the service's own operation, even if the
  // methods differ.
  const omitted = ["/v1/events", "/v1/history"].filter((path) =>
    hasOperationAt(options.operations, path) || (hasNoHistory && path === "/v1/history")
  );
  if (!options.meters) omitted.push("/v1/metrics");
  if (!options.forward?.clients.length) omitted.push(SELF_PATH);
  const whole = await loadOwnDocument();
  const { document, own, ...forms } = await prepareOwn(whole, operations, documentOfHost, omitted);
  const parts = lazy(() => renderParts(document));
  const alone = (notice?: string) => ({
    ...forms,
    page: lazy(async () => makePage({ page: await parts.get(), origins: [] }, notice)),
  });
  const url = node.url || undefined;
  // If a function supplies the info, the node is not queried, so the node's kind stays unknown.
  const hasKind = node.kind !== "none" &&
    (node.kind ?? (typeof options.info === "function" ? undefined : url)) !== undefined;
  const description = new Description(chainNode, monitor, {
    place: hasKind ? place : place ?? "none",
    own,
    operations,
    documentOfHost,
    forward: options.forward,
    node: url,
    base: options.base,
    makePage,
    alone,
    asksMethods: mayAskMethods(node),
    log,
    onError,
  });
  const findNews = options.forward && createNameWatch(options.forward);
  description.onReport.add((report) => {
    logReport(report, log);
    for (const { level, message } of report.operations && findNews?.(report.operations) || []) {
      log(message, { code: "description", level });
    }
    options.onDescription(report);
  });
  const patience = place === undefined ? PATIENCE_FOUND : PATIENCE;
  await withTimeout(description.refresh().catch(onError), patience, () => {});
  return description;
}

/** Resolves to the service's own description. */
export async function loadOwnDocument(): Promise<Json> {
  const { SPEC_JSON } = await import("../generated/description.js");
  const { identity } = await unpack(SPEC_JSON);
  return JSON.parse(new TextDecoder().decode(identity));
}
