/**
 * The history of a node, for plots: samples of its info over the configured time span.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";
import { formatJson } from "../json/lossless.ts";
import type { Info } from "./info.ts";
import type { Clock, Instant } from "./clock.ts";
import { createRunId } from "../run-id.ts";
import { startOf } from "../untrusted-text.ts";

const SAMPLES_MAX = 240;
const COLUMNS = ["height", "peers"] as const;

export interface Measured extends Instant {
  /**
   * The duration of the node's slowest response, in milliseconds; `undefined` if there was no
   * response.
   */
  readonly took: number | undefined;
  readonly columns: readonly string[] | undefined;
}

interface Sample extends Instant {
  readonly took: number | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  /** False if the sample was taken early because of a status change. */
  readonly isDue: boolean;
}

/** What outlives the history of one configuration. */
export interface HistoryMemory {
  samples: readonly Sample[];
}

export class History {
  readonly #span: number;
  readonly #interval: number;
  readonly #hide: readonly string[];
  #runId: string | undefined;
  readonly #memory: HistoryMemory;
  readonly #clock: Clock;
  #columns: readonly string[];
  #changes = 0;
  #representation: Promise<Representation> | undefined;

  constructor(span: number, hide: readonly string[], memory: HistoryMemory, clock: Clock) {
    this.#span = span;
    this.#interval = span / SAMPLES_MAX;
    this.#hide = hide;
    this.#memory = memory;
    this.#clock = clock;
    this.#columns = COLUMNS.filter((key) => !hide.includes(key));
  }

  note(info: Info, { took, columns = COLUMNS, monotonic, date }: Measured): void {
    this.#forget(monotonic);
    const { samples } = this.#memory;
    const last = samples.at(-1);
    this.#columns = columns.filter((key) => !this.#hide.includes(key));
    const due = samples.findLast(({ isDue }) => isDue);
    const isDue = !last || !due || monotonic - due.monotonic >= this.#interval;
    if (!isDue && info.status === last.values.status) return;
    const values = Object.fromEntries(
      ["status", ...this.#columns].map((key) => [key, plottable(info[key])]),
    );
    // Between two regular samples, only the first and the latest change of the status are kept:
    // frequent changes must not fill the history, and a recovery must not hide an outage.
    const isExtra = !isDue && !last.isDue && samples.at(-2)?.isDue === false;
    const kept = isExtra ? samples.slice(0, -1) : samples;
    this.#change([...kept, { monotonic, date, took, values, isDue }].slice(-SAMPLES_MAX));
  }

  /** Drops the samples that are older than the span. */
  #forget(now: number): void {
    const { samples } = this.#memory;
    const kept = samples.filter(({ monotonic }) => now - monotonic <= this.#span);
    if (kept.length < samples.length) this.#change(kept);
  }

  #change(samples: readonly Sample[]): void {
    this.#memory.samples = samples;
    this.#changes++;
    this.#representation = undefined;
  }

  get(): Promise<Representation> {
    this.#forget(this.#clock.now().monotonic);
    this.#runId ??= createRunId();
    return this.#representation ??= represent(this.#write(), {
      type: "application/json",
      cache: "private, no-cache",
      tag: `${this.#runId}-h${this.#changes.toString(36)}`,
    });
  }

  #write(): string {
    const { samples } = this.#memory;
    const column = (key: string) => samples.map(({ values }) => values[key] ?? null);
    const lines = Object.entries({
      interval: this.#interval / 1000,
      at: samples.map(({ date }) => new Date(date).toISOString()),
      status: column("status"),
      // Response times are rounded to two digits, so that clients do not learn the exact times.
      response_ms: samples.map(({ took }) =>
        took === undefined ? null : Number(took.toPrecision(2))
      ),
      ...Object.fromEntries(this.#columns.map((key) => [key, column(key)])),
    }).map(([key, value]) => `  ${JSON.stringify(key)}: ${formatJson(value)}`);
    return `{\n${lines.join(",\n")}\n}\n`;
  }
}

function plottable(value: unknown): unknown {
  if (typeof value === "string") return startOf(value, 100);
  const isPlain = typeof value === "bigint" || typeof value === "boolean" || Number.isFinite(value);
  return isPlain ? value : null;
}
