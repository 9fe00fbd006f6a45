/**
 * Server-Sent Events (HTML Standard, section 9.2). All listeners read the same log of recent
 * events.
 *
 * @module
 */
import { onAbort } from "../abort-signal.ts";
import { type Bytes, encodeText, joinBytes } from "../bytes.ts";
import { formatJson } from "../json/lossless.ts";
import { createRunId } from "../run-id.ts";
import { unrefTimer } from "../with-timeout.ts";
import { disconnectSignalOf, type ServedRequest } from "./request.ts";
import { problemResponse } from "./problem.ts";
import { bareResponse } from "./response.ts";

const EVENTS_MAX = 256, BYTES_MAX = 1_048_576, AGE_MAX_MS = 3_600_000;

/**
 * A listener is disconnected if more than this many bytes wait to be sent. A single event may
 * exceed this limit.
 */
const WAITING_MAX = 65_536;

/** By default, `Bun.serve` closes a stream after 12 s of silence (Bun 1.4). */
export const COMMENT_INTERVAL_MS = 8000;

/**
 * The time after which a stream ends if the server may not tell that its client has left, as h3 1
 * does not. Clients connect again, and miss nothing.
 */
const UNWATCHED_MAX_MS = 3_600_000;

const POSITION = /^([0-9a-z]{1,16})-([0-9]{1,15})$/;

export const EVENT_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  // Middleware such as `compression` would hold back events, so it must not transform them.
  "cache-control": "no-store, no-transform",
  // Without this header, nginx buffers a few kB of events.
  "x-accel-buffering": "no",
};

export interface EventStreamOptions<Name extends string> {
  readonly names: readonly Name[];
  /**
   * Returns the whole state, for new listeners and to replace lost events. Must return the same
   * object until the state changes.
   */
  readonly snapshot: () => object;
  readonly listeners: number;
  readonly perAddress: number;
  readonly onListeners: (count: number) => void;
  /** Called with the number of events that are sent to a listener. */
  readonly onSent?: ((count: number) => void) | undefined;
}

interface LoggedEvent {
  readonly name: string;
  readonly bytes: Bytes;
  readonly at: number;
}

interface Listener {
  readonly names: ReadonlySet<string>;
  readonly client: string | undefined;
  /** When the stream ends, as `performance.now` tells the time. */
  readonly endsAt: number;
  sent: number;
  wantsMore: boolean;
  readonly controller: ReadableStreamDefaultController<Bytes>;
}

const COMMENT = encodeText(":\n\n");

export class EventStream<Name extends string> {
  readonly #options: EventStreamOptions<Name>;
  /** All ids of events begin with it. */
  #runId: string | undefined;
  readonly #listeners = new Set<Listener>();
  #events: LoggedEvent[] = [];
  #last = 0;
  #snapshot: { readonly of: object; readonly number: number; readonly bytes: Bytes } | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #hasEnded = false;

  constructor(options: EventStreamOptions<Name>) {
    this.#options = options;
  }

  get #forgotten(): number {
    return this.#last - this.#events.length;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** A `snapshot` contains the whole state, and is sent to every listener. */
  append(name: Name | "snapshot", json: string): void {
    const number = ++this.#last;
    const bytes = this.#write(name, json, number);
    this.#events.push({ name, bytes, at: performance.now() });
    this.#forget();
    for (const listener of this.#listeners) {
      try {
        if (listener.wantsMore) this.#feed(listener);
        else {
          const waiting = this.#waitingFor(listener);
          const isStuck = waiting.length > 1 && bytesIn(waiting) > WAITING_MAX;
          if (isStuck) this.#cut(listener);
        }
      } catch {
        // A listener's broken stream must not affect other listeners.
        this.#remove(listener);
      }
    }
  }

