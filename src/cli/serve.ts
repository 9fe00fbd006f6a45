/**
 * The service itself: makes it, listens, keeps it current, and ends it when it is told to.
 *
 * @module
 */
import type { AnswerRecord, Listening, ServeOptions } from "../adapters/shared.ts";
import { type App, createApp } from "../app.ts";
import { VERSION } from "../generated/build-info.js";
import { lintSettings } from "../gateway/lint-settings.ts";
import { isAlone } from "../info/info-monitor.ts";
import { findUnreadable } from "../node/client.ts";
import { findOpenSecrets } from "../node/secrets.ts";
import type { DescriptionReport } from "../description/watch.ts";
import { Meters } from "../metrics/meters.ts";
import { LOOK_AT } from "../resources/resources.ts";
import { describeError, type Log } from "../log.ts";
import type { Config } from "./configuration.ts";
import { createLineWriter, openLog, openOutput, type WriteLog } from "./output.ts";
import { handleSignals } from "./signals.ts";
import { parseTarget } from "../http/request.ts";

interface RunningService {
  readonly config: Config;
  readonly nodeface: App;
  /** The state of the node's description; nothing before it was read. */
  shown: DescriptionReport["shown"] | undefined;
  /** Resolves when the node's description was read for the first time, whatever came of it. */
  readonly described: Promise<void>;
}

/** Serves until it is told to stop; throws where it cannot listen. */
export async function runService(config: Config, read: () => Promise<Config>): Promise<void> {
  const { log, flush } = openLog();
  const queue = createQueue();
  let reload = () => {};
  const stopped = new Promise<void>((stop) => {
    handleSignals({
      stop: () => stop(),
      // A terminal that is closed ends it, unless there is a configuration to be read again.
      hangUp: () => config.file === undefined ? stop() : queue(async () => await reload()),
    });
  });
  const startedAt = new Date();
  const requests = createLineWriter(
    openOutput("stdout"),
    (count) => log(`${count} lines of the access log were dropped: its reader was stuck`),
  );
  const reloadLog = createReloadLog(log);
  // Counters go on when the configuration is read again.
  const meters = new Meters();
  const make = (config: Config) => makeService(config, { startedAt, meters }, reloadLog);
  let current = make(config);
  const app = { fetch: (request: Request) => current.nodeface.fetch(request) };
  const options: ServeOptions = {
    hostname: config.host,
    port: config.port,
    // The adapters read it at each request.
    get onAnswer(): ServeOptions["onAnswer"] {
      const { accessLog: form } = current.config;
      return form === "off" ? undefined : (record) => requests.write(formatAccess(record, form));
    },
    onError: (error) => log(describeError(error), "error"),
  };
  const server = await Promise.race([listen(app, options), stopped]);
  if (!server) return;
  warmUp(current);
  let stopWatching = watchDescription(current, queue, log);

  /** Makes the service that takes the place of the current one; it ends again where it knows less. */
  const makeNext = async (next: Config): Promise<RunningService> => {
    const made = make(next);
    try {
      await made.nodeface.ready();
      warmUp(made);
      // What the node says of itself is not to be gone for a while.
      await made.nodeface.refresh();
      if (!isWorse(made, current)) return made;
      throw new Error("the node's description cannot be read now, and would be lost");
    } catch (error) {
      await made.nodeface.close();
      throw error;
    }
  };
  reload = async () => {
    try {
      const next = await read();
      if (next.host !== config.host || next.port !== config.port) {
        log("listen has changed; restart the service to use the new address");
      }
      const made = await reloadLog.duringReload(() => makeNext(next));
      stopWatching();
      const before = current;
      current = made;
      stopWatching = watchDescription(current, queue, log);
      await before.nodeface.close();
      await logSettings(next, log);
      log("the configuration has been read again", "info");
    } catch (error) {
      log(`${(error as Error).message}\nthe configuration stays as it was`, "error");
    }
  };
  for (const { message, level } of config.remarks) log(message, level);
  log(`nodeface ${VERSION} on ${addressOf(server.url)}`, "info");
  void logSettings(config, log);
  void logSlow(current, log);
  await stopped;
  stopWatching();
  // Calls that wait for the node end at once, so that the server is soon idle.
  await Promise.all([current.nodeface.close(), server.close()]);
  await Promise.all([flush(), requests.flush()]);
}

function makeService(
  config: Config,
  since: { readonly startedAt: Date; readonly meters: Meters },
  reloadLog: ReloadLog,
): RunningService {
  let described = () => {};
  const whenDescribed = new Promise<void>((resolve) => described = resolve);
  // The configuration was checked when it was read.
  const nodeface = createApp({
    ...config,
    ...since,
    onDescription: ({ shown }) => {
      service.shown = shown;
      reloadLog.endOfRead();
      described();
    },
    log: reloadLog.log,
  });
  const service: RunningService = { config, nodeface, shown: undefined, described: whenDescribed };
  return service;
}

/**
 * Logs which credentials cannot be read, or can be by others, and what is dangerous in `forward`. A node may write its
 * secret when it starts, so the service goes on.
 */
async function logSettings(
  { node, forward, hosts = [], host, port }: Config,
  log: WriteLog,
): Promise<void> {
  for (const fault of await findUnreadable(node)) log(fault, "error");
  for (const warning of await findOpenSecrets(node.auth)) log(warning, "warn");
  if (!forward) return;
  const facts = { hosts, url: node.url, listening: { host, port } };
  for (const { level, message } of await lintSettings(forward, facts)) log(message, level);
}

/** The time before it is said that a description is being read, in milliseconds. */
const SLOW_MS = 1000;

