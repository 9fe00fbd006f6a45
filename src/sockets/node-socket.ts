/**
 * A WebSocket connection to the node, for the subscriptions of one client.
 *
 * @module
 */
import type { Connect, Peer, PeerEvents } from "../http/socket.ts";
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import { outcomeOf, RESPONSE_DEPTH_MAX, responseIn, type RpcOutcome } from "../node/json-rpc.ts";
import { writeCall } from "../node/rpc.ts";
import { pause } from "../slices.ts";
import { SourceError } from "../node/failures.ts";
import type { Node } from "../node/node.ts";

/** A message of the node that is no response to a call that waits for one. */
export interface Notification {
  /** Missing if the message is a further response. */
  readonly method?: string | undefined;
  /** The id of the subscription, or of the call, as JSON text. */
  readonly subscription: string;
  /** The whole message. */
  readonly text: string;
  /** The value that the notification is about, as JSON text; missing in an error. */
  readonly result: string | undefined;
  /** The place of the id of a further response. */
  readonly idPart?: Part | undefined;
}

interface PendingCall {
  readonly sentAt: number;
  resolve(outcome: RpcOutcome): void;
}

export interface NodeSocketOwner {
  /** Resolves when the next message may be read. */
  onNotification(notification: Notification): Promise<void>;
  /** The connection to the node has ended, and not because of `end`. */
  onNodeSocketEnd(): void;
  /** More of what the node has sent waits to be read, or less. */
  onUnread(): void;
}

/** The messages that may wait before reading stops, and the sum of their lengths. */
const UNREAD_MAX = 64, UNREAD_LENGTH_MAX = 65_536;

/** Control frames of the node, or of a client, in a second. */
export const CONTROLS_MAX = 20;

/** The time without any sign of life. */
const SILENCE_MS = 55_000;

const MEMBERS = /^(?:jsonrpc|id|method|params|subscription|result|error)$/;

export interface CallAtNode {
  readonly responding: Promise<RpcOutcome>;
  readonly callId: string;
}

export class NodeSocket implements PeerEvents {
  /** Whether the node was not told our secret. */
  readonly isAnonymous: boolean;
  owner: NodeSocketOwner | undefined;
  hasEnded = false;
  readonly #node: Node;
  readonly #timeout: number;
  #peer: Peer | undefined;
  readonly #calls = new Map<string, PendingCall>();
  readonly #unread: string[] = [];
  #unreadLength = 0;
  #heardAt = performance.now();
  /** When the client was last waited for. */
  #waitedAt = 0;
  #isReading = false;
  #controls = 0;
  #lastId = 0;

  /** @param timeout the time for a response, in milliseconds */
  constructor(node: Node, isAnonymous: boolean, timeout: number) {
    this.#node = node;
    this.isAnonymous = isAnonymous;
    this.#timeout = timeout;
  }

  static async open(
    node: Node,
    connect: Connect,
    isAnonymous: boolean,
    timeout: number,
  ): Promise<NodeSocket> {
    const nodeSocket = new NodeSocket(node, isAnonymous, timeout);
    nodeSocket.#peer = await node.connect(connect, isAnonymous, nodeSocket);
    return nodeSocket;
  }

  /** @param params JSON text */
  call(method: string, params: string | undefined): CallAtNode {
    const id = ++this.#lastId;
    const callId = String(id);
    if (this.hasEnded) return { callId, responding: Promise.resolve(ENDED) };
    this.#peer!.send(writeCall(method, id, params));
    const sentAt = performance.now();
    const responding = new Promise<RpcOutcome>((resolve) =>
      this.#calls.set(callId, { sentAt, resolve })
    );
    return { callId, responding };
  }

  /** The length of what the node has sent and nobody has read. */
  get unreadLength(): number {
    return this.#unreadLength + (this.#peer?.unfinishedBytes ?? 0);
  }

  ping(): void {
    this.#peer!.ping();
  }

  /** Called once a second. A node that does not respond is disconnected. */
  check(now: number): void {
    this.#controls = 0;
    // While the client is waited for, neither a response nor a sign of life can arrive.
    if (this.#isReading) this.#heardAt = this.#waitedAt = now;
    const [oldest] = this.#calls.values();
    const isLate = oldest && now - Math.max(oldest.sentAt, this.#waitedAt) > this.#timeout;
    if (isLate || now - this.#heardAt > SILENCE_MS) this.#peer!.terminate();
  }

  end(): void {
    this.owner = undefined;
    if (!this.hasEnded) this.#peer!.terminate();
  }

  onText(text: string): void {
    this.#heardAt = performance.now();
    this.#unread.push(text);
    this.#unreadLength += text.length;
    if (this.#unread.length > UNREAD_MAX || this.#unreadLength > UNREAD_LENGTH_MAX) {
      this.#peer!.pause();
    }
    this.owner?.onUnread();
    if (!this.#isReading) void this.#read();
  }

  onBinary(): void {
    this.#peer!.terminate();
  }

  onControl(): void {
    this.#heardAt = performance.now();
    // Each ping is answered, whether the node reads the answers or not.
    if (++this.#controls > CONTROLS_MAX) this.#peer?.terminate();
  }

  onClose(): void {
    this.hasEnded = true;
    if (this.owner) this.#node.noteLoss();
    // The client still gets what has arrived before.
    if (!this.owner || !this.#isReading) this.#finish();
  }

  #finish(): void {
    this.#unread.length = 0;
    for (const { resolve } of this.#calls.values()) resolve(ENDED);
    this.#calls.clear();
    this.owner?.onNodeSocketEnd();
  }

  /** Messages are read one after the other, so that they stay in order. */
  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      for (let text = this.#unread[0]; text !== undefined; text = this.#unread[0]) {
        const { members } = await this.#parse(text);
        this.#unread.shift();
        this.#unreadLength -= text.length;
        this.owner?.onUnread();
        await this.#receive(text, members);
        await pause("notifications");
      }
      this.#peer!.resume();
    } catch {
      // What is not JSON ends the connection.
      this.#peer!.terminate();
    }
    this.#isReading = false;
    if (this.hasEnded) this.#finish();
  }

  async #parse(text: string): Promise<Part> {
    const member = (name: string) => MEMBERS.test(name);
    const wanted = { levels: 2, member, duplicates: "refused-if-wanted" } as const;
    const check = () => {
      if (this.hasEnded && !this.owner) throw new Error("Nobody waits for this message");
    };
    return await readParts(text, wanted, RESPONSE_DEPTH_MAX, "notifications", check);
  }

  async #receive(text: string, members: Part["members"]): Promise<void> {
    const method = members?.get("method");
    if (method?.kind === "string") {
      const params = members!.get("params")?.members;
      const subscription = partText(text, params?.get("subscription"));
      if (subscription === undefined) return;
      return await this.owner?.onNotification({
        method: JSON.parse(textOfPart(text, method)),
        subscription,
        text,
        result: partText(text, params?.get("result")),
      });
    }
    const response = responseIn(text, { members });
    const { id = "", result } = response;
    const call = this.#calls.get(id);
    if (!call) {
      const idPart = members?.get("id");
      return await this.owner?.onNotification({ subscription: id, text, result, idPart });
    }
    this.#calls.delete(id);
    call.resolve(await outcomeOf(response));
    // The caller notes the subscription before its first notification is read.
    await Promise.resolve();
  }
}

const partText = (text: string, part: Part | undefined): string | undefined =>
  part && textOfPart(text, part);

const ENDED: RpcOutcome = {
  error: new SourceError("reset", "closed the connection"),
};
