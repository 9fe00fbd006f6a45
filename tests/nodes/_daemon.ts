/** Starts real daemons, and queries them through the service. */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import * as assert from "uvu/assert";

export interface Daemon {
  url: string;
  /** Resolves after the daemon has exited. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGUSR2"): void;
}

/** Resolves when the daemon responds to requests. */
export async function startDaemon(
  [program = "", ...args]: readonly string[],
  port: number,
  env: Record<string, string> = {},
): Promise<Daemon> {
  // Some commands are scripts that start the actual program, so signals are sent to the process
  // group.
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: "ignore",
    detached: true,
  });
  const gone = new Promise<void>((resolve) => {
    child.on("exit", () => resolve()).on("error", () => resolve());
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (isGone(child)) throw new Error(`${program} ended with ${child.exitCode}`);
    return await fetch(url).then(() => true, () => false);
  }, 60_000);
  return {
    url,
    async stop(signal = "SIGTERM") {
      if (!isGone(child)) process.kill(-child.pid!, signal);
      await gone;
    },
    signal: (signal) => void process.kill(-child.pid!, signal),
  };
}

const isGone = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

/** @param ms the time limit, which is long because only a failing test reaches it */
export async function until(holds: () => Promise<boolean>, ms = 60_000): Promise<void> {
  const end = performance.now() + ms;
  while (!await holds()) {
    if (performance.now() > end) throw new Error(`The condition did not hold within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Calls the daemon directly, not through the service. */
export async function call(url: string, method: string, params: unknown[] = []) {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await (await fetch(url, { method: "POST", headers, body })).json()).result;
}

/** Returns the description once it has the operations of the node's kind. */
export async function describedBy(service: { readonly url: string }) {
  let text = "";
  await until(async () => {
    text = await (await fetch(new URL("spec.json", service.url))).text();
    return text.includes('"x-access"');
  }, 60_000);
  return JSON.parse(text);
}

/**
 * `took` is the time from the arrival of a static file to the arrival of the info object, in
 * milliseconds. A busy machine delays both responses, so only the difference is meaningful.
 */
export async function infoOf(service: string) {
  const started = performance.now();
  const timed = async (path: string) => {
    const response = await fetch(new URL(path, service));
    const text = await response.text();
    return { response, text, took: performance.now() - started };
  };
  const [asked, file] = await Promise.all([timed("v1/info"), timed("favicon.ico")]);
  return {
    status: asked.response.status,
    info: JSON.parse(asked.text),
    took: asked.took - file.took,
  };
}

/**
 * A machine may stall, so one response or a tenth of them may be slow. If the service waited for the
 * node, most responses would be.
 *
 * @param times the values of `took`
 * @param wait the response time of the node, in milliseconds
 */
export function assertQuick(times: readonly number[], wait: number): void {
  const slow = times.filter((ms) => ms >= wait / 2);
  assert.ok(slow.length <= Math.max(1, times.length / 10), `responses took ${slow.join(", ")} ms`);
}
