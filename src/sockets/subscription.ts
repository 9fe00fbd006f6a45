/**
 * A subscription of a client, and its notifications.
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import type { ReadyCall } from "../gateway/sender.ts";
import { objectOf } from "../json/values.ts";
import type { SubscriptionMark } from "../kinds/interface.ts";
import { decodeUtf8 } from "../utf8.ts";
import type { Notification } from "./node-socket.ts";

/** The id of a subscription, as JSON text. */
export const SUBSCRIPTION_ID: RegExp = /^(?:"(?:[^"\\]|\\.){0,200}"|\d{1,20})$/;

export class Subscription {
  readonly id: string;
  /** Whether the node has ended it. */
  hasEnded = false;
  readonly #mark: SubscriptionMark;
  /** Of the call that subscribed, if notifications are further responses to it. */
  readonly #call: { readonly id: string; readonly params: string } | undefined;
  /** The number of responses about it that are not sent yet. */
  #holds = 0;
  /** Notifications that wait for these responses. */
  readonly #deferred: string[] = [];

  /** @param call the call that subscribed, of which only what is needed is kept */
  constructor(id: string, { entry: { operation }, id: callId = "null", params }: ReadyCall) {
    this.id = copyOf(id);
    this.#mark = operation.subscription!;
    this.#call = this.#mark.notification === undefined
      ? { id: copyOf(callId), params: valuesIn(params) }
      : undefined;
  }

  /** Returns whether the notification is one of this subscription, and notes whether it ends. */
  accept({ method, result }: Notification): boolean {
    const { notification, ends = [] } = this.#mark;
    if (notification !== method) return false;
    // A notification without a result is an error, after which none follows.
    if (result === undefined || isEnd(result, ends)) this.hasEnded = true;
    return true;
  }

  /** Returns the notification as the client gets it. */
  textOf({ text, idPart }: Notification): string {
    if (!idPart || !this.#call) return text;
    // A further response has the id that the client has chosen.
    return text.slice(0, idPart.start) + this.#call.id + text.slice(idPart.end);
  }

  /** Tells whether a call of the method `unsubscribe` is to end this subscription. */
  isEndedBy(unsubscribe: string, params: string | undefined): boolean {
    if (this.#mark.unsubscribe !== unsubscribe) return false;
    if (!isShortCall({ params })) return false;
    if (this.#call) return this.#call.params === valuesIn(params);
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

/** In characters. CometBFT takes queries of up to 512. */
const CALL_LENGTH_MAX = 4096;

/** Tells whether the id and the parameters of a call are short enough to be kept. */
export const isShortCall = ({ id = "", params = "" }: Pick<ReadyCall, "id" | "params">): boolean =>
  id.length + params.length <= CALL_LENGTH_MAX;

/** Returns the values of parameters, however a client writes them. */
const valuesIn = (params: string = "[]"): string =>
  JSON.stringify(Object.values(JSON.parse(params)));

/** A part of a text would keep the whole text in memory. */
const copyOf = (text: string): string => decodeUtf8(encodeText(text)) ?? "";

/** The longest last notification, in characters. */
const END_LENGTH_MAX = 4096;

/** Tells whether it is the last notification of its subscription. */
function isEnd(result: string, ends: readonly string[]): boolean {
  if (ends.length === 0 || result.length > END_LENGTH_MAX) return false;
  const value: unknown = JSON.parse(result);
  const members = objectOf(value);
  const keys = Object.keys({ ...objectOf(members.value), ...members });
  return [value, ..."event" in members ? [members.event] : keys]
    .some((one) => typeof one === "string" && ends.includes(one));
}
