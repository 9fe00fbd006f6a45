/** The lines that explorers are visited on. */

/** A line, and a processor that is slower than this machine's. */
export interface Line {
  name: string;
  /** Bytes a second and milliseconds; nothing where it is not slowed down. */
  network?: { latency: number; downloadThroughput: number; uploadThroughput: number };
  /** How many times slower the processor is. */
  slower: number;
}

/** This machine's own, and that of a phone: 1.6 Mbit/s, 150 ms. */
export const LINES: readonly Line[] = [
  { name: "fast", slower: 1 },
  {
    name: "slow",
    network: { latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 },
    slower: 4,
  },
];
