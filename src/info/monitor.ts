/**
 * Polls the node when someone wants to know its state, and publishes snapshots of it.
 *
 * @module
 */
import { textOf } from "../json/values.ts";
import { Listeners } from "../listeners.ts";
import type { Node } from "../node/node.ts";
import type { InfoSettings } from "../setting-types.ts";
import { CLOCK, type Clock } from "./clock.ts";
import type { Detection } from "./detect-kind.ts";
import type { Measured } from "./history.ts";
import { IdentityCheck } from "./identity-check.ts";
import {
  type Info,
  makeInfo,
  type NodeFacts,
  type ServiceFacts,
  type Snapshot,
  Snapshots,
} from "./info.ts";
import { NodeMemory } from "./node-memory.ts";
import { EXTRA_PATIENCE_MS, NodeReader, type Poll, type PollResult } from "./node-reader.ts";
import type { NodeReport } from "./node-state.ts";
import { Poller } from "./poller.ts";
import { type HostInfo, isWithoutNode, type Plan, settingsOf } from "./query-plan.ts";
import { timesOf } from "./settings.ts";
import { externalKeys, readExamples } from "./source-cache.ts";
import type { Sightings } from "./sightings.ts";
import type { QueryOutcome } from "./sources.ts";
import { type NodeLog, StateLog } from "./state-log.ts";
import type { NodeStatus } from "./status.ts";

/** A request may wait this many milliseconds longer than the timeout of the sources. */
const SNAPSHOT_GRACE_MS = EXTRA_PATIENCE_MS + 200;

interface MonitorOptions {
  readonly service: ServiceFacts;
  readonly info?: InfoSettings | HostInfo;
  readonly log: NodeLog;
  onError(error: unknown): void;
  readonly clock?: Clock;
  readonly memory?: NodeMemory;
}

export interface Inspection extends Pick<NodeFacts, "software" | "version"> {
  readonly detection: Detection | undefined;
  readonly plan: Plan;
  readonly outcomes: ReadonlyMap<string, QueryOutcome>;
  readonly status: NodeStatus;
  readonly info: Info;
}

interface InfoReport extends NodeReport {
  readonly info: Info;
  /** The keys that `/v1/info` lacks, with the reasons. */
  readonly omitted: ReadonlyMap<string, string>;
}

export class Monitor {
  /** Told each published info object: events, history and watch, and then the description. */
  readonly onInfo: Listeners<[info: Info, measured: Measured]> = new Listeners();
  /** Told each outcome of a query. */
  readonly onOutcome: Listeners<[source: string, outcome: QueryOutcome]> = new Listeners();
  /** Told that the node is on another chain than before. */
  readonly onIdentity: Listeners<[]> = new Listeners();
  readonly identityCheck: IdentityCheck;
  readonly #node: Node;
  readonly #options: MonitorOptions;
  readonly #clock: Clock;
  readonly #settings: InfoSettings;
  readonly #hasNode: boolean;
  readonly #reader: NodeReader;
  readonly #poller: Poller;
  readonly #log: StateLog;
  readonly #sightings: Sightings;
  readonly #snapshots = new Snapshots();
  #published: { version: number; snapshot: Snapshot; until: number } | undefined;
  #versions = 0;

