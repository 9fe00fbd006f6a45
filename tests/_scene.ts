/** A node whose clock and whose health the test holds in its hand. */
import * as assert from "uvu/assert";
import { KINDS } from "../src/generated/kinds.js";
import { createMonitor, type Monitor } from "../src/info/info-monitor.ts";
import { History } from "../src/info/history.ts";
import type { HostInfo } from "../src/info/query-plan.ts";
import type { InfoSettings, NodeSettings } from "../src/info/settings.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { playedBy } from "./_sources.ts";

/** What the test changes. */
export interface Held {
  /** Milliseconds that only count up. */
  monotonic: number;
  /** Milliseconds since 1970. */
  date: number;
  /** How many requests the node got. */
  asked: number;
  /** Why the node does not answer; an error code of Node. */
  failure: string | undefined;
  /** Answers wait for this. */
  gate: Promise<unknown>;
  /** What answers. */
  fetch: typeof fetch;
  /** True while somebody listens to the events. */
  isHeard: boolean;
}

/** What a scene is made of. */
export interface SceneOptions {
  fetch: typeof fetch;
  info?: InfoSettings | HostInfo;
  node?: NodeSettings;
  kinds?: Readonly<Record<string, Kind>>;
}

/** A monitor of a played node. */
export interface Scene {
  monitor: Monitor;
  held: Held;
  /** Lines of the log, with their levels. */
  said: string[];
  /** The history of an hour. */
  history: History;
  /** How often another chain came. */
  changes(): number;
  /** Lets time go by. */
  pass(milliseconds: number): void;
  /**
   * What `GET /v1/info` says when no query is under way or due, without the service's own facts. Nothing of
   * it hangs on how fast this machine is.
   */
  info(): Promise<Record<string, unknown>>;
  /** What it says meanwhile, when it has waited for the node for as long as it does. */
  infoMeanwhile(): Promise<Record<string, unknown>>;
}

/** Sets a scene. */
export function setScene({ fetch, info = {}, node = {}, kinds = KINDS }: SceneOptions): Scene {
  const said: string[] = [];
  const span = 3_600_000;
  const history = new History(span, typeof info === "function" ? [] : info.hide ?? [], "run");
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
  const monitor = createMonitor({
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
      let said = await infoMeanwhile();
      while (!monitor.isCurrent) {
        await new Promise((resolve) => setTimeout(resolve));
        said = await infoMeanwhile();
      }
      return said;
    },
  };
}
