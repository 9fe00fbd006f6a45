/** Helpers for tests of kinds of node. */
import { checkKind, readYaml } from "../src/cli/yaml-file.ts";
import { INTERFACES } from "../src/generated/interfaces.js";
import type { Kind } from "../src/kinds/kind.ts";

/** The built-in kinds whose operations are known. */
export const KINDS_WITH_INTERFACE: readonly string[] = Object.keys(INTERFACES);

/** @param name the name of the file in messages */
export function parseKind(text: string, name: string): Kind {
  return checkKind(readYaml(text, name, "a kind"));
}
