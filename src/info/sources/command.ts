/**
 * Programs: what one prints on its standard output.
 *
 * @module
 */
import { joinBytes } from "../../bytes.ts";
import { excerpt } from "../../text.ts";
import { readVariable } from "./file.ts";
import { LIMIT, SourceError, TOO_LARGE } from "./source-error.ts";

/** What a failure to start means, by its code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "this user may not run it",
};

/**
 * Runs a program to its end; no shell reads its arguments. It is killed where it takes too long or
 * prints too much.
 *
 * @param command the program and its arguments
 * @param timeout in milliseconds
 * @throws {SourceError}
 */
export async function runCommand(command: readonly string[], timeout: number): Promise<string> {
  const [program = "", ...args] = command;
  const { spawn } = await import("node:child_process").catch(() => {
    throw new SourceError("no program can be run here");
  });
  // Of the environment no more than programs need: it may hold secrets.
  const env: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "LANG"]) {
    const value = readVariable(name);
    if (value !== undefined) env[name] = value;
  }
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    const chunks: Uint8Array[] = [];
    let length = 0;
    const give = (settle: () => void) => {
      clearTimeout(timer);
      // A program that it started may hold the pipe open after its own end.
      child.stdout.destroy();
      settle();
    };
    const fail = (reason: string) => {
      child.kill("SIGKILL");
      give(() => reject(new SourceError(reason)));
    };
    const timer = setTimeout(() => fail(`takes longer than ${timeout} ms`), timeout);
    child.stdout.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > LIMIT) fail(TOO_LARGE);
    });
    child.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
      fail(REASONS[code] ?? excerpt(code || "cannot be run"));
    });
    child.on("close", (code, signal) => {
      if (code !== 0) return fail(`ends with ${code ?? signal}`);
      give(() => resolve(new TextDecoder().decode(joinBytes(chunks))));
    });
  });
}
