/**
 * Finds out before a call whether the expected node is at the address: see `node.expect`.
 *
 * @module
 */
import { clauseOf } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import type { NodeReader } from "./node-reader.ts";
import type { Poller } from "./poller.ts";

/** The number of polls that a call may wait for while connections are lost. */
const POLLS_MAX = 3;

export class IdentityCheck {
  readonly #node: Node;
  readonly #reader: NodeReader;
  readonly #poller: Poller;
  readonly #pollEnd: () => Promise<unknown>;
  /** @param pollEnd resolves when the running poll has ended, or has taken too long */
  constructor(
    node: Node,
    reader: NodeReader,
    poller: Poller,
    pollEnd: () => Promise<unknown>,
  ) {
    this.#node = node;
    this.#reader = reader;
    this.#poller = poller;
    this.#pollEnd = pollEnd;
  }

  /**
   * Resolves to the reason why the node must not be called: it is not the expected one, or that
   * cannot be told from a poll that is at most `ttl` old and began after the last loss of a
   * connection. Resolves to `undefined` if it may.
   */
  async reasonAgainstCalls(): Promise<string | undefined> {
    if (!this.#node.isExpected) return undefined;
    await this.#pollUntilCertain();
    const { status, evidence: { differences } } = this.#reader.report();
    if (status.code === "wrong_network") {
      return `The node is not the expected one: ${status.reason}`;
    }
    // Another status may come before that of a wrong network.
    if (differences.some(({ actual }) => actual !== undefined)) {
      return "The node is not the expected one";
    }
    // What a poll has just told is not too old, however long the poll took.
    if (differences.length === 0 && this.#reader.hasIdentity) return undefined;
    const why = status.reason === undefined ? "" : `: it ${clauseOf(status.reason)}`;
    return `The identity of the node is not known${why}`;
  }

  async #pollUntilCertain(): Promise<void> {
    // A poll that began before the loss may tell of the node that was there before.
    if (this.#reader.mayBeReplaced && this.#poller.isRunning) await this.#pollEnd();
    if (!this.#reader.isIdentityCurrent) await this.#poll();
    // Some nodes close each connection after their response, so that doubt remains.
    for (let polls = 0; polls < POLLS_MAX && this.#reader.mayBeReplaced; polls++) {
      await this.#poll();
    }
  }

  async #poll(): Promise<void> {
    if (this.#reader.mayBeReplaced) this.#poller.makeDueUnlessFailed();
    this.#poller.startIfDue();
    await this.#pollEnd();
  }
}
