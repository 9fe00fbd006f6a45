#!/usr/bin/env node
/**
 * The command: reads its arguments, makes the app and serves it on the runtime it runs on.
 *
 * @module
 */
import type { App, Listening, ServeOptions } from "./adapters/server.ts";
import * as onBun from "./adapters/bun.ts";
import { createNodeface, type Nodeface } from "./nodeface.ts";
import { formatAccess } from "./cli/access-log.ts";
import { USAGE } from "./cli/usage.ts";
import { type Config, readConfig } from "./cli/configuration.ts";
import { ConfigError } from "./cli/configuration-error.ts";
import { documentOf } from "./openapi/serve-description.ts";
import { formatFinding } from "./openapi/diagnostics.ts";
import type { DescriptionReport } from "./openapi/watch.ts";
import { COMMIT, VERSION } from "./generated/build-info.js";
import type { Awaitable } from "./http/message.ts";
import { OWN_DESCRIPTION } from "./resources.ts";

/** Exit codes, for the scripts that start the service. */
const STOPPED = 0, COULD_NOT_RUN = 1, WRONG_USE = 2;

/** How often it is looked whether the node's description has changed, in milliseconds. */
const LOOK_AT = { file: 2000, url: 30_000 } as const;

/** What a failure to listen means, by its code. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; choose another with --port",
  EADDRNOTAVAIL: "no such address on this machine; see --host",
  EACCES: "not allowed to listen there; ports below 1024 need privileges",
  ENOTFOUND: "the host name is unknown; see --host",
  EAI_AGAIN: "the host name is unknown; see --host",
  EINVAL: "the host name is unknown; see --host",
};

process.exit(await main());

/** Runs the command and resolves to its exit code. */
async function main(): Promise<number> {
  try {
    const config = await read();
    switch (config.command) {
      case "help":
        return print(USAGE);
      case "kinds":
        return await kinds(config);
      case "serve":
        return await run(config);
    }
    if (config.command === "check") return await check(config);
    const build = COMMIT ? `, built from ${COMMIT}` : "";
    return print(`nodeface ${VERSION} on ${runtime()}${build}\n`);
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
    return error instanceof ConfigError ? WRONG_USE : COULD_NOT_RUN;
  }
}

function read(): Promise<Config> {
  return readConfig(process.argv.slice(2), process.env, async (path) => {
    const { readTextFile } = await import("./info/sources/file.ts");
    return await readTextFile(path);
  });
}

async function kinds({ topic }: Config): Promise<number> {
  const { listKinds, printKind } = await import("./cli/kinds.ts");
  if (topic === undefined) return print(listKinds());
  const text = printKind(topic);
  if (text !== undefined) return print(text);
  throw new ConfigError([`${JSON.stringify(topic)} is no kind known; see nodeface kinds`]);
}

async function check({ node, info, description }: Config): Promise<number> {
  const service = { software: "nodeface", version: VERSION, started_at: new Date().toISOString() };
  const { formatReport, hasTrouble } = await import("./cli/check.ts");
  const { inspect } = await import("./info/inspect-node.ts");
  const { KINDS } = await import("./kinds/index.ts");
  const inspection = await inspect(service, node, info, KINDS);
  print(formatReport(inspection));
  const kind = KINDS[node.kind ?? inspection.recognition?.kind ?? ""];
  const isShown = await checkDescription(description, node, kind?.description);
  return hasTrouble(inspection) || !isShown ? COULD_NOT_RUN : STOPPED;
}

/**
 * Prints what is wrong with the node's description; resolves to whether that is no trouble.
 *
 * @param description where it is, or `none`
 * @param path where nodes of its kind describe themselves
 */
async function checkDescription(
  description: string | undefined,
  node: Config["node"],
  path: string | undefined,
): Promise<boolean> {
  const { placeBelow, reasonIn } = await import("./openapi/discover.ts");
  const { inspectDescription } = await import("./openapi/watch.ts");
  const itself = description === undefined && path ? node.url : undefined;
  const place = itself === undefined ? description : placeBelow(itself, path!);
  if (place === undefined || place === "none") return true;
  const own = documentOf((await OWN_DESCRIPTION.get()).json);
  const where = { base: node.url, publicUrl: node.public_url, itself };
  const { findings, merged } = await inspectDescription({ place, own, ...where });
  if (itself && !merged) {
    print(`\nThere is no description of the node at ${place}: ${reasonIn(findings)}\n`);
    return true;
  }
  print(["", ...findings.map(formatFinding), ""].join("\n"));
  print(merged ? "The description can be shown\n" : "The description cannot be shown\n");
  return merged !== undefined;
}

