/**
 * Asks a node, and remembers what it said. `info-monitor.ts` decides when:
 * `observe` finds the kind and asks the sources, `report` makes the info of what is known.
 *
 * @module
 */
import type { Kind } from "../kinds/kind.ts";
import { createCredentials } from "../node/credentials.ts";
import type { Client } from "../node/client.ts";
import { assessStatus, type NodeStatus, NOT_ASKED } from "./status.ts";
import { type Detection, detectKind } from "./detect-kind.ts";
import { type Info, makeInfo, type Service } from "./info.ts";
import {
  dueSources,
  gaveNothing,
  type Instant,
  isSilent,
  type Knowledge,
  learn,
  namesOf,
  readFields,
  shownAt,
  type Values,
  withoutAnswer,
} from "./knowledge.ts";
import { HOST, type HostInfo, makePlan, type Plan, planOfHost } from "./query-plan.ts";
import { createQuery, type Outcome, type Query, settle } from "./query-sources.ts";
import { KNOWN_KEYS } from "./fields.ts";
import { type InfoSettings, type NodeSettings, timesOf } from "./settings.ts";
import { withTimeout } from "../with-timeout.ts";
import type { NodeLog } from "./state-log.ts";

export interface ObserverOptions {
  readonly service: Service;
  readonly node: NodeSettings;
  readonly info: InfoSettings | HostInfo;
  readonly kinds: Readonly<Record<string, Kind>>;
  /** The node's name in the log. */
  readonly label: string;
  readonly log: NodeLog;
  readonly client: Client;
  readonly now: () => Instant;
  /** Is called where something was learnt after `observe` had ended. */
  readonly onLearnt: () => void;
  readonly onOutcome?: ((source: string, outcome: Outcome) => void) | undefined;
}

/** The time by which the operator's own sources may delay the node's, in milliseconds. */
const EXTRA_PATIENCE = 200;

/** The shortest time between two looks for another kind than the one that was found, in milliseconds. */
const DETECTION_PAUSE = 10_000;

interface NodeReport {
  readonly status: NodeStatus;
  readonly info: Info;
  readonly omitted: ReadonlyMap<string, string>;
  /** The end of its validity if nothing is learnt, in milliseconds that only count up. */
  readonly until: number;
}

interface Observer {
  /** The name of the node's kind; `undefined` while it is not known. */
  readonly kind: string | undefined;
  /** `undefined` where the kind was not looked for. */
  readonly detection: Detection | undefined;
  readonly plan: Plan;
  /** The longest time that a vital source may take, in milliseconds. */
  readonly timeout: number;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /**
   * Finds out the kind of the node where it is not known, and asks the sources that are due.
   *
   * @param signal once it is aborted, nothing is learnt any more
   * @returns true if the node gave anything
   */
  observe(signal: AbortSignal): Promise<boolean>;
  /** Takes the node, which has not answered in time, for one that does not answer. */
  markUnreachable(): void;
  report(): NodeReport;
  /** Resolves when nothing is under way. */
  settled(): Promise<unknown>;
  /** Ends what is under way beside `observe`. */
  end(): void;
}

