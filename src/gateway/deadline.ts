/**
 * When a call ends: for its client, and for the node.
 *
 * @module
 */
import { LightSignal, onAbort, type Signal } from "../abort-signal.ts";
import { CODES } from "../node/json-rpc.ts";
import { Refusal } from "./refusal.ts";

export class Deadline {
  /** Aborted when nobody waits for the response any more. */
  readonly clientSignal: LightSignal = new LightSignal();
  /** Aborted when the request to the node must end. */
  readonly nodeSignal: LightSignal = new LightSignal();
  isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #ignoreDisconnect: () => void;
  readonly #ignoreToken: (() => void) | undefined;

  /**
   * @param disconnectSignal is aborted when the client disconnects
   * @param token is aborted when the client may not call any more
   */
  constructor(disconnectSignal: Signal, token: Signal | undefined) {
    const abort = (reason: unknown) => this.clientSignal.abort(reason);
    this.#ignoreDisconnect = onAbort(disconnectSignal, abort);
    this.#ignoreToken = token && onAbort(token, abort);
  }

  /**
   * Starts the time limit. Most nodes do not notice that a client has left, so the request to the
   * node ends only then.
   *
   * @param timeout in milliseconds
   * @param isHeavy whether the request to the node ends after twice the time limit: most nodes
   * finish a heavy call even if the service disconnects
   */
  start(timeout: number, isHeavy: boolean): void {
    this.#timer = setTimeout(() => {
      this.isOver = true;
      const message = `The node did not finish its response within ${timeout / 1000} s`;
      const reason = new Refusal(504, CODES.tooLate, message);
      if (!isHeavy) return this.end(reason);
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
    this.#ignoreDisconnect();
    this.#ignoreToken?.();
  }
}
