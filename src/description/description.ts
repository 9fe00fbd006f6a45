/**
 * Keeps the description of a node current. A configured description is the only source; without
 * one, the node's kind describes the node until the node's own description can be read. An invalid
 * description never replaces a valid one.
 *
 * @module
 */
import type { Page } from "../explorer/page.ts";
import { VERSION } from "../generated/build-info.js";
import type { Monitor } from "../info/info-monitor.ts";
import type { Info } from "../info/info.ts";
import { type Resource, runOneAtATime } from "../lazy.ts";
import { Listeners } from "../listeners.ts";
import type { Log } from "../log.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { type Diagnostic, diagnosticOfError } from "../openapi/diagnostics.ts";
import type { Reader } from "../openapi/files.ts";
import type { Offer } from "../openapi/kind.ts";
import type { Loaded } from "../openapi/load.ts";
import { type Description as Served, prepareDescription } from "../openapi/serve.ts";
import { withTimeout } from "../with-timeout.ts";
import { knowKind, type KnownKind, softwareIn } from "./known-interface.ts";
import { MissingMethods } from "./missing-methods.ts";
import { type Content, describe, type DescribeOptions, type Prepared } from "./prepare.ts";
import type { DescriptionReport } from "./report.ts";
import {
  type DescriptionPlace,
  type DescriptionSource,
  nameOf,
  sourceAt,
  sourcesOf,
} from "./source.ts";

/**
 * The shortest interval between two requests for the node's own description, or for its list of
 * operations.
 */
const INTERVAL_MS = 30_000;
/** The maximum wait for the node's list of operations before the first description is prepared. */
const PATIENCE_MS = 1000;

export interface Shown extends Served, Partial<Pick<Content, "address" | "isBuiltIn">> {
  readonly page: Resource<Page>;
  readonly operations?: readonly NodeOperation[] | undefined;
  readonly methods?: Loaded["methods"];
}

export interface DescriptionOptions extends DescribeOptions {
  /** The configured description, or `none`. @default the node's own, or that of its kind */
  readonly place?: DescriptionPlace | undefined;
  readonly makePage: (content: Pick<Content, "page" | "origins">) => Promise<Page>;
  /** Creates the service's own description, and a page that shows `notice`. */
  readonly alone: (notice?: string) => Shown;
  /** True if the node may be asked which methods it lacks. */
  readonly asksMethods: boolean;
  readonly log: Log;
  onError(error: unknown): void;
  /** Returns milliseconds since 1970. */
  readonly now?: () => number;
}

const NOTICE = "The node's own description cannot be shown; the log of this service says why";
const NOTICE_BEFORE = "The node's own description is being read; reload this page in a while";

/** A source, and what has been read from it. */
class Reading {
  readonly source: DescriptionSource;
  /** The shortest time between two looks at the source. */
  readonly interval: number;
  /** True if the description may be missing. */
  readonly isOptional: boolean;
  lookedAt = -Infinity;
  stamps: Prepared["stamps"] | undefined;
  shown: Shown | undefined;

  constructor(source: DescriptionSource, isOptional: boolean) {
    this.source = source;
    this.interval = isOptional ? INTERVAL_MS : 0;
    this.isOptional = isOptional;
  }

  async hasChanged(): Promise<boolean> {
    return !this.stamps || await hasChanged(this.stamps, this.source.read);
  }
}

export class Description {
  /** Told each attempt to read a description. */
  readonly onReport: Listeners<[DescriptionReport]> = new Listeners();
  /** The time of `performance.now()` at which the current description was read. */
  describedAt: number | undefined;
  readonly #node: Node;
  readonly #monitor: Monitor;
  readonly #options: DescriptionOptions;
  readonly #missing: MissingMethods;
  readonly #refresh: () => Promise<void>;
  #info: Partial<Info> = {};
  #known: KnownKind | undefined;
  /** The kind to which the readings belong. */
  #described: KnownKind | undefined;
  #offer: Offer = {};
  #offeredAt = -Infinity;
  /** In the order in which they are read; the last one that can be shown is shown. */
  #readings: Reading[] = [];
  /** Shown while no source can be shown. */
  #alone: Shown;
  #loggedReason: string | undefined;