/** @throws {TypeError} if a kind is unknown */
export function createObserver(options: ObserverOptions): Observer {
  const { service, node, kinds, label, log, client, now, onLearnt, onOutcome } = options;
  const host = typeof options.info === "function" ? options.info : undefined;
  const settings: InfoSettings = typeof options.info === "function" ? {} : options.info;
  const times = timesOf(node, settings);
  const { url } = node;
  const isDetected = url !== undefined && node.kind === undefined && !host;

  let detection: Detection | undefined;
  let plan: Plan;
  let query: Query;
  let knowledge: Knowledge;
  let outcomes: ReadonlyMap<string, Outcome>;
  let values: Values;
  let lookedAt = -Infinity;
  /** Sources of the operator's own that have not answered yet; the node's do not wait for them. */
  const running = new Map<string, Promise<unknown>>();
  const life = new AbortController();

  const useKind = (name: string | undefined) => {
    const kind = name === undefined || name === "none" ? undefined : kinds[name];
    if (name && name !== "none" && !kind) throw new TypeError(`"${name}" is no kind of node`);
    const credentials = url === undefined
      ? undefined
      : createCredentials({ nodeUrl: url, configured: node.auth, kind: name, kinds });
    plan = host ? planOfHost(host, times) : makePlan(name, kind, settings, times);
    query = createQuery({ url, credentials, client });
    knowledge = new Map();
    outcomes = new Map();
    values = {};
  };
  useKind(node.kind);

  const findKind = async (signal: AbortSignal) => {
    const found = await detectKind({ url: url!, kinds, auth: node.auth, client, signal });
    if (signal.aborted) return;
    // A node that was found once keeps its kind until another is found.
    if (found.kind === undefined && detection?.kind !== undefined) return;
    if (found.kind !== undefined && found.kind !== detection?.kind) {
      log(`${label} is of the kind ${found.kind}: ${found.because}`, {
        code: "kind",
        level: "info",
      });
      useKind(found.kind);
    }
    detection = found;
  };

  const takeIn = (found: ReadonlyMap<string, Outcome>) => {
    for (const [name, outcome] of found) onOutcome?.(name, outcome);
    outcomes = new Map([...outcomes, ...found]);
    knowledge = learn(plan, knowledge, found, now());
  };

  const askSources = async (signal: AbortSignal) => {
    const due = dueSources(plan, knowledge, now()).filter((name) => !running.has(name));
    const some = (isWanted: (role: string) => boolean) =>
      new Map(
        due.map((name) => [name, plan.sources.get(name)!] as const)
          .filter(([, { role }]) => isWanted(role)),
      );
    const before = knowledge;
    const remembered = (name: string, pointer: string) =>
      before.get(name)?.last?.taken.get(pointer);
    const asked = query(some((role) => role !== "extra"), signal, remembered);
    const extras = query(some((role) => role === "extra"), life.signal, remembered);
    for (const [name, outcome] of extras) running.set(name, followUp(name, outcome, plan));
    const found = await settle(asked);
    await withTimeout(Promise.all(running.values()), EXTRA_PATIENCE, () => []);
    if (!signal.aborted) takeIn(found);
  };

  const followUp = async (name: string, outcome: Promise<Outcome>, askedBy: Plan) => {
    const found = new Map([[name, await outcome]]);
    running.delete(name);
    if (life.signal.aborted || plan !== askedBy) return;
    takeIn(found);
    onLearnt();
  };

  /** Tells whether the responses are not those of the kind that was found. */
  const isSuspicious = () =>
    gaveNothing(plan, knowledge) ||
    namesOf(plan, "vital").some((name) => knowledge.get(name)?.error?.isAbsent) ||
    reportNow().status.code === "wrong_kind";

  const reportNow = (): NodeReport => {
    const instant = now();
    const shown = shownAt(plan, knowledge, instant, times.stale);
    const read = plan.sources.has(HOST)
      ? formed(shown.answers.get(HOST)?.taken.get("") as Values | undefined)
      : readFields(plan.fields, shown.answers, values);
    values = { ...read, ...plan.static };
    const status = isDetected && detection?.kind === undefined
      ? detection?.status ?? NOT_ASKED
      : assessStatus({ plan, knowledge, shown, values, date: instant.date });
    const { oldest } = shown;
    const parts = { service, isBesideNode: true, hide: settings.hide, values, status };
    const until = oldest ? oldest.monotonic + times.stale : Infinity;
    return { status, until, ...makeInfo({ ...parts, updatedAt: oldest?.date }) };
  };

  return {
    get kind() {
      return isDetected ? detection?.kind : node.kind;
    },
    get detection() {
      return detection;
    },
    get plan() {
      return plan;
    },
    get timeout() {
      const own = namesOf(plan, "vital").map((name) => plan.sources.get(name)!.timeout);
      return Math.max(times.timeout, ...own);
    },
    get outcomes() {
      return outcomes;
    },
    async observe(signal) {
      if (isDetected && detection?.kind === undefined) await findKind(signal);
      if (!signal.aborted) await askSources(signal);
      // Another kind of node may have come in the place of the one that was found.
      const { monotonic } = now();
      const mayLook = isDetected && !signal.aborted && monotonic - lookedAt >= DETECTION_PAUSE;
      if (mayLook && detection?.kind !== undefined && isSuspicious()) {
        lookedAt = monotonic;
        const before = plan;
        await findKind(signal);
        if (!signal.aborted && plan !== before) await askSources(signal);
      }
      const isKnown = !isDetected || detection?.kind !== undefined;
      return isKnown && !isSilent(plan, knowledge) && !gaveNothing(plan, knowledge);
    },
    markUnreachable() {
      knowledge = withoutAnswer(plan, knowledge);
    },
    report: reportNow,
    settled: () => Promise.all(running.values()),
    end: () => life.abort(),
  };
}

/** Brings what a host says into the forms that the keys of all kinds have. */
function formed(values: Values = {}): Values {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      Object.hasOwn(KNOWN_KEYS, key) ? KNOWN_KEYS[key]!.form(value) : value,
    ]),
  );
}
