/** The runtimes at hand. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { BUN, DENO, ROOT } from "../../_paths.ts";

/** A runtime that servers are measured on. */
export interface Runtime {
  id: string;
  /** Its name and its major version: `Node 26`. */
  name: string;
  program: string;
}

const packaged = (major: number): Runtime => ({
  id: `node${major}`,
  name: `Node ${major}`,
  program: `${ROOT}tests/node_modules/node${major}/bin/node`,
});

const PINNED = [packaged(20), packaged(26)].filter(({ program }) => existsSync(program));

/** The Nodes that the tests are pinned to; where npm has none for this machine, the one that runs. */
export const NODES: readonly Runtime[] = PINNED.length > 0 ? PINNED : [{
  id: `node${parseInt(process.versions.node)}`,
  name: `Node ${parseInt(process.versions.node)}`,
  program: process.execPath,
}];

/** The newest of them, which the peers run on. */
export const NEWEST: Runtime = NODES.at(-1)!;

export const ON_DENO: Runtime = { id: "deno", name: "Deno", program: DENO };
export const ON_BUN: Runtime = { id: "bun", name: "Bun", program: BUN };

/** What each runtime says of its version. */
export function runtimeVersions(): Record<string, string> {
  return Object.fromEntries([...NODES, ON_DENO, ON_BUN].map(({ name, program }) => {
    const printed = execFileSync(program, ["--version"], { encoding: "utf8" });
    return [name, /\d+\.\d+\.\d+/.exec(printed)?.[0] ?? printed.trim()];
  }));
}