  constructor(node: Node, monitor: Monitor, options: DescriptionOptions) {
    this.#node = node;
    this.#monitor = monitor;
    this.#options = options;
    const { place, alone } = options;
    if (place === "none") this.#alone = { ...alone(), operations: [] };
    else this.#alone = alone(place === undefined ? undefined : NOTICE_BEFORE);
    this.#refresh = runOneAtATime(() => this.#look());
    this.#missing = new MissingMethods({
      prepare: (signal) => this.#questions(signal),
      onChange: () => void this.refresh().catch(options.onError),
      onIncredible() {
        const message = "the node seems to lack most methods of its kind, so none is omitted; " +
          "a proxy may refuse them, or the path of node.url may be wrong";
        options.log(message, { code: "description", level: "warn" });
      },
      onError: options.onError,
    });
    monitor.onInfo.add((info) => {
      this.#info = info;
      this.#missing.take(info);
    });
    node.onKind.add(() => void this.refresh().catch(options.onError));
  }

  get current(): Shown {
    return this.#readings.findLast(({ shown }) => shown)?.shown ?? this.#alone;
  }

  /** Reads what has changed. */
  async refresh(): Promise<void> {
    await this.#refresh();
    this.#missing.describe(this.current.methods ?? []);
  }

  /** Resolves to the path of the node's JSON-RPC endpoint, as for `Node.resolve`. */
  async rpcPath(): Promise<string> {
    return await (await this.#know())?.rpcPath.get() ?? "";
  }

  close(): void {
    this.#missing.close();
  }

  /** Queries the node if its kind is unknown. */
  async #know(): Promise<KnownKind | undefined> {
    const name = await this.#monitor.findKind();
    if (name !== undefined && this.#known?.name !== name) this.#known = await knowKind(this.#node);
    return this.#known;
  }

  async #questions(signal: AbortSignal) {
    const known = this.#options.asksMethods ? await this.#know() : undefined;
    return await known?.questionsFor(softwareIn(this.#info), signal);
  }

  async #look(): Promise<void> {
    const { place } = this.#options;
    if (place === undefined) await this.#findSources();
    else if (place !== "none" && this.#readings.length === 0) await this.#open(place);
    for (const reading of this.#readings) {
      const now = this.#now();
      if (now - reading.lookedAt < reading.interval) continue;
      reading.lookedAt = now;
      if (await reading.hasChanged()) await this.#read(reading);
    }
  }

  async #open(place: DescriptionPlace): Promise<void> {
    try {
      const offer = () => ({ missing: this.#missing.names });
      this.#readings = [new Reading(await sourceAt(place, this.#node, offer), false)];
    } catch (error) {
      this.#alone = this.#options.alone(NOTICE);
      const diagnostics = [diagnosticOfError(nameOf(place), error)];
      this.onReport.tell({ diagnostics, shown: "own" });
    }
  }

  async #findSources(): Promise<void> {
    const known = await this.#know();
    if (!known) return;
    if (known !== this.#described) {
      this.#described = known;
      this.#offer = {};
      this.#offeredAt = -Infinity;
      const offer = () => ({ ...this.#offer, missing: this.#missing.names });
      const { ofKind, ofNode } = sourcesOf(this.#node, known, VERSION, offer);
      this.#readings = [
        ...ofKind ? [new Reading(ofKind, false)] : [],
        ...ofNode ? [new Reading(ofNode, true)] : [],
      ];
      if (this.#readings.length === 0) this.#alone = { ...this.#alone, operations: [] };
    }
    const patience = this.#readings[0]?.shown ? INTERVAL_MS : PATIENCE_MS;
    await withTimeout(this.#updateOffer(known), patience, () => {});
  }

  async #updateOffer(known: KnownKind): Promise<void> {
    const { software, version } = softwareIn(this.#info);
    this.#merge({ ...this.#offer, software, version });
    if (this.#now() - this.#offeredAt < INTERVAL_MS) return;
    try {
      const learn = async () => (await this.#monitor.get()).info;
      const offer = await known.askOffer(this.#info, learn);
      // Meanwhile, the node may have been found to be of another kind.
      if (known !== this.#described) return;
      this.#merge(offer);
      this.#offeredAt = this.#now();
    } catch {
      // The node's previous list of operations remains valid.
    }
  }

  /** A node that does not respond still has the software and version that it had. */
  #merge(offer: Offer): void {
    const { software = this.#offer.software, version = this.#offer.version } = offer;
    this.#offer = { ...offer, software, version };
  }

  async #read(reading: Reading): Promise<void> {
    const { source, isOptional } = reading;
    const before = reading.shown;
    const prepared = await describe(source, this.#options);
    let { diagnostics } = prepared;
    reading.stamps = prepared.stamps;
    let shown: Shown | undefined;
    try {
      shown = await this.#show(prepared);
    } catch (error) {
      diagnostics = [diagnosticOfError(source.name, error)];
    }
    if (shown) reading.shown = shown;
    else if (isOptional && !before) return this.#logReason(source.name, reasonIn(diagnostics));
    else if (this.#options.place !== undefined) this.#alone = this.#options.alone(NOTICE);
    const what = shown ? "current" : before ? "older" : "own";
    if (what !== "older") this.describedAt = shown && performance.now();
    this.onReport.tell({ diagnostics, shown: what, operations: shown?.operations });
  }

  async #show({ content, methods }: Prepared): Promise<Shown | undefined> {
    if (!content) return undefined;
    const { json, operations, address, isBuiltIn } = content;
    const page = await this.#options.makePage(content);
    const resource = { get: () => Promise.resolve(page) };
    const served = await prepareDescription(json);
    return { ...served, page: resource, operations, methods, address, isBuiltIn };
  }

  #logReason(name: string, reason: string): void {
    if (this.#readings.length === 1 && reason !== this.#loggedReason) {
      const message = `there is no description of the node at ${name}: ${reason}`;
      this.#options.log(message, { code: "description", level: "info" });
    }
    this.#loggedReason = reason;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

/** Returns the reason why a description cannot be read. */
export function reasonIn(diagnostics: readonly Diagnostic[]): string {
  const message = diagnostics.find(({ isFatal }) => isFatal)?.message ?? "";
  return message.replace(/^cannot be read: /, "");
}

async function hasChanged(stamps: Prepared["stamps"], read: Reader): Promise<boolean> {
  for (const [url, stamp] of stamps) {
    try {
      if (await read(new URL(url), stamp)) return true;
    } catch {
      // An empty stamp means that the previous attempt to read the file failed too, so nothing has
      // changed.
      if (stamp !== "") return true;
    }
  }
  return false;
}
