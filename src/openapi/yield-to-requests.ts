/**
 * Lets requests be answered while a large description is prepared.
 *
 * @module
 */

/** How long the work goes on without a pause, in milliseconds. */
const TURN = 20;

let since = 0;

/** Whether the work has gone on for long enough. To ask costs less than to wait for nothing. */
export function isDue(): boolean {
  return Date.now() - since >= TURN;
}

/** Pauses where the work has gone on for long enough. */
export async function breathe(): Promise<void> {
  if (!isDue()) return;
  await new Promise((resolve) => setTimeout(resolve, 0));
  since = Date.now();
}
