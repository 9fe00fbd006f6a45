/**
 * Lets requests be answered while a large description is prepared.
 *
 * @module
 */

/** How long the work goes on without a pause, in milliseconds. */
const TURN = 20;

let since = 0;

/** Pauses where the work has gone on for long enough. */
export async function breathe(): Promise<void> {
  const now = Date.now();
  if (now - since < TURN) return;
  await new Promise((resolve) => setTimeout(resolve, 0));
  since = Date.now();
}
