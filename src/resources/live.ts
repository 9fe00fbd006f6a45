/**
 * The node's events, history and watch. The watch queries the node at regular intervals, so that a failure is reported
 * even if no client sends a request.
 *
 * @module
 */
import type { EventStream } from "../http/event-stream.ts";
import type { ServedRequest } from "../http/request.ts";
import { NodeEvents } from "../info/events.ts";
import { History } from "../info/history.ts";
import { isAlone } from "../info/query-plan.ts";
import type { Monitor } from "../info/info-monitor.ts";
import { DEFAULTS, EVENT_DEFAULTS, milliseconds } from "../info/settings.ts";
import type { ResolvedOptions } from "../options.ts";
import { HAS_SOCKETS } from "../platform.ts";

export interface Live {
  readonly history: History | undefined;
  readonly stream: Pick<EventStream<string>, "listeners" | "sent">;
  open(request: Request, query: URLSearchParams): Promise<Response>;
  end(): void;
}

interface Watched {
  readonly monitor: Monitor;
  readonly readEtag: () => Promise<string>;
}

/** The longest interval between queries of the node while clients listen to its events. */
const LISTENED_MS = 2000;
/** The shortest interval between checks for a changed description. */
const DESCRIBE_MS = 10_000;

export function createLive(options: ResolvedOptions, { monitor, readEtag }: Watched): Live {
  const { node, events, onError } = options;
  const info = typeof options.info === "function" ? {} : options.info;
  const { watch = "off", history = DEFAULTS.history, hide = [] } = info;
  const isWatched = watch !== "off" && HAS_SOCKETS && !isAlone(node, options.info);
  const pace = isWatched ? milliseconds(watch) : Infinity;
  let isHeard = false;
  let hasEnded = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let describedAt = -Infinity;
  const describe = () => {
    if (nodeEvents.stream.listeners === 0 || performance.now() - describedAt < DESCRIBE_MS) return;
    describedAt = performance.now();
    readEtag().then((etag) => nodeEvents.describe(etag)).catch(onError);
  };
  const wait = () => {
    clearTimeout(timer);
    const time = isHeard ? Math.min(pace, LISTENED_MS) : pace;
    if (time === Infinity || hasEnded) return;
    const own = timer = setTimeout(async () => {
      // Preparing a large description takes longer than querying the node, so the watch does not wait for it.
      describe();
      await monitor.look().catch(onError);
      if (timer === own) wait();
    }, time);
    (timer as { unref?(): void }).unref?.();
  };
  const nodeEvents = new NodeEvents({
    listeners: events.listeners ?? EVENT_DEFAULTS.listeners,
    perAddress: events.per_address ?? EVENT_DEFAULTS.per_address,
    onListeners(count) {
      const wasHeard = isHeard;
      monitor.isHeard = isHeard = count > 0;
      if (isHeard !== wasHeard) wait();
    },
  });
  const samples = history === "off"
    ? undefined
    : new History(milliseconds(history), hide, Date.now().toString(36), options.memory);
  monitor.onInfo.add((info, measured) => {
    nodeEvents.take(info);
    samples?.take(info, measured);
  });
  wait();
  return {
    history: samples,
    stream: nodeEvents.stream,
    async open(request, query) {
      nodeEvents.begin((await monitor.get()).info);
      const { ip, findIp } = request as ServedRequest;
      const response = nodeEvents.stream.open(request, query, ip ?? findIp?.());
      describe();
      return response;
    },
    end() {
      hasEnded = true;
      clearTimeout(timer);
      nodeEvents.stream.end();
    },
  };
}
