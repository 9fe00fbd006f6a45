/** The machine a run is made on, and the versions of everything. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
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

/** Describes this machine. */
export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? process.arch,
    cores: availableParallelism(),
    memory: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${process.arch}`,
    busy: loadavg()[0]!,
    versions: {
      Nodeface: ownVersion(),
      ...runtimeVersions(),
      ...generatorVersion(),
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

/** The packages of a folder, as they are installed. */
function packageVersions(folder: string): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
  return Object.fromEntries(
    Object.keys(dependencies).flatMap((name) => {
      const manifest = `${folder}node_modules/${name}/package.json`;
      if (!existsSync(manifest)) return [];
      return [[name, JSON.parse(readFileSync(manifest, "utf8")).version]];
    }),
  );
}
