/** Starts the examples as a user would. */
import { build } from "esbuild";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { freePort } from "../_port.ts";
import { startWorker } from "../runtimes/_workerd.ts";
import { largeDescription, OWN_PAGE } from "./_checks.ts";
import { COMMANDS, type Example } from "./_examples.ts";
import { startNext } from "./_next.ts";
import type { Started } from "./_suite.ts";

export interface StartOptions {
  readonly folder: string;
  /** The path at which the service is mounted: `/deep/node`, or `""`. */
  readonly prefix: string;
  /**
   * If true, the node has a description of more than 256 KiB. If false, the node has no
   * description.
   */
  readonly isLarge?: boolean;
}

export async function startExample(example: Example, options: StartOptions): Promise<Started> {
  const { url, stop } =
    await (example.runtime === "workerd"
      ? startBundledWorker(example, options)
      : example.runtime === "next" || example.runtime === "next standalone"
      ? startNextApp(example, options)
      : startProgram([...COMMANDS[example.runtime], join(options.folder, example.file)], options));
  const base = url.replace(/\/$/, "") + options.prefix;
  return { base, own: example.isLast ? undefined : OWN_PAGE, stop };
}

export async function startProgram(
  command: readonly string[],
  { folder, prefix, isLarge = false }: StartOptions,
): Promise<{ url: string; stop: () => Promise<unknown>; stderr: () => string }> {
  const env = { PORT: `${await freePort()}`, PREFIX: prefix, ...isLarge && placeLarge(folder) };
  const program = await start(command, env, { cwd: folder });
  // The program may print its address before it listens.
  await until(() => fetch(program.url).then(() => true, () => false));
  return program;
}

export function placeLarge(folder: string): { DESCRIPTION: string } {
  writeFileSync(join(folder, "large.json"), largeDescription());
  return { DESCRIPTION: "large.json" };
}

/** Bundles a worker as Wrangler does. The worker loads its description from a URL. */
async function startBundledWorker(
  { file }: Example,
  { folder, prefix, isLarge = false }: StartOptions,
) {
  const text = largeDescription();
  const files = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  const description = `http://127.0.0.1:${(files.address() as AddressInfo).port}/large.json`;
  const env = { PREFIX: prefix, ...isLarge && { DESCRIPTION: description } };
  const { outputFiles, warnings } = await build({
    entryPoints: [join(folder, file)],
    ...{ bundle: true, write: false, format: "esm", platform: "browser" },
    conditions: ["workerd", "worker", "browser"],
    // Without a flag, workerd has no `process`.
    banner: prefix === "/node"
      ? {}
      : { js: `globalThis.process = { env: ${JSON.stringify(env)} };` },
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

async function startNextApp({ runtime }: Example, { folder, prefix, isLarge }: StartOptions) {
  const isStandalone = runtime === "next standalone";
  const description = isLarge ? join(folder, placeLarge(folder).DESCRIPTION) : undefined;
  const env = description ? { DESCRIPTION: description } : {};
  return await startNext({ folder, prefix, isStandalone, env });
}
