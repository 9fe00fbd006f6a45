/**
 * The number of calls that a client may make in a minute.
 *
 * @module
 */
import { CODES } from "../node/json-rpc.ts";
import { invalidCall, Refusal } from "./refusal.ts";

const WINDOW_MS = 60_000;

/** A minute begins with the first call after the last minute. */
export class Quota {
  readonly perMinute: number;
  readonly #whose: string;
  #used = 0;
  #endsAt = -Infinity;

  /** @param whose the subject of the message that there were too many calls */
  constructor(perMinute: number, whose: string = "The client") {
    this.perMinute = perMinute;
    this.#whose = whose;
  }

  /**
   * Counts calls before they begin.
   *
   * @throws {Refusal} if there are more calls than the minute has left
   */
  count(calls: number): void {
    if (calls > this.perMinute) {
      throw invalidCall(`A batch of this client may have at most ${this.perMinute} calls`);
    }
    if (this.#left < calls) throw this.#tooMany();
    this.#used += calls;
  }

  /** A refusal if not even a refused call is left. */
  get refusal(): Refusal | undefined {
    return this.#left < 0.1 ? this.#tooMany() : undefined;
  }

  /**
   * Counts refused calls that `count` has not counted: each is a tenth of a call, or ten calls if
   * its token may have been guessed.
   */
  charge(refusal: unknown, calls: number = 1): void {
    this.#renew();
    this.#used += calls * (refusal instanceof Refusal && refusal.status === 401 ? 10 : 0.1);
  }

  /** Of draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4. */
  get headers(): Record<string, string> {
    const left = Math.max(0, Math.floor(this.#left));
    return {
      "ratelimit-policy": `"minute";q=${this.perMinute};w=60`,
      "ratelimit": `"minute";r=${left};t=${this.#seconds}`,
    };
  }

  get #seconds(): number {
    return Math.max(1, Math.ceil((this.#endsAt - performance.now()) / 1000));
  }

  get #left(): number {
    this.#renew();
    return this.perMinute - this.#used;
  }

  /** Begins the next minute if the last one is over. */
  #renew(): void {
    const now = performance.now();
    if (now < this.#endsAt) return;
    this.#used = 0;
    this.#endsAt = now + WINDOW_MS;
  }

  #tooMany(): Refusal {
    const message = `${this.#whose} may make ${this.perMinute} calls in a minute`;
    return new Refusal(429, CODES.limited, message, {
      headers: { "retry-after": String(this.#seconds) },
    });
  }
}
