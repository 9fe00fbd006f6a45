#!/usr/bin/env node
/**
 * The command `nodeface`, with its subcommands and exit codes.
 *
 * @module
 */
// This import comes first, so that signals are handled while other modules load.
import { endOnSignals } from "./cli/signals.ts";
import { wantsJson } from "./cli/arguments.ts";
import { type Config, files, readConfig } from "./cli/read-config.ts";
import { color, createProgress, isTerminal, openOutput, print } from "./cli/output.ts";
import { runService } from "./cli/serve.ts";
import { usage } from "./cli/usage.ts";
import { COMMIT, VERSION } from "./generated/build-info.js";
import { ConfigError } from "./settings/schema.ts";
import { withoutKeys } from "./untrusted-text.ts";

const STOPPED = 0, COULD_NOT_RUN = 1, WRONG_USE = 2;

process.exit(await main());

async function main(): Promise<number> {
  try {
    return await run(await read());
  } catch (error) {
    const code = error instanceof ConfigError ? WRONG_USE : COULD_NOT_RUN;
    const message = withoutKeys(error instanceof Error ? error.message : String(error));
    if (wantsJson(process.argv.slice(2))) {
      const { jsonOfFailure } = await import("./cli/check.ts");
      await print(jsonOfFailure(message.split("\n")));
    } else await printError(message);
    return code;
  }
}

function read(): Promise<Config> {
  return readConfig(process.argv.slice(2), process.env, files);
}

async function run(config: Config): Promise<number> {
  if (config.command === "serve") {
    await runService(config, read);
    return STOPPED;
  }
  endOnSignals();
  // With JSON output, the remarks are part of the JSON object.
  if (!config.asJson) { for (const { message } of config.remarks) await printError(message); }
  switch (config.command) {
    case "help":
      await print(usage());
      break;
    case "version": {
      const build = COMMIT ? `, built from ${COMMIT}` : "";
      await print(`nodeface ${VERSION} on ${runtime()}${build}\n`);
      break;
    }
    case "kinds": {
      const { formatKindFile, formatKinds } = await import("./cli/kinds.ts");
      const { topic, asFile } = config;
      await print(asFile ? await formatKindFile(topic!) : formatKinds(topic));
      break;
    }
    case "check": {
      const { check } = await import("./cli/check.ts");
      const { report, json, isWell } = await check(config, openProgress());
      await print(config.asJson ? json : color(report));
      return isWell ? STOPPED : COULD_NOT_RUN;
    }
    case "init": {
      const { init } = await import("./cli/init.ts");
      await print(await init(config, files, openProgress()));
    }
  }
  return STOPPED;
}

function openProgress() {
  return createProgress({ write: openOutput("stderr"), isTerminal: isTerminal("stderr") });
}

/** Deno and Bun also set `versions.node`. */
function runtime(): string {
  const { deno, bun, node } = process.versions as Record<string, string | undefined>;
  return deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node ${node}`;
}

async function printError(message: string): Promise<void> {
  const lines = message.split("\n").map((line) => `nodeface: ${line}\n`);
  await openOutput("stderr")(lines.join(""));
}
