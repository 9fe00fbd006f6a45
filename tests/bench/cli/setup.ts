/** Makes what is measured: the package, the executable and the bare one; and gets the peers. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { ROOT } from "../../_paths.ts";
import { ON_BUN } from "../servers/runtimes.ts";
import { BARE_BUN, BARE_EXECUTABLE } from "../servers/servers.ts";

/** What Nodeface is measured beside. */
const PEERS = `${ROOT}tests/bench/peers/`;

/** Installs the peers, where they are not there as their lock has them. */
export function installPeers(say: (text: string) => void): void {
  const stamp = `${PEERS}node_modules/.installed`;
  const wanted = readFileSync(`${PEERS}package-lock.json`, "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  say("installing the servers and explorers to compare with");
  const flags = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"];
  run(["npm", "ci", "--loglevel=error", ...flags], PEERS);
  writeFileSync(stamp, wanted);
}

const COMPILE = [ON_BUN.program, "build", "--compile", "--bytecode", "--format=esm"];

/** The builds, as commands. */
const BUILDS: readonly (readonly [name: string, command: readonly string[]])[] = [
  ["the package", ["npm", "run", "--silent", "build"]],
  ["the executable", ["npm", "run", "--silent", "build:exe"]],
  ["a bare executable", [...COMPILE, BARE_BUN, `--outfile=${BARE_EXECUTABLE}`]],
];

/** Builds, unless it is there and is to be taken as it is. */
export function build(say: (text: string) => void): void {
  for (const [name, command] of BUILDS) {
    say(`building ${name}`);
    run(command, ROOT);
  }
}

/** @throws {Error} where there is nothing that could be measured */
export function requireBuilt(): void {
  for (const path of [`${ROOT}dist/main.js`, `${ROOT}dist/nodeface`, BARE_EXECUTABLE]) {
    if (!existsSync(path)) throw new Error(`${path} is missing: leave out --no-build`);
  }
}

function run([program, ...args]: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(program!, args, { cwd, encoding: "utf8" });
  if (error) throw error;
  if (status !== 0) {
    throw new Error(`${[program, ...args].join(" ")} failed:\n${stdout}${stderr}`);
  }
}
