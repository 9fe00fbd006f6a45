/** The machine a run is made on, and the versions of everything. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import process from "node:process";
import { ROOT } from "../_paths.ts";
import { findGenerator } from "./load/load.ts";
import { runtimeVersions } from "./servers/runtimes.ts";

export interface Machine {
  processor: string;
  cores: number;
  /** GiB. */
  memory: number;
  system: string;
  /** How many processes wanted a processor in the minute before. */
  busy: number;
  /** By name. */
  versions: Readonly<Record<string, string>>;
}

/** How many processes wanted a processor in the last minute; to be asked before a run adds its own. */
export function currentLoad(): number {
  return loadavg()[0]!;
}

/**
 * Describes this machine.
 *
 * @param busy its load before the run
 */
export function describeMachine(busy: number): Machine {
  return {
    processor: cpus()[0]?.model ?? process.arch,
    cores: availableParallelism(),
    memory: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${/^\d+\.\d+/.exec(release())?.[0] ?? ""}, ${process.arch}`,
    busy,
    versions: {
      Nodeface: ownVersion(),
      ...runtimeVersions(),
      ...generatorVersion(),
      ...packageVersions(ROOT, ["@scalar/api-reference"]),
      ...packageVersions(`${ROOT}tests/bench/peers/`),
    },
  };
}

/** The package's version and the commit it was built from. */
function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
  try {
    const isChanged = git("status", "--porcelain", "--", "src", "static", "spec").trim() !== "";
    return `${version}, commit ${git("rev-parse", "--short", "HEAD").trim()}${
      isChanged ? " and changes" : ""
    }`;
  } catch {
    return version;
  }
}

function generatorVersion(): Record<string, string> {
  try {
    const [name = "", version = ""] = findGenerator().name.split(" ");
    return { [name]: version };
  } catch {
    return {};
  }
}

/** Packages of a folder, all that it asks for itself where none are named, as they are installed. */
function packageVersions(folder: string, names?: readonly string[]): Record<string, string> {
  const read = (path: string) => JSON.parse(readFileSync(`${folder}${path}package.json`, "utf8"));
  return Object.fromEntries(
    (names ?? Object.keys(read("").dependencies)).map((name) => [
      name,
      read(`node_modules/${name}/`).version,
    ]),
  );
}
