/**
 * The events of a node: changes of its info object, latest block, status or description.
 *
 * @module
 */
import { EventStream, type EventStreamOptions } from "../http/event-stream.ts";
import { formatJson } from "../json/lossless.ts";
import { isEqual, isObject, type JsonObject, mapMembers } from "../json/values.ts";
import type { Info } from "./info.ts";

/** `snapshot` is not listed, since every client receives this event. */
export const EVENTS = ["info", "head", "status", "description"] as const;
type EventName = (typeof EVENTS)[number];

/**
 * The minimum time between snapshots. A snapshot is sent if a key has become `null`, which a JSON
 * Merge Patch cannot express.
 */
const SNAPSHOT_INTERVAL_MS = 10_000;

/** Keys that could change an object's prototype if a client applies a patch without checks. */
const PROTOTYPES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export class NodeEvents {
  readonly stream: EventStream<EventName>;
  readonly #now: () => number;
  #latest: Info | undefined;
  #published: JsonObject | undefined;
  /** Old values, which a new client is told first, until the node has been queried. */
  #old: JsonObject | undefined;
  /** Those that a client has been told. */
  #told: JsonObject | undefined;
  /** When the status was first what it is. */
  #since: string | undefined;
  #isBehind = false;
  #snapshotAt = -Infinity;
  #height: Info["height"];
  #etag: string | undefined;

  constructor(
    options: Omit<EventStreamOptions<EventName>, "names" | "snapshot">,
    now: () => number = () => performance.now(),
  ) {
    const snapshot = () => this.#takeSnapshot();
    this.stream = new EventStream({ ...options, names: EVENTS, snapshot });
    this.#now = now;
  }

  #takeSnapshot(): JsonObject {
    this.#told = this.#old;
    return this.#old ?? this.#published ?? {};
  }

  /** @param info what is known now, which may be old */
  begin(info: Info): void {
    // Those who listen already get what the next query returns.
    const isEmpty = this.stream.listeners === 0;
    // Old values are no news for a client that resumes.
    if (isEmpty && info.status_code === "outdated") this.#old ??= comparable(info);
    else if (isEmpty) this.note(info);
    this.#latest ??= info;
    this.#published ??= comparable(this.#latest);
    this.#height ??= this.#latest.height;
  }

  /** Must be called even if nothing has changed: a delayed snapshot may be due. */
  note(info: Info): void {
    const before = this.#latest;
    const { height, head_at, status, status_code, status_reason } = this.#latest = info;
    const hasNewStatus = status !== before?.status || status_code !== before?.status_code;
    if (hasNewStatus) this.#since = new Date().toISOString();
    const told = this.#told;
    this.#old = this.#told = undefined;
    if (!before || !this.#published || (info === before && !this.#isBehind && !told)) return;
    this.#tellChange(this.#published, comparable(info), told);
    if (height !== undefined && height !== this.#height) {
      this.#height = height;
      this.stream.append("head", formatJson({ height, head_at }));
    }
    if (hasNewStatus || told) {
      const since = this.#since;
      this.stream.append("status", formatJson({ status, status_code, status_reason, since }));
    }
  }

  /** @param version the value of `x-description-version` */
  tellDescription(etag: string, version: string): void {
    const before = this.#etag;
    this.#etag = etag;
    if (before !== undefined && etag !== before) {
      this.stream.append("description", formatJson({ etag, version }));
    }
  }

  /** @param old what other clients have */
  #tellChange(before: JsonObject, next: JsonObject, old: JsonObject | undefined): void {
    const own = patchBetween(before, next);
    const patch = old ? joinPatches(own, patchBetween(old, next)) : own;
    if (patch === undefined && !this.#isBehind) return;
    this.#published = next;
    if (!this.#isBehind && !holdsNull(patch, next)) {
      return this.stream.append("info", formatJson(patch));
    }
    const now = this.#now();
    this.#isBehind = now - this.#snapshotAt < SNAPSHOT_INTERVAL_MS;
    if (this.#isBehind) return;
    this.#snapshotAt = now;
    this.stream.append("snapshot", formatJson(next));
  }
}

function comparable(info: Info): JsonObject {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isObject(value)) return value;
    return mapMembers(value, (member, key) => PROTOTYPES.has(key) ? undefined : copy(member));
  };
  return copy(info) as JsonObject;
}

/** Returns a JSON Merge Patch (RFC 7396), or `undefined` if the values are equal. */
function patchBetween(before: unknown, after: unknown): unknown {
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

/** Joins two patches that lead to the same value. */
function joinPatches(one: unknown, other: unknown): unknown {
  if (!isObject(one) || !isObject(other)) return one === undefined ? other : one;
  return { ...other, ...mapMembers(one, (member, key) => joinPatches(member, other[key])) };
}

/**
 * Returns true if `patch` sets a key to `null`. A client would remove this key instead (RFC 7396).
 */
function holdsNull(patch: unknown, after: unknown): boolean {
  if (!isObject(patch) || !isObject(after)) return false;
  return Object.entries(patch).some(([key, member]) =>
    member === null ? Object.hasOwn(after, key) : holdsNull(member, after[key])
  );
}
