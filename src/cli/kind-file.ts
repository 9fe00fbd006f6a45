/**
 * The file of a kind of node: one of `spec/kinds/`, or an operator's own.
 *
 * @module
 */
import * as v from "valibot";
import type { Kind } from "../kinds/kind.ts";
import { readKind } from "../settings/kind.ts";
import { kindNameOf } from "../settings/kind-name.ts";
import { FILE } from "../settings/text-schemas.ts";
import { ConfigError } from "./configuration-error.ts";
import { locateBeside, parseYaml } from "./parse-yaml.ts";

/**
 * Reads the file of a kind.
 *
 * @param text what is in it
 * @param name its own path, which messages call it by and paths in it are relative to
 * @throws {ConfigError} with everything that is wrong, each with line and column
 */
export function parseKind(text: string, name: string): Kind {
  const { value, describe } = parseYaml(text, name, "a kind");
  const path = v.pipe(FILE, v.transform((path) => locateBeside(path, name)));
  const { kind, mistakes } = readKind(value, path);
  if (mistakes.length > 0) throw new ConfigError(describe(mistakes));
  return kind;
}

/**
 * Reads the files of kinds.
 *
 * @param read reads a file; rejects with a message for the operator
 * @returns those that are right, by name, and all that is wrong with the others
 */
export async function readKinds(
  paths: readonly string[],
  read: (path: string) => Promise<string>,
): Promise<{ kinds: Record<string, Kind>; problems: readonly string[] }> {
  const problems: string[] = [];
  const kinds: Record<string, Kind> = {};
  for (const path of paths) {
    try {
      kinds[kindNameOf(path) ?? path] = parseKind(await read(path), path);
    } catch (error) {
      problems.push(...error instanceof ConfigError ? error.problems : [(error as Error).message]);
    }
  }
  return { kinds, problems };
}
