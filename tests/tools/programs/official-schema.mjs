// Validates a description against the official JSON Schema of its OpenAPI version, and prints the errors.
import { readFileSync } from "node:fs";
import process from "node:process";
import { Validator } from "@seriousme/openapi-schema-validator";
import { parse as parseYaml } from "yaml";

const parse = (text) => text.startsWith("{") ? JSON.parse(text) : parseYaml(text);
const validator = new Validator();
const { valid, errors } = await validator.validate(parse(readFileSync(process.argv[2], "utf8")));
const all = Array.isArray(errors) ? errors : [errors];
// After validation, the library resolves references. It mistakes a property that is named "$ref" for a reference.
const isOfReference = all.every((error) => /^Can't resolve /.test(error?.message ?? error));
if (!valid && !isOfReference) {
  // The error with the longest path is the most specific one.
  const places = all.map((error) => `${error.instancePath ?? ""} ${error.message ?? error}`);
  console.log(places.sort((a, b) => b.length - a.length).slice(0, 5).join("\n"));
  process.exit(1);
}
