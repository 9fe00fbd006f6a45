/**
 * The contents that the service serves. Each is made at the first request for it.
 *
 * @module
 */
import { type Assets, createAssets, prepareFavicon } from "./explorer/assets.ts";
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
import {
  type Description,
  documentOf,
  type OwnForms,
  prepareOwn,
} from "./openapi/serve-description.ts";
import type { Live } from "./openapi/watch.ts";
import type { ResolvedOptions } from "./options.ts";

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
  /** Reads the node's description again if it has changed. */
  refresh(): Promise<void>;
  /** Ends what is under way. Nothing is asked from then on. */
  close(): Promise<void>;
}

type PageSource = Resource<Page>;

/** What of a description is on the page. */
type Described = Pick<Description, "document" | "origins" | "notice">;

/** Makes the resources of a service. Reads nothing before the first request. */
export function createResources(options: ResolvedOptions): Resources {
  const { startedAt, log, onError, node, info, operations } = options;
  const { description: place, onDescription: report } = options;

  const makePage = async ({ document, origins, notice }: Described) => {
    const [{ createPage }, { TEMPLATE, FILES }] = await Promise.all([
      import("./explorer/page.ts"),
      import("./generated/page.js"),
    ]);
    return await createPage(TEMPLATE, document, FILES, { origins, notice });
  };
  const makeReadyPage = async (described: Described) => {
    const page = lazy(() => makePage(described));
    await page.get();
    return page;
  };

  const description = lazy(async (): Promise<Live<PageSource>> => {
    const forms = await OWN_DESCRIPTION.get();
    const alone = await prepareOwn(forms, operations);
    const current = { ...alone, page: lazy(() => makePage(alone)) };
    const url = node?.url || undefined;
    if (place === "none" || (place === undefined && url === undefined)) {
      return { current, refresh: () => Promise.resolve() };
    }
    const where = { base: url, publicUrl: node?.public_url };
    const described = { alone, own: documentOf(forms.json), operations, report, ...where };
    if (place !== undefined) {
      const { keepCurrent } = await import("./openapi/watch.ts");
      return await keepCurrent({ place, ...described }, makeReadyPage);
    }
    const { keepFound } = await import("./openapi/discover.ts");
    const path = async () => (await kinds())[(await monitor.get()).kind ?? ""]?.description;
    const ask = async () => await (await monitor.get()).get();
    return keepFound({ url: url!, path, ask, log, ...described }, current, makeReadyPage);
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
  const favicon = lazy(async () => prepareFavicon((await import("./generated/page.js")).FAVICON));
  const assets = lazy(async () => createAssets((await import("./generated/assets.js")).ASSETS));

  return {
    page: {
      peek() {
        const info = snapshot.peek()?.info;
        return info && description.peek()?.current.page.peek()?.peek(info);
      },
      async get() {
        const [{ current }, { info }] = await Promise.all([description.get(), snapshot.get()]);
        return await (await current.page.get()).prepare(info);
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
    refresh: async () => await (await description.get()).refresh(),
    close: async () => await monitor.peek()?.[Symbol.asyncDispose](),
  };
}

/** The service's own description; all services of a process share it. */
export const OWN_DESCRIPTION: Resource<OwnForms> = lazy(async () => {
  const { SPEC_JSON, SPEC_YAML, SPEC_DOTS } = await import("./generated/description.js");
  const [json, yaml] = await Promise.all([unpack(SPEC_JSON), unpack(SPEC_YAML)]);
  return { json, yaml, dots: SPEC_DOTS };
});
