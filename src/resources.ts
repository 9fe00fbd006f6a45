/**
 * The contents that the service serves. Each is made at the first request for it.
 *
 * @module
 */
import type { Content } from "./description/prepare.ts";
import type { DescriptionPlace, DescriptionReport } from "./description/place.ts";
import type { KnownNode } from "./description/known-node.ts";
import type { Live, Shown } from "./description/watch.ts";
import { type Assets, createAssets } from "./explorer/assets.ts";
import type { Icons } from "./explorer/icon.ts";
import type { Page } from "./explorer/page.ts";
import { VERSION } from "./generated/build-info.js";
import { type PackedContent, unpack } from "./http/build-time-content.ts";
import type { Representation } from "./http/representation.ts";
import { createServiceInfo, isAlone } from "./info/info-without-node.ts";
import { bytesOf, FORWARD_DEFAULTS } from "./gateway/settings.ts";
import type { Gateway } from "./gateway/gateway.ts";
import { milliseconds } from "./info/settings.ts";
import { parseJson } from "./json/lossless.ts";
import type { Duration } from "./kinds/kind.ts";
import type { Monitor } from "./info/monitor.ts";
import type { Snapshot } from "./info/snapshot.ts";
import type { Kind } from "./kinds/kind.ts";
import { lazy, pick, type Resource } from "./lazy.ts";
import { prepareCatalog } from "./openapi/api-catalog.ts";
import { describeOperation } from "./operations/describe-operation.ts";
import type { Form, Forms } from "./openapi/serve-description.ts";
import type { NodeOperation } from "./openapi/node-operations.ts";
import { refreshOnDemand } from "./refresh-on-demand.ts";
import type { ResolvedOptions } from "./options.ts";
import { withTimeout } from "./with-timeout.ts";

/** The contents by their path. */
export interface Resources {
  /** `/v1/spec` */
  readonly page: Resource<Representation>;
  /** `/v1/info` */
  readonly info: Resource<Representation>;
  /** `/v1/health`, by the states that are answered with 200. */
  readonly health: (accepted: ReadonlySet<string>) => Resource<Representation>;
  /** `/spec.json` */
  readonly json: Resource<Representation>;
  /** `/spec.yaml` */
  readonly yaml: Resource<Representation>;
  /** `/v1/spec.json` and `/v1/spec.yaml` */
  readonly versioned: Record<"json" | "yaml", Resource<Representation>>;
  /** `/.well-known/api-catalog` */
  readonly catalog: Resource<Representation>;
  /** `/favicon.ico` */
  readonly favicon: Resource<Representation>;
  /** `/assets/…` */
  readonly assets: Resource<Assets>;
  /** `/v1/node` and `/v1/rpc`; nothing where calls are not forwarded. */
  readonly gateway: Resource<Gateway | undefined>;
  /**
   * Makes everything except the explorer's files, the description below `/v1`, the YAML of a large
   * description, for which requests wait, and what needs an answer of the node.
   */
  prepare(): Promise<void>;
  /** Reads the node's description again, now, if it has changed. */
  refresh(): Promise<void>;
  /** Ends what is under way. Nothing is asked and nothing is read again from then on. */
  close(): Promise<void>;
}

type PageSource = Resource<Page>;
type PageContent = Pick<Content, "page" | "origins">;

/** How long a page waits for a description that is read for the first time, in milliseconds. */
const PATIENCE = 10_000;

const NONE: readonly NodeOperation[] = [];

/** How long it waits until the kind of the node and what it can do are known, in milliseconds. */
const PATIENCE_FOUND = 3000;

/** How often it is looked whether the node's description has changed, in milliseconds. */
export const LOOK_AT = { file: 2000, url: 30_000 } as const;

