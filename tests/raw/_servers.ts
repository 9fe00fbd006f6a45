/** The runtimes that are compared. */
import { existsSync } from "node:fs";
import process from "node:process";
import { ROOT } from "../_paths.ts";
import { COMMANDS, start } from "../_server.ts";
import type { Server } from "../runtimes/_suite.ts";
import { startPlainWorkerd } from "../runtimes/_workerd.ts";

/** The fast tests use the oldest and the newest Node, and the tier `ci` the others as well. */
const IS_EVERYWHERE = process.argv.includes("everywhere");
const NODES = (IS_EVERYWHERE ? ["20", "22", "24", "26"] : ["20", "26"]).map((release) =>
  [`Node ${release}`, `${ROOT}tests/node_modules/node${release}/bin/node`] as const
);

/**
 * The commands of the runtimes. `workerd` is missing, because it cannot run a program from the
 * command line.
 */
export const RELEASES: ReadonlyMap<string, readonly string[]> = new Map([
  ...(NODES.every(([, program]) => existsSync(program))
    ? NODES.map(([name, program]) => [name, [program, ...COMMANDS.Node.slice(1)]] as const)
    : [["Node", COMMANDS.Node] as const]),
  ["Deno", COMMANDS.Deno],
  ["Bun", COMMANDS.Bun],
]);

export const RUNTIMES: ReadonlyMap<string, () => Promise<Server>> = new Map([
  ...[...RELEASES].map(([name, command]) => [name, () => start(command)] as const),
  ["workerd", startPlainWorkerd],
]);
