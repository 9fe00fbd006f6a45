/**
 * The events of a node, made of one info after the other: what changed, each new head, each new state.
 *
 * @module
 */
import { EventStream, type EventStreamOptions } from "../http/event-stream.ts";
import { formatJson } from "../json/lossless.ts";
import { isEqual, isObject, type Json, mapMembers } from "../json/values.ts";
import type { Info } from "./info.ts";

/** The events that can be asked for; `snapshot` is always sent. */
export const EVENTS = ["info", "head", "status", "description"] as const;

type EventName = (typeof EVENTS)[number];

/** Names of members that change an object's prototype where a careless client applies a patch. */
const PROTOTYPES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export class NodeEvents {
  readonly stream: EventStream<EventName>;
  #taken: Info | undefined;
  #told: Json | undefined;
  /** The last height that was known: a node that is away for a while has none. */
  #height: Info["height"];
  #etag: string | undefined;

  constructor(options: Omit<EventStreamOptions<EventName>, "names" | "snapshot">) {
    const snapshot = () => this.#told ?? {};
    this.stream = new EventStream({ ...options, names: EVENTS, snapshot });
  }

  /** Begins to log what changes, if it has not begun: before somebody listens it is nobody's. */
  begin(info: Info): void {
    this.#taken ??= info;
    this.#told ??= comparable(this.#taken) as Json;
    this.#height ??= this.#taken.height;
  }

  take(info: Info): void {
    const before = this.#taken;
    this.#taken = info;
    if (!before || !this.#told || info === before) return;
    const next = comparable(info) as Json;
    const patch = patchBetween(this.#told, next);
    this.#told = next;
    if (patch !== undefined) this.stream.append("info", formatJson(patch));
    const { height, head_at, status, status_code, status_reason } = info;
    if (height !== undefined && height !== this.#height) {
      this.#height = height;
      this.stream.append("head", formatJson({ height, head_at }));
    }
    if (status !== before.status || status_code !== before.status_code) {
      const since = new Date().toISOString();
      this.stream.append("status", formatJson({ status, status_code, status_reason, since }));
    }
  }

  describe(etag: string): void {
    const before = this.#etag;
    this.#etag = etag;
    if (before !== undefined && etag !== before) {
      this.stream.append("description", formatJson({ etag }));
    }
  }
}

/**
 * Copies an info without what changes by itself, without a member that is `null`, which a patch cannot have, and
 * without what a careless client would choke on.
 */
function comparable(value: unknown, isTop = true): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item, false));
  if (!isObject(value)) return value;
  return mapMembers(value, (member, key) => {
    const isOmitted = member === null || PROTOTYPES.has(key) || (isTop && key === "updated_at");
    return isOmitted ? undefined : comparable(member, false);
  });
}

/** Makes the JSON Merge Patch (RFC 7396) from one value to another; `undefined` where they are equal. */
export function patchBetween(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) {
    return isEqual(before, after) ? undefined : after;
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
