/**
 * The slots of calls at the node, and the queues of calls that wait for one. Each named client is
 * one share, and all callers without a token are one. While several shares make calls, each has an
 * equal part of the slots and of each turn of the event loop, so that a client that floods the
 * service waits for itself.
 *
 * @module
 */
import type { Signal } from "../abort-signal.ts";
import { CODES } from "../node/json-rpc.ts";
import { LATER, Refusal, STOPPING, TOKEN_ENDED } from "./refusal.ts";

/** The number of queued calls of a share. */
const QUEUE_MAX = 1000;
const WAIT_MAX_MS = 15_000;
/** The time for which a node that is busy is asked less. */
const BUSY_MS = 5000;
/** A share makes calls for this time after its last one. */
const ACTIVE_MS = 5000;
/** The interval in which the slots are divided among the shares that make calls. */
const DIVIDING_MS = 1000;
/**
 * While several shares make calls, each begins so many in a turn of the event loop. The others wait
 * for the end of the turn, which a flood would make longer than any call.
 */
const PER_TURN = 2;

const NO_SLOT = new Refusal(503, CODES.busy, "Too many calls are waiting for the node", {
  headers: LATER,
});

/** Why a call whose signal has been aborted gets no slot. */
const reasonOf = ({ reason }: Signal): Refusal => reason === TOKEN_ENDED ? TOKEN_ENDED : NO_SLOT;

/** A call that waits for a slot. */
class QueuedCall {
  readonly share: Share;
  readonly isHeavy: boolean;
  /** The number of calls that the slot is for. */
  readonly calls: number;
  readonly slot: Promise<Slot>;
  start!: (slot: Slot) => void;
  refuse!: (reason: Refusal) => void;
  constructor(share: Share, isHeavy: boolean, calls: number) {
    this.share = share;
    this.isHeavy = isHeavy;
    this.calls = calls;
    this.slot = new Promise((start, refuse) => {
      this.start = start;
      this.refuse = refuse;
    });
  }
}

/** Whoever calls the node: a client with a name, or all callers without a token. */
export interface CallingClient {
  /** The name in the log and in metrics. */
  readonly name: string;
  /** The largest number of slots that the client may have. */
  readonly concurrency?: number | undefined;
}

/** All callers without a token. */
export const ANONYMOUS: CallingClient = { name: "anonymous" };

/** The slots of a client, and the queue of its calls. */
interface Share {
  readonly max: number;
  readonly queue: Set<QueuedCall>;
  taken: number;
  /** The number of calls that have begun in this turn of the event loop. */
  begun: number;
  calledAt: number;
}

export interface Slot {
  /** Gives the slot back. Repeated calls have no effect. */
  dispose(): void;
}

/** Divides the slots, and the turns of the event loop, among the shares that make calls. */
class FairShares {
  readonly #shares: ReadonlyMap<CallingClient, Share>;
  readonly #onTurn: () => void;
  /** The slots of each share; `undefined` while one share alone makes calls. */
  #slotsEach: number | undefined;
  #dividedAt = -Infinity;
  #hasTurn = false;
  constructor(shares: ReadonlyMap<CallingClient, Share>, onTurn: () => void) {
    this.#shares = shares;
    this.#onTurn = onTurn;
  }

