/**
 * When a call ends: for its client, and for the node.
 *
 * @module
 */
import { LightSignal, onAbort, type Signal } from "../abort-signal.ts";
import { CODES } from "../node/json-rpc.ts";
import { Refusal } from "./refusal.ts";

/**
 * When the request to the node ends:
 *
 * - `in time`: after the time limit, but not if the client disconnects
 * - `late`: after twice the time limit, since most nodes finish a heavy call even if the service
 *   disconnects
 * - `with client`: after the time limit, or when the client disconnects
 */
type NodeEnd = "in time" | "late" | "with client";

interface Ends {
  /** Aborted when the client disconnects. */
  readonly gone: Signal;
  /** Aborted when the client may not call any more. */
  readonly token: Signal | undefined;
}

export class Deadline {
  /** Aborted when nobody waits for the response any more. */
  readonly clientSignal: LightSignal = new LightSignal();
  /** Aborted when the request to the node must end. */
  readonly nodeSignal: LightSignal;
  isOver = false;
  #timer: ReturnType<typeof setTimeout>;
  readonly #ignoreGone: () => void;
  readonly #ignoreToken: (() => void) | undefined;
  constructor({ gone, token }: Ends, timeout: number, nodeEnd: NodeEnd) {
    this.#ignoreGone = onAbort(gone, (reason) => this.clientSignal.abort(reason));
    this.#ignoreToken = token && onAbort(token, (reason) => this.clientSignal.abort(reason));
    this.nodeSignal = nodeEnd === "with client" ? this.clientSignal : new LightSignal();
    this.#timer = setTimeout(() => {
      this.isOver = true;
      const message = `The node did not finish its response within ${timeout / 1000} s`;
      const reason = new Refusal(504, CODES.tooLate, message, { isUncertain: true });
      if (nodeEnd !== "late") return this.end(reason);
      this.#timer = setTimeout(() => this.nodeSignal.abort(reason), timeout);
      this.clientSignal.abort(reason);
    }, timeout);
  }

  end(reason: unknown): void {
    this.clientSignal.abort(reason);
    this.nodeSignal.abort(reason);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#ignoreGone();
    this.#ignoreToken?.();
  }
}
