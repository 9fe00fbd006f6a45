/**
 * The identity of a node: the chain that it is on, which may become another one at the same address, and what is known of a
 * node that is gone.
 *
 * @module
 */
import { textOf } from "../json/values.ts";
import { describeValue, excerpt, quote } from "../untrusted-text.ts";
import type { LastSeen } from "./info.ts";
import type { Instant, Values } from "./source-cache.ts";
import type { NodeLog } from "./state-log.ts";
import type { NodeStatus } from "./status.ts";

const CHAIN = ["chain_id", "network"] as const;

const SEEN = ["software", "version", "network", "chain_id", "height"] as const;

/** The longest text of the node that is remembered, in UTF-16 code units. */
const TEXT_LENGTH = 100;

/** So many changes are told within a time, in milliseconds; of more it is told that they go on. */
const CHANGES_MAX = 5, CHANGES_TIME = 3_600_000;

interface IdentityOptions {
  readonly label: string;
  readonly log: NodeLog;
  readonly hide: readonly string[];
  readonly onChange: () => void;
}

/** By so much a start may seem to go back without being told, in milliseconds. */
const START_JITTER = 60_000;

export class Identity {
  readonly #options: IdentityOptions;
  #chain: Readonly<Record<string, string>> = {};
  #changes: number[] = [];
  #start: { readonly at: number; readonly toldAt: number } = { at: -Infinity, toldAt: -Infinity };
  /** `undefined` where nothing is known that tells one node from another. */
  lastSeen: LastSeen | undefined;

  constructor(options: IdentityOptions) {
    this.#options = options;
  }

  /** Remembers a node that responds; `values` have those that are hidden too. */
  take(values: Values, info: Values, { status }: NodeStatus, respondedAt: Instant): void {
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
      this.#tell(changed, before, chain, respondedAt.monotonic);
    }
    this.#followStart(values.started_at, respondedAt.monotonic);
    const seen = SEEN.flatMap((key): [string, unknown][] => {
      const value = info[key];
      if (value === undefined) return [];
      return [[key, typeof value === "string" ? excerpt(value, TEXT_LENGTH) : value]];
    });
    if (seen.length === 0) return;
    this.lastSeen = { ...Object.fromEntries(seen), at: new Date(respondedAt.date).toISOString() };
  }

  /** A node that is started again starts later: a start that goes back is computed of something else. */
  #followStart(started: unknown, now: number): void {
    const at = Date.parse(String(started));
    if (Number.isNaN(at)) return;
    const before = this.#start;
    const isBack = at < before.at - START_JITTER && now - before.toldAt >= CHANGES_TIME;
    this.#start = { at, toldAt: isBack ? now : before.toldAt };
    const { label, log, hide } = this.#options;
    if (!isBack || hide.includes("started_at")) return;
    const was = new Date(before.at).toISOString();
    log(
      `${label} has a start that goes back: ${quote(String(started))}, was ${was}; ` +
        "if it counts milliseconds, write { uptime: ms }",
      { code: "identity", level: "warn" },
    );
  }

  #tell(
    changed: readonly string[],
    before: Readonly<Record<string, string>>,
    after: Readonly<Record<string, string>>,
    now: number,
  ): void {
    const { label, log, hide, onChange } = this.#options;
    onChange();
    const recent = this.#changes.filter((at) => now - at < CHANGES_TIME);
    // Those that are not told count as well: an hour has to be quiet.
    this.#changes = [...recent, now].slice(-CHANGES_MAX - 1);
    if (recent.length > CHANGES_MAX) return;
    const event = { code: "identity", level: "warn" } as const;
    if (recent.length === CHANGES_MAX) {
      return log(
        `${label} is another chain again and again; further changes are not logged`,
        event,
      );
    }
    const what = changed.filter((key) => !hide.includes(key))
      .map((key) => `${key} ${named(after[key]!)}, was ${named(before[key]!)}`);
    log(`${label} is another chain now${what.length > 0 ? `: ${what.join("; ")}` : ""}`, event);
  }
}

/** A word as it is, and any other text as JSON. */
const named = (text: string) => /^[\w.-]{1,60}$/.test(text) ? text : describeValue(text);
