/**
 * Measures what an attack costs the service: processor time, memory, and the waits of an honest
 * client.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { type Running, start } from "../_server.ts";
import type { Attack } from "./_cost-attacks.ts";
import type { Result } from "./_cost-clients.ts";
import { configure } from "./_cost-services.ts";
import { sleep } from "./_honest-client.ts";

export interface Cost {
  /** The processor time of all threads, in seconds. */
  readonly cpu: number;
  /** The peak of the resident memory during the attack minus the memory before it, in MB. */
  readonly memory: number;
  /** The longest wait of an honest client, in milliseconds. */
  readonly wait: number;
  readonly result: Result;
  /** The reason why the measurement ended before the attack. */
  readonly cut?: string | undefined;
}

const TIME_MAX_MS = 60_000;

/** A measurement ends early if the attack has cost this many times its budget. */
const CUT_AT = 6;

const SAMPLE_MS = 50, SAMPLES = 10;
/** The processor time that an idle service may use in half a second, in seconds. */
const IDLE_MAX_S = 0.05;

const INTERVAL_MS = 10;

/**
 * The node, which all measurements share. `send` releases the held responses, and resolves when one
 * was sent.
 */
export interface HostileNode {
  readonly port: number;
  hold(): void;
  send(): Promise<void>;
  stop(): void;
}

export async function startNode(): Promise<HostileNode> {
  const node = child("_cost-node.ts");
  const [port] = await once(node, "message") as [number];
  return {
    port,
    hold: () => void node.send("hold"),
    async send() {
      const sent = once(node, "message");
      node.send("release");
      await sent;
    },
    stop: () => node.disconnect(),
  };
}

/** @param attack the attack; `undefined` measures the service without an attack, for two seconds */
export async function measure(
  command: readonly string[],
  node: HostileNode,
  attack: Attack | undefined,
): Promise<Cost> {
  const service = attack?.service ?? { sort: "JSON-RPC" as const };
  node.hold();
  let running: Running;
  try {
    running = await start([...command, "--config", configure(node.port, service)]);
  } catch (error) {
    const [line = ""] = String((error as Error).message).split("\n");
    // A kind's file may be refused because of its regular expression.
    const isRight = ["field", "detect", "listing"].includes(service.sort) &&
      /\b(?:match|detect|names)\b/.test(line);
    const result = { outcomes: { [line]: 1 }, fault: isRight ? undefined : line };
    return { cpu: 0, memory: 0, wait: 0, result };
  }
  const attacker = attack?.act && child("_cost-attacker.ts");
  const client = honest(running.url);
  try {
    await warm(running.url, attack?.act !== undefined || !attack);
    await idle(running.pid, client, TIME_MAX_MS);
    return await measureRunning(running, client, node, attack, attacker);
  } finally {
    client.leave();
    attacker?.disconnect();
    await running.stop("SIGKILL");
  }
}

async function measureRunning(
  { pid, stderr }: Running,
  client: HonestClient,
  node: HostileNode,
  attack: Attack | undefined,
  attacker: ChildProcess | undefined,
): Promise<Cost> {
  const { url } = client;
  client.reset();
  resetPeak(pid);
  const before = { cpu: cpuOf(pid), memory: memoryOf(pid, "VmRSS"), at: performance.now() };
  let cut: string | undefined;
  const watch = setInterval(() => {
    const most = CUT_AT * (attack?.budget.cpu ?? Infinity);
    const isLong = performance.now() - before.at > TIME_MAX_MS;
    if (cpuOf(pid) - before.cpu > most) cut ??= `cut after ${most.toFixed(1)} s of processor time`;
    if (isLong) cut ??= `not over after ${TIME_MAX_MS / 1000} s`;
  }, SAMPLE_MS);
  const whenCut = async () => {
    while (!cut) await sleep(SAMPLE_MS, undefined);
  };
  const attackNow = async (): Promise<Result> => {
    if (!attack) await sleep(2000, undefined);
    else if (!attacker) await node.send();
    else {
      attacker.send({ name: attack.name, url });
      return (await once(attacker, "message") as [Result])[0];
    }
    return NO_RESULT;
  };
  const result = await Promise.race([attackNow(), whenCut()]) ?? NO_RESULT;
  await Promise.race([idle(pid, client, TIME_MAX_MS), whenCut()]);
  clearInterval(watch);
  const cpu = cpuOf(pid) - before.cpu;
  const memory = Math.max(0, memoryOf(pid, "VmHWM") - before.memory);
  const { wait, failed } = client.leave();
  const lines = stderr().trimEnd().split("\n").filter((text) => !/^\S+ info /.test(text));
  const outcomes = {
    ...result.outcomes,
    ...failed > 0 && { "honest requests failed": failed },
    ...lines.length > 0 && { [`log: ${lines.at(-1)!.slice(25, 175)}`]: lines.length },
  };
  return { cpu, memory, wait, result: { ...result, outcomes }, cut };
}

