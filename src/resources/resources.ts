/**
 * The resources of the service; those for requests are each made at the first one.
 *
 * @module
 */
import type { Description } from "../description/description.ts";
import type { ServedDescription } from "../description/prepare.ts";
import { type Assets, createAssets, Icons } from "../explorer/files.ts";
import { type DocumentName, Page } from "../explorer/page.ts";
import { VERSION } from "../generated/build-info.js";
import { represent, type Representation } from "../http/representation.ts";
import { clientAddress } from "../http/request.ts";
import type { RoutedRequest } from "../http/routes.ts";
import { encodeText } from "../bytes.ts";
import { NodeEvents } from "../info/events.ts";
import { CLOCK } from "../info/clock.ts";
import { History } from "../info/history.ts";
import { Monitor } from "../info/monitor.ts";
import { isWithoutNode, settingsOf } from "../info/query-plan.ts";
import { DEFAULTS, EVENT_DEFAULTS } from "../info/settings.ts";
import { Watch } from "../info/watch.ts";
import { type Lazy, lazy, type Resource } from "../lazy.ts";
import { expose, type GatewayLoad, MEDIA_TYPE, type Meters } from "../metrics/metrics.ts";
import type { Node } from "../node/node.ts";
import type { DocumentPath } from "../openapi/documents.ts";
import type { ResolvedOptions } from "../options.ts";
import { HAS_SOCKETS } from "../platform.ts";
import { milliseconds } from "../units.ts";

/** The time in milliseconds after which the opening of the description counts as stopped. */
const OPENING_MAX_MS = 60_000;

export class Resources {
  readonly ready: Resource<Representation> = lazy(() =>
    represent('{"status":"ok"}\n', { type: "application/json", cache: "no-store", tag: "ok" })
  );
  readonly catalog: Resource<Representation> = lazy(() =>
    represent(JSON.stringify(CATALOG, null, 2) + "\n", {
      type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      cache: "public, no-cache",
      headers: { link: '<api-catalog>; rel="api-catalog"' },
    })
  );
  readonly assets: Resource<Assets> = lazy(async () =>
    createAssets((await import("../generated/assets.js")).ASSETS)
  );
  readonly monitor: Monitor;
  readonly events: NodeEvents;
  readonly history: History | undefined;
  readonly #options: ResolvedOptions;
  readonly #node: Node;
  readonly #watch: Watch;
  #hasEnded = false;
  /** The page that was served last. */
  #page: { readonly of: ServedDescription; readonly page: Page } | undefined;
  readonly #opened: Lazy<Description> = lazy(() => this.#openDescription(), OPENING_MAX_MS);
  readonly #icons: Resource<Icons> = lazy(async () =>
    new Icons((await import("../generated/page.js")).FAVICON, this.#options.page.logo)
  );
  /**
   * The node's name on the last served page. With this name, the icon needs no query of the node.
   */
  #iconName: string;

