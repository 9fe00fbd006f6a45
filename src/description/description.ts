/**
 * Keeps the description of a node current. A configured description is the only source; without
 * one, the node's kind describes the node until the node's own description can be read. An invalid
 * description never replaces a valid one.
 *
 * @module
 */
import { isHttpUrl } from "../http/host-names.ts";
import type { Monitor } from "../info/monitor.ts";
import { Listeners } from "../listeners.ts";
import type { Log } from "../log.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { type Diagnostic, diagnosticOfError } from "../openapi/diagnostics.ts";
import type { File } from "../openapi/files.ts";
import type { Offer } from "../openapi/kind-document.ts";
import { HAS_SOCKETS } from "../platform.ts";
import { waitAtMost } from "../with-timeout.ts";
import { Checks } from "./checks.ts";
import type { KnownKind } from "./known-interface.ts";
import { INTERVAL_MS, NodeOffer } from "./node-offer.ts";
import {
  type Prepared,
  prepareDescription,
  type PrepareOptions,
  type ServedDescription,
} from "./prepare.ts";
import {
  type DescriptionPlace,
  type DescriptionSource,
  descriptionSourcesOf,
  type LastFile,
  nameOfPlace,
  sourceAt,
} from "./source.ts";

/** After this time, a check counts as stopped: workerd stops it with the request that began it. */
const CHECK_MAX_MS = HAS_SOCKETS ? Infinity : 60_000;
/** The maximum wait for the node's list of operations before the first description is prepared. */
const OFFER_PATIENCE_MS = 1000;
/** The longest time that a request waits for the description of a new kind. */
const NEW_KIND_PATIENCE_MS = 3000;

/** The shortest intervals in milliseconds between checks for a changed description. */
export const CHECK_INTERVALS_MS: Readonly<Record<"file" | "url", number>> = {
  file: 2000,
  url: INTERVAL_MS,
};

/** What has been read, and what is shown of it. */
export interface DescriptionReport {
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The description that is shown: the node's current or previous description, or only the
   * service's own.
   */
  readonly shown: "current" | "older" | "own";
}

export interface DescriptionOptions extends PrepareOptions {
  /** The configured description, or `none`. @default the node's own, or that of its kind */
  readonly place?: DescriptionPlace | undefined;
  readonly lastFile?: LastFile | undefined;
  /** The service's own description, which is shown until that of the node can be. */
  readonly fallback: ServedDescription;
  /** True if the node may be asked which methods it lacks. */
  readonly asksMethods: boolean;
  readonly log: Log;
  onError(error: unknown): void;
  /** A monotonic clock in milliseconds. @default performance.now */
  readonly now?: () => number;
}

const NOTICE = "The node's own description cannot be shown; the log of this service says why";
const NOTICE_BEFORE = "The node's own description is being read; reload this page in a while";

/** A source, and what has been read from it. */
class LoadedSource {
  readonly source: DescriptionSource;
  /** True if the description may be missing, so that it is not looked for at each check. */
  readonly isOptional: boolean;
  checkedAt = -Infinity;
  /** Why an optional description is missing. */
  loggedReason: string | undefined;
  /** The last description that could be shown. */
  #description: ServedDescription | undefined;
  /** What the node offered when the source was read; `undefined` if it is to be read again. */
  #offerWhenRead: string | undefined;
  #fileStamp = "";

  constructor(source: DescriptionSource, isOptional: boolean) {
    this.source = source;
    this.isOptional = isOptional;
  }

  get description(): ServedDescription | undefined {
    return this.#description;
  }

  /** Lets the next look read the source again. */
  markChanged(): void {
    this.#offerWhenRead = undefined;
  }

