/**
 * Keeps the description of a node current. A configured description is the only source; without
 * one, the node's kind describes the node until the node's own description can be read. An invalid
 * description never replaces a valid one.
 *
 * @module
 */
import type { Monitor } from "../info/monitor.ts";
import { Listeners } from "../listeners.ts";
import type { Log } from "../log.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { type Diagnostic, diagnosticOfError } from "../openapi/diagnostics.ts";
import type { File } from "../openapi/files.ts";
import type { Offer } from "../openapi/kind-document.ts";
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

/** The maximum wait for the node's list of operations before the first description is prepared. */
const PATIENCE_MS = 1000;
/** The longest time that a request waits for the description of a new kind. */
const PATIENCE_KIND_MS = 3000;

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
  /** What the node offered, and the stamp of the file, when the source was read. */
  found: string | undefined;
  stamp = "";
  /** Why an optional description is missing. */
  loggedReason: string | undefined;
  /** What has been read last, and could be shown. */
  description: ServedDescription | undefined;

  constructor(source: DescriptionSource, isOptional: boolean) {
    this.source = source;
    this.isOptional = isOptional;
  }

  /** Lets the next look read the source again. */
  markChanged(): void {
    this.found = undefined;
  }

  /** @param found what the node offers, and the path of its JSON-RPC endpoint */
  async hasChanged(found: string): Promise<boolean> {
    if (found !== this.found) return true;
    const { file } = this.source;
    try {
      return file !== undefined && await file.read(this.stamp) !== undefined;
    } catch {
      // If the previous attempt to read the file failed too, nothing has changed.
      return this.stamp !== "";
    }
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
  #states: LoadedSource[] = [];
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
    this.#checks = new Checks(() => this.#look(), { interval, onError, now });
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
    return this.#states.findLast(({ description }) => description)?.description;
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
    return this.#readingKind && waitAtMost(this.#readingKind, PATIENCE_KIND_MS);
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
    else if (place !== "none" && this.#states.length === 0) await this.#open(place);
    for (const state of this.#states) {
      const now = this.#now();
      if (state.isOptional && now - state.checkedAt < INTERVAL_MS) continue;
      state.checkedAt = now;
      const offer = this.#nodeOffer.current;
      // Until the kind is known, the path of its JSON-RPC endpoint is not, either.
      const found = JSON.stringify([offer, await this.#node.rpcPath()]);
      if (await state.hasChanged(found)) await this.#read(state, offer, found);
      this.#tellChange();
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
      this.#states = [new LoadedSource(await sourceAt(place, this.#node), false)];
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
      this.#states = [
        ...ofKind ? [new LoadedSource(ofKind, false)] : [],
        ...ofNode ? [new LoadedSource(ofNode, true)] : [],
      ];
      if (this.#states.length === 0) this.#fallback = { ...this.#fallback, operations: [] };
    }
    const patience = this.#states[0]?.description ? INTERVAL_MS : PATIENCE_MS;
    await waitAtMost(this.#nodeOffer.update(known), patience);
  }

  /** Returns true if a description without the examples is shown. */
  /** Returns true if the description of a kind is to be read again, with the node's examples. */
  #takeExamples(): boolean {
    if (!this.#nodeOffer.takeExamples()) return false;
    const ofKind = this.#states.filter(({ source, description }) =>
      description && source.by === "kind"
    );
    for (const state of ofKind) state.markChanged();
    return ofKind.length > 0;
  }

  async #read(state: LoadedSource, offer: Offer, found: string): Promise<void> {
    const { source, isOptional } = state;
    const before = state.description;
    this.#takeExamples();
    const { description, diagnostics, file } = await this.#prepare(source, offer);
    state.stamp = file?.stamp ?? "";
    state.found = found;
    if (description) {
      state.description = description;
      this.#keepFile(file);
    } else if (isOptional && !before) return this.#logReason(state, reasonIn(diagnostics));
    else if (this.#options.place !== undefined) {
      state.description ??= await this.#prepareLast(source, offer);
      this.#showNotice();
    }
    const shown = description ? "current" : state.description ? "older" : "own";
    if (this.current === (description ?? this.#fallback)) {
      this.describedAt = description && performance.now();
    }
    this.onReport.emit({ diagnostics, shown });
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

  #logReason(state: LoadedSource, reason: string): void {
    if (this.#states.length === 1 && reason !== state.loggedReason) {
      const message = `there is no description of the node at ${state.source.name}: ${reason}`;
      this.#options.log(message, { code: "description", level: "info" });
    }
    state.loggedReason = reason;
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
  return /^https?:/i.test(String(place)) ? CHECK_INTERVALS_MS.url : CHECK_INTERVALS_MS.file;
}
