#!/usr/bin/env node
/**
 * The command: reads its arguments, makes the app and serves it on the runtime it runs on.
 *
 * @module
 */
import process from "node:process";
import type { App, Listening, ListenOptions } from "./adapters/adapter.ts";
import { createNodeface } from "./app.ts";
import { ConfigError, readConfig, USAGE } from "./config.ts";
import { readManifest } from "./explorer/manifest.ts";
import { platform } from "./platform.ts";

/** Exit codes, for the scripts that start the service. */
const STOPPED = 0, COULD_NOT_RUN = 1, WRONG_USE = 2;

/** How long answers in flight may take to finish once the service is told to stop, in milliseconds. */
const GRACE = 5000;

/** What a failure to listen means, by its code. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; choose another with --port",
  EADDRNOTAVAIL: "no such address on this machine; see --host",
  EACCES: "not allowed to listen there; ports below 1024 need privileges",
  ENOTFOUND: "the host name is unknown; see --host",
  EAI_AGAIN: "the host name is unknown; see --host",
  EINVAL: "the host name is unknown; see --host",
};

process.exit(await main(process.argv.slice(2)));

/** Runs the command and resolves to its exit code. */
async function main(args: string[]): Promise<number> {
  try {
    const config = readConfig(args, process.env);
    if (config.help) {
      process.stdout.write(USAGE);
      return STOPPED;
    }
    const { version, commit } = await readManifest(platform);
    if (config.version) {
      const built = commit ? `, built from ${commit}` : "";
      process.stdout.write(`nodeface ${version} on ${runtime()}${built}\n`);
      return STOPPED;
    }
    return await run(version, config);
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
    return error instanceof ConfigError ? WRONG_USE : COULD_NOT_RUN;
  }
}

/** Serves until it is told to stop. */
async function run(version: string, options: ListenOptions): Promise<number> {
  const server = await listen(createNodeface(), options);
  const stop = new Promise<void>((resolve) => {
    // A signal to the whole process group may come twice, the second time passed on by npm.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
  });
  console.error(`nodeface ${version} on ${server.url} (explorer: ${server.url}v1/spec)`);
  await stop;
  await Promise.race([server.close(), new Promise((resolve) => setTimeout(resolve, GRACE))]);
  return STOPPED;
}

async function listen(app: App, options: ListenOptions): Promise<Listening> {
  const { serve } = await adapter();
  try {
    return await serve(app, options);
  } catch (error) {
    const { code = "", message } = error as { code?: string; message: string };
    const reason = LISTEN_FAILURES[code] ?? message;
    throw new Error(`cannot listen on ${options.host}, port ${options.port}: ${reason}`);
  }
}

/** The adapter of the runtime this runs on. */
function adapter(): Promise<Pick<typeof import("./adapters/node.ts"), "serve">> {
  if ("Deno" in globalThis) return import("./adapters/deno.ts");
  if ("Bun" in globalThis) return import("./adapters/bun.ts");
  return import("./adapters/node.ts");
}

/** The runtime's name and version; Deno and Bun name a Node as well. */
function runtime(): string {
  const { deno, bun, node } = process.versions as Record<string, string | undefined>;
  return deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node ${node}`;
}

function complain(message: string): void {
  console.error(`nodeface: ${message.replaceAll("\n", " ")}`);
}
