/**
 * Selects the description from the operator, the node or its kind, and adds the service's
 * operations.
 *
 * @module
 */
import { Description, type DescriptionReport } from "../description/description.ts";
import { mayAskMethods } from "../description/missing-methods.ts";
import { renderParts } from "../explorer/render-content.ts";
import { SELF_PATH } from "../http/own-paths.ts";
import { createNameWatch } from "../gateway/lint-settings.ts";
import { hasOperationAt } from "../host-operations/call-operation.ts";
import { describeOperation } from "../host-operations/describe-operation.ts";
import { unpack } from "../http/content-coding.ts";
import type { Monitor } from "../info/monitor.ts";
import { settingsOf } from "../info/query-plan.ts";
import type { JsonObject } from "../json/values.ts";
import { lazy } from "../lazy.ts";
import type { Log } from "../log.ts";
import type { Node } from "../node/node.ts";
import { forLog, formatDiagnostic } from "../openapi/diagnostics.ts";
import { prepareOwn } from "../openapi/documents.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import type { ResolvedOptions } from "../options.ts";
import { waitAtMost } from "../with-timeout.ts";

/** The longest times that the start waits for a description, in milliseconds. */
const START_PATIENCE_MS = { configured: 10_000, discovered: 3000 };

/** Resolves with the service's own description if the node's description takes too long. */
export async function openDescription(
  options: ResolvedOptions,
  node: Node,
  monitor: Monitor,
): Promise<Description> {
  const { log, onError, document: documentOfHost, description: place } = options;
  const { node: nodeSettings } = options;
  const operations = options.operations.map((operation) =>
    describeOperation(operation, documentOfHost.components)
  );
  const whole = await loadOwnDocument();
  const { document, own, served } = await prepareOwn(
    whole,
    operations,
    documentOfHost,
    omittedPaths(options),
  );
  const mayFind = mayFindDescription(options);
  if (options.forward && !mayFind && nodeSettings.kind === undefined && place === undefined) {
    const message = "no call is forwarded: if info is a function, the kind of the node is not " +
      "detected; set node.kind, or description";
    log(message, { code: "description", level: "warn" });
  }
  const description = new Description(node, monitor, {
    place: mayFind ? place : place ?? "none",
    lastFile: options.lastFile,
    own,
    operations,
    documentOfHost,
    forward: options.forward,
    node: nodeSettings.url,
    base: options.base,
    hidesVersion: settingsOf(options.info).hide?.includes("version"),
    fallback: {
      ...served,
      page: lazy(() => renderParts(document)),
      origins: [],
      elsewhere: [],
      methods: [],
      hint: "",
      isBuiltIn: false,
    },
    asksMethods: mayAskMethods(nodeSettings),
    log,
    onError,
  });
  description.onReport.add((report) => {
    logReport(report, log);
    options.onDescription?.(report);
  });
  if (options.forward) {
    const findNews = createNameWatch(options.forward);
    let last: readonly NodeOperation[] | undefined;
    const logNews = async () => {
      const isKnown = node.kind !== undefined;
      const kind = isKnown ? await node.definition() ?? {} : undefined;
      for (const { level, message } of findNews(last!, kind)) {
        log(message, { code: "description", level });
      }
    };
    description.onOperations.add((operations) => {
      last = operations;
      void logNews().catch(onError);
    });
    node.onKind.add(() => void (last && logNews().catch(onError)));
  }
  const patience = START_PATIENCE_MS[place === undefined ? "discovered" : "configured"];
  await waitAtMost(description.refresh().catch(onError), patience);
  return description;
}

/** Returns the paths of the service's own operations that are not served. */
function omittedPaths({ info, operations, meters, forward }: ResolvedOptions): string[] {
  const hasNoHistory = typeof info === "object" && info.history === "off";
  // A host's operation at one of these paths replaces the service's own operation, even if the
  // methods differ.
  const omitted = ["/v1/events", "/v1/history"].filter((path) =>
    hasOperationAt(operations, path) || (hasNoHistory && path === "/v1/history")
  );
  if (!meters) omitted.push("/v1/metrics");
  if (!forward?.clients.length) omitted.push(SELF_PATH);
  return omitted;
}

/**
 * Tells whether the node, or its kind, may describe the node. If a function supplies the info, the
 * node is not queried, so the node's kind stays unknown.
 */
function mayFindDescription({ node, info }: ResolvedOptions): boolean {
  if (node.kind !== undefined) return node.kind !== "none";
  return node.url !== undefined && typeof info !== "function";
}

/** Resolves to the service's own description. */
export async function loadOwnDocument(): Promise<JsonObject> {
  const { SPEC_JSON } = await import("../generated/description.js");
  const { identity } = await unpack(SPEC_JSON);
  return JSON.parse(new TextDecoder().decode(identity));
}

function logReport({ diagnostics, shown }: DescriptionReport, log: Log): void {
  const code = "description";
  const { logged, more } = forLog(diagnostics);
  for (const finding of logged) {
    const level = finding.level === "error" ? "error" : "warn";
    log(formatDiagnostic(finding), { code, level, finding });
  }
  const warn = (message: string) => log(message, { code, level: "warn" });
  if (more > 0) warn(`and ${more} more diagnostics of the description; nodeface check shows all`);
  if (shown === "older") warn("the previous version of the description is still shown");
  if (shown === "own") warn("the node's description cannot be shown");
}
