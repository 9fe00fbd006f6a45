/**
 * Runs the service: listens, reloads the configuration, and stops on a signal.
 *
 * @module
 */
import { hostname } from "node:os";
import type { AnswerRecord, Listening, ServeOptions } from "../adapters/shared.ts";
import { type App, createApp } from "../app.ts";
import { VERSION } from "../generated/build-info.js";
import { lintSettings } from "../gateway/lint-settings.ts";
import { NodeMemory } from "../info/state-log.ts";
import { isAlone } from "../info/query-plan.ts";
import { findUnreadable } from "../node/client.ts";
import { findOpenSecrets } from "../node/secrets.ts";
import type { DescriptionReport } from "../description/watch.ts";
import { Meters } from "../metrics/metrics.ts";
import { LOOK_AT } from "../resources/resources.ts";
import { describeError, type Log } from "../log.ts";
import type { Config } from "./read-config.ts";
import { createLineWriter, openLog, openOutput, type WriteLog } from "./output.ts";
import { handleSignals } from "./signals.ts";
import { isLoopback, parseTarget } from "../http/request.ts";
import type { CheckedOptions } from "../options.ts";

interface RunningService {
  readonly config: Config;
  readonly nodeface: App;
  readonly memory: NodeMemory;
  shown?: DescriptionReport["shown"];
}

export async function runService(config: Config, read: () => Promise<Config>): Promise<void> {
  const { log, flush } = openLog();
  let reload = async () => {};
  let reloading = Promise.resolve();
  const stopped = new Promise<void>((stop) => {
    handleSignals({
      stop: () => stop(),
      hangUp() {
        if (config.file === undefined) return stop();
        reloading = reloading.then(() => reload());
      },
    });
  });
  const startedAt = new Date();
  const requests = createLineWriter(
    openOutput("stdout"),
    (count) => log(`${count} lines of the access log were dropped: its reader was stuck`),
  );
  // The counters keep their values when the configuration is reloaded.
  const meters = new Meters();
  /** The logged messages about the description. A reload does not log them again. */
  const logged = new Set<string>();
  let isReloading = false;
  const logOnce: Log = (message, { code, level }) => {
    if (code === "description") {
      if (isReloading && logged.has(message)) return;
      logged.add(message);
    }
    log(message, level);
  };
  const make = (config: Config, memory = new NodeMemory()): RunningService => {
    const service: Omit<RunningService, "nodeface"> = { config, memory };
    const onDescription = ({ shown }: DescriptionReport) => {
      service.shown = shown;
      if (shown === "current") logged.clear();
    };
    const nodeface = createApp({
      ...config,
      ...inNetwork(config),
      startedAt,
      meters,
      memory,
      onDescription,
      log: logOnce,
    });
    return Object.assign(service, { nodeface });
  };
  let current = make(config);
  const app = { fetch: (request: Request) => current.nodeface.fetch(request) };
  const options: ServeOptions = {
    hostname: config.host,
    port: config.port,
    // Adapters read this property on every request, since a reload may change the setting.
    get onAnswer(): ServeOptions["onAnswer"] {
      const { accessLog: form } = current.config;
      return form === "off" ? undefined : (record) => requests.write(formatAccess(record, form));
    },
    onError: (error) => log(describeError(error), "error"),
  };
  const server = await Promise.race([listen(app, options), stopped]);
  if (!server) return;
  warmUp(current);
  let stopWatching = watchDescription(current, log);

  const makeNext = async (next: Config): Promise<RunningService> => {
    const made = make(next, isSameNode(next, current.config) ? current.memory : undefined);
    try {
      await made.nodeface.ready();
      warmUp(made);
      // Without this wait, the first responses would lack the node's description.
      await made.nodeface.refresh();
      if (!isWorse(made, current)) return made;
      throw new Error("the node's description cannot be read with the new configuration");
    } catch (error) {
      await made.nodeface.close();
      throw error;
    }
  };
  reload = async () => {
    try {
      const next = await read();
      if (next.host !== config.host || next.port !== config.port) {
        log('"listen" has changed; restart the service to use the new address');
      }
      isReloading = true;
      const made = await makeNext(next);
      stopWatching();
      const before = current;
      current = made;
      stopWatching = watchDescription(current, log);
      await before.nodeface.close();
      await logSettings(next, log);
      log("the configuration has been read again", "info");
    } catch (error) {
      log(`${(error as Error).message}\nthe configuration stays as it was`, "error");
    } finally {
      isReloading = false;
    }
  };
  for (const { message, level } of config.remarks) log(message, level);
  log(`nodeface ${VERSION} on ${addressOf(server.url)}`, "info");
  void logSettings(config, log);
  await stopped;
  stopWatching();
  // Closing the app cancels calls that wait for the node, so that the server soon becomes idle.
  await Promise.all([current.nodeface.close(), server.close()]);
  await Promise.all([flush(), requests.flush()]);
}

