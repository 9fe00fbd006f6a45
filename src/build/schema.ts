/**
 * `npm run schema`: writes the JSON Schema of the configuration file, for editors, from the schema
 * that checks it.
 *
 * @module
 */
import { writeFile } from "node:fs/promises";
import { fileSchema } from "./json-schema.ts";

await writeFile(new URL("../../spec/nodeface.schema.json", import.meta.url), fileSchema());
