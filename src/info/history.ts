/**
 * The last hour of a node, or of a day, in samples for plots: only those that were taken, in memory.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";
import { formatJson } from "../json/lossless.ts";
import type { Info } from "./info.ts";
import type { Instant } from "./source-cache.ts";
import { startOf } from "../untrusted-text.ts";

/** The most samples: with them goes the time between two, the span by this. */
const SAMPLES_MAX = 240;

const COLUMNS = ["height", "peers"] as const;

export interface Measured extends Instant {
  /** The time of the node's responses, in milliseconds; `undefined` where it gave none. */
  readonly took: number | undefined;
  /** The keys of the info that the kind names. */
  readonly columns: readonly string[] | undefined;
}

export interface Sample {
  /** Milliseconds that only count up. */
  readonly at: number;
  readonly date: number;
  readonly took: number | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  /** False where it was taken before its time, for a change of the state. */
  readonly isDue: boolean;
}

export class History {
  readonly #span: number;
  readonly #hide: readonly string[];
  readonly #run: string;
  readonly #memory: { samples: readonly Sample[] };
  #columns: readonly string[];
  #taken = 0;
  #made: { readonly taken: number; readonly representation: Promise<Representation> } | undefined;

  /** The keys of `hide` are not shown; `run` differs in each run of the service. */
  constructor(
    span: number,
    hide: readonly string[],
    run: string,
    memory: { samples: readonly Sample[] } = { samples: [] },
  ) {
    this.#span = span;
    this.#hide = hide;
    this.#run = run;
    this.#memory = memory;
    this.#columns = this.#shown(COLUMNS);
  }

  #shown(columns: readonly string[]): readonly string[] {
    return columns.filter((key) => !this.#hide.includes(key));
  }

  /** The time between two samples, in milliseconds. */
  get interval(): number {
    return this.#span / SAMPLES_MAX;
  }

  /** Takes a sample where it is time for one, or the state is another. */
  take(info: Info, { took, columns = COLUMNS, monotonic: at, date }: Measured): void {
    const { samples } = this.#memory;
    const last = samples.at(-1);
    this.#columns = this.#shown(columns);
    const due = samples.findLast(({ isDue }) => isDue);
    const isDue = !last || !due || at - due.at >= this.interval;
    if (!isDue && info.status === last.values.status) return;
    const values = Object.fromEntries(
      ["status", ...this.#columns].map((key) => [key, plottable(info[key])]),
    );
    const kept = samples.filter((sample) => at - sample.at <= this.#span);
    // One whose state changes again and again does not shorten the history.
    if (!isDue && !last.isDue) kept.pop();
    this.#memory.samples = [...kept, { at, date, took, values, isDue }].slice(-SAMPLES_MAX);
    this.#taken++;
  }

  async get(): Promise<Representation> {
    if (this.#made?.taken !== this.#taken) {
      const representation = represent(this.#write(), {
        type: "application/json",
        cache: "private, no-cache",
        tag: `${this.#run}-h${this.#taken.toString(36)}`,
      });
      this.#made = { taken: this.#taken, representation };
    }
    return await this.#made!.representation;
  }

  #write(): string {
    const { samples } = this.#memory;
    const column = (key: string) => samples.map(({ values }) => values[key] ?? null);
    const lines = Object.entries({
      interval: this.interval / 1000,
      at: samples.map(({ date }) => new Date(date).toISOString()),
      status: column("status"),
      // Two digits: enough for a plot, and too few for who would measure the node by them.
      response_ms: samples.map(({ took }) =>
        took === undefined ? null : Number(took.toPrecision(2))
      ),
      ...Object.fromEntries(this.#columns.map((key) => [key, column(key)])),
    }).map(([key, value]) => `  ${JSON.stringify(key)}: ${formatJson(value)}`);
    return `{\n${lines.join(",\n")}\n}\n`;
  }
}

/** A node may have anything under a key: what is no number, word or truth value is `null`. */
function plottable(value: unknown): unknown {
  if (typeof value === "string") return startOf(value, 100);
  const isPlain = typeof value === "bigint" || typeof value === "boolean" || Number.isFinite(value);
  return isPlain ? value : null;
}
