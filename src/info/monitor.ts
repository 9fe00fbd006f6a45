/**
 * `GET /v1/info` beside a node: what it is and how it is doing, asked for when somebody asks.
 *
 * @module
 */
import type { Kind } from "../kinds/kind.ts";
import { lazy } from "../lazy.ts";
import { createAsk } from "./query-sources.ts";
import { createAuth } from "./sources/credentials.ts";
import type { Service } from "./info-object.ts";
import { createMemory } from "./source-cache.ts";
import { makePlan } from "./query-plan.ts";
import { createPublisher, type LiveInfo, type Snapshot } from "./snapshot.ts";
import { recognise } from "./detect-kind.ts";
import { createRefresher } from "./refresh-schedule.ts";
import { createReport } from "./failure-log.ts";
import { type InfoSettings, type NodeSettings, timesOf } from "./settings.ts";
import { SourceError } from "./sources/source-error.ts";
import { type OwnInfo, type Subject, subjectOfHost, subjectOfPlan } from "./node-or-host.ts";

/** What the info is made of. */
export interface InfoOptions {
  /** What the service says of itself. */
  service: Service;
  node?: NodeSettings | undefined;
  /** What is shown, or a function that tells it. */
  info?: InfoSettings | OwnInfo | undefined;
  /** The kinds of node that are known. */
  kinds: Readonly<Record<string, Kind>>;
  /** Is told what is wrong with the node, once when it begins and once when it ends. */
  log(message: string, level?: "info"): void;
  /** Is told of errors that are not the node's. */
  onError(error: unknown): void;
  /** @default the runtime's own */
  fetch?: typeof fetch;
  /** Milliseconds since 1970. @default Date.now */
  now?: () => number;
  /** From 0 to below 1. @default Math.random */
  random?: () => number;
}

/**
 * Makes the info. Nothing is asked before somebody asks.
 *
 * @throws {TypeError} where a setting cannot be understood
 */
export function createInfo(options: InfoOptions): LiveInfo {
  const { service, node = {}, kinds, log, onError, now = Date.now, random = Math.random } = options;
  const fetch = options.fetch ?? globalThis.fetch;
  const own = typeof options.info === "function" ? options.info : undefined;
  const settings: InfoSettings = typeof options.info === "function" ? {} : options.info ?? {};
  const { timeout, ttl, stale } = timesOf(node, settings);
  const label = node.url ? `node ${new URL(node.url).origin}` : "node";
  const report = createReport(log);

  const subjectOf = (name: string | undefined): Subject => {
    const kind = name === undefined || name === "none" ? undefined : kinds[name];
    if (name && name !== "none" && !kind) throw new TypeError(`"${name}" is no kind of node`);
    const auth = node.url ? createAuth(node.url, node.auth, kind?.auth) : undefined;
    const plan = makePlan(kind, settings);
    return subjectOfPlan(plan, createAsk({ url: node.url, auth, fetch, timeout }));
  };
  let found = node.kind;
  let isFound = !!own || !!node.kind || !node.url;
  let subject = own ? subjectOfHost(own, timeout) : subjectOf(node.kind);
  let memory = createMemory(subject, ttl, stale);

  const find = async (url: string): Promise<void> => {
    const { kind, because } = await recognise(url, kinds, node.auth, fetch);
    if (kind) {
      log(`${label} is of the kind ${kind}: ${because}`, "info");
      isFound = true;
      found = kind;
      subject = subjectOf(kind);
      memory = createMemory(subject, ttl, stale);
    } else {
      const unknown = new SourceError(`${because}; asking again later`);
      report(new Map([["kind unknown", unknown]]), label);
    }
  };

  const refresh = async (): Promise<boolean> => {
    if (!isFound) await find(node.url!);
    const outcomes = await subject.ask(memory.due(now()));
    memory.learn(outcomes, now());
    await publish();
    if (!isFound) return false;
    const failures = new Map<string, SourceError>();
    for (const [name, outcome] of outcomes) {
      if ("error" in outcome) failures.set(name, outcome.error);
    }
    report(failures, label);
    return !memory.isDown();
  };

  const { hide } = settings;
  const publisher = createPublisher({ service, isBesideNode: true, hide, ttl, now, random });
  let latest: { snapshot: Snapshot; until: number } | undefined;
  const publish = async (): Promise<Snapshot> => {
    const { until, ...known } = memory.know(now());
    if (!isFound && subject.sources.size === 0) known.trouble = "unreachable";
    latest = { snapshot: await publisher(known), until };
    return latest.snapshot;
  };

  const refresher = createRefresher({ refresh, onError, ttl, stale, timeout, now, random });
  if (isFound && subject.sources.size === 0) {
    // Nothing is asked, so nothing ever changes.
    return { kind: found, ...lazy(publish) };
  }
  const shown = () => latest && now() < latest.until ? latest.snapshot : undefined;
  return {
    get kind() {
      return found;
    },
    peek: () => refresher.isDue() ? undefined : shown(),
    async get() {
      await refresher.wait();
      return shown() ?? await publish();
    },
  };
}
