/** Builds a Next.js application with a single route handler, and serves it. */
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { until } from "../nodes/_daemon.ts";
import { makeFolder } from "../release/_folder.ts";
import { freePort } from "../_port.ts";
import { runProgram } from "../tools/_program.ts";
import { PACKAGES } from "./_folder.ts";

export interface NextOptions {
  readonly folder: string;
  readonly prefix: string;
  /**
   * True if Next.js builds with `output: "standalone"`, and the result is served from an empty
   * folder.
   */
  readonly isStandalone: boolean;
  /** Environment variables that are set when the application runs, but not when it is built. */
  readonly env: Readonly<Record<string, string>>;
}

const NEXT = [process.execPath, join(PACKAGES, "next/dist/bin/next")];
/** The time limit for each program, in milliseconds. */
const TIMEOUT = 300_000;

export async function startNext(
  options: NextOptions,
): Promise<{ url: string; stop: () => Promise<unknown> }> {
  const { prefix, isStandalone } = options;
  const app = await buildApp(options);
  const port = `${await freePort()}`;
  const env = { ...options.env, PREFIX: prefix, PORT: port, HOSTNAME: "127.0.0.1" };
  const output = join(app, ".next/standalone");
  const command = isStandalone
    ? [process.execPath, join(move(output), app, "server.js")]
    : [...NEXT, "start", "--hostname", "127.0.0.1", "--port", port];
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => stop = resolve);
  const ended = runProgram(command, {
    ...{ cwd: app, env, timeout: TIMEOUT },
    until: { text: "Ready in", then: () => stopped },
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() => fetch(url).then(() => true, () => false), 60_000);
  return {
    url,
    stop: () => {
      stop();
      return ended;
    },
  };
}

async function buildApp({ folder, prefix, isStandalone }: NextOptions): Promise<string> {
  const app = join(folder, `next${prefix.replaceAll("/", "-")}${isStandalone ? "-alone" : ""}`);
  if (existsSync(app)) return app;
  const route = join(app, "app", ...prefix.split("/"), "[[...path]]", "route.ts");
  mkdirSync(dirname(route), { recursive: true });
  cpSync(join(folder, "next.ts"), route);
  cpSync(join(folder, "nodeface.ts"), join(dirname(route), "nodeface.ts"));
  // The packages are outside the application's folder, as in a monorepo.
  const config = {
    turbopack: { root: "/" },
    outputFileTracingRoot: "/",
    ...isStandalone && { output: "standalone" },
  };
  writeFileSync(join(app, "next.config.mjs"), `export default ${JSON.stringify(config)};\n`);
  writeFileSync(join(app, "package.json"), '{ "private": true }\n');
  const env = { PREFIX: prefix, NEXT_TELEMETRY_DISABLED: "1" };
  const { code, output } = await runProgram([...NEXT, "build"], {
    ...{ cwd: app, env, timeout: TIMEOUT },
  });
  if (code !== 0) throw new Error(output);
  return app;
}

function move(output: string): string {
  const folder = makeFolder();
  cpSync(output, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}
