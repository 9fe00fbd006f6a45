/**
 * The command `nodeface` without `probe`: its subcommands and exit codes.
 *
 * @module
 */
import { isWithoutNode } from "../info/query-plan.ts";
import { endOnSignals } from "./signals.ts";
import { Arguments } from "./arguments.ts";
import { type Config, files, readConfig } from "./read-config.ts";
import { color, createProgress, isTerminal, openOutput, print, printError } from "./output.ts";
import { runService, WITHOUT_NODE } from "./serve.ts";
import { usage } from "./usage.ts";
import { COMMIT, VERSION } from "../generated/build-info.js";
import { UsageError } from "../settings/schema.ts";
import { withoutKeys } from "../untrusted-text.ts";

/** `EXIT_CODES` in `usage.ts` explains them. */
const STOPPED = 0, COULD_NOT_RUN = 1, WRONG_USE = 2;

const args = new Arguments(process.argv.slice(2), process.env);

/** @returns the exit code */
export async function main(): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const code = error instanceof UsageError ? WRONG_USE : COULD_NOT_RUN;
    const message = withoutKeys(error instanceof Error ? error.message : String(error));
    if (args.command === "check" && args.switches.has("json")) {
      const { jsonOfTroubles } = await import("./check.ts");
      await print(jsonOfTroubles(message.split("\n"))).catch(() => printError(message, "error"));
    } else await printError(message, "error");
    return code;
  }
}

async function run(): Promise<number> {
  const read = () => readConfig(args, files);
  if (args.command === "serve") {
    await runService(await read(), read);
    return STOPPED;
  }
  endOnSignals();
  switch (args.command) {
    case "help":
      await print(usage());
      break;
    case "version": {
      const build = COMMIT ? `, built from ${COMMIT}` : "";
      await print(`nodeface ${VERSION} on ${runtime()}${build}\n`);
      break;
    }
    case "probe":
      throw new UsageError(args.problems);
    case "kinds": {
      if (args.problems.length > 0) throw new UsageError(args.problems);
      const { formatKindFile, formatKinds } = await import("./kinds.ts");
      const { kindToPrint, switches } = args;
      await print(
        switches.has("file") ? await formatKindFile(kindToPrint!) : formatKinds(kindToPrint),
      );
      break;
    }
    case "check": {
      const config = await read();
      // With JSON output, the remarks are part of the JSON object.
      if (!args.switches.has("json")) await printRemarks(config);
      const { check, checkOffline } = await import("./check.ts");
      if (args.switches.has("offline")) {
        const { description = "none" } = config;
        if (isWithoutNode(config) && description === "none") throw new Error(WITHOUT_NODE);
        const { report, json } = await checkOffline(config);
        await print(args.switches.has("json") ? json : report);
        return STOPPED;
      }
      const { report, json, isWell } = await check(config, openProgress());
      await print(args.switches.has("json") ? json : color(report));
      return isWell ? STOPPED : COULD_NOT_RUN;
    }
    case "init": {
      const config = await read();
      await printRemarks(config);
      const { init } = await import("./init.ts");
      await print(await init(config, args.values, files, openProgress()));
    }
  }
  return STOPPED;
}

async function printRemarks({ remarks }: Config): Promise<void> {
  for (const { message, level } of remarks) await printError(message, level);
}

function openProgress() {
  return createProgress({ write: openOutput("stderr"), isTerminal: isTerminal("stderr") });
}

/** Deno and Bun also set `versions.node`. */
function runtime(): string {
  const { deno, bun, node } = process.versions as Record<string, string | undefined>;
  return deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node ${node}`;
}