  #forget(): void {
    const now = performance.now();
    let bytes = bytesIn(this.#events);
    while (
      this.#events.length > EVENTS_MAX || bytes > BYTES_MAX ||
      now - (this.#events[0]?.at ?? now) > AGE_MAX_MS
    ) bytes -= this.#events.shift()!.bytes.byteLength;
  }

  open(request: ServedRequest, query: URLSearchParams, address: string | undefined): Response {
    const { names } = this.#options;
    const asked = query.getAll("events").flatMap((list) => list.split(","))
      .map((name) => name.trim());
    if (asked.some((name) => !(names as readonly string[]).includes(name))) {
      return problemResponse(400, `"events" must be a list of: ${names.join(", ")}`);
    }
    if (request.method === "HEAD") return bareResponse(200, EVENT_HEADERS);
    const client = address && clientAt(address);
    const obstacle = this.#obstacleFor(client);
    if (obstacle !== undefined) return problemResponse(503, obstacle, { "retry-after": "5" });
    const wanted = new Set([...asked.length > 0 ? asked : names, "snapshot"]);
    return bareResponse(200, EVENT_HEADERS, this.#streamFor(request, client, wanted));
  }

  /** Returns why a client cannot listen now. */
  #obstacleFor(client: string | undefined): string | undefined {
    const { listeners, perAddress } = this.#options;
    if (this.#hasEnded) return "These events have ended; ask for them again";
    if (this.#listeners.size >= listeners) return "Too many listeners";
    const ofClient = [...this.#listeners].filter((each) => each.client === client);
    return client !== undefined && ofClient.length >= perAddress
      ? "Too many listeners from this address"
      : undefined;
  }

  #streamFor(
    request: ServedRequest,
    client: string | undefined,
    names: ReadonlySet<string>,
  ): ReadableStream<Bytes> {
    const from = this.#positionOf(request.headers.get("last-event-id"));
    let listener: Listener;
    return new ReadableStream({
      start: (controller) => {
        listener = {
          client,
          controller,
          endsAt: request.disconnectSignal || request.signalTellsDisconnect
            ? Infinity
            : performance.now() + UNWATCHED_MAX_MS,
          wantsMore: false,
          sent: from ?? this.#last,
          names,
        };
        controller.enqueue(encodeText(writeRetry()));
        if (from === undefined) this.#enqueue(listener, this.#whole());
        this.#add(listener);
        onAbort(disconnectSignalOf(request), () => this.#remove(listener));
      },
      pull: () => {
        listener.wantsMore = true;
        this.#feed(listener);
      },
      cancel: () => this.#remove(listener),
    }, { highWaterMark: 0 });
  }

  end(): void {
    this.#hasEnded = true;
    this.endStreams();
  }

  /** Ends the streams of all listeners, who may open new ones. */
  endStreams(): void {
    for (const listener of this.#listeners) this.#cut(listener);
  }

  #add(listener: Listener): void {
    this.#listeners.add(listener);
    if (!this.#timer) {
      this.#timer = setInterval(() => {
        for (const listener of this.#listeners) {
          if (performance.now() > listener.endsAt) this.#cut(listener);
          else if (listener.wantsMore) this.#enqueue(listener, COMMENT, 0);
        }
      }, COMMENT_INTERVAL_MS);
      unrefTimer(this.#timer);
    }
    this.#options.onListeners(this.#listeners.size);
  }

  #remove(listener: Listener): void {
    if (!this.#listeners.delete(listener)) return;
    if (this.#listeners.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#options.onListeners(this.#listeners.size);
  }

  #cut(listener: Listener): void {
    this.#remove(listener);
    try {
      listener.controller.close();
    } catch {
      // The stream has failed.
    }
  }

  #feed(listener: Listener): void {
    if (listener.sent < this.#forgotten) {
      listener.sent = this.#last;
      return this.#enqueue(listener, this.#whole());
    }
    const waiting = this.#waitingFor(listener);
    listener.sent = this.#last;
    if (waiting.length === 0) return;
    const parts = waiting.map(({ bytes }) => bytes);
    this.#enqueue(listener, parts.length === 1 ? parts[0]! : joinBytes(parts), parts.length);
  }

  #enqueue(listener: Listener, bytes: Bytes, count = 1): void {
    listener.wantsMore = false;
    this.#options.onSent?.(count);
    listener.controller.enqueue(bytes);
  }

  #waitingFor({ sent, names }: Listener): readonly LoggedEvent[] {
    return this.#after(sent).filter(({ name }) => names.has(name));
  }

  #after(number: number): readonly LoggedEvent[] {
    return this.#events.slice(Math.max(0, number - this.#forgotten));
  }

  /** Returns `undefined` if the listener needs a snapshot. */
  #positionOf(id: string | null): number | undefined {
    this.#forget();
    const [, log, number] = POSITION.exec(id ?? "") ?? [];
    const at = Number(number);
    if (log !== this.#runId || !(at >= this.#forgotten && at <= this.#last)) return undefined;
    return bytesIn(this.#after(at)) <= WAITING_MAX ? at : undefined;
  }

  #whole(): Bytes {
    const [of, number] = [this.#options.snapshot(), this.#last];
    if (this.#snapshot?.of !== of || this.#snapshot.number !== number) {
      this.#snapshot = { of, number, bytes: this.#write("snapshot", formatJson(of), number) };
    }
    return this.#snapshot.bytes;
  }

  #write(name: Name | "snapshot", json: string, number: number): Bytes {
    this.#runId ??= createRunId();
    return encodeText(writeEvent(json, `event: ${name}\nid: ${this.#runId}-${number}\n`));
  }
}

/**
 * U+2028 and U+2029 are escaped, since some clients treat them as line ends.
 *
 * @param fields the lines before the data
 */
export function writeEvent(json: string, fields: string = ""): string {
  const line = json.replace(/[\r\n]+/g, " ")
    .replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  return `${fields}data: ${line}\n\n`;
}

/** Tells clients when to connect again, not all of them at once. */
export const writeRetry = (): string => `retry: ${2000 + Math.floor(Math.random() * 3000)}\n\n`;

const bytesIn = (events: readonly LoggedEvent[]): number =>
  events.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);

/** An IPv6 client may use any address in its /64 prefix. */
function clientAt(address: string): string {
  const [, mapped] = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address) ?? [];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [start = [], end] = address.split("::")
    .map((part) => part.split(":").filter(Boolean).map((group) => parseInt(group, 16)));
  const left = end ? Array(Math.max(0, 8 - start.length - end.length)).fill(0) : [];
  return [...start, ...left, ...end ?? []].slice(0, 4).join(":");
}
