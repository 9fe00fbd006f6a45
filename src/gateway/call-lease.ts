/**
 * What a call has while it is under way: a slot at the node, its time, its bytes, and the node's response. The slot is
 * free when the node is: a client who leaves takes nothing of the node's work away, since most nodes do not notice.
 *
 * @module
 */
import type { Credentials } from "../node/credentials.ts";
import type { Client, RequestContent } from "../node/http1.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { following, LightSignal, type Signal, withSignal } from "../with-timeout.ts";
import { createBudget, type Room, SMALL } from "./bytes-under-way.ts";
import { createPlaces, type Lane } from "./call-slots.ts";
import { callNode, type UpstreamAnswer, UpstreamError } from "./upstream.ts";

/** A slot at the node, for one call or for all of a batch: the time and the longest response are for all of them. */
export interface Lease {
  /**
   * Sends a call.
   *
   * @param operation whose secret it gets; a read may be sent again, as for {@linkcode callNode}
   * @param collect how much of the response is read before this resolves, in bytes
   * @throws {UpstreamError} if there is no response that can be passed on
   * @throws {DOMException} `TimeoutError` if the time is over
   */
  send(
    request: RequestContent,
    operation: NodeOperation,
    collect: number,
  ): Promise<UpstreamAnswer>;
  /** Gives back the slot if the node has said all; the bytes of the responses still count. May be called again. */
  readonly free: () => void;
  /** Lets go of the responses, and gives back the slot when the node has said all. May be called again. */
  readonly end: () => void;
}

/** Gives leases. */
export interface Leases {
  /**
   * Waits for a slot at the node.
   *
   * @param gone is aborted when the client leaves
   * @throws `NoPlace` if there is none
   */
  begin(lane: Lane, isHeavy: boolean, gone: Signal): Promise<Lease>;
  /** Room for the body of a call. */
  room(): Room;
  /** How many calls wait for a slot. */
  readonly waiting: number;
  /** Sends away who waits, and breaks off what still runs after some seconds; at once where nobody waits for it. */
  close(): void;
}

/** What leases are made of. */
export interface LeaseOptions {
  readonly client: Client;
  /** Gives the node's secret to calls of an operation, or none. */
  readonly credentials: (operation: NodeOperation) => Promise<Credentials>;
  /** Times and sizes, in milliseconds and bytes. */
  readonly timeout: number;
  readonly limit: number;
  readonly concurrency: number;
}

/** How long what is under way may take when the service ends, in milliseconds. */
const GRACE = 4000;

/** Makes what gives leases. */
export function createLeases(options: LeaseOptions): Leases {
  const { timeout, limit, concurrency } = options;
  const slots = createPlaces(concurrency);
  const budget = createBudget();
  /** Breaks off what is under way at the node; where nobody waits for it, or all. */
  const underWay = new Set<(isAll: boolean) => void>();
  let closing: ReturnType<typeof setTimeout> | undefined;

  const begin: Leases["begin"] = async (lane, isHeavy, gone) => {
    /** Is aborted when nobody waits any longer. */
    const client = following(gone);
    /** Is aborted when the node's response is not waited for either. */
    const node = new LightSignal();
    const room = budget.room();
    let giveBack = () => {};
    /** The response that the node has not ended. */
    let called: Promise<UpstreamAnswer> | undefined;
    /** What is left of the longest response, and what earlier responses of a batch hold. */
    let left = limit;
    let held = 0;
    let hasEnded = false;

    let isFree = false;

    const late = () => {
      // Who was given a response may have dropped it without a word.
      if (isFree) return room.end();
      const reason = new DOMException("The call takes too long", "TimeoutError");
      // What is heavy goes on at most nodes, whoever has left.
      if (isHeavy) timer = setTimeout(() => node.abort(reason), timeout);
      client.abort(reason);
      if (!isHeavy) node.abort(reason);
    };
    let timer = setTimeout(late, timeout);
    const breakOff = (isAll: boolean) => {
      if (!isAll && !client.aborted) return;
      const reason = new UpstreamError(503, "The service ends");
      client.abort(reason);
      node.abort(reason);
    };
    underWay.add(breakOff);
    const free = () => {
      isFree = true;
      giveBack();
      underWay.delete(breakOff);
      if (underWay.size === 0) clearTimeout(closing);
    };
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      const drop = (answer?: UpstreamAnswer) => {
        room.end();
        return answer?.drain();
      };
      const finish = () => {
        clearTimeout(timer);
        free();
      };
      if (called) return void called.then(drop, () => drop()).then(finish);
      room.end();
      finish();
    };
    try {
      giveBack = await slots.take(lane, isHeavy, client);
    } catch (error) {
      end();
      throw error;
    }
    client.addEventListener("abort", end);
    return {
      free: () => called ?? free(),
      end,
      async send(request, operation, collect) {
        const isRead = operation.access === "read";
        const given = await options.credentials(operation);
        if (client.aborted) throw client.reason;
        const purpose = lane === "token" ? (isRead ? "token" : "write") : "response";
        const grow = (received: number) => room.set(held + Math.max(received, SMALL), purpose);
        if (!room.set(held + SMALL, lane === "token" ? "token" : "response")) {
          throw new UpstreamError(503, "Too many bytes are under way", true);
        }
        const own = {
          client: options.client,
          credentials: given,
          limit: { all: limit, left },
          grow,
        };
        const signals = { left: client, node };
        called = callNode(own, request, isRead, Math.min(collect, left), signals);
        let answer: UpstreamAnswer | undefined;
        try {
          answer = await withSignal(called, client);
        } finally {
          if (answer?.isWhole ?? !client.aborted) called = undefined;
        }
        left -= answer.size;
        if (answer.isWhole) room.set(held += answer.received, purpose);
        return { ...answer, next: () => withSignal(answer.next(), client) };
      },
    };
  };

  return {
    begin,
    room: budget.room,
    get waiting() {
      return slots.waiting;
    },
    close() {
      slots.close();
      const breakOff = (isAll: boolean) => {
        for (const one of [...underWay]) one(isAll);
      };
      breakOff(false);
      if (underWay.size > 0) closing ??= setTimeout(() => breakOff(true), GRACE);
    },
  };
}
