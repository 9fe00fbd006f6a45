/**
 * Runs the service: listens, reloads the configuration, and stops on a signal.
 *
 * @module
 */
import { hostname } from "node:os";
import type { Listening, ResponseRecord, ServeOptions } from "../adapters/shared.ts";
import { type App, createApp } from "../app.ts";
import { VERSION } from "../generated/build-info.js";
import { lintSettings } from "../gateway/lint-settings.ts";
import { NodeMemory } from "../info/node-memory.ts";
import { isWithoutNode } from "../info/query-plan.ts";
import { isEqual } from "../json/values.ts";
import { findUnusable } from "../node/http-client.ts";
import { findOpenSecrets } from "../node/secrets.ts";
import type { DescriptionReport } from "../description/description.ts";
import { Meters } from "../metrics/metrics.ts";
import { CHECK_INTERVALS_MS } from "../description/description.ts";
import { LastFile } from "../description/source.ts";
import { describeError } from "../log.ts";
import type { ResolvedClient } from "../gateway/policy.ts";
import type { Config } from "./read-config.ts";
import { LineWriter, openLog, openOutput, type WriteLog } from "./output.ts";
import { isTerminalClosed, signals } from "./signals.ts";
import { isHttpUrl, isLoopbackListener } from "../http/host-names.ts";
import { parseTarget } from "../http/target.ts";
import { isToken } from "../untrusted-text.ts";
import type { CheckedOptions } from "../options.ts";

interface RunningService {
  readonly config: Config;
  readonly nodeface: App;
  readonly memory: NodeMemory;
  shown?: DescriptionReport["shown"];
  /** The time of the last description without a fatal error, by `performance.now()`. */
  readAt?: number;
}

export async function runService(config: Config, read: () => Promise<Config>): Promise<void> {
  const { log, flush } = openLog();
  let stop = (_signal: string) => {};
  const stopped = new Promise<string>((resolve) => stop = resolve);
  signals.onStop((signal) => stop(signal));
  if (config.file === undefined) {
    signals.onHangUp(() => {
      if (isTerminalClosed()) stop("SIGHUP");
      else log("no configuration file to reload on SIGHUP", "info");
    });
  }
  const requests = new LineWriter(
    openOutput("stdout"),
    (count) => log(`${count} lines of the access log were dropped: its reader was stuck`),
  );
  const service = new Service(config, read, log);
  const options: ServeOptions = {
    hostname: config.host,
    port: config.port,
    // Adapters read this property on every request, since a reload may change the setting.
    get onResponse(): ServeOptions["onResponse"] {
      const { accessLog: form } = service.config;
      return form === "off" ? undefined : (record) => requests.write(formatAccess(record, form));
    },
    onError: (error, request) => log(describeError(error, request), "error"),
  };
  const server = await Promise.race([listen(service, options), stopped]);
  if (typeof server === "string") {
    log(`stopping: ${server}`, "info");
    return await flush();
  }
  service.start();
  log(`nodeface ${VERSION} on ${shownAddresses(server.url)}`, "info");
  if (isWithoutNode(config)) log(WITHOUT_NODE, "warn");
  if (config.file !== undefined) {
    signals.onHangUp(() => isTerminalClosed() ? stop("SIGHUP") : service.reload());
  }
  log(`stopping: ${await stopped}`, "info");
  // Closing the service cancels calls that wait for the node, so that the server soon becomes idle.
  await Promise.all([service.close(), server.close()]);
  await Promise.all([flush(), requests.flush()]);
}

export const WITHOUT_NODE: string =
  "no node is configured; name one, as in nodeface http://127.0.0.1:8545, or " +
  "set node.url";

/** A description that stays wrong may be wrong in another way each time. */
const LOGGED_MAX = 1000;

/** The service of the current configuration. A reload replaces it as a whole. */
class Service {
  readonly #first: Config;
  readonly #read: () => Promise<Config>;
  readonly #log: WriteLog;
  readonly #startedAt = new Date();
  /** The counters keep their values when the configuration is reloaded. */
  readonly #meters = new Meters();
  readonly #lastFile = new LastFile();
  /** The logged messages about the description. A reload does not log them again. */
  readonly #logged = new Set<string>();
  #isReloading = false;
  #reloading = Promise.resolve();
  #current: RunningService;
  /** Services of earlier configurations, whose requests and calls run on. */
  readonly #replaced = new Set<RunningService>();
  #stopWatching = () => {};

  constructor(config: Config, read: () => Promise<Config>, log: WriteLog) {
    this.#first = config;
    this.#read = read;
    this.#log = log;
    this.#current = this.#make(config, new NodeMemory());
    if (config.file !== undefined) this.#meters.noteReload();
  }

  get config(): Config {
    return this.#current.config;
  }

