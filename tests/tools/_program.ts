/** Programs that are given a time to end in. */
import { spawn } from "node:child_process";
import process from "node:process";
import { ROOT } from "../_paths.ts";

/** What has become of a program. */
export interface Ended {
  /** `null` where it was killed. */
  code: number | null;
  /** What it wrote, to either stream. */
  output: string;
  isLate: boolean;
}

/** What a program may take, in milliseconds. */
export interface ProgramOptions {
  cwd: string;
  timeout: number;
  env?: Record<string, string>;
  /** Ends the program once this is written, as one that serves would never end by itself. */
  until?: { text: string; then: (output: string) => Promise<void> };
}

/** Starts of one program are many, and compiling it is a part of each. */
const NODE_COMPILE_CACHE = `${ROOT}tests/.cache/compiled`;

/** No more than this of its output is kept, in characters. */
const OUTPUT_LIMIT = 4_000_000;

/** Runs a program. One that is still there after its time is killed, with its children. */
export function runProgram(
  [program = "", ...args]: readonly string[],
  { cwd, timeout, env = {}, until }: ProgramOptions,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what it starts is killed with it.
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
        // It has ended meanwhile.
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
