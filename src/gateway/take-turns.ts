/**
 * Lets large contents be read one after the other, so that small ones are answered between them.
 *
 * @module
 */
/** What is read in less than about a millisecond, in bytes. */
const SMALL = 32_768;

let last: Promise<unknown> = Promise.resolve();

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/**
 * Reads a content: a large one after those that came before, and after a pause.
 *
 * @param size in bytes
 */
export function inTurn<T>(size: number, read: () => T | Promise<T>): T | Promise<T> {
  if (size <= SMALL) return read();
  const done = last.then(read);
  last = done.then(pause, pause);
  return done;
}
