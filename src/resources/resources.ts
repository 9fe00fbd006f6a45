/**
 * The resources of the service, each created on its first request.
 *
 * @module
 */
import type { Shown } from "../description/description.ts";
import type { DescriptionPlace } from "../description/source.ts";
import { type Assets, createAssets, createIcons } from "../explorer/files.ts";
import type { DocumentName } from "../explorer/page.ts";
import { VERSION } from "../generated/build-info.js";
import { represent, type Representation } from "../http/representation.ts";
import { Monitor } from "../info/info-monitor.ts";
import { isAlone } from "../info/query-plan.ts";
import { type Lazy, lazy, type Resource, whenReady } from "../lazy.ts";
import { expose, MEDIA_TYPE, nodeSamples, serviceSamples } from "../metrics/metrics.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import type { ResolvedOptions } from "../options.ts";
import { withTimeout } from "../with-timeout.ts";
import { Live } from "./live.ts";

type Served = "info" | "ready" | "json" | "yaml" | "catalog" | "favicon";

export interface Resources extends Readonly<Record<Served, Resource<Representation>>> {
  /** @param isPlain if true, the page has no scripts and no forms */
  readonly page: (
    name: DocumentName,
    isPlain: boolean,
  ) => Resource<Representation>;
  readonly health: (accepted: ReadonlySet<string>) => Resource<Representation>;
  readonly metrics: Resource<Representation> | undefined;
  readonly versioned: Record<"json" | "yaml", Resource<Representation>>;
  readonly assets: Resource<Assets>;
  readonly live: Live;
  readonly monitor: Monitor;
  /** Resolves to the path of the node's JSON-RPC endpoint, as for `Node.resolve`. */
  readonly rpcPath: () => Promise<string>;
  /** Resolves to `undefined` if the description cannot be shown. */
  readonly operations: () => Promise<readonly NodeOperation[] | undefined>;
  prepare(): Promise<void>;
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** @param waiting the function that returns the number of queued calls, for the metrics */
export function createResources(
  options: ResolvedOptions,
  node: Node,
  waiting: () => number | undefined,
): Resources {
  const { description: place, onError, log, info, memory, meters, startedAt } = options;
  const service = { software: "nodeface", version: VERSION, started_at: startedAt.toISOString() };
  const monitor = new Monitor(node, { service, info, log, onError, memory });
  if (meters) {
    monitor.onOutcome.add((source, outcome) => meters.countQuery(source, outcome));
    monitor.onIdentity.add(() => meters.identities++);
  }
  const icons = lazy(async () =>
    createIcons((await import("../generated/page.js")).FAVICON, options.page.logo)
  );
  const opened = lazy(async () => {
    const { openDescription } = await import("./open-description.ts");
    const description = await openDescription(options, node, monitor, icons);
    const publish = () => live.describe(description.current.json.variants.identity!.etag);
    description.onReport.add(publish);
    publish();
    return description;
  });
  const description = refreshOnDemand(opened, {
    interval: lookInterval(place, node.url),
    isMadeCurrent: place !== undefined,
    onError,
  });
  const live = new Live(options, monitor, async () => await description.get());
  const shown = (of: (shown: Shown) => Resource<Representation>) => ({
    get: async () => await of((await description.get()).current).get(),
  });
  const metrics: Resource<Representation> | undefined = meters && {
    async get() {
      const shown = isAlone(options.node, info) ? undefined : (await monitor.get()).info;
      const describedAt = opened.made?.describedAt;
      const gauges = {
        nodeface_queue_length: waiting(),
        nodeface_event_listeners: live.stream.listeners,
        nodeface_events_sent_total: live.stream.sent,
        nodeface_description_age_seconds: describedAt && (performance.now() - describedAt) / 1000,
      };
      const samples = {
        ...shown && nodeSamples(shown, Date.now()),
        ...serviceSamples(meters, gauges),
      };
      // Metrics are not compressed: every response would have to be compressed anew.
      return await represent(expose(samples), { type: MEDIA_TYPE, cache: "no-store", encoded: {} });
    },
  };
  const ready = lazy(() =>
    represent('{"status":"ok"}\n', { type: "application/json", cache: "no-store", tag: "ok" })
  );
  const catalog = lazy(() =>
    represent(JSON.stringify(CATALOG, null, 2) + "\n", {
      type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      cache: "public, no-cache",
      headers: { link: '<api-catalog>; rel="api-catalog"' },
    })
  );
  /**
   * The node's name on the last served page. With this name, the icon needs no query of the node.
   */
  let iconName = options.page.title ?? "";
  const favicon: Resource<Representation> = {
    get: async () => await (await icons.get()).get(iconName),
  };
  const assets = lazy(async () => createAssets((await import("../generated/assets.js")).ASSETS));
  return {
    page: (name, isPlain) => ({
      async get() {
        const [{ current }, { info, examples }] = await Promise.all([
          description.get(),
          monitor.get(),
        ]);
        const page = await current.page.get();
        iconName = page.iconNameOf(info);
        return await page.prepare(name, isPlain, info, examples);
      },
    }),
    info: {
      get: () => whenReady(monitor.get(), ({ representation }) => representation),
    },
    health: (accepted) => ({
      async get() {
        const { info, health } = await monitor.get();
        return accepted.has(info.status) ? health.passing : health.failing;
      },
    }),
    ready,
    metrics,
    json: { get: async () => (await description.get()).current.json },
    yaml: shown(({ yaml }) => yaml),
    versioned: {
      json: shown(({ versioned }) => versioned.json),
      yaml: shown(({ versioned }) => versioned.yaml),
    },
    catalog,
    favicon,
    assets,
    live,
    monitor,
    rpcPath: async () => await (await opened.get()).rpcPath(),
    operations: async () => (await description.get()).current.operations,
    async prepare() {
      await Promise.all([catalog.get(), favicon.get(), assets.get()]);
      await (await description.get()).current.page.get();
    },
    refresh: description.refresh,
    async close() {
      description.end();
      opened.made?.close();
      live.end();
      await monitor[Symbol.asyncDispose]();
    },
  };
}

/** The shortest intervals in milliseconds between checks for a changed description. */
export const LOOK_AT = { file: 2000, url: 30_000 } as const;

function lookInterval(place: DescriptionPlace | undefined, node: string | undefined): number {
  if (place === undefined && !node) return Infinity;
  if (place === "none" || (typeof place === "object" && "text" in place)) return Infinity;
  return /^https?:/i.test(String(place)) ? LOOK_AT.url : LOOK_AT.file;
}

interface RefreshOptions {
  /** The shortest interval between checks, in milliseconds; `refresh` always checks. */
  readonly interval: number;
  readonly isMadeCurrent: boolean;
  readonly onError: (error: unknown) => void;
  /** A monotonic clock in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** The longest time that a request waits for a check of the description, in milliseconds. */
const PATIENCE = 250;

export function refreshOnDemand<T extends { refresh(): Promise<void> }>(
  resource: Lazy<T>,
  { interval, isMadeCurrent, onError, now = () => performance.now() }: RefreshOptions,
): Resource<T> & { refresh(): Promise<void>; end(): void } {
  let lookedAt: number | undefined;
  let look: { readonly since: number; readonly done: Promise<void> } | undefined;
  let hasEnded = false;
  const start = (value: T) => {
    const done = value.refresh().finally(() => {
      if (look?.done === done) look = undefined;
      lookedAt = now();
    });
    look = { since: now(), done };
    return done;
  };
  return {
    async get() {
      const isNew = resource.made === undefined;
      const value = await resource.get();
      if (isNew && isMadeCurrent) lookedAt ??= now();
      const isDue = interval < Infinity && now() - (lookedAt ?? -Infinity) >= interval;
      if (isDue && !hasEnded && !look) start(value).catch(onError);
      const left = look ? look.since + PATIENCE - now() : 0;
      if (left > 0) await withTimeout(look!.done.catch(() => {}), left, () => {});
      return value;
    },
    refresh: async () => await start(await resource.get()),
    end: () => void (hasEnded = true),
  };
}

/**
 * A link set (RFC 9264) with the relations of RFC 8631. Relative links work behind any path prefix.
 */
const CATALOG = {
  linkset: [{
    anchor: "../v1/info",
    "service-desc": [
      { href: "../spec.json", type: "application/json" },
      { href: "../spec.yaml", type: "application/yaml" },
    ],
    "service-doc": [{ href: "../v1/spec", type: "text/html" }],
    status: [{ href: "../v1/health", type: "application/json" }],
  }],
};
