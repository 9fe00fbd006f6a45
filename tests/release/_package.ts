/** Packs this project, and installs the package in a new folder, as a user would. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../_paths.ts";
import { run } from "../_server.ts";
import { makeFolder } from "./_folder.ts";

export const HOME: string = makeFolder();

export const TARBALL: string =
  (await ok(["npm", "pack", "--silent", "--pack-destination", HOME], ROOT)).trim();

writeFileSync(join(HOME, "package.json"), '{ "type": "module" }\n');
await ok(["npm", "install", "--no-audit", "--no-fund", "--silent", `./${TARBALL}`], HOME);

export async function ok(command: string[], cwd: string, env = {}): Promise<string> {
  const { code, stdout, stderr } = await run(command, env, { cwd });
  if (code !== 0) throw new Error(`${command.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}
