/**
 * A subscription of a client, and its notifications.
 *
 * @module
 */
import type { ReadyCall } from "../gateway/send-calls.ts";
import { objectOf } from "../json/values.ts";
import type { Notification } from "./node-socket.ts";

/** The id of a subscription, as JSON text. */
export const SUBSCRIPTION_ID: RegExp = /^(?:"(?:[^"\\]|\\.){0,200}"|\d{1,20})$/;

export interface Subscription {
  /** The method of the notifications, if these are no further responses. */
  readonly notification: string | undefined;
  readonly once: boolean;
  readonly ends: readonly string[];
  /** The call that subscribed. */
  readonly call: ReadyCall;
  /** Whether the node has ended it. */
  hasEnded: boolean;
  /** The number of responses about it that are not sent yet. */
  holds: number;
  /** Notifications that wait for these responses. */
  readonly waiting: string[];
}

/** The longest last notification, in characters. */
const END_LENGTH_MAX = 4096;

/** Tells whether it is the last notification of its subscription. */
export function isEnd({ result }: Notification, { ends }: Subscription): boolean {
  if (ends.length === 0 || result === undefined || result.length > END_LENGTH_MAX) return false;
  const value: unknown = JSON.parse(result);
  const { event, ...others } = objectOf(value);
  return [value, event, ...event === undefined ? Object.keys(others) : []]
    .some((one) => typeof one === "string" && ends.includes(one));
}

/** A further response has the id that the client has chosen. */
export const textFor = ({ text, idPart }: Notification, { id = "null" }: ReadyCall): string =>
  idPart ? text.slice(0, idPart.start) + id + text.slice(idPart.end) : text;
