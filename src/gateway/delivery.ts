/**
 * A long response that is sent to the client after the calls at the node have ended.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import type { HeldBytes } from "../http/response.ts";
import type { Budget, ReservedBytes } from "./budget.ts";
import type { Deadline } from "./deadline.ts";

/**
 * The bytes count against the budget until they are sent, or dropped because nobody waits for them.
 * After the time limit of its calls, a client may read on unless others need the memory.
 */
export class Delivery implements HeldBytes {
  readonly parts: readonly Bytes[];
  readonly release: () => void;
  drop: (reason: unknown) => void;
  constructor(
    parts: readonly Bytes[],
    bytes: ReservedBytes,
    deadline: Deadline,
    { overdue }: Pick<Budget, "overdue">,
  ) {
    const { clientSignal } = deadline;
    const drop = () => this.drop(clientSignal.reason);
    this.parts = parts;
    this.release = () => {
      overdue.delete(drop);
      bytes.dispose();
      deadline.dispose();
    };
    this.drop = this.release;
    clientSignal.addEventListener("abort", () => deadline.isOver ? overdue.add(drop) : drop());
  }
}