  constructor(options: ResolvedOptions, node: Node) {
    const { events: { listeners, per_address }, meters } = options;
    this.#options = options;
    this.#node = node;
    this.#iconName = options.page.title ?? "";
    this.monitor = openMonitor(options, node);
    this.events = new NodeEvents({
      listeners: listeners ?? EVENT_DEFAULTS.listeners,
      perAddress: per_address ?? EVENT_DEFAULTS.per_address,
      onListeners: (count) => this.#watch.hasListeners = count > 0,
      onSent: (count) => meters?.countEvents(count),
    });
    this.history = openHistory(options);
    this.monitor.onInfo.add((info, measured) => {
      this.events.note(info);
      this.history?.note(info, measured);
      this.#watch.note(info);
    });
    this.#watch = new Watch(this.monitor, {
      interval: watchInterval(options),
      // Preparing a large description takes longer than a poll, so the watch does not wait for it.
      onTick: () => this.#describeForListeners(),
    });
  }

  /** @param isPlain if true, the page has no scripts and no forms */
  async page(name: DocumentName, isPlain: boolean): Promise<Representation> {
    // The description takes its examples from the info. Without scripts, the state stays as it is.
    const { info, examples } =
      await (isPlain ? this.monitor.snapshot() : this.monitor.snapshotNow());
    const page = await this.#shownPage();
    this.#iconName = page.iconNameOf(info);
    return await page.prepare(name, isPlain, info, examples);
  }

  /** @param search the query string; without a name, it is the icon of the last served page */
  async favicon(search: string): Promise<Representation> {
    const icons = await this.#icons.get();
    return await icons.get(icons.nameIn(search) ?? this.#iconName);
  }

  async document(path: DocumentPath): Promise<Representation> {
    return await (await this.description()).current.documents[path].get();
  }

  /** @param accepted the statuses of the node for which the response is 200 */
  async health(accepted: ReadonlySet<string>): Promise<Representation> {
    const { info, health } = await this.monitor.snapshot();
    const isPassing = info.status === undefined || accepted.has(info.status);
    return isPassing ? health.passing : health.failing;
  }

  /** Resolves to the description, after its changes have been read. */
  async description(): Promise<Description> {
    const description = this.#opened.current ?? await this.#opened.get();
    await description.onRequest();
    return description;
  }

  async openEvents({ request, target, context }: RoutedRequest): Promise<Response> {
    this.events.begin((await this.monitor.snapshotNow()).info);
    const address = clientAddress(request, context);
    const response = this.events.stream.open(request, new URLSearchParams(target.search), address);
    this.#describeForListeners();
    return response;
  }

  /** Names the address that clients of the node need, if it is known. */
  get hint(): string {
    return this.#opened.current?.current.hint ?? "";
  }

  async prepare(): Promise<void> {
    await this.monitor.snapshotNow();
    await Promise.all([this.catalog.get(), this.favicon(""), this.assets.get()]);
    await this.#shownPage();
  }

  async refresh(): Promise<void> {
    await (await this.#opened.get()).refresh();
  }

  /** Ends what no request waits for. */
  end(): void {
    this.#watch.end();
    this.events.stream.end();
  }

  /** Resolves when what requests have begun has ended. */
  async settled(): Promise<void> {
    await Promise.all([this.monitor.settled(), this.#opened.current?.settled()]);
  }

  async close(): Promise<void> {
    this.end();
    this.#hasEnded = true;
    this.#opened.current?.close();
    await this.monitor[Symbol.asyncDispose]();
  }

  /** Reads the description if it has changed, since nothing else tells those who listen. */
  #describeForListeners(): void {
    if (this.#watch.hasListeners) this.description().catch(this.#options.onError);
  }

  async #openDescription(): Promise<Description> {
    const { openDescription } = await import("./open-description.ts");
    const description = await openDescription(
      this.#options,
      this.#node,
      this.monitor,
    );
    const publish = () => {
      const { json, version } = description.current;
      this.events.tellDescription(json.etag, version);
    };
    description.onChange.add(publish);
    publish();
    if (this.#hasEnded) description.close();
    return description;
  }

  /** Resolves to the page of the description that is shown. */
  async #shownPage(): Promise<Page> {
    const { current } = await this.description();
    const [parts, icons] = await Promise.all([current.page.get(), this.#icons.get()]);
    if (this.#page?.of !== current) {
      const { origins, notice, version } = current;
      const { title, view } = this.#options.page;
      const page = new Page(parts, { origins, notice, version, title, view, icons });
      this.#page = { of: current, page };
    }
    return this.#page.page;
  }

  async measure(meters: Meters, load: GatewayLoad): Promise<Representation> {
    const describedAt = this.#opened.current?.describedAt;
    const text = expose({
      info: isWithoutNode(this.#options) ? undefined : (await this.monitor.snapshot()).info,
      besideNode: this.monitor.externalKeys,
      kind: this.#node.kind,
      now: Date.now(),
      meters,
      ...load,
      listeners: this.events.stream.listeners,
      descriptionAge: describedAt && (performance.now() - describedAt) / 1000,
    });
    // Metrics are not compressed: every response would have to be compressed anew.
    const content = { identity: encodeText(text) };
    return await represent(content, { type: MEDIA_TYPE, cache: "no-store" });
  }
}

function openHistory(options: ResolvedOptions): History | undefined {
  const { history = DEFAULTS.history, hide = [] } = settingsOf(options.info);
  if (history === "off") return undefined;
  return new History(milliseconds(history), hide, options.memory.history, CLOCK);
}

function watchInterval(options: ResolvedOptions): number {
  const { watch = "off" } = settingsOf(options.info);
  const isWatched = watch !== "off" && HAS_SOCKETS && !isWithoutNode(options);
  return isWatched ? milliseconds(watch) : Infinity;
}

function openMonitor(options: ResolvedOptions, node: Node): Monitor {
  const { onError, log, info, memory, meters, startedAt } = options;
  let started = startedAt.getTime();
  const service = {
    software: "nodeface",
    version: VERSION,
    get started_at() {
      // Before the first request, the clock of a Cloudflare worker shows 1970.
      started ||= Date.now();
      return new Date(started).toISOString();
    },
  };
  const monitor = new Monitor(node, { service, info, log, onError, memory });
  if (meters) {
    monitor.onOutcome.add((source, outcome) => meters.countQuery(source, outcome));
    monitor.onIdentity.add(() => meters.identities++);
  }
  return monitor;
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