  constructor(node: Node, options: MonitorOptions) {
    const { info = {}, memory = new NodeMemory(), clock = CLOCK, log, onError } = options;
    const label = node.url === undefined ? "node" : `node ${new URL(node.url).origin}`;
    this.#node = node;
    this.#options = options;
    this.#clock = clock;
    this.#settings = settingsOf(info);
    this.#hasNode = !isWithoutNode({ node, info });
    this.#reader = new NodeReader(node, {
      info,
      log,
      label,
      now: () => clock.now(),
      memory,
      onOutcome: this.onOutcome,
    });
    const { ttl } = timesOf(this.#settings, node.timeout);
    this.#poller = new Poller((poll) => this.#readAndPublish(poll), {
      ttl,
      now: () => clock.now().monotonic,
    });
    const pollEnd = () => this.#nextSnapshot();
    this.identityCheck = new IdentityCheck(node, this.#reader, this.#poller, pollEnd);
    const { hide = [] } = this.#settings;
    this.#log = new StateLog({ label, hide, memory: memory.log, log });
    this.#sightings = memory.sightings;
    this.onOutcome.add(() => {
      // The next poll publishes the value if the node has not been asked for a while.
      if (!this.#poller.isRunning && this.#fresh()) this.#publish().catch(onError);
    });
  }

  /** The last published snapshot, however old. */
  get latest(): Snapshot | undefined {
    return this.#published?.snapshot;
  }

  /** The keys of `/v1/info` whose values do not come from the node. */
  get externalKeys(): readonly string[] {
    return [
      ...Object.keys(this.#settings.static ?? {}),
      ...externalKeys(this.#reader.state.plan),
    ];
  }

  /** Waits for a node whose last response is old, but only for the node's timeout. */
  snapshot(): Snapshot | Promise<Snapshot> {
    const now = this.#clock.now().monotonic;
    if (now >= this.#poller.dueAt) this.#poller.startIfDue();
    return this.#fresh(now) ?? this.#nextSnapshot();
  }

  /**
   * Does not wait for a node that has been polled before. If the values are old, the snapshot says
   * so in `updated_at`, and the status is not `ok`.
   */
  snapshotNow(): Snapshot | Promise<Snapshot> {
    if (!this.#published) return this.snapshot();
    this.#poller.startIfDue();
    return this.#fresh() ?? this.#snapshotOf(this.#report());
  }

  /** Resolves when the running poll has ended, and all sources have responded. */
  async settled(): Promise<void> {
    await this.#poller.settled();
    await this.#reader.settled();
  }

  /** Returns the published snapshot unless it is too old to be repeated. */
  #fresh(now: number = this.#clock.now().monotonic): Snapshot | undefined {
    const published = this.#published;
    return published && now < published.until ? published.snapshot : undefined;
  }

  async #nextSnapshot(): Promise<Snapshot> {
    const overdueSince = await this.#poller.ended(this.#reader.state.timeout + SNAPSHOT_GRACE_MS);
    if (overdueSince !== undefined && this.#published) {
      this.#reader.state.markLate(this.#clock.now(), overdueSince);
      await this.#publish();
    }
    return this.#fresh() ?? await this.#snapshotOf(this.#report());
  }

  /**
   * Polls the node if its kind is unknown. Resolves to `undefined` if the kind remains unknown.
   */
  async findKind(): Promise<string | undefined> {
    if (this.#reader.isUnknown) await this.snapshotNow();
    return this.#node.kind;
  }

  /**
   * Polls the node if that is due, and a call says that its status may have changed.
   *
   * @param status of the response to the client
   */
  noteCall(status: number): void {
    const isBack = status < 400 && this.#poller.hasFailed;
    if (isBack || status === 502 || status === 504) this.#poller.startIfDue();
  }

  /** Polls the node if that is due, for no client. Resolves when the poll ends; never rejects. */
  async poll(): Promise<void> {
    this.#poller.startIfDue(true);
    await this.#poller.ended();
  }

  async inspect(): Promise<Inspection> {
    await this.poll();
    await this.#reader.settled();
    // The node's own responses may be old when those of a slow extra source come.
    if (!this.#fresh()) await this.poll();
    const { state: { outcomes }, detection } = this.#reader;
    const { evidence, status, info } = this.#report();
    return {
      detection,
      plan: evidence.plan,
      outcomes,
      status,
      info,
      ...softwareOf(evidence),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#poller.close();
    this.#node.close();
    await Promise.all([ended, this.#reader.settled()]);
  }

  async #readAndPublish(poll: Poll): Promise<PollResult> {
    try {
      const result = await this.#reader.read(poll);
      if (result !== "suspended" && !poll.signal.aborted) await this.#publish();
      return result;
    } catch (error) {
      this.#published = undefined;
      this.#options.onError(error);
      return "silent";
    }
  }

  async #publish(): Promise<void> {
    const report = this.#report();
    const { took, remarks } = this.#reader.state.review();
    const now = this.#clock.now();
    const { status, omitted, evidence: { plan } } = report;
    const news = this.#newsIn(report);
    this.#log.note({ status, news, omitted, remarks }, now.monotonic);
    const version = ++this.#versions;
    const snapshot = await this.#snapshotOf(report);
    // A snapshot that is finished late must not replace a newer snapshot.
    if (version <= (this.#published?.version ?? 0)) return;
    this.#published = { version, snapshot, until: report.until };
    this.onInfo.emit(snapshot.info, { took, columns: plan.history, ...now });
  }

  /** Returns what is new, unless the node did not respond. */
  #newsIn({ status, info, respondedAt, evidence: { reported, hasSaid } }: InfoReport) {
    if (status.status === "unreachable" || status.status === "stale") return undefined;
    const news = this.#sightings.note({ reported, hasSaid, info, date: respondedAt.date });
    if (news.changes.length > 0) this.onIdentity.emit();
    return { ...news, started_at: reported.started_at, respondedAt };
  }

  #snapshotOf({ info, evidence }: InfoReport): Promise<Snapshot> {
    const examples = readExamples(evidence.plan.examples, evidence.responses);
    return this.#snapshots.of(info, { examples, ...softwareOf(evidence) });
  }

  #report(): InfoReport {
    const report = this.#reader.report();
    const { status, infoValues: values, evidence: { oldest } } = report;
    const made = makeInfo({
      service: this.#options.service,
      hide: this.#settings.hide ?? [],
      values,
      status,
      hasNode: this.#hasNode,
      updatedAt: oldest?.date,
      lastSeen: status.status === "unreachable" ? this.#sightings.last : undefined,
    });
    return { ...report, ...made };
  }
}

const softwareOf = ({ values: { software, version } }: NodeReport["evidence"]) => ({
  software: textOf(software),
  version: textOf(version),
});