  /** Divides the slots anew, if the share was idle or some time has passed. */
  noteCall(share: Share, count: number): void {
    const now = performance.now();
    const isNew = now - share.calledAt > ACTIVE_MS;
    share.calledAt = now;
    if (!isNew && now - this.#dividedAt < DIVIDING_MS) return;
    this.#dividedAt = now;
    const active = [...this.#shares.values()].filter((one) => now - one.calledAt < ACTIVE_MS);
    // A heavy call leaves a slot for a light one.
    const each = Math.max(2, Math.floor(count / active.length));
    this.#slotsEach = active.length > 1 ? each : undefined;
  }

  mayBegin({ taken, begun }: Share): boolean {
    return this.#slotsEach === undefined || (taken < this.#slotsEach && begun < PER_TURN);
  }

  /**
   * Returns the number of slots that calls of the share take which begin together. A batch keeps
   * the node busy for as long as its calls do one by one.
   */
  sizeOf(calls: number, { taken }: Share): number {
    return this.#slotsEach === undefined ? 1 : Math.min(calls, this.#slotsEach - taken);
  }

  /** Call this when a call of the share begins. */
  noteBegin(share: Share): void {
    if (this.#slotsEach === undefined) return;
    share.begun++;
    if (this.#hasTurn) return;
    this.#hasTurn = true;
    // Not `nextTurn`, which waits for the work of others.
    setTimeout(() => {
      this.#hasTurn = false;
      for (const share of this.#shares.values()) share.begun = 0;
      this.#onTurn();
    });
  }
}

export class Slots {
  /** The number of calls that the node can handle at once. */
  count: number;
  readonly #isHalved: boolean;
  readonly #shares = new Map<CallingClient, Share>();
  readonly #fairShares = new FairShares(this.#shares, () => this.#startNext());
  /** The shares with queued calls, in the order of their turns. */
  readonly #queued = new Set<Share>();
  #taken = 0;
  #hasHeavy = false;
  #busyUntil = 0;
  #isClosed = false;
  /** @param isHalved true if a client may have at most half of the slots at any time */
  constructor(count: number, isHalved: boolean = false) {
    this.count = count;
    this.#isHalved = isHalved;
  }

  get queuedCalls(): number {
    return [...this.#queued].reduce((sum, { queue }) => sum + queue.size, 0);
  }

  /** While the node is busy, a quarter of the slots is used. */
  noteBusy(isBusy: boolean): void {
    this.#busyUntil = isBusy ? performance.now() + BUSY_MS : 0;
  }

  /**
   * @param calls the number of calls that the slot is for
   * @throws {Refusal} if no slot becomes free
   */
  async acquire(
    client: CallingClient,
    isHeavy: boolean,
    signal: Signal,
    calls: number,
  ): Promise<Slot> {
    if (this.#isClosed) throw STOPPING;
    if (signal.aborted) throw reasonOf(signal);
    const share = this.#shareOf(client);
    this.#fairShares.noteCall(share, this.count);
    if (this.#queued.size > 0) this.#startNext();
    if (this.#isFree(share, isHeavy)) return this.#give(share, isHeavy, calls);
    if (share.queue.size >= QUEUE_MAX) throw NO_SLOT;
    const call = new QueuedCall(share, isHeavy, calls);
    share.queue.add(call);
    this.#queued.add(share);
    const refuse = () => this.#refuse(call, reasonOf(signal));
    const timer = setTimeout(refuse, WAIT_MAX_MS);
    signal.addEventListener("abort", refuse);
    try {
      return await call.slot;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", refuse);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { queue } of [...this.#queued]) {
      for (const call of [...queue]) this.#refuse(call, STOPPING);
    }
  }

  #shareOf(client: CallingClient): Share {
    const known = this.#shares.get(client);
    if (known) return known;
    const { concurrency: max = Infinity } = client;
    const share = { max, queue: new Set<QueuedCall>(), taken: 0, begun: 0, calledAt: -Infinity };
    this.#shares.set(client, share);
    return share;
  }

  #startNext(): void {
    for (let call = this.#next(); call; call = this.#next()) {
      this.#dequeue(call);
      call.start(this.#give(call.share, call.isHeavy, call.calls));
    }
  }

  #refuse(call: QueuedCall, reason: Refusal): void {
    this.#dequeue(call);
    call.refuse(reason);
  }

  #dequeue(call: QueuedCall): void {
    const { share } = call;
    share.queue.delete(call);
    if (share.queue.size === 0) this.#queued.delete(share);
  }

  /** The share with the fewest slots comes first. */
  #next(): QueuedCall | undefined {
    let first: [Share, QueuedCall] | undefined;
    for (const share of this.#queued) {
      const found = this.#nextOf(share);
      if (found && (!first || share.taken < first[0].taken)) first = [share, found];
    }
    if (!first) return undefined;
    const [share, call] = first;
    this.#queued.delete(share);
    this.#queued.add(share);
    return call;
  }

  /** A heavy call that must wait does not block the calls behind it. */
  #nextOf(share: Share): QueuedCall | undefined {
    for (const call of share.queue) {
      if (this.#isFree(share, call.isHeavy)) return call;
      if (!call.isHeavy) return undefined;
    }
    return undefined;
  }

  /** A share that has no slot may use one beyond the count, so that it need not wait for others. */
  #isFree(share: Share, isHeavy: boolean): boolean {
    if (isHeavy && this.#hasHeavy) return false;
    if (share.taken >= share.max) return false;
    if (this.#isHalved && share.taken >= this.count / 2) return false;
    if (!this.#fairShares.mayBegin(share)) return false;
    const isBusy = performance.now() < this.#busyUntil;
    const count = isBusy ? Math.ceil(this.count / 4) : this.count;
    return this.#taken < (share.taken === 0 && this.#shares.size > 1 ? count + 1 : count);
  }

  #give(share: Share, isHeavy: boolean, calls: number): Slot {
    const size = Math.min(this.#fairShares.sizeOf(calls, share), share.max - share.taken);
    this.#taken += size;
    share.taken += size;
    if (isHeavy) this.#hasHeavy = true;
    this.#fairShares.noteBegin(share);
    let isFree = false;
    const dispose = () => {
      if (isFree) return;
      isFree = true;
      this.#taken -= size;
      share.taken -= size;
      if (isHeavy) this.#hasHeavy = false;
      this.#startNext();
    };
    return { dispose };
  }
}
