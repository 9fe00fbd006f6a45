/**
 * The order in which files are read. Each reading blocks one of Node's four threads, for as long as
 * a network disk is away. The look-up of names needs a thread, too, and so do files on other disks.
 *
 * @module
 */
import { withTimeout } from "./with-timeout.ts";

/** The number of files that are read at once, one of a folder. */
const READINGS_MAX = 3;
/** The same for a folder with a file that is late: its other files may be on another disk. */
const BESIDE_LATE_MAX = 2;

interface Reading {
  readonly place: string;
  readonly folder: string;
  /** When it began, or when it was asked for. On the clock of `performance.now()`. */
  since: number;
  /** True once it has not ended in time. */
  isLate: boolean;
}

export class FileQueue {
  readonly #running = new Set<Reading>();
  /** What waits, in the order of its turns, and the functions that begin it. */
  readonly #waiting = new Map<Reading, () => void>();

  /**
   * Does what reads a file, when it is its turn.
   *
   * @param where the path or URL of the file
   * @param timeout in milliseconds, also for readings that keep it waiting
   * @param late called when the time is over; must throw
   */
  async read<T>(
    where: string | URL,
    timeout: number,
    read: () => Promise<T>,
    late: () => never,
  ): Promise<T> {
    const place = String(where).replace(/^file:\/\//, "");
    const folder = place.replace(/[^/\\]*$/, "");
    const reading = { place, folder, since: performance.now(), isLate: false };
    if (this.#blockersOf(reading).length === 0) this.#running.add(reading);
    else await this.#turnOf(reading, timeout, late);
    const end = () => {
      this.#running.delete(reading);
      this.#beginNext();
    };
    const result = read();
    result.then(end, end);
    return await withTimeout(result, timeout, () => {
      reading.isLate = true;
      this.#beginNext();
      return late();
    });
  }

  #turnOf(reading: Reading, timeout: number, late: () => never): Promise<void> {
    const asked = reading.since;
    return new Promise<void>((begin, refuse) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const check = () => {
        const blockers = this.#blockersOf(reading);
        const latest = Math.max(...blockers.map(({ since }) => since));
        // Behind readings that are late, there is only the time that they would have had.
        const since = blockers.every(({ isLate }) => isLate) ? latest : Math.max(asked, latest);
        const left = since + timeout - performance.now();
        if (left > 0) return void (timer = setTimeout(check, left));
        this.#waiting.delete(reading);
        try {
          late();
        } catch (error) {
          refuse(error);
        }
      };
      this.#waiting.set(reading, () => {
        clearTimeout(timer);
        begin();
      });
      check();
    });
  }

  #beginNext(): void {
    for (const [reading, begin] of [...this.#waiting]) {
      if (this.#blockersOf(reading).length > 0) continue;
      this.#waiting.delete(reading);
      reading.since = performance.now();
      this.#running.add(reading);
      begin();
    }
  }

  /** Returns the readings that keep this one waiting. */
  #blockersOf({ place, folder }: Reading): Reading[] {
    const running = [...this.#running];
    const inFolder = running.filter((one) => one.folder === folder);
    const first = inFolder.filter((one) => one.place === place || !one.isLate);
    if (first.length > 0) return first;
    const most = inFolder.length > 0 ? BESIDE_LATE_MAX : READINGS_MAX;
    return running.length >= most ? running : [];
  }
}
