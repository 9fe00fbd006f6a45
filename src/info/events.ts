/**
 * The events of a node, made of one info after the other: what changed, each new head, each new state.
 *
 * @module
 */
import { EventStream, type EventStreamOptions } from "../http/event-stream.ts";
import { formatJson } from "../json/lossless.ts";
import { isObject, type Json } from "../json/values.ts";
import type { Info } from "./info.ts";

/** The events that can be asked for; `snapshot` is always sent. */
export const EVENTS = ["info", "head", "status", "description"] as const;

type EventName = (typeof EVENTS)[number];

/** A node that puts a `null` in and out would make each event a whole info: at most one in this time, in ms. */
const SNAPSHOT_INTERVAL_MS = 10_000;

/** Names of members that change an object's prototype where a careless client applies a patch. */
const PROTOTYPES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export class NodeEvents {
  readonly stream: EventStream<EventName>;
  #taken: Info | undefined;
  /** The info as all listeners know it. */
  #told: Json | undefined;
  /** The last time at which it was told as a whole, in milliseconds that only count up. */
  #toldWhole = -Infinity;
  #etag: string | undefined;

  constructor(options: Omit<EventStreamOptions<EventName>, "names" | "snapshot">) {
    const snapshot = () => formatJson(this.#told ?? {});
    this.stream = new EventStream({ ...options, names: EVENTS, snapshot });
  }

  /** Begins to log what changes, if it has not begun: before somebody listens it is nobody's. */
  begin(info: Info): void {
    this.#taken ??= info;
    this.#told ??= comparable(this.#taken) as Json;
  }

  /** Takes an info, and tells what is new in it. */
  take(info: Info): void {
    const before = this.#taken;
    this.#taken = info;
    if (!before || !this.#told || info === before) return;
    this.#tellChange(this.#told, comparable(info) as Json);
    const { height, head_at, status, status_code, status_reason } = info;
    if (height !== undefined && height !== before.height) {
      this.stream.append("head", formatJson({ height, head_at }));
    }
    if (status !== before.status || status_code !== before.status_code) {
      const since = new Date().toISOString();
      this.stream.append("status", formatJson({ status, status_code, status_reason, since }));
    }
  }

  /** Takes the validator of `/spec.json`, and tells where it is another. */
  describe(etag: string): void {
    const before = this.#etag;
    this.#etag = etag;
    if (before !== undefined && etag !== before) {
      this.stream.append("description", formatJson({ etag }));
    }
  }

  #tellChange(told: Json, next: Json): void {
    const patch = patchBetween(told, next);
    if (patch === undefined) return;
    const isWhole = holdsNull(patch, next);
    if (isWhole) {
      const now = performance.now();
      // What is not told now is part of the next change.
      if (now - this.#toldWhole < SNAPSHOT_INTERVAL_MS) return;
      this.#toldWhole = now;
    }
    this.#told = next;
    this.stream.append(isWhole ? "snapshot" : "info", formatJson(isWhole ? next : patch));
  }
}

/** Copies an info without what changes by itself, and without what a careless client would choke on. */
function comparable(value: unknown, isTop = true): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item, false));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) =>
        member !== undefined && !PROTOTYPES.has(key) && !(isTop && key === "updated_at")
      )
      .map(([key, member]) => [key, comparable(member, false)]),
  );
}

/** Makes the JSON Merge Patch (RFC 7396) from one value to another; `undefined` where they are equal. */
export function patchBetween(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) {
    return formatJson(before) === formatJson(after) ? undefined : after;
  }
  const patch: [string, unknown][] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const isGone = !Object.hasOwn(after, key);
    const member = isGone
      ? null
      : Object.hasOwn(before, key)
      ? patchBetween(before[key], after[key])
      : after[key];
    if (member !== undefined) patch.push([key, member]);
  }
  return patch.length > 0 ? Object.fromEntries(patch) : undefined;
}

/** Tells whether a patch has a `null` that is a value: it would take the member away. */
function holdsNull(patch: unknown, after: unknown): boolean {
  if (!isObject(patch) || !isObject(after)) return false;
  return Object.entries(patch).some(([key, member]) =>
    member === null ? Object.hasOwn(after, key) : holdsNull(member, after[key])
  );
}
