/** Programs with a time limit. */
import { spawn } from "node:child_process";
import process from "node:process";
import { ROOT } from "../_paths.ts";

/** The result of a program. */
export interface Ended {
  /** `null` if it was killed. */
  code: number | null;
  /** Its output on both streams. */
  output: string;
  isLate: boolean;
}

/** The options of a program; `timeout` is in milliseconds. */
export interface ProgramOptions {
  cwd: string;
  timeout: number;
  env?: Record<string, string>;
  /** Once the program has written `text`, calls `then` and stops the program: a server would not end by itself. */
  until?: { text: string; then: (output: string) => Promise<void> };
}

/** The cache of compiled code: programs are started often, and compiling them is a part of each start. */
const NODE_COMPILE_CACHE = `${ROOT}tests/.cache/compiled`;

/** The number of characters after which no more output is kept. */
const OUTPUT_LIMIT = 4_000_000;

/** Runs a program. After the time limit it is killed, with its children. */
export function runProgram(
  [program = "", ...args]: readonly string[],
  { cwd, timeout, env = {}, until }: ProgramOptions,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // In its own process group, so that its children are killed with it.
    const child = spawn(program, args, {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", CI: "1", NODE_COMPILE_CACHE, ...env },
    });
    let output = "";
    let isLate = false;
    let isReached = false;
    const kill = () => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // It has exited meanwhile.
      }
    };
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, timeout);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        if (output.length < OUTPUT_LIMIT) output += text;
        if (!until || isReached || !output.includes(until.text)) return;
        isReached = true;
        until.then(output).catch(reject).finally(kill);
      });
    }
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output, isLate });
    });
  });
}
