/** A simulated node whose clock and health the test controls. */
import * as assert from "uvu/assert";
import { KINDS } from "../src/generated/kinds.js";
import { Monitor } from "../src/info/info-monitor.ts";
import { History } from "../src/info/history.ts";
import type { HostInfo } from "../src/info/query-plan.ts";
import type { InfoSettings, NodeSettings } from "../src/info/settings.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { playedBy } from "./_sources.ts";

/** The state that the test changes. */
export interface Held {
  /** A monotonic clock in milliseconds. */
  monotonic: number;
  /** Milliseconds since 1970. */
  date: number;
  /** The number of requests that the node received. */
  asked: number;
  /** The code of the error with which connections to the node fail, such as `ECONNREFUSED`. */
  failure: string | undefined;
  /** Responses wait until this resolves. */
  gate: Promise<unknown>;
  /** Creates the response. */
  fetch: typeof fetch;
  /** True while a client listens to the events. */
  isHeard: boolean;
}

export interface SceneOptions {
  fetch: typeof fetch;
  info?: InfoSettings | HostInfo;
  node?: NodeSettings;
  kinds?: Readonly<Record<string, Kind>>;
}

/** The monitor of a simulated node. */
export interface Scene {
  monitor: Monitor;
  held: Held;
  /** Log lines with their levels. */
  said: string[];
  /** The history of an hour. */
  history: History;
  /** Returns the number of chain changes. */
  changes(): number;
  /** Advances the clock. */
  pass(milliseconds: number): void;
  /**
   * Returns the info of `GET /v1/info` once no query is running or due, without the service's own facts. Does not
   * depend on the machine's speed.
   */
  info(): Promise<Record<string, unknown>>;
  /** Returns the info that a request gets while a query is still running, after the longest wait. */
  infoMeanwhile(): Promise<Record<string, unknown>>;
}

export function setScene({ fetch, info = {}, node = {}, kinds = KINDS }: SceneOptions): Scene {
  const said: string[] = [];
  const span = 3_600_000;
  const history = new History(span, typeof info === "function" ? [] : info.hide ?? [], "run", {
    samples: [],
  });
  let changes = 0;
  const held: Held = {
    monotonic: 1000,
    date: Date.parse("2026-01-02T00:00:00Z"),
    asked: 0,
    failure: undefined,
    gate: Promise.resolve(),
    fetch,
    isHeard: false,
  };
  const monitor = new Monitor({
    service: { software: "nodeface", version: "1", started_at: "2026-01-01T00:00:00.000Z" },
    node: { url: "http://node.example", ...node },
    info,
    kinds,
    log: (message, { level }) => said.push(`${level}: ${message}`),
    onError: (error) => assert.unreachable(String(error)),
    client: playedBy(async (input, init) => {
      held.asked++;
      const { failure, fetch } = held;
      await held.gate;
      if (failure) throw Object.assign(new TypeError("x"), { cause: { code: failure } });
      return await fetch(input, init);
    }),
    clock: { monotonic: () => held.monotonic, now: () => held.date },
    random: () => 1,
    onPublished: (info, measured) => history.take(info, measured),
    onIdentity: () => changes++,
    isHeard: () => held.isHeard,
  });
  const infoMeanwhile = async () => {
    const { api: _api, links: _links, ...rest } = (await monitor.get()).info;
    return rest;
  };
  return {
    monitor,
    held,
    said,
    history,
    changes: () => changes,
    pass(milliseconds) {
      held.monotonic += milliseconds;
      held.date += milliseconds;
    },
    infoMeanwhile,
    async info() {
      await infoMeanwhile();
      await monitor.look();
      return await infoMeanwhile();
    },
  };
}
