/** Starts the executable outside the checkout. */
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../_paths.ts";
import { type Running, start, type Surroundings } from "../_server.ts";
import { makeFolder } from "./_folder.ts";

const FILE = process.platform === "win32" ? "nodeface.exe" : "nodeface";

export const EXECUTABLE: string = join(makeFolder(), FILE);
copyFileSync(`${ROOT}dist/${FILE}`, EXECUTABLE);

/** With an empty directory and no environment variables, the executable finds no other files. */
export const NOWHERE: Surroundings = {
  cwd: makeFolder(),
  bare: true,
};

export function startExecutable(): Promise<Running> {
  return start([EXECUTABLE], {}, NOWHERE);
}

export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean)
      .map(Number)
  );
}