/** Serves until it is told to stop. */
async function run(config: Config): Promise<number> {
  // Read while the app is made.
  const needed = adapter();
  const startedAt = new Date();
  const make = ({ node, info, hosts, cors, description }: Config): Nodeface => {
    const onDescription = tellDescription;
    const log = complain;
    return createNodeface({ node, info, hosts, cors, description, onDescription, startedAt, log });
  };
  const logged = ({ log }: Config): ServeOptions["onAnswer"] =>
    log === "off" ? undefined : (record) => process.stdout.write(formatAccess(record, log));
  const first = make(config);
  let app = first;
  let stopWatching = () => {};
  const current: App = {
    fetch: (request) => app.fetch(request),
    answer: (head, whole) => app.answer(head, whole),
  };
  const { serve } = await needed;
  const options: ServeOptions = { host: config.host, port: config.port, onAnswer: logged(config) };
  const server = await listen(serve, current, options);
  const stop = new Promise<void>((resolve) => {
    // A signal to the whole process group may come twice, the second time passed on by npm.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
  });
  process.on("SIGHUP", async () => {
    try {
      const next = await read();
      if (next.host !== config.host || next.port !== config.port) {
        complain("another address to listen on is taken up when the service is started again");
      }
      const made = make(next);
      await made.ready();
      askNode(made);
      // What the node says of itself is not to be gone for a while.
      await made.refresh();
      app = made;
      options.onAnswer = logged(next);
      stopWatching();
      stopWatching = watchDescription(made, next);
      complain("the configuration has been read again");
    } catch (error) {
      complain(`${(error as Error).message}\nthe configuration stays as it was`);
    }
  });
  console.error(`nodeface ${VERSION} on ${server.url} (explorer: ${server.url}v1/spec)`);
  askNode(first);
  stopWatching = watchDescription(first, config);
  await stop;
  await server.close();
  return STOPPED;
}

/** The first question to the node is the service's own: it says what kind of node it found. */
function askNode(app: Nodeface): void {
  const headers = { get: () => null, has: () => false };
  void app.answer(
    { method: "GET", url: "/v1/info", headers },
    () => new Request("http://localhost/v1/info"),
  );
}

/** Reads the node's description, and again when it changes; gives what ends that. */
function watchDescription(app: Nodeface, { description, node }: Config): () => void {
  if (description === "none" || (description === undefined && !node.url)) return () => {};
  const look = () => app.refresh().catch((error) => complain((error as Error).message));
  void look();
  // Where the kind is to say the place, there is nothing to ask before the kind is known.
  const isUrl = description !== undefined && /^https?:/i.test(description);
  const timer = setInterval(look, isUrl ? LOOK_AT.url : LOOK_AT.file);
  timer.unref();
  return () => clearInterval(timer);
}

/** Says what is wrong with the node's description, and what is shown where that is another one. */
function tellDescription({ findings, shown }: DescriptionReport): void {
  for (const finding of findings) complain(formatFinding(finding));
  if (shown === "older") complain("the version of the description before is still shown");
  if (shown === "own") complain("only this service's own operations are shown");
}

async function listen(
  serve: Adapter["serve"],
  app: App,
  options: ServeOptions,
): Promise<Listening> {
  const { host, port } = options;
  try {
    return await serve(app, options);
  } catch (error) {
    const { code = "", message } = error as { code?: string; message: string };
    const reason = LISTEN_FAILURES[code] ?? message;
    throw new Error(`cannot listen on ${host}, port ${port}: ${reason}`);
  }
}

type Adapter = Pick<typeof import("./adapters/node.ts"), "serve">;

/** The adapter of the runtime this runs on; Bun's is so small that it takes longer to look for. */
function adapter(): Awaitable<Adapter> {
  if ("Deno" in globalThis) return import("./adapters/deno.ts");
  return "Bun" in globalThis ? onBun : import("./adapters/node.ts");
}

/** The runtime's name and version; Deno and Bun name a Node as well. */
function runtime(): string {
  const { deno, bun, node } = process.versions as Record<string, string | undefined>;
  return deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node ${node}`;
}

function print(text: string): number {
  process.stdout.write(text);
  return STOPPED;
}

function complain(message: string): void {
  console.error(message.replaceAll(/^/gm, "nodeface: "));
}
