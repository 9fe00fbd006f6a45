import { Arguments, type Environment } from "../src/cli/arguments.ts";
import type { Files } from "../src/cli/configuration-file.ts";
import { type Config, readConfig as readConfigOf } from "../src/cli/read-config.ts";

export async function readConfig(
  args: readonly string[],
  env: Environment,
  files: Files,
): Promise<Config> {
  return await readConfigOf(new Arguments(args, env), files);
}
