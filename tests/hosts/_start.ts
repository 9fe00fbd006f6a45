/** Starts the examples, each as its users would. */
import { build } from "esbuild";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import process from "node:process";
import { start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { freePort } from "../release/_port.ts";
import { startWorker } from "../runtimes/_workerd.ts";
import { runProgram } from "../tools/_program.ts";
import { largeDescription, OWN_PAGE } from "./_checks.ts";
import { COMMANDS, type Example } from "./_examples.ts";
import { PACKAGES } from "./_folder.ts";
import type { Started } from "./_suite.ts";

/** How an example is started. */
export interface StartOptions {
  /** The folder of the examples. */
  readonly folder: string;
  /** Where the service is mounted: `/deep/node`, or `""`. */
  readonly prefix: string;
  /** Whether the node has a description, of more than 256 KiB. */
  readonly isLarge?: boolean;
}

/** Starts an example on a port of its own. */
export async function startExample(example: Example, options: StartOptions): Promise<Started> {
  const { url, stop } =
    await (example.runtime === "workerd"
      ? startBundledWorker(example, options)
      : example.runtime === "next"
      ? startNext(example, options)
      : startProgram([...COMMANDS[example.runtime], join(options.folder, example.file)], options));
  const base = url.replace(/\/$/, "") + options.prefix;
  return { base, own: example.isLast ? undefined : OWN_PAGE, stop };
}

/** Starts a program that takes what the examples take. */
export async function startProgram(
  command: readonly string[],
  { folder, prefix, isLarge = false }: StartOptions,
): Promise<{ url: string; stop: () => Promise<unknown>; stderr: () => string }> {
  const env = { PORT: `${await freePort()}`, PREFIX: prefix, ...isLarge && placeLarge(folder) };
  const program = await start(command, env, { cwd: folder });
  // It may have printed its address before it listens.
  await until(() => fetch(program.url).then(() => true, () => false), 20_000);
  return program;
}

/** Writes a large description. @returns the variable that names it */
export function placeLarge(folder: string): { DESCRIPTION: string } {
  writeFileSync(join(folder, "large.json"), largeDescription());
  return { DESCRIPTION: "large.json" };
}

/** Bundles a worker as Wrangler does, and serves it. It reads its description from a URL. */
async function startBundledWorker(
  { file }: Example,
  { folder, prefix, isLarge = false }: StartOptions,
) {
  const text = largeDescription();
  const files = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  const description = `http://127.0.0.1:${(files.address() as AddressInfo).port}/large.json`;
  const { outputFiles, warnings } = await build({
    entryPoints: [join(folder, file)],
    ...{ bundle: true, write: false, format: "esm", platform: "browser", external: ["node:*"] },
    conditions: ["workerd", "worker", "browser"],
    define: {
      "process.env.PREFIX": JSON.stringify(prefix),
      "process.env.PORT": "undefined",
      "process.env.DESCRIPTION": isLarge ? JSON.stringify(description) : "undefined",
    },
    logLevel: "silent",
  });
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join("\n"));
  const worker = await startWorker(outputFiles[0]!.text);
  const stop = async () => {
    files.close();
    files.closeAllConnections();
    await worker.stop();
  };
  return { url: worker.url, stop };
}

/** Builds an application of Next.js with one route handler, and serves it. */
async function startNext({ file }: Example, { folder, prefix, isLarge = false }: StartOptions) {
  const app = join(folder, `next${prefix.replaceAll("/", "-")}`);
  const route = join(app, "app", ...prefix.split("/"), "[[...path]]", "route.ts");
  mkdirSync(dirname(route), { recursive: true });
  cpSync(join(folder, file), route);
  cpSync(join(folder, "nodeface.ts"), join(dirname(route), "nodeface.ts"));
  // The packages lie outside of the application, as in a repository of many.
  const config = {
    turbopack: { root: "/" },
    outputFileTracingRoot: "/",
    typescript: { ignoreBuildErrors: false },
  };
  writeFileSync(join(app, "next.config.mjs"), `export default ${JSON.stringify(config)};\n`);
  writeFileSync(join(app, "package.json"), '{ "private": true }\n');
  const port = await freePort();
  const env = { PREFIX: prefix, NEXT_TELEMETRY_DISABLED: "1", ...isLarge && placeLarge(app) };
  const next = [process.execPath, join(PACKAGES, "next/dist/bin/next")];
  if (!existsSync(join(app, ".next/BUILD_ID"))) {
    const built = await runProgram([...next, "build"], { cwd: app, env, timeout: 300_000 });
    if (built.code !== 0) throw new Error(built.output);
  }
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => stop = resolve);
  const served = runProgram([...next, "start", "--hostname", "127.0.0.1", "--port", `${port}`], {
    cwd: app,
    env,
    timeout: 300_000,
    until: { text: "Ready in", then: () => stopped },
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() => fetch(url).then(() => true, () => false), 60_000);
  return {
    url,
    stop: () => {
      stop();
      return served;
    },
  };
}