/** Makes the resources of a service. Reads nothing before the first request. */
export function createResources(options: ResolvedOptions): Resources {
  const { startedAt, log, onError, node, info, document: documentOfHost } = options;
  const operations = options.operations.map((operation) =>
    describeOperation(operation, documentOfHost.components)
  );
  const { description: place, onDescription } = options;

  const makePage = async (content: PageContent, notice?: string) => {
    const [{ createPage }, { TEMPLATE, FILES }] = await Promise.all([
      import("./explorer/page.ts"),
      import("./generated/page.js"),
    ]);
    const { title } = options.page;
    const { origins } = content;
    return createPage(TEMPLATE, content.page, FILES, {
      origins,
      notice,
      title,
      icons: await icons.get(),
    });
  };

  const described = lazy(async (): Promise<Live<PageSource>> => {
    const [{ documentOf, prepareOwn }, own] = await Promise.all([
      import("./openapi/serve-description.ts"),
      OWN_DESCRIPTION.get(),
    ]);
    const { document, ...forms } = await prepareOwn(own, operations, documentOfHost);
    const parts = lazy(async () => {
      const { renderParts } = await import("./explorer/page-parts.ts");
      return await renderParts(document);
    });
    const alone = (notice?: string) => ({
      ...forms,
      page: lazy(async () => makePage({ page: await parts.get(), origins: [] }, notice)),
    });
    const url = node?.url || undefined;
    const isNowhere = place === undefined && url === undefined && node?.kind === undefined;
    if (place === "none" || isNowhere) {
      return { current: alone(), ready: Promise.resolve(), refresh: () => Promise.resolve() };
    }
    const [{ createPrepare }, { tellReport }] = await Promise.all([
      import("./description/prepare-description.ts"),
      import("./description/tell-report.ts"),
    ]);
    const common = {
      prepare: createPrepare((message) => log(message, { code: "description", level: "warn" })),
      makePage: async (content: PageContent) => {
        const page = await makePage(content);
        return { peek: () => page, get: () => Promise.resolve(page) };
      },
      alone,
      own: await documentOf(own),
      operations,
      documentOfHost,
      report: (report: DescriptionReport) => {
        tellReport(report, log);
        onDescription(report);
      },
      base: url,
      node: url,
      publicUrl: node?.public_url,
      forward: options.forward,
    };
    if (place !== undefined) {
      const { keepCurrent } = await import("./description/watch.ts");
      const live = keepCurrent({ place, ...common });
      await withTimeout(live.ready, PATIENCE, () => {});
      return live;
    }
    const { keepFound } = await import("./description/discover.ts");
    const tell = (message: string) => log(message, { code: "description", level: "info" });
    const live = keepFound(
      { url, version: VERSION, find: findNode, log: tell, ...common },
      alone(),
    );
    await withTimeout(live.refresh().catch(onError), PATIENCE_FOUND, () => {});
    return live;
  });

  const description = refreshOnDemand(described, {
    interval: lookInterval(place, node.url),
    isMadeCurrent: place !== undefined,
    onError,
  });

  const kinds = async (): Promise<Readonly<Record<string, Kind>>> => ({
    ...(await import("./generated/kinds.js")).KINDS,
    ...options.kinds,
  });
  const monitor = lazy(async (): Promise<Monitor> => {
    const service = { software: "nodeface", version: VERSION, started_at: startedAt.toISOString() };
    if (isAlone(node, info)) return createServiceInfo(service, info);
    const hasKind = node?.url || node?.kind;
    const [{ createMonitor }, known] = await Promise.all([
      import("./info/monitor.ts"),
      hasKind ? kinds() : {},
    ]);
    return createMonitor({ service, node, info, kinds: known, log, onError });
  });
  /** What is known of the node; it is asked what it is by itself at the first time only. */
  let isAsked = false;
  const findNode = async (): Promise<KnownNode | undefined> => {
    const { KINDS } = await import("./generated/kinds.js");
    let name = node.kind ?? (await monitor.get()).kind;
    if (name === undefined && !isAsked) {
      isAsked = true;
      await snapshot.get();
      name = (await monitor.get()).kind;
    }
    if (name === undefined) return undefined;
    const { knowNode } = await import("./description/known-node.ts");
    const learn = async () => (await snapshot.get()).info;
    return knowNode(node, name, KINDS, options.kinds, snapshot.peek()?.info, learn);
  };
  const snapshot: Resource<Snapshot> = {
    peek: () => monitor.peek()?.peek(),
    get: async () => await (await monitor.get()).get(),
  };

  const part = (of: (shown: Shown<PageSource>) => Resource<Representation>) => ({
    peek: () => {
      const current = description.peek()?.current;
      return current && of(current).peek();
    },
    get: async () => await of((await description.get()).current).get(),
  });

  /** The path of the node's JSON-RPC, which its kind knows. */
  const rpcPath = lazy(async () => {
    const json = await (await findNode())?.loadInterface();
    const { readInterface } = await import("./openapi/kind-document.ts");
    return json ? readInterface(parseJson(new TextDecoder().decode(json))).openrpc?.path ?? "" : "";
  });
  const gateway = lazy(async (): Promise<Gateway | undefined> => {
    const { forward } = options;
    const { url } = node;
    if (forward === "off" || url === undefined) return undefined;
    const [{ createGateway }, { callOutForNode }, { createAuth }, { settingsOf }] = await Promise
      .all([
        import("./gateway/gateway.ts"),
        import("./info/node-files.ts"),
        import("./info/sources/credentials.ts"),
        import("./gateway/decide.ts"),
      ]);
    const settings = settingsOf(forward) ?? {};
    const auth = lazy(async () => {
      const kind = node.kind ?? (await monitor.get()).kind;
      return createAuth({ nodeUrl: url, configured: node.auth, kind, kinds: await kinds() });
    });
    return createGateway({
      ...{ forward, url, token: settings },
      secretHeader: node.auth && "header" in node.auth ? node.auth.header : undefined,
      timeout: milliseconds((settings.timeout ?? FORWARD_DEFAULTS.timeout) as Duration),
      limit: bytesOf(settings.limit ?? FORWARD_DEFAULTS.limit),
      concurrency: settings.concurrency ?? FORWARD_DEFAULTS.concurrency,
      origins: settings.origins ?? [],
      rpcPath: () => rpcPath.get(),
      callOut: callOutForNode(node),
      auth: () => auth.get(),
      operations: async () => (await description.get()).current.operations ?? NONE,
      log: (call) =>
        log(
          `${call.operation} ${call.status} ${
            Math.round(call.milliseconds)
          } ms ${call.bytes} bytes`,
          { code: "call", level: "info", call },
        ),
    });
  });

  const catalog = lazy(prepareCatalog);
  const icons = lazy(async (): Promise<Icons> => {
    const [{ createIcons }, { FAVICON }] = await Promise.all([
      import("./explorer/icon.ts"),
      import("./generated/page.js"),
    ]);
    return createIcons(FAVICON, options.page.logo);
  });
  /** What the page was called last; the icon waits for no node. */
  let iconName = options.page.title ?? "";
  const favicon: Resource<Representation> = {
    peek: () => icons.peek()?.peek(iconName),
    get: async () => await (await icons.get()).get(iconName),
  };
  const assets = lazy(async () => createAssets((await import("./generated/assets.js")).ASSETS));

  return {
    page: {
      peek() {
        const info = snapshot.peek()?.info;
        return info && description.peek()?.current.page.peek()?.peek(info);
      },
      async get() {
        const [{ current }, { info }] = await Promise.all([description.get(), snapshot.get()]);
        const page = await current.page.get();
        iconName = page.iconNameOf(info);
        return await page.prepare(info);
      },
    },
    info: pick(snapshot, ({ representation }) => representation),
    health: (accepted) =>
      pick(
        snapshot,
        ({ info, health }) => accepted.has(info.status) ? health.passing : health.failing,
      ),
    json: pick(description, ({ current }) => current.json),
    yaml: part(({ yaml }) => yaml),
    versioned: {
      json: part(({ versioned }) => versioned.json),
      yaml: part(({ versioned }) => versioned.yaml),
    },
    catalog,
    favicon,
    assets,
    gateway,
    async prepare() {
      await Promise.all([monitor.get(), catalog.get(), favicon.get(), assets.get()]);
      await (await description.get()).current.page.get();
    },
    refresh: description.refresh,
    async close() {
      description.end();
      gateway.peek()?.close();
      await monitor.peek()?.[Symbol.asyncDispose]();
    },
  };
}

/** How often it is looked at a description that may change, in milliseconds. */
function lookInterval(place: DescriptionPlace | undefined, node: string | undefined): number {
  if (place === undefined && !node) return Infinity;
  if (place === "none" || (typeof place === "object" && "text" in place)) return Infinity;
  return /^https?:/i.test(String(place)) ? LOOK_AT.url : LOOK_AT.file;
}

/** The service's own description; all services of a process share it. */
export const OWN_DESCRIPTION: Resource<Forms> = lazy(async () => {
  const { SPEC_JSON, SPEC_YAML, SPEC_DOTS } = await import("./generated/description.js");
  const [json, yaml] = await Promise.all([
    formOf(SPEC_JSON, SPEC_DOTS.json),
    formOf(SPEC_YAML, SPEC_DOTS.yaml),
  ]);
  return { json, yaml };
});

async function formOf(packed: PackedContent, dots: readonly number[]): Promise<Form> {
  const codings = await unpack(packed);
  return { codings, size: codings.identity.byteLength, dots };
}
