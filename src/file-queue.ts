/**
 * The order in which files are read. Each reading blocks one of Node's four threads, for as long as
 * a network disk is away. The look-up of names needs a thread, too, and so do files on other disks.
 *
 * @module
 */
/** The number of files that are read at once, and of those on one disk. */
const READINGS_MAX = 3, ON_DISK_MAX = 2;

/** The interval at which the time of readings is counted, in milliseconds. */
const TICK_MS = 20;

interface Reading {
  readonly place: string;
  /** When it began, or when it was asked for. */
  since: number;
  /** True once it has not ended in time. */
  isLate: boolean;
}

export class FileQueue {
  /**
   * In milliseconds. Each tick counts once, however late it is: a file that is read slowly because
   * this process is busy must not count as one on a disk that is away.
   */
  #time = 0;
  /** What is done at each tick, while something is read. */
  readonly #checks = new Set<() => void>();
  #ticks: ReturnType<typeof setInterval> | undefined;
  readonly #running = new Set<Reading>();
  /** The disks on which files were found. */
  readonly #disks = new Map<string, number>();
  /** What waits, in the order of its turns, and the functions that begin it. */
  readonly #waiting = new Map<Reading, () => void>();

  /**
   * Does what reads a file, when it is its turn.
   *
   * @param where the path or URL of the file
   * @param timeout in milliseconds, also for readings that keep it waiting
   * @param read must call `onDisk` with the number of the disk as soon as it is known
   * @param late returns the error when the time is over
   */
  async read<T>(
    where: string | URL,
    timeout: number,
    read: (onDisk: (disk: number) => void) => Promise<T>,
    late: () => Error,
  ): Promise<T> {
    const place = String(where).replace(/^file:\/\//, "");
    const reading = { place, since: this.#time, isLate: false };
    if (this.#blockersOf(reading).length === 0) this.#running.add(reading);
    else await this.#turnOf(reading, timeout, late);
    const end = () => {
      this.#running.delete(reading);
      this.#beginNext();
    };
    const result = read((disk) => {
      // Some runtimes have no numbers of disks on Windows.
      if (disk) this.#disks.set(place, disk);
      this.#beginNext();
    });
    result.then(end, end);
    return await new Promise<T>((resolve, reject) => {
      const stop = this.#atEachTick(() => {
        if (this.#time - reading.since <= timeout) return;
        stop();
        reading.isLate = true;
        reject(late());
      });
      result.finally(stop).then(resolve, reject);
    });
  }

  #turnOf(reading: Reading, timeout: number, late: () => Error): Promise<void> {
    const asked = reading.since;
    return new Promise<void>((begin, refuse) => {
      const stop = this.#atEachTick(() => {
        const blockers = this.#blockersOf(reading);
        const latest = Math.max(...blockers.map(({ since }) => since));
        // Behind readings that are late, there is only the time that they would have had.
        const since = blockers.every(({ isLate }) => isLate) ? latest : Math.max(asked, latest);
        if (this.#time - since <= timeout) return;
        stop();
        this.#waiting.delete(reading);
        refuse(late());
      });
      this.#waiting.set(reading, () => {
        stop();
        begin();
      });
    });
  }

  /** Returns the function that ends it. */
  #atEachTick(check: () => void): () => void {
    this.#checks.add(check);
    this.#ticks ??= setInterval(() => {
      this.#time += TICK_MS;
      for (const each of [...this.#checks]) each();
    }, TICK_MS);
    return () => {
      this.#checks.delete(check);
      if (this.#checks.size > 0) return;
      clearInterval(this.#ticks);
      this.#ticks = undefined;
    };
  }

  #beginNext(): void {
    for (const [reading, begin] of [...this.#waiting]) {
      if (this.#running.size >= READINGS_MAX) return;
      if (this.#blockersOf(reading).length > 0) continue;
      this.#waiting.delete(reading);
      reading.since = this.#time;
      this.#running.add(reading);
      begin();
    }
  }

  /** Returns the readings that keep this one waiting. */
  #blockersOf({ place }: Reading): Reading[] {
    const running = [...this.#running];
    const same = running.filter((one) => one.place === place);
    if (same.length > 0) return same;
    // Files that have not been found yet may be anywhere, so that they count as one disk.
    const disk = this.#disks.get(place);
    const onDisk = running.filter((one) => this.#disks.get(one.place) === disk);
    const isAway = disk !== undefined && onDisk.some(({ isLate }) => isLate);
    if (onDisk.length >= ON_DISK_MAX || isAway) return onDisk;
    return running.length >= READINGS_MAX ? running : [];
  }
}
