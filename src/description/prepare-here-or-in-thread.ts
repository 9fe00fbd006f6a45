/**
 * Prepares a description where that does the least harm: a small one here, a large one in a thread.
 *
 * @module
 */
import { formatSize, LIMITS } from "../openapi/limits.ts";
import { type File, ReadError } from "../openapi/files.ts";
import { type Prepare, prepare } from "./prepare.ts";

/**
 * The most that all files of a description may have together, in bytes, to be prepared in this thread. The
 * first one of this size makes requests wait for 60 ms (Node 20.20, Bun 1.4, before the code is compiled).
 */
const SMALL = 65_536;

/** What is thrown where a description turns out to be too large for this thread. */
class LargeDescription extends Error {}

/**
 * Makes what prepares descriptions.
 *
 * @param log is told, once, that there are no threads here
 */
export function createPrepare(log: (message: string) => void): Prepare {
  let hasThreads = true;
  return async (job, read) => {
    /** What was read before it was known how large the whole is. */
    const known = new Map<string, File | undefined>();
    let size = 0;
    const prepareHere = (limit: number, refuse: () => Error) => {
      size = 0;
      return prepare(job, async (url) => {
        const file = known.has(url.href) ? known.get(url.href) : await read(url);
        known.set(url.href, file);
        size += file?.bytes.length ?? 0;
        if (size > limit) throw refuse();
        return file;
      });
    };
    const here = await prepareHere(SMALL, () => new LargeDescription());
    if (size <= SMALL) return here;
    if (hasThreads) {
      const { prepareInThread } = await import("./prepare-in-thread.ts");
      const prepared = await prepareInThread(job, (url) => {
        const file = known.get(url.href);
        known.delete(url.href);
        return file ? Promise.resolve(file) : read(url);
      });
      if (prepared) return prepared;
      hasThreads = false;
      log(
        "this runtime starts no threads: a large description is prepared between requests, " +
          `and may have ${formatSize(LIMITS.withoutThread)}`,
      );
    }
    const most = `${formatSize(LIMITS.withoutThread)}, the most where there are no threads`;
    return await prepareHere(
      LIMITS.withoutThread,
      () => new ReadError(`all files are larger than ${most}`),
    );
  };
}
