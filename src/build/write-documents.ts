/**
 * `npm run schema`: writes what is made of the table of the settings, of the schema of a kind and of the
 * kinds.
 *
 * @module
 */
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { besideReference, kindJsonSchema, kindsReference } from "./kind-documents.ts";
import { configurationReference, configurationSchema } from "./configuration-documents.ts";

/** What is written, by its path from the root. */
export const WRITTEN: Readonly<Record<string, () => string | Promise<string>>> = {
  "spec/nodeface.schema.json": configurationSchema,
  "spec/kind.schema.json": kindJsonSchema,
  "docs/configuration.md": configurationReference,
  "docs/kinds.md": kindsReference,
  "docs/beside-your-node.md": besideReference,
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, make] of Object.entries(WRITTEN)) {
    await writeFile(new URL(`../../${path}`, import.meta.url), await make());
  }
}
