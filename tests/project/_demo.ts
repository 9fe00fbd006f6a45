/** Helpers that start `npm run demo`. */
import { execFileSync, spawn } from "node:child_process";
import process from "node:process";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";
import { until } from "../nodes/_daemon.ts";

export const FLAGS = ["--import", "./src/build/signals-before-tsx.mjs", "--import", "tsx"];

export async function startDemo(port: number, flags: readonly string[] = FLAGS) {
  const child = spawn(process.execPath, [...flags, "src/build/demo.ts"], {
    cwd: ROOT,
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => printed.stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => printed.stderr += text);
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`It ended: ${printed.stderr}`);
    return Promise.resolve(/Try .*\n/.test(printed.stdout));
  });
  return { child, printed, ended };
}

const processes = () =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,comm="], { encoding: "utf8" })
    .trim().split("\n").map((line) => {
      const [pid, parent, state, name] = line.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), isZombie: state![0] === "Z", name: name! };
    });

/** The demo starts anvil through a shell, so the shell is anvil's parent process. */
export function nodeOf(demo: { pid?: number | undefined }): number {
  const all = processes();
  const shells = all.filter(({ parent }) => parent === demo.pid).map(({ pid }) => pid);
  const node = all.find(({ parent, name }) => shells.includes(parent) && /anvil$/.test(name));
  assert.ok(node, "there is a node");
  return node.pid;
}

export const isRunning = (wanted: number) =>
  processes().some(({ pid, isZombie }) => pid === wanted && !isZombie);
