/** Runs programs with a time limit. */
import { spawn } from "node:child_process";
import process from "node:process";
import { ROOT } from "../_paths.ts";

export interface Ended {
  /** `null` means that the program was killed. */
  code: number | null;
  output: string;
  isLate: boolean;
}

/** `timeout` is in milliseconds. */
export interface ProgramOptions {
  cwd: string;
  timeout: number;
  env?: Record<string, string>;
  /**
   * Ends a server, which would not exit by itself. When the output contains `text`, `then` is
   * called. The program is killed after `then` has finished.
   */
  until?: { text: string; then: (output: string) => Promise<void> };
}

/** Without this cache, each start of a program would compile its code again. */
const NODE_COMPILE_CACHE = `${ROOT}tests/.cache/compiled`;

/** The maximum length of the kept output, in characters. */
const OUTPUT_LIMIT = 4_000_000;

export function runProgram(
  [program = "", ...args]: readonly string[],
  { cwd, timeout, env = {}, until }: ProgramOptions,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // The program has its own process group, so that its children can be killed with it.
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
        // The program has already exited.
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
