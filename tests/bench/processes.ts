/** Starts, measures and stops servers that run in their own processes. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";

export interface Running {
  pid: number;
  port: number;
  /** The time from the start of the process to its first response, in milliseconds. */
  took: number;
  stop(): Promise<void>;
}

/** The time limit for a server's first response, in milliseconds. */
const PATIENCE = 60_000;

const children = new Set<ChildProcess>();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** The number of bytes to read from the end of a program's output. */
const PRINTED_MAX = 10_000;

/** The output goes to a file, because reading a pipe would take processor time in this process. */
function launch([program, ...args]: readonly string[]) {
  const { HOST: _host, PORT: _port, NODE_OPTIONS: _options, ...env } = process.env;
  const folder = mkdtempSync(join(tmpdir(), "nodeface-bench-"));
  const file = openSync(join(folder, "printed"), "a+");
  rmSync(folder, { recursive: true });
  const child = spawn(program!, args, { cwd: ROOT, env, stdio: ["ignore", file, file] });
  children.add(child);
  const ended = new Promise<{ code: number | null; printed: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, printed: readEnd(file) }));
  }).finally(() => {
    closeSync(file);
    children.delete(child);
  });
  return { child, ended };
}

function readEnd(file: number): string {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(Math.min(size, PRINTED_MAX));
  readSync(file, bytes, { position: size - bytes.length });
  return bytes.toString();
}

/** @returns the last part of what the program printed to standard output and standard error */
export async function run(command: readonly string[]): Promise<string> {
  const { code, printed } = await launch(command).ended;
  if (code !== 0) throw new Error(`"${command.join(" ")}" ended with ${code}: ${printed}`);
  return printed;
}

export async function start(command: (port: number) => readonly string[]): Promise<Running> {
  const port = await freePort();
  const since = performance.now();
  const { child, ended } = launch(command(port));
  let failure: string | undefined;
  ended.then(
    ({ code, printed }) => failure = `The server exited with ${code}: ${printed}`,
    (error) => failure = String(error),
  );
  while (await ask(port, "/v1/info").then(({ status }) => status !== 200, () => true)) {
    if (performance.now() - since > PATIENCE) failure = `No server responds on port ${port}`;
    if (failure !== undefined) throw new Error(failure);
    // Without a pause, polling would take processor time from the server.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const took = performance.now() - since;
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { pid: child.pid!, port, took, stop };
}

/**
 * Headers keep their order and letter case. The `Date` header is omitted, because it differs
 * between equal responses.
 */
export interface Answer {
  status: number;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
}

export function ask(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path, headers }, async (message) => {
      const { statusCode: status = 0, rawHeaders } = message;
      const fields = rawHeaders.flatMap((name, i) =>
        i % 2 === 0 && !/^date$/i.test(name) ? [[name, rawHeaders[i + 1]!] as const] : []
      );
      resolve({ status, headers: fields, body: await buffer(message) });
    }).on("error", reject);
  });
}

/** @param name the header's name in lower case */
export function header({ headers }: Answer, name: string): string {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? "";
}

/** Returns microseconds, or NaN without `/proc`. */
export function processorTime(pid: number): number {
  const stat = readProc(pid, "stat");
  // Field 2 is the program's name in brackets, and may contain anything. Fields 14 and 15 are the
  // user and system time.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Linux counts processor time in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Returns the current (`VmRSS`) or peak (`VmHWM`) memory in MB, or NaN without `/proc`. */
export function memory(pid: number, which: "VmRSS" | "VmHWM"): number {
  const [, kib] = new RegExp(`^${which}:\\s+(\\d+) kB$`, "m").exec(readProc(pid, "status")) ?? [];
  return Number(kib) * 1024 / 1e6;
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
