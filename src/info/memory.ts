/**
 * The memory of a node: the chain that it is on, which may become another one at the same address, and what is known of
 * a node that is gone.
 *
 * @module
 */
import { textOf } from "../json/values.ts";
import { describeValue, excerpt, quote } from "../untrusted-text.ts";
import type { Sample } from "./history.ts";
import type { LastSeen } from "./info.ts";
import type { Instant, Values } from "./source-cache.ts";
import type { NodeLog } from "./state-log.ts";
import type { NodeStatus } from "./status.ts";

const CHAIN = ["chain_id", "network"] as const;

const SEEN = ["software", "version", "network", "chain_id", "height"] as const;

/** The longest text of the node that is remembered, in UTF-16 code units. */
const TEXT_LENGTH = 100;

/** So many changes are logged within a time, in milliseconds; of more, that they go on. */
const CHANGES_MAX = 5, CHANGES_TIME = 3_600_000;

/** A start may seem to go back by this much, in milliseconds: it is computed of an uptime. */
const START_JITTER = 60_000;

interface TakeOptions {
  readonly label: string;
  readonly log: NodeLog;
  readonly hide: readonly string[];
  /** Is called when another chain responds at the node's address. */
  readonly onIdentity?: (() => void) | undefined;
}

/** What is remembered of a node for as long as the process runs. */
export class NodeMemory {
  /** `undefined` where nothing is known that tells one node from another. */
  lastSeen: LastSeen | undefined;
  samples: readonly Sample[] = [];
  #chain: Readonly<Record<string, string>> = {};
  /** The times of the last changes of the chain, in milliseconds that only count up. */
  #changes: readonly number[] = [];
  #start: { readonly at: number; readonly loggedAt: number } = {
    at: -Infinity,
    loggedAt: -Infinity,
  };

  /** Remembers a node that responds; `values` have those that are hidden too. */
  take(
    values: Values,
    info: Values,
    { status }: NodeStatus,
    respondedAt: Instant,
    options: TakeOptions,
  ): void {
    if (status === "unreachable" || status === "stale") return;
    const chain = Object.fromEntries(CHAIN.flatMap((key) => {
      const text = textOf(values[key]);
      return text === undefined ? [] : [[key, text]];
    }));
    const before = this.#chain;
    const changed = Object.keys(chain).filter((key) =>
      before[key] !== undefined && before[key] !== chain[key]
    );
    this.#chain = { ...before, ...chain };
    if (changed.length > 0) {
      this.lastSeen = undefined;
      const what = changed.filter((key) => !options.hide.includes(key))
        .map((key) => `${key} ${named(chain[key]!)}, was ${named(before[key]!)}`);
      this.#logChange(what, respondedAt.monotonic, options);
    }
    this.#followStart(values.started_at, respondedAt.monotonic, options);
    const seen = SEEN.flatMap((key): [string, unknown][] => {
      const value = info[key];
      if (value === undefined) return [];
      return [[key, typeof value === "string" ? excerpt(value, TEXT_LENGTH) : value]];
    });
    if (seen.length === 0) return;
    this.lastSeen = { ...Object.fromEntries(seen), at: new Date(respondedAt.date).toISOString() };
  }

  /** A node that is restarted starts later: a start that goes back was not computed of seconds. */
  #followStart(started: unknown, now: number, { label, log, hide }: TakeOptions): void {
    const at = Date.parse(String(started));
    if (Number.isNaN(at)) return;
    const before = this.#start;
    const isBack = at < before.at - START_JITTER && now - before.loggedAt >= CHANGES_TIME;
    this.#start = { at, loggedAt: isBack ? now : before.loggedAt };
    if (!isBack || hide.includes("started_at")) return;
    const was = new Date(before.at).toISOString();
    log(
      `${label} has a start that goes back: ${quote(String(started))}, was ${was}; ` +
        "if it counts milliseconds, write { uptime: ms }",
      { code: "identity", level: "warn" },
    );
  }

  #logChange(
    what: readonly string[],
    now: number,
    { label, log, onIdentity = () => {} }: TakeOptions,
  ): void {
    onIdentity();
    const recent = this.#changes.filter((at) => now - at < CHANGES_TIME);
    // Those that are not logged count as well: an hour has to be quiet.
    this.#changes = [...recent, now].slice(-CHANGES_MAX - 1);
    if (recent.length > CHANGES_MAX) return;
    const message = recent.length === CHANGES_MAX
      ? "is another chain again and again; further changes are not logged"
      : `is another chain now${what.length > 0 ? `: ${what.join("; ")}` : ""}`;
    log(`${label} ${message}`, { code: "identity", level: "warn" });
  }
}

/** A word as it is, and any other text as JSON. */
const named = (text: string) => /^[\w.-]{1,60}$/.test(text) ? text : describeValue(text);
