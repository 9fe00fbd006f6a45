/** A simulated node whose clock and health the test controls. */
import * as assert from "uvu/assert";
import { KINDS } from "../src/generated/kinds.js";
import type { Clock } from "../src/info/clock.ts";
import type { Snapshot } from "../src/info/info.ts";
import { Monitor } from "../src/info/monitor.ts";
import { NodeMemory } from "../src/info/node-memory.ts";
import { History } from "../src/info/history.ts";
import type { HostInfo } from "../src/info/query-plan.ts";
import type { InfoSettings, NodeSettings } from "../src/setting-types.ts";
import type { Node } from "../src/node/node.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { milliseconds } from "../src/units.ts";
import { contextFor, playedBy } from "./_sources.ts";

export interface Held {
  /** The monotonic clock without sleep, in milliseconds. */
  monotonic: number;
  /** The time for which the machine slept, in milliseconds. */
  slept: number;
  /** The wall clock, in milliseconds since 1970. */
  date: number;
  asked: number;
  /** If set, connections to the node fail with this error code, such as `ECONNREFUSED`. */
  failure: string | undefined;
  gate: Promise<unknown>;
  fetch: typeof fetch;
}

export interface SceneOptions {
  fetch: typeof fetch;
  info?: InfoSettings | HostInfo;
  node?: NodeSettings;
  kinds?: Readonly<Record<string, Kind>>;
  memory?: NodeMemory;
}

export interface Scene {
  node: Node;
  monitor: Monitor;
  held: Held;
  said: string[];
  history: History;
  /** Returns how often the node has switched to another chain. */
  changes(): number;
  pass(milliseconds: number): void;
  /**
   * Sends the due queries and waits for all running queries. Returns the body of `GET /v1/info`
   * without `api`, `links` and `status_remedy`.
   */
  info(): Promise<Record<string, unknown>>;
  /** Returns what `GET /v1/info` returns at this moment, perhaps after a query, without `api` and `links`. */
  infoMeanwhile(): Promise<Record<string, unknown>>;
  /** Returns what the page shows at this moment, which does not wait for the node. */
  infoOfPage(): Promise<Record<string, unknown>>;
}

export function setScene(
  { fetch, info = {}, node = {}, kinds = KINDS, memory = new NodeMemory() }: SceneOptions,
): Scene {
  const said: string[] = [];
  let changes = 0;
  const held: Held = {
    monotonic: 1000,
    slept: 0,
    date: Date.parse("2026-01-02T00:00:00Z"),
    asked: 0,
    failure: undefined,
    gate: Promise.resolve(),
    fetch,
  };
  const clock: Clock = {
    now: () => ({
      monotonic: held.monotonic + held.slept,
      awake: held.monotonic,
      date: held.date,
    }),
  };
  const span = 3_600_000;
  const hide = typeof info === "function" ? [] : info.hide ?? [];
  const history = new History(span, hide, { samples: [] }, clock);
  const played = contextFor("http://node.example", {
    ...node,
    timeout: milliseconds(node.timeout ?? "2s"),
    kinds,
    client: playedBy(async (input, init) => {
      held.asked++;
      const { failure, fetch } = held;
      await held.gate;
      if (failure) {
        throw Object.assign(new TypeError("x"), { cause: { code: failure } });
      }
      return await fetch(input, init);
    }),
  });
  const monitor = new Monitor(
    played,
    {
      service: {
        software: "nodeface",
        version: "1",
        started_at: "2026-01-01T00:00:00.000Z",
      },
      info,
      memory,
      log: (message, { level }) => said.push(`${level}: ${message}`),
      onError: (error) => assert.unreachable(String(error)),
      clock,
    },
  );
  monitor.onInfo.add((info, measured) => history.note(info, measured));
  monitor.onIdentity.add(() => changes++);
  const restOf = ({ info }: Snapshot) => {
    const { api: _api, links: _links, status_remedy: _remedy, ...rest } = info;
    return rest;
  };
  const infoMeanwhile = async () => restOf(await monitor.snapshot());
  const infoOfPage = async () => restOf(await monitor.snapshotNow());
  return {
    node: played,
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
    infoOfPage,
    async info() {
      await infoMeanwhile();
      await monitor.poll();
      return await infoMeanwhile();
    },
  };
}
