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
 * Begins to watch the steal time: what the host gives of the processors' time to others.
 *
 * @returns what gives its part of all time since then, idle time included; 0 as well where the host
 * does not tell, and `undefined` where there is no `/proc`
 */
export function watchSteal(): () => number | undefined {
  const before = processorTicks();
  return () => {
    const now = processorTicks();
    return before && now && (now.stolen - before.stolen) / (now.all - before.all);
  };
}

function processorTicks(): { all: number; stolen: number } | undefined {
  try {
    const [, line = ""] = /^cpu +(.*)$/m.exec(readFileSync("/proc/stat", "utf8")) ?? [];
    // Time of guests, which the last two fields have, is in the first two as well.
    const fields = line.split(" ").map(Number).slice(0, 8);
    return { all: fields.reduce((sum, field) => sum + field, 0), stolen: fields[7] ?? 0 };
  } catch {
    return undefined;
  }
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
