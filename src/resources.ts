/**
 * The contents that the service serves. Each is made at the first request for it.
 *
 * @module
 */
import type { Content } from "./description/prepare.ts";
import type { DescriptionPlace } from "./description/place.ts";
import type { Live } from "./description/watch.ts";
import { type Assets, createAssets } from "./explorer/assets.ts";
import type { Icons } from "./explorer/icon.ts";
import type { Page } from "./explorer/page.ts";
import { VERSION } from "./generated/build-info.js";
import { unpack } from "./http/build-time-content.ts";
import type { Representation } from "./http/representation.ts";
import { createServiceInfo, isAlone } from "./info/info-without-node.ts";
import type { Monitor } from "./info/monitor.ts";
import type { Snapshot } from "./info/snapshot.ts";
import type { Kind } from "./kinds/kind.ts";
import { lazy, pick, type Resource } from "./lazy.ts";
import { prepareCatalog } from "./openapi/api-catalog.ts";
import { describeOperation } from "./operations/describe-operation.ts";
import type { DocumentOfHost } from "./openapi/document-of-host.ts";
import { documentOf, type Forms, prepareOwn } from "./openapi/serve-description.ts";
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
  /**
   * Makes everything except the explorer's files, the description below `/v1` and what needs an answer of
   * the node.
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

/** How often it is looked whether the node's description has changed, in milliseconds. */
export const LOOK_AT = { file: 2000, url: 30_000 } as const;

/** Makes the resources of a service. Reads nothing before the first request. */
export function createResources(options: ResolvedOptions): Resources {
  const { startedAt, log, onError, node, info, document: documentOfHost } = options;
  const operations = options.operations.map((operation) =>
    describeOperation(operation, documentOfHost.components)
  );
  const { description: place, onDescription: report } = options;

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
    const own = await OWN_DESCRIPTION.get();
    const { document, ...forms } = await prepareOwn(
      own,
      operations,
      documentOfHost as DocumentOfHost,
    );
    const parts = lazy(async () => {
      const { renderParts } = await import("./explorer/page-parts.ts");
      return await renderParts(document);
    });
    const alone = (notice?: string) => ({
      ...forms,
      page: lazy(async () => makePage({ page: await parts.get(), origins: [] }, notice)),
    });
    const url = node?.url || undefined;
    if (place === "none" || (place === undefined && url === undefined)) {
      return { current: alone(), ready: Promise.resolve(), refresh: () => Promise.resolve() };
    }
    const { createPrepare } = await import("./description/prepare-description.ts");
    const common = {
      prepare: createPrepare((message) => log(message, { code: "description", level: "warn" })),
      makePage: async (content: PageContent) => {
        const page = await makePage(content);
        return { peek: () => page, get: () => Promise.resolve(page) };
      },
      alone,
      own: documentOf(own.json),
      operations,
      documentOfHost: documentOfHost as DocumentOfHost,
      report,
      base: url,
      publicUrl: node?.public_url,
    };
    if (place !== undefined) {
      const { keepCurrent } = await import("./description/watch.ts");
      const live = keepCurrent({ place, ...common });
      await withTimeout(live.ready, PATIENCE, () => {});
      return live;
    }
    const { keepFound } = await import("./description/discover.ts");
    const path = async () => (await kinds())[(await monitor.get()).kind ?? ""]?.description;
    const ask = async () => await (await monitor.get()).get();
    const tell = (message: string) => log(message, { code: "description", level: "info" });
    return keepFound({ url: url!, path, ask, log: tell, ...common }, alone());
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
  const snapshot: Resource<Snapshot> = {
    peek: () => monitor.peek()?.peek(),
    get: async () => await (await monitor.get()).get(),
  };

  const versioned = (form: "json" | "yaml"): Resource<Representation> => ({
    peek: () => description.peek()?.current.versioned[form].peek(),
    get: async () => await (await description.get()).current.versioned[form].get(),
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
    yaml: pick(description, ({ current }) => current.yaml),
    versioned: { json: versioned("json"), yaml: versioned("yaml") },
    catalog,
    favicon,
    assets,
    async prepare() {
      await Promise.all([monitor.get(), catalog.get(), favicon.get(), assets.get()]);
      await (await description.get()).current.page.get();
    },
    refresh: description.refresh,
    async close() {
      description.end();
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
  const [json, yaml] = await Promise.all([unpack(SPEC_JSON), unpack(SPEC_YAML)]);
  return { json, yaml, dots: SPEC_DOTS };
});