  fetch(request: Request): ReturnType<App["fetch"]> {
    return this.#current.nodeface.fetch(request);
  }

  start(): void {
    warmUp(this.#current);
    this.#watch();
    void logSettings(this.config, this.#log);
  }

  /** Reloads run one after the other, so that the last configuration is the one that stays. */
  reload(): void {
    this.#reloading = this.#reloading.then(() => this.#reload());
  }

  async close(): Promise<void> {
    this.#stopWatching();
    const all = [...this.#replaced, this.#current];
    await Promise.all(all.map(({ nodeface }) => nodeface.close()));
  }

  #make(config: Config, memory: NodeMemory): RunningService {
    const service: Omit<RunningService, "nodeface"> = { config, memory };
    const nodeface = createApp({
      ...config,
      ...inNetwork(config, this.#first.host),
      isStandalone: true,
      startedAt: this.#startedAt,
      meters: this.#meters,
      memory,
      lastFile: this.#lastFile,
      onDescription: ({ shown }) => {
        service.shown = shown;
        if (shown !== "current") return;
        service.readAt = performance.now();
        this.#logged.clear();
      },
      log: (message, { code, level }) => {
        if (code === "description") {
          if (this.#isReloading && this.#logged.has(message)) return;
          if (this.#logged.size >= LOGGED_MAX) this.#logged.clear();
          this.#logged.add(message);
        }
        this.#log(message, level);
      },
    });
    return Object.assign(service, { nodeface });
  }

  async #makeNext(config: Config): Promise<RunningService> {
    const next = this.#make(config, this.#memoryFor(config));
    try {
      await next.nodeface.ready();
      warmUp(next);
      // Without this wait, the first responses would lack the node's description.
      await next.nodeface.refresh();
      if (!isWorse(next, this.#current)) return next;
      throw new Error("the node's description cannot be read with the new configuration");
    } catch (error) {
      await next.nodeface.close();
      throw error;
    }
  }

  #memoryFor(config: Config): NodeMemory {
    if (!isSameNode(config, this.config)) return new NodeMemory();
    const { memory } = this.#current;
    // Where the values come from another place, another value is no other chain.
    return haveSameValues(config, this.config) ? memory : memory.withoutChain();
  }

  async #reload(): Promise<void> {
    let hasRemoved = false;
    try {
      const config = await this.#read();
      const { file } = this.#first;
      if (file !== undefined && config.file === undefined) throw new Error(`${file}: no such file`);
      if (isWithoutNode(config) && !isWithoutNode(this.config)) throw new Error(WITHOUT_NODE);
      if (config.host !== this.#first.host || config.port !== this.#first.port) {
        this.#log('"listen" has changed; restart the service to use the new address');
      }
      this.#isReloading = true;
      hasRemoved = this.#endRemovedClients(config);
      const next = await this.#makeNext(config);
      const before = this.#current;
      this.#current = next;
      this.#watch();
      this.#closeWhenIdle(before, config);
      const { host, port } = this.#first;
      await logSettings({ ...config, host, port }, this.#log);
      this.#log("the configuration has been read again", "info");
      this.#meters.noteReload();
    } catch (error) {
      const but = hasRemoved ? ", but the removed clients stay removed" : "";
      this.#log(`${(error as Error).message}\nthe configuration stays as it was${but}`, "error");
      this.#meters.noteFailedReload();
    } finally {
      this.#isReloading = false;
    }
  }

  /**
   * Ends the rights of clients that are not in the file any more, since reading a description for
   * the next service may take long, or fail. Returns false if there are none.
   */
  #endRemovedClients(next: Config): boolean {
    const isIn = ({ name }: ResolvedClient) =>
      next.forward?.clients.some((other) => other.name === name) ?? false;
    for (const { nodeface, config: { forward } } of [this.#current, ...this.#replaced]) {
      if (forward) {
        nodeface.endRemovedClients({ ...forward, clients: forward.clients.filter(isIn) });
      }
    }
    return this.config.forward?.clients.some((client) => !isIn(client)) ?? false;
  }

  /** All previous services finish what they began, with the rights that are left. */
  #closeWhenIdle(before: RunningService, next: Config): void {
    this.#replaced.add(before);
    for (const { nodeface, config } of this.#replaced) {
      nodeface.endRemovedClients(next.forward);
      if (!isEqual(calledBy(config), calledBy(next))) nodeface.endCalls();
    }
    void before.nodeface.closeWhenIdle().finally(() => this.#replaced.delete(before));
  }

  #watch(): void {
    this.#stopWatching();
    this.#stopWatching = watchDescription(this.#current, this.#log);
  }
}

/** If other machines can reach the service, the names of this machine are served, too. */
function inNetwork(
  { hosts = [] }: Config,
  host: string,
): Pick<CheckedOptions, "isInNetwork" | "hosts"> {
  if (isLoopbackListener(host)) return { isInNetwork: false };
  return {
    isInNetwork: true,
    hosts: hosts === "*" ? hosts : [...hosts, ...machineNames()],
  };
}

/**
 * Returns the name of this machine with and without its domain, and its name in multicast DNS (RFC
 * 6762).
 */
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
  config: Config,
  log: WriteLog,
): Promise<void> {
  const { node, forward, remarks } = config;
  for (const { message, level } of remarks) log(message, level);
  for (const { message } of await findUnusable(node)) log(message, "error");
  for (const message of await findOpenSecrets(node.auth)) log(message, "warn");
  if (!forward) return;
  for (const { level, message } of await lintSettings(forward, config)) log(message, level);
}

/** Without a configured description, there may be none because the node does not respond. */
function isWorse(next: RunningService, now: RunningService): boolean {
  if (next.config.description === undefined) return false;
  const identify = ({ description, node }: Config) => JSON.stringify([description, node.url]);
  const isShown = ({ shown }: RunningService) => shown === "current" || shown === "older";
  return identify(next.config) === identify(now.config) && isShown(now) && !isShown(next);
}

function warmUp({ config, nodeface }: RunningService): void {
  if (!isWithoutNode(config)) void nodeface.warmUp();
}

function isSameNode(next: Config, now: Config): boolean {
  const identify = ({ node, info }: Config) => JSON.stringify([node.url, node.kind, info.hide]);
  return identify(next) === identify(now);
}

function haveSameValues(next: Config, now: Config): boolean {
  const placesOf = (
    { info: { static: labels, fields, sources }, kinds }: Config,
  ) => [labels, fields, sources, kinds];
  return isEqual(placesOf(next), placesOf(now));
}

/** What decides who calls what. If it is the same, calls run on: each has a time limit. */
const calledBy = ({ node, kinds, description, base, forward }: Config): unknown[] => [
  node,
  kinds,
  description,
  base,
  forward?.open,
];

const SLOW_MS = 1000;

function watchDescription(
  service: RunningService,
  log: WriteLog,
): () => void {
  const { config: { description, node }, nodeface } = service;
  if (description === "none" || (description === undefined && !node.url)) return () => {};
  let isReading = false;
  let isTold = false;
  const look = async () => {
    // A large file takes longer than the time to the next look.
    if (isReading) return;
    isReading = true;
    const begun = performance.now();
    const timer = setTimeout(() => {
      if (isTold || description === undefined) return;
      isTold = true;
      log(`the description ${description} is being read`, "info");
    }, SLOW_MS);
    timer.unref();
    await nodeface.refresh().catch(({ message }) => log(message, "error"));
    isReading = false;
    clearTimeout(timer);
    const { readAt = -Infinity } = service;
    if (!isTold || readAt < begun) return;
    isTold = false;
    log(`the description was read in ${((readAt - begun) / 1000).toFixed(1)} s`, "info");
  };
  void look();
  const isFile = description !== undefined && !isHttpUrl(description);
  const timer = isFile ? setInterval(look, CHECK_INTERVALS_MS.file) : undefined;
  timer?.unref();
  return () => clearInterval(timer);
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; choose another with --port",
  EADDRNOTAVAIL: "no such address on this machine; see --host",
  EACCES: "not allowed to listen there; ports below 1024 need privileges",
  EPERM: "not allowed to listen there; under systemd, see SocketBindAllow= in the unit",
  ENOTFOUND: "the host name is unknown; see --host",
  EAI_AGAIN: "the host name is unknown; see --host",
  EINVAL: "no host name and no address of this machine; a link-local address needs its " +
    "interface, as in fe80::1%eth0",
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
function shownAddresses(url: string): string {
  const open = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  const others = open === url ? "" : " and every other address of this machine";
  return `${open}${others} (explorer: ${open}v1/spec)`;
}

const UNKNOWN = "-";

/**
 * Formats a line such as `2026-01-02T03:04:06.789Z GET /v1/rpc 200 1204.1 aborted client=app`.
 * Neither the path, which is percent-encoded, nor the method can contain a line break.
 *
 * @param time the time at which the response ended
 */
export function formatAccess(
  { method = UNKNOWN, url, status, client, outcome, milliseconds }: ResponseRecord,
  form: "text" | "json",
  time: Date = new Date(),
): string {
  const entry = {
    time: time.toISOString(),
    method: isToken(method) ? method : UNKNOWN,
    path: (url !== undefined && parseTarget(url).pathname) || UNKNOWN,
    status: status ?? UNKNOWN,
    ms: Math.round(milliseconds * 10) / 10,
    ...(outcome !== "sent" && { outcome }),
    ...(client !== undefined && { client: form === "json" ? client : `client=${client}` }),
  };
  return form === "json" ? JSON.stringify(entry) : Object.values(entry).join(" ");
}