/** If other machines can reach the service, the names of this machine are served, too. */
function inNetwork(
  { host, hosts = [] }: Config,
): Pick<CheckedOptions, "isInNetwork" | "hosts"> {
  if (isLoopback(host)) return { isInNetwork: false };
  return {
    isInNetwork: true,
    hosts: hosts === "*" ? hosts : [...hosts, ...machineNames()],
  };
}

/** Returns the name of this machine with and without its domain, and its name in multicast DNS (RFC 6762). */
function machineNames(): string[] {
  try {
    const name = hostname().toLowerCase();
    const [first = ""] = name.split(".");
    return first === "" ? [] : [name, first, `${first}.local`];
  } catch {
    // Deno may not have been allowed to read the name.
    return [];
  }
}

/** Errors are not fatal, since the node may write a missing secret later. */
async function logSettings(
  { node, forward, host, port }: Config,
  log: WriteLog,
): Promise<void> {
  for (const message of await findUnreadable(node)) log(message, "error");
  for (const message of await findOpenSecrets(node.auth)) log(message, "warn");
  if (!forward) return;
  const facts = { url: node.url, listening: { host, port } };
  for (const { level, message } of await lintSettings(forward, facts)) log(message, level);
}

function isWorse(next: RunningService, now: RunningService): boolean {
  const identify = ({ description, node }: Config) => JSON.stringify([description, node.url]);
  const isShown = ({ shown }: RunningService) => shown === "current" || shown === "older";
  return identify(next.config) === identify(now.config) && isShown(now) && !isShown(next);
}

function warmUp({ config, nodeface }: RunningService): void {
  if (!isAlone(config.node, config.info)) void nodeface.warmUp();
}

function isSameNode(next: Config, now: Config): boolean {
  const identify = ({ node, info }: Config) => JSON.stringify([node.url, node.kind, info.hide]);
  return identify(next) === identify(now);
}

const SLOW_MS = 1000;

function watchDescription(
  { config: { description, node }, nodeface }: RunningService,
  log: WriteLog,
): () => void {
  if (description === "none" || (description === undefined && !node.url)) return () => {};
  const look = async () => {
    const begun = performance.now();
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = description !== undefined;
      if (isSlow) log(`the description ${description} is being read`, "info");
    }, SLOW_MS);
    timer.unref();
    await nodeface.refresh().catch(({ message }) => log(message, "error"));
    clearTimeout(timer);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    if (isSlow) log(`the description was read in ${seconds} s`, "info");
  };
  void look();
  const isFile = description !== undefined && !/^https?:/i.test(description);
  const timer = isFile ? setInterval(look, LOOK_AT.file) : undefined;
  timer?.unref();
  return () => clearInterval(timer);
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; choose another with --port",
  EADDRNOTAVAIL: "no such address on this machine; see --host",
  EACCES: "not allowed to listen there; ports below 1024 need privileges",
  ENOTFOUND: "the host name is unknown; see --host",
  EAI_AGAIN: "the host name is unknown; see --host",
  EINVAL: "the host name is unknown; see --host",
};

function loadAdapter(): Promise<Pick<typeof import("../adapters/node.ts"), "serve">> {
  if ("Deno" in globalThis) return import("../adapters/deno.ts");
  return "Bun" in globalThis ? import("../adapters/bun.ts") : import("../adapters/node.ts");
}

async function listen(app: Pick<App, "fetch">, options: ServeOptions): Promise<Listening> {
  const { serve } = await loadAdapter();
  try {
    return await serve(app, options);
  } catch (error) {
    const { code = "", message } = error as { code?: string; message: string };
    const reason = LISTEN_FAILURES[code] ?? message;
    throw new Error(`cannot listen on ${options.hostname}, port ${options.port}: ${reason}`);
  }
}

/** A browser cannot open `0.0.0.0` or `::`. */
function addressOf(url: string): string {
  const open = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  const others = open === url ? "" : " and every other address of this machine";
  return `${open}${others} (explorer: ${open}v1/spec)`;
}

const UNKNOWN = "-";

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Formats a line such as `2026-01-02T03:04:06.789Z GET /spec.json 200 1204.1 aborted`. Neither the path, which is
 * percent-encoded, nor the method can contain a line break.
 *
 * @param time the time at which the response ended
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
