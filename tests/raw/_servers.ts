/** Every runtime the service runs on here, each serving on a port of its own. */
import { existsSync } from "node:fs";
import { ROOT } from "../_paths.ts";
import { COMMANDS, start } from "../_server.ts";
import type { Server } from "../runtimes/_suite.ts";
import { startWorkerd } from "../runtimes/_workerd.ts";

/** The releases of Node that are held against one another. */
const NODES = ["20", "22", "24", "26"].map((release) =>
  [`Node ${release}`, `${ROOT}tests/node_modules/node${release}/bin/node`] as const
);

/** How each runtime is started, by its name. */
export const RUNTIMES: ReadonlyMap<string, () => Promise<Server>> = new Map([
  ...(NODES.every(([, program]) => existsSync(program))
    ? NODES.map(([name, program]) =>
      [name, () => start([program, ...COMMANDS.Node.slice(1)])] as const
    )
    : [["Node", () => start(COMMANDS.Node)] as const]),
  ["Deno", () => start(COMMANDS.Deno)],
  ["Bun", () => start(COMMANDS.Bun)],
  ["workerd", startWorkerd],
]);
