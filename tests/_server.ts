/** Helpers that run the `nodeface` command as a separate process. */
import { buildSync } from "esbuild";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { BUN, DENO_RUN, ROOT } from "./_paths.ts";

const PROGRAMS = mkdtempSync(join(tmpdir(), "nodeface-"));
process.on("exit", () => rmSync(PROGRAMS, { recursive: true, force: true }));

const MAIN = bundle("src/main.ts");

export const COMMANDS: Readonly<Record<"Node" | "Deno" | "Bun", readonly string[]>> = {
  Node: [process.execPath, MAIN],
  Deno: [...DENO_RUN, ...denoFlags()],
  Bun: [BUN, "src/main.ts"],
};

/**
 * The commands for suites that take much processor time. Without the word `everywhere`, they run on
 * Node alone.
 */
export const CHOSEN_COMMANDS: Readonly<Record<string, readonly string[]>> =
  process.argv.includes("everywhere") ? COMMANDS : { Node: COMMANDS.Node };

/** Replaces `src/main.ts` in a command with another module. */
export const serving = (command: readonly string[], file: string): readonly string[] =>
  command.map((part) => part === MAIN ? bundle(file) : part === "src/main.ts" ? file : part);

/**
 * Bundles a module with its imports into one file for Node. Starting the bundle instead of the
 * source files saves four fifths of the processor time. The file is written once and never
 * replaced, because a process may be reading it.
 */
function bundle(module: string): string {
  const outfile = join(PROGRAMS, `${module.replaceAll(/[/\\]|\.ts$/g, "-")}.mjs`);
  if (existsSync(outfile)) return outfile;
  buildSync({
    absWorkingDir: ROOT,
    entryPoints: [module],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: [`${ROOT}src/generated/*`],
    // `sideEffects` in package.json lists modules in `dist`, so esbuild must not apply the list to
    // the source modules.
    ignoreAnnotations: true,
    // CommonJS packages need `require` to load Node's built-in modules.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire("${ROOT}");`,
    },
    logLevel: "warning",
  });
  return outfile;
}

export async function withEach<T>(
  commands: Iterable<readonly [runtime: string, T]>,
  act: (command: T, runtime: string) => Promise<void>,
): Promise<void> {
  await Promise.all([...commands].map(async ([runtime, command]) => {
    try {
      await act(command, runtime);
    } catch (error) {
      if (error instanceof Error) error.message = `on ${runtime}: ${error.message}`;
      throw error;
    }
  }));
}

export async function startEach(): Promise<Map<string, Running>> {
  const starts = Object.entries(CHOSEN_COMMANDS).map(async ([runtime, command]) =>
    [runtime, await start(command)] as const
  );
  return new Map(await Promise.all(starts));
}

export interface Running {
  url: string;
  pid: number;
  stderr(): string;
  ended: Promise<Ended>;
  /** Closes our end of the pipe, as `head` does once it has read enough. */
  leave(output?: "stdout" | "stderr"): void;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Surroundings {
  /** @default the root of the checkout */
  cwd?: string;
  /** If true, the process does not inherit the environment variables of the tests. */
  bare?: boolean;
  uid?: number;
}

export function run(
  [program, ...args]: readonly string[],
  env: Record<string, string> = {},
  surroundings: Surroundings = {},
): Promise<Ended> {
  return launch(program!, args, env, surroundings).ended;
}

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
  if (typeof url !== "string") throw new Error(`The server exited with ${url.code}: ${url.stderr}`);
  return {
    url,
    pid: child.pid!,
    stderr: () => printed.stderr,
    ended,
    leave: (output = "stdout") => void child[output].destroy(),
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

export function launch(
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

/** Returns the flags and the module of `deno task start`. */
function denoFlags(): string[] {
  const { tasks } = JSON.parse(readFileSync(`${ROOT}deno.json`, "utf8"));
  return tasks.start.command.split(" ").slice(2);
}
