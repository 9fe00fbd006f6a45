/**
 * The node's events, history and watch. The watch queries the node at regular intervals, so that a
 * failure is reported even if no client sends a request.
 *
 * @module
 */
import type { EventStream } from "../http/event-stream.ts";
import type { ServedRequest } from "../http/request.ts";
import { NodeEvents } from "../info/events.ts";
import { History } from "../info/history.ts";
import type { Monitor } from "../info/monitor.ts";
import { isAlone } from "../info/query-plan.ts";
import type { Status } from "../info/status.ts";
import { DEFAULTS, EVENT_DEFAULTS } from "../info/settings.ts";
import { milliseconds } from "../units.ts";
import type { ResolvedOptions } from "../options.ts";
import { HAS_SOCKETS } from "../platform.ts";

/** The longest interval between queries of the node while clients listen to its events. */
const LISTENED_MS = 2000;
/**
 * The longest interval between queries of a node that is not well, in milliseconds, so that one
 * that is well again is `ok` within three seconds even if no client sends a request. A node that
 * responds with a fault is queried less often: it may log each wrong password.
 */
const UNWELL_MS: Readonly<Partial<Record<Status, number>>> = {
  starting: 1000,
  stale: 1000,
  unreachable: 1000,
  degraded: 2000,
};

export class Live {
  readonly history: History | undefined;
  readonly #events: NodeEvents;
  readonly #monitor: Monitor;
  readonly #checkDescription: () => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  /** The interval between queries of the node, in milliseconds. */
  readonly #pace: number;
  #isHeard = false;
  #status: Status | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasEnded = false;

  /** @param checkDescription reads the description if it has changed */
  constructor(
    { node, info: source, events, memory, onError }: ResolvedOptions,
    monitor: Monitor,
    checkDescription: () => Promise<unknown>,
  ) {
    const info = typeof source === "function" ? {} : source;
    const { watch = "off", history = DEFAULTS.history, hide = [] } = info;
    const isWatched = watch !== "off" && HAS_SOCKETS && !isAlone(node, source);
    this.#pace = isWatched ? milliseconds(watch) : Infinity;
    this.#monitor = monitor;
    this.#checkDescription = checkDescription;
    this.#onError = onError;
    this.#events = new NodeEvents({
      listeners: events.listeners ?? EVENT_DEFAULTS.listeners,
      perAddress: events.per_address ?? EVENT_DEFAULTS.per_address,
      onListeners: (count) => {
        const isHeard = count > 0;
        if (isHeard === this.#isHeard) return;
        this.#isHeard = isHeard;
        this.#wait();
      },
    });
    if (history !== "off") {
      this.history = new History(milliseconds(history), hide, Date.now().toString(36), memory);
    }
    monitor.onInfo.add((info, measured) => {
      this.#events.take(info);
      this.history?.take(info, measured);
      if (info.status === this.#status) return;
      this.#status = info.status;
      this.#wait();
    });
    this.#wait();
  }

  get stream(): Pick<EventStream<string>, "listeners" | "sent"> {
    return this.#events.stream;
  }

  async open(request: Request, query: URLSearchParams): Promise<Response> {
    this.#events.begin((await this.#monitor.snapshotNow()).info);
    const { ip, findIp } = request as ServedRequest;
    const response = this.#events.stream.open(request, query, ip ?? findIp?.());
    this.#checkIfHeard();
    return response;
  }

  /** @param etag the tag of the description that is shown */
  describe(etag: string): void {
    this.#events.describe(etag);
  }

  endStreams(): void {
    this.#events.stream.endStreams();
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#events.stream.end();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const time = Math.min(
      this.#pace,
      this.#isHeard ? LISTENED_MS : Infinity,
      // Without a watch, nothing but requests and listeners causes a query.
      (this.#pace < Infinity && this.#status && UNWELL_MS[this.#status]) || Infinity,
    );
    if (time === Infinity || this.#hasEnded) return;
    const timer = setTimeout(async () => {
      // Preparing a large description takes longer than querying the node, so the watch does not
      // wait for it.
      this.#checkIfHeard();
      await this.#monitor.watch().catch(this.#onError);
      if (this.#timer === timer) this.#wait();
    }, time);
    this.#timer = timer;
    (timer as { unref?(): void }).unref?.();
  }

  #checkIfHeard(): void {
    if (this.#isHeard) this.#checkDescription().catch(this.#onError);
  }
}
