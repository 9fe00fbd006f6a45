/** Starts the command as a process of its own, and stops it. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { BUN, DENO, ROOT } from "./_paths.ts";

/** How the command is started on each runtime, without what `npm` puts around it. */
export const COMMANDS: Readonly<Record<"Node" | "Deno" | "Bun", readonly string[]>> = {
  Node: [process.execPath, "--import", "tsx", "src/main.ts"],
  Deno: [DENO, ...denoArguments()],
  Bun: [BUN, "src/main.ts"],
};

/** A command that serves something else than the service: the one of a file. */
export const serving = (command: readonly string[], file: string): readonly string[] =>
  command.map((part) => part === "src/main.ts" ? file : part);

/** Starts the service on each runtime; gives them by its name. */
export async function startEach(): Promise<Map<string, Running>> {
  const starts = Object.entries(COMMANDS).map(async ([runtime, command]) =>
    [runtime, await start(command)] as const
  );
  return new Map(await Promise.all(starts));
}

/** A process that is running. */
export interface Running {
  /** Where it listens, read from the line it prints when it is ready. */
  url: string;
  pid: number;
  /** What it has printed on standard error so far. */
  stderr(): string;
  /** Resolves when it has ended, by itself or not. */
  ended: Promise<Ended>;
  /** Closes the pipe of its standard output, as a reader that goes away does. */
  leave(): void;
  /** Ends it by a signal; resolves to its exit code and what it printed on standard error. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** What is left of a process. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Where a command runs apart from the checkout, with the tests' own environment. */
export interface Surroundings {
  /** @default the root of the checkout */
  cwd?: string;
  /** Whether there is no environment but the one that is given. */
  bare?: boolean;
  /** The user it runs as, by number. */
  uid?: number;
}

/** Runs a command to its end. */
export function run(
  [program, ...args]: readonly string[],
  env: Record<string, string> = {},
  surroundings: Surroundings = {},
): Promise<Ended> {
  return launch(program!, args, env, surroundings).ended;
}

/** Starts a command that serves, on a port of its own choice; rejects where it ends instead. */
export async function start(
  [program, ...args]: readonly string[],
  env: Record<string, string> = {},
  surroundings: Surroundings = {},
): Promise<Running> {
  const { child, ended, ready, printed } = launch(
    program!,
    [...args, "--port", "0"],
    env,
    surroundings,
  );
  const url = await Promise.race([ready, ended]);
  if (typeof url !== "string") throw new Error(`It ended with ${url.code}: ${url.stderr}`);
  return {
    url,
    pid: child.pid!,
    stderr: () => printed.stderr,
    ended,
    leave: () => void child.stdout.destroy(),
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

function launch(
  program: string,
  args: string[],
  env: Record<string, string>,
  { cwd = ROOT, bare = false, uid }: Surroundings,
) {
  const { PORT: _port, ...inherited } = process.env;
  const child = spawn(program, args, {
    cwd,
    env: bare ? env : { ...inherited, ...env },
    ...(uid !== undefined && { uid, gid: uid }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = { stdout: "", stderr: "" };
  let becomeReady: (url: string) => void;
  const ready = new Promise<string>((resolve) => becomeReady = resolve);
  child.stdout.setEncoding("utf8").on("data", (text: string) => printed.stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.stderr += text;
    const url = /\bnodeface \S+ on (http:\S+)/.exec(printed.stderr)?.[1];
    if (url) becomeReady(url);
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, ...printed }));
  });
  return { child, ended, ready, printed };
}

/** What `deno task start` runs, from the one place that names its permissions. */
function denoArguments(): string[] {
  const { tasks } = JSON.parse(readFileSync(`${ROOT}deno.json`, "utf8"));
  return tasks.start.command.split(" ").slice(1);
}