  /** @param offer what the node offers, and the path of its JSON-RPC endpoint */
  async hasChanged(offer: string): Promise<boolean> {
    if (offer !== this.#offerWhenRead) return true;
    const { file } = this.source;
    try {
      return file !== undefined && await file.read(this.#fileStamp) !== undefined;
    } catch {
      // If the previous attempt to read the file failed too, nothing has changed.
      return this.#fileStamp !== "";
    }
  }

  /**
   * If the description could not be read, the previous one remains.
   *
   * @param offer as for {@linkcode hasChanged}
   */
  noteRead(offer: string, { file, description }: Prepared): void {
    this.#offerWhenRead = offer;
    this.#fileStamp = file?.stamp ?? "";
    this.#description = description ?? this.#description;
  }

  /** Shows what was read before the configuration was reloaded. */
  restore(description: ServedDescription | undefined): void {
    this.#description = description;
  }
}

export class Description {
  /** Told each attempt to read a description. */
  readonly onReport: Listeners<[DescriptionReport]> = new Listeners();
  /**
   * Told the operations that can be called at the node, when all sources have been read and another
   * description is shown than before.
   */
  readonly onOperations: Listeners<[readonly NodeOperation[]]> = new Listeners();
  /** Told that another description is shown. */
  readonly onChange: Listeners<[]> = new Listeners();
  /** The time of `performance.now()` at which the current description was read. */
  describedAt: number | undefined;
  readonly #node: Node;
  readonly #options: DescriptionOptions;
  readonly #nodeOffer: NodeOffer;
  readonly #checks: Checks;
  readonly #now: () => number;
  /** The kind to which the sources belong, unless the description is configured. */
  #known: KnownKind | undefined;
  /** In the order in which they are read; the last one that can be shown is shown. */
  #sources: LoadedSource[] = [];
  /** Shown while no source can be shown. */
  #fallback: ServedDescription;
  /** What was shown when `onChange` was told last. */
  #told: ServedDescription | undefined;
  #toldOperations: readonly NodeOperation[] | undefined;
  /** Resolves when the description of a new kind has been read; `undefined` if none is read. */
  #readingKind: Promise<void> | undefined;

  constructor(node: Node, monitor: Monitor, options: DescriptionOptions) {
    this.#node = node;
    this.#options = options;
    const { place, fallback, onError, now = () => performance.now() } = options;
    if (place === "none") this.#fallback = { ...fallback, operations: [] };
    else this.#fallback = { ...fallback, notice: place === undefined ? undefined : NOTICE_BEFORE };
    this.#now = now;
    const interval = intervalOf(place, node.url);
    this.#checks = new Checks(() => this.#look(), {
      interval,
      longest: CHECK_MAX_MS,
      onError,
      now,
    });
    this.#nodeOffer = new NodeOffer(node, monitor, {
      ...options,
      onMissing: () => this.#checks.start(),
      now,
    });
    monitor.onInfo.add((info) => {
      this.#nodeOffer.missing.note(info);
      if (this.#takeExamples()) this.#checks.start();
    });
    node.onKind.add(() => this.#readNewKind());
  }

  #readNewKind(): void {
    const done = this.#checks.run().catch(this.#options.onError).finally(() => {
      if (this.#readingKind === done) this.#readingKind = undefined;
    });
    this.#readingKind = done;
  }

  get current(): ServedDescription {
    return this.#shown ?? this.#fallback;
  }

  get #shown(): ServedDescription | undefined {
    return this.#sources.findLast(({ description }) => description)?.description;
  }

  /**
   * Call this before `current` is used: it reads what has changed, if that is due, and waits for
   * the operations of a node whose kind has just become known.
   */
  onRequest(): Promise<void> | undefined {
    const checked = this.#checks.onRequest();
    return checked ? checked.then(() => this.#waitForKind()) : this.#waitForKind();
  }

  #waitForKind(): Promise<void> | undefined {
    return this.#readingKind && waitAtMost(this.#readingKind, NEW_KIND_PATIENCE_MS);
  }

  /** Reads what has changed. */
  refresh(): Promise<void> {
    return this.#checks.run();
  }

  /** Resolves when nothing is read any more. */
  settled(): Promise<void> {
    return this.#checks.settled();
  }

  close(): void {
    this.#checks.end();
    this.#nodeOffer.missing.close();
  }

  async #look(): Promise<void> {
    const { place } = this.#options;
    if (place === undefined) await this.#findSources();
    else if (place !== "none" && this.#sources.length === 0) await this.#open(place);
    for (const loaded of this.#sources) {
      const now = this.#now();
      if (loaded.isOptional && now - loaded.checkedAt < INTERVAL_MS) continue;
      loaded.checkedAt = now;
      const offer = this.#nodeOffer.current;
      // Until the kind is known, the path of its JSON-RPC endpoint is not, either.
      const offerText = JSON.stringify([offer, await this.#node.rpcPath()]);
      if (await loaded.hasChanged(offerText)) await this.#read(loaded, offer, offerText);
    }
    this.#tellChange();
    this.#tellOperations();
    this.#nodeOffer.missing.setMethods(this.current.methods);
  }

  #tellChange(): void {
    if (this.current === this.#told) return;
    this.#told = this.current;
    this.onChange.emit();
  }

  #tellOperations(): void {
    const { operations } = this.#shown ?? {};
    if (!operations || operations === this.#toldOperations) return;
    this.#toldOperations = operations;
    this.onOperations.emit(operations);
  }

  async #open(place: DescriptionPlace): Promise<void> {
    try {
      this.#sources = [new LoadedSource(await sourceAt(place, this.#node), false)];
    } catch (error) {
      this.#showNotice();
      const diagnostics = [diagnosticOfError(nameOfPlace(place), error)];
      this.onReport.emit({ diagnostics, shown: "own" });
    }
  }

  async #findSources(): Promise<void> {
    const known = await this.#nodeOffer.findKind();
    if (!known) return;
    if (known !== this.#known) {
      this.#known = known;
      const { ofKind, ofNode } = descriptionSourcesOf(this.#node, known);
      this.#sources = [
        ...ofKind ? [new LoadedSource(ofKind, false)] : [],
        ...ofNode ? [new LoadedSource(ofNode, true)] : [],
      ];
      if (this.#sources.length === 0) this.#fallback = { ...this.#fallback, operations: [] };
    }
    const patience = this.#sources[0]?.description ? INTERVAL_MS : OFFER_PATIENCE_MS;
    await waitAtMost(this.#nodeOffer.update(known), patience);
  }

  /** Returns true if the description of a kind is to be read again, with the node's examples. */
  #takeExamples(): boolean {
    if (!this.#nodeOffer.takeExamples()) return false;
    const ofKind = this.#sources.filter(({ source, description }) =>
      description && source.by === "kind"
    );
    for (const loaded of ofKind) loaded.markChanged();
    return ofKind.length > 0;
  }

  async #read(loaded: LoadedSource, offer: Offer, offerText: string): Promise<void> {
    const { source, isOptional } = loaded;
    this.#takeExamples();
    const { examples } = this.#nodeOffer;
    const prepared = await this.#prepare(source, offer);
    loaded.noteRead(offerText, prepared);
    // The node may have given its examples meanwhile.
    if (source.by === "kind" && this.#nodeOffer.examples !== examples) {
      loaded.markChanged();
      this.#checks.start();
    }
    const { description, diagnostics, file } = prepared;
    if (description) this.#keepFile(file);
    else if (isOptional && !loaded.description) {
      return this.#logReason(loaded, reasonIn(diagnostics));
    } else if (this.#options.place !== undefined) {
      if (!loaded.description) loaded.restore(await this.#prepareLast(source, offer));
      this.#showNotice();
    }
    const shown = description ? "current" : loaded.description ? "older" : "own";
    if (this.current === (description ?? this.#fallback)) {
      this.describedAt = description && performance.now();
    }
    this.onReport.emit({ diagnostics, shown });
    this.#tellChange();
  }

  async #prepare(source: DescriptionSource, offer: Offer): Promise<Prepared> {
    return await prepareDescription(source, offer, {
      ...this.#options,
      rpcPath: await this.#node.rpcPath(),
      examples: this.#nodeOffer.examples,
      callMethod: (method, params) => this.#nodeOffer.callMethod(method, params),
    });
  }

  #keepFile(file: File | undefined): void {
    const { place, lastFile } = this.#options;
    if (place !== undefined && file) lastFile?.note(place, file);
  }

  async #prepareLast(
    source: DescriptionSource,
    offer: Offer,
  ): Promise<ServedDescription | undefined> {
    const { place, lastFile } = this.#options;
    const last = place === undefined ? undefined : lastFile?.at(place);
    if (!last || !source.file) return undefined;
    const file = { url: source.file.url, read: () => Promise.resolve(last.file) };
    const { description } = await this.#prepare({ ...source, file }, offer);
    if (description) this.describedAt = last.readAt;
    return description;
  }

  #showNotice(): void {
    this.#fallback = { ...this.#options.fallback, notice: NOTICE };
  }

  #logReason(loaded: LoadedSource, reason: string): void {
    if (this.#sources.length === 1 && reason !== loaded.loggedReason) {
      const message = `there is no description of the node at ${loaded.source.name}: ${reason}`;
      this.#options.log(message, { code: "description", level: "info" });
    }
    loaded.loggedReason = reason;
  }
}

/** Returns the reason why a description cannot be read. */
export function reasonIn(diagnostics: readonly Diagnostic[]): string {
  const fatal = diagnostics.find(({ isFatal }) => isFatal);
  return fatal?.reason ?? fatal?.message ?? "";
}

function intervalOf(place: DescriptionPlace | undefined, node: string | undefined): number {
  if (place === undefined && !node) return Infinity;
  if (place === "none" || (typeof place === "object" && "text" in place)) return Infinity;
  return isHttpUrl(String(place)) ? CHECK_INTERVALS_MS.url : CHECK_INTERVALS_MS.file;
}