async function logSlow({ config: { description }, described }: RunningService, log: WriteLog) {
  if (description === undefined || description === "none") return;
  const begun = performance.now();
  let isTold = false;
  const timer = setTimeout(() => {
    isTold = true;
    log(`the description ${description} is being read`, "info");
  }, SLOW_MS);
  timer.unref();
  await described;
  clearTimeout(timer);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  if (isTold) log(`the description was read in ${seconds} s`, "info");
}

/** Tells whether a service that is to take the place of another has lost the same node's description. */
function isWorse(next: RunningService, now: RunningService): boolean {
  const isShown = ({ shown }: RunningService) => shown === "current" || shown === "older";
  const isSame = next.config.description === now.config.description &&
    next.config.node.url === now.config.node.url;
  return isSame && isShown(now) && !isShown(next);
}

type Queue = (work: () => Promise<void>) => void;

/** Does one piece of work after the other: the last one asked for has the last word. */
function createQueue(): Queue {
  let last = Promise.resolve();
  return (work) => {
    last = last.then(work);
  };
}

/** The first question to the node is the service's own: it says what kind of node it found. */
function warmUp({ config, nodeface }: RunningService): void {
  if (!isAlone(config.node, config.info)) void nodeface.warmUp();
}

/** Reads the node's description at once, and a file again when it has changed; returns what ends that. */
function watchDescription(
  { config: { description, node }, nodeface }: RunningService,
  queue: Queue,
  log: WriteLog,
): () => void {
  if (description === "none" || (description === undefined && !node.url)) return () => {};
  let isEnded = false;
  let isWaiting = false;
  const look = () => {
    // One that waits its turn is enough.
    if (isWaiting) return;
    isWaiting = true;
    queue(async () => {
      isWaiting = false;
      if (isEnded) return;
      await nodeface.refresh().catch((error) => log((error as Error).message, "error"));
    });
  };
  look();
  const isFile = description !== undefined && !/^https?:/i.test(description);
  const timer = isFile ? setInterval(look, LOOK_AT.file) : undefined;
  timer?.unref();
  return () => {
    isEnded = true;
    clearInterval(timer);
  };
}

/** The log of a service, and of those that take its place. */
interface ReloadLog {
  readonly log: Log;
  /** Marks the end of what is said of a description that was read. */
  endOfRead(): void;
  /** While this runs, what was said of the description when it was read last is not said again. */
  duringReload<T>(work: () => Promise<T>): Promise<T>;
}

/** Makes a log in which a description that stays broken is told of once, however often the configuration is reloaded. */
function createReloadLog(write: WriteLog): ReloadLog {
  let isReloading = false;
  let saidBefore = new Set<string>();
  let said = new Set<string>();
  return {
    log(message, { code, level }) {
      if (code === "description") said.add(message);
      const isKnown = isReloading && code === "description" && saidBefore.has(message);
      if (!isKnown) write(message, level);
    },
    endOfRead() {
      [saidBefore, said] = [said, new Set()];
    },
    async duringReload(work) {
      isReloading = true;
      try {
        return await work();
      } finally {
        isReloading = false;
      }
    },
  };
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; choose another with --port",
  EADDRNOTAVAIL: "no such address on this machine; see --host",
  EACCES: "not allowed to listen there; ports below 1024 need privileges",
  ENOTFOUND: "the host name is unknown; see --host",
  EAI_AGAIN: "the host name is unknown; see --host",
  EINVAL: "the host name is unknown; see --host",
};

type Adapter = Pick<typeof import("../adapters/node.ts"), "serve">;

function loadAdapter(): Promise<Adapter> {
  if ("Deno" in globalThis) return import("../adapters/deno.ts");
  return "Bun" in globalThis ? import("../adapters/bun.ts") : import("../adapters/node.ts");
}

/** Listens with the adapter of the runtime; throws with what would help, if it cannot. */
async function listen(
  app: Pick<App, "fetch">,
  options: ServeOptions,
): Promise<Listening> {
  const { hostname, port } = options;
  const { serve } = await loadAdapter();
  try {
    return await serve(app, options);
  } catch (error) {
    const { code = "", message } = error as { code?: string; message: string };
    const reason = LISTEN_FAILURES[code] ?? message;
    throw new Error(`cannot listen on ${hostname}, port ${port}: ${reason}`);
  }
}

/** Writes where a browser finds the service, and the explorer: no browser opens `0.0.0.0` or `::`. */
function addressOf(url: string): string {
  const open = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  const others = open === url ? "" : " and every other address of this machine";
  return `${open}${others} (explorer: ${open}v1/spec)`;
}

/** Stands for what is not known. */
const UNKNOWN = "-";

/** The form of a method (RFC 9110, section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Writes the line of one request. Nothing that a client sends begins a line of its
 * own: a path is percent-encoded, and what is no token is not shown as a method.
 *
 * @example
 * ```
 * 2026-01-02T03:04:05.678Z GET /v1/info 200 0.4
 * 2026-01-02T03:04:06.789Z GET /spec.json 200 1204.1 aborted
 * 2026-01-02T03:04:07.890Z - - 400 0.1
 * ```
 *
 * @param time when the response ended
 */
export function formatAccess(
  { method = UNKNOWN, url, status, outcome, milliseconds }: AnswerRecord,
  form: "text" | "json",
  time: Date = new Date(),
): string {
  const entry = {
    time: time.toISOString(),
    method: TOKEN.test(method) ? method : UNKNOWN,
    path: (url !== undefined && parseTarget(url)?.pathname) || UNKNOWN,
    status: status ?? UNKNOWN,
    ms: Math.round(milliseconds * 10) / 10,
    ...(outcome !== "sent" && { outcome }),
  };
  return form === "json" ? JSON.stringify(entry) : Object.values(entry).join(" ");
}
