/**
 * The node as it goes on: its events, its history, and the watch that asks it although nobody else does.
 *
 * @module
 */
import { NodeEvents } from "../info/events.ts";
import { History, type Measured } from "../info/history.ts";
import { isAlone } from "../info/info-monitor.ts";
import type { Info } from "../info/info.ts";
import { DEFAULTS, EVENT_DEFAULTS, milliseconds } from "../info/settings.ts";
import { Watch } from "../info/watch.ts";
import type { ServedRequest } from "../http/request.ts";
import type { ResolvedOptions } from "../options.ts";
import { HAS_SOCKETS } from "../platform.ts";

export interface Live {
  /** `undefined` where the history is switched off. */
  readonly history: History | undefined;
  readonly listeners: number;
  /** The events that were sent, to all listeners together. */
  readonly sent: number;
  isHeard(): boolean;
  /** Takes what is known of the node, in order. */
  take(info: Info, measured?: Measured): void;
  open(request: Request, query: URLSearchParams): Promise<Response>;
  end(): void;
}

interface Watched {
  readonly look: () => Promise<void>;
  readonly readInfo: () => Promise<Info>;
  readonly readEtag: () => Promise<string>;
}

/** The shortest time between two looks at the description, in milliseconds. */
const DESCRIBE_MS = 10_000;

export function createLive(options: ResolvedOptions, watched: Watched): Live {
  const { node, events, onError } = options;
  const info = typeof options.info === "function" ? {} : options.info;
  const { watch = "off", history = DEFAULTS.history, hide = [] } = info;
  /** The time of the last look at the description, in milliseconds that only count up. */
  let describedAt = -Infinity;
  const describe = () => {
    if (nodeEvents.stream.listeners === 0 || performance.now() - describedAt < DESCRIBE_MS) return;
    describedAt = performance.now();
    watched.readEtag().then((etag) => nodeEvents.describe(etag)).catch(onError);
  };
  const look = async () => {
    // A large description takes longer than the node.
    describe();
    await watched.look();
  };
  const watching = new Watch({
    pace: watch === "off" || !HAS_SOCKETS || isAlone(node, options.info)
      ? undefined
      : milliseconds(watch),
    look: () => look().catch(onError),
  });
  const nodeEvents = new NodeEvents({
    listeners: events.listeners ?? EVENT_DEFAULTS.listeners,
    perAddress: events.per_address ?? EVENT_DEFAULTS.per_address,
    onListeners: (count) => watching.hear(count > 0),
  });
  const samples = history === "off"
    ? undefined
    : new History(milliseconds(history), hide, Date.now().toString(36));

  return {
    history: samples,
    get listeners() {
      return nodeEvents.stream.listeners;
    },
    get sent() {
      return nodeEvents.stream.sent;
    },
    isHeard: () => watching.isHeard,
    take(info, measured) {
      try {
        nodeEvents.take(info);
        if (measured) samples?.take(info, measured);
      } catch (error) {
        onError(error);
      }
    },
    async open(request, query) {
      nodeEvents.begin(await watched.readInfo());
      const response = nodeEvents.stream.open(request, query, (request as ServedRequest).ip);
      describe();
      return response;
    },
    end() {
      watching.end();
      nodeEvents.stream.end();
    },
  };
}
