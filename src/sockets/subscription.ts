/**
 * A subscription of a client, and its notifications.
 *
 * @module
 */
import type { ReadyCall } from "../gateway/running-calls.ts";
import { objectOf } from "../json/values.ts";
import type { Notification } from "./node-socket.ts";

/** The id of a subscription, as JSON text. */
export const SUBSCRIPTION_ID: RegExp = /^(?:"(?:[^"\\]|\\.){0,200}"|\d{1,20})$/;

export class Subscription {
  readonly id: string;
  /** Whether the node has ended it. */
  hasEnded = false;
  readonly #call: ReadyCall;
  /** The number of responses about it that are not sent yet. */
  #holds = 0;
  /** Notifications that wait for these responses. */
  readonly #deferred: string[] = [];

  /** @param call the call that subscribed */
  constructor(id: string, call: ReadyCall) {
    this.id = id;
    this.#call = call;
  }

  /** Returns whether the notification is one of this subscription, and notes whether it ends. */
  accept({ method, result }: Notification): boolean {
    const { notification, ends = [] } = this.#call.entry.operation.subscription!;
    if (notification !== method) return false;
    if (isEnd(result, ends)) this.hasEnded = true;
    return true;
  }

  /** Returns the notification as the client gets it. */
  textOf({ text, idPart }: Notification): string {
    // A further response has the id that the client has chosen.
    const { id = "null" } = this.#call;
    return idPart ? text.slice(0, idPart.start) + id + text.slice(idPart.end) : text;
  }

  /** Tells whether a call of the method `unsubscribe` is to end this subscription. */
  isEndedBy(unsubscribe: string, params: string | undefined): boolean {
    const { entry: { operation: { subscription } }, params: own } = this.#call;
    if (subscription!.unsubscribe !== unsubscribe) return false;
    if (subscription!.notification === undefined) return own === params;
    // A regular expression would take quadratic time for long white space.
    return params?.startsWith("[") === true && params.slice(1, -1).trim() === this.id;
  }

  /** Lets notifications wait until `release` has been called as many times. */
  defer(): void {
    this.#holds++;
  }

  /** Keeps a notification that has to wait. Returns false if it can be sent at once. */
  keep(text: string): boolean {
    if (this.#holds === 0) return false;
    this.#deferred.push(text);
    return true;
  }

  /** Returns what can be sent now. */
  release(): string[] {
    return --this.#holds === 0 ? this.#deferred.splice(0) : [];
  }
}

/** The longest last notification, in characters. */
const END_LENGTH_MAX = 4096;

/** Tells whether it is the last notification of its subscription. */
function isEnd(result: string | undefined, ends: readonly string[]): boolean {
  if (ends.length === 0 || result === undefined || result.length > END_LENGTH_MAX) return false;
  const value: unknown = JSON.parse(result);
  const members = objectOf(value);
  const keys = Object.keys({ ...objectOf(members.value), ...members });
  return [value, ..."event" in members ? [members.event] : keys]
    .some((one) => typeof one === "string" && ends.includes(one));
}
