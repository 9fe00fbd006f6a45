/**
 * The JSON Schema of the configuration file, made from the schema that checks it.
 *
 * @module
 */
import { toJsonSchema } from "@valibot/to-json-schema";
import { FileSchema } from "../cli/configuration-schema.ts";

/** The schema as the text of `spec/nodeface.schema.json`. */
export function fileSchema(): string {
  const schema = toJsonSchema(FileSchema, {
    target: "draft-2020-12",
    typeMode: "input",
    // What only code can check, such as whether an expression is one, is left to the command.
    errorMode: "ignore",
  });
  return JSON.stringify({ ...schema, title: "The configuration of Nodeface" }, null, 2) + "\n";
}