const NO_RESULT: Result = { outcomes: {} };

/** Loads the service's code, so that it does not count as memory of the attack. */
async function warm(url: string, hasNode: boolean): Promise<void> {
  const paths = hasNode ? ["v1/ready", "v1/info", "spec.json", "v1/rpc/ones_1"] : ["v1/ready"];
  for (const path of paths) {
    for (let i = 0; i < 20; i++) await (await fetch(url + path)).arrayBuffer();
  }
}

/**
 * Waits until the service answers the honest client, and hardly runs, for half a second. On a busy
 * machine, a process that uses no processor time may still want to run.
 */
async function idle(pid: number, client: HonestClient, timeout: number): Promise<void> {
  const end = performance.now() + timeout;
  while (performance.now() < end) {
    const [cpu, answered] = [cpuOf(pid), client.answered()];
    let busy = 0;
    for (let i = 0; i < SAMPLES; i++) {
      await sleep(SAMPLE_MS, undefined);
      if (isRunning(pid)) busy++;
    }
    const isAnswered = client.answered() > answered;
    if (isAnswered && busy <= SAMPLES / 5 && cpuOf(pid) - cpu < IDLE_MAX_S) return;
  }
}

type HonestClient = ReturnType<typeof honest>;

function honest(url: string) {
  const agent = new Agent({ keepAlive: true });
  let wait = 0, failed = 0, answered = 0, since = performance.now(), hasLeft = false;
  const note = () => wait = Math.max(wait, performance.now() - since);
  const askOnce = () =>
    new Promise<boolean>((resolve) => {
      const sent = request(new URL("/v1/ready", url), { agent }, (response) => {
        response.on("close", () => resolve(response.statusCode === 200)).resume();
      });
      sent.on("error", () => resolve(false)).end();
    });
  void (async () => {
    while (!hasLeft) {
      since = performance.now();
      const isGood = await askOnce();
      if (hasLeft) return;
      note();
      if (isGood) answered++;
      else failed++;
      await sleep(INTERVAL_MS, undefined);
      since = performance.now();
    }
  })();
  return {
    url,
    answered: () => answered,
    reset: () => wait = failed = 0,
    leave() {
      if (!hasLeft) note();
      hasLeft = true;
      agent.destroy();
      return { wait, failed };
    },
  };
}

const child = (file: string): ChildProcess => fork(fileURLToPath(new URL(file, import.meta.url)));

/** Tells whether a thread of the process runs or wants to run. */
function isRunning(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).some((thread) => {
    try {
      return statOf(`${pid}/task/${thread}`)[0] === "R";
    } catch {
      return false;
    }
  });
}

/** Returns the fields of proc_pid_stat(5) from the third. */
function statOf(path: string): string[] {
  const text = readFileSync(`/proc/${path}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Returns the user and system time of all threads, in seconds. */
function cpuOf(pid: number): number {
  const [user, system] = statOf(String(pid)).slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/** Returns memory in MB. */
function memoryOf(pid: number, name: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? NaN) * 1024 / 1e6;
}

/** Sets the peak of the resident memory to its present value (proc_pid_clear_refs(5)). */
const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");
