// Holds a description against the official schema of its version, and prints what is wrong.
import { readFileSync } from "node:fs";
import process from "node:process";
import { Validator } from "@seriousme/openapi-schema-validator";
import { parse as parseYaml } from "yaml";

const parse = (text) => text.startsWith("{") ? JSON.parse(text) : parseYaml(text);
const validator = new Validator();
const { valid, errors } = await validator.validate(parse(readFileSync(process.argv[2], "utf8")));
const all = Array.isArray(errors) ? errors : [errors];
// Once the schema is met, it looks at references, and takes a property named "$ref" for one.
const isOfReference = all.every((error) => /^Can't resolve /.test(error?.message ?? error));
if (!valid && !isOfReference) {
  // The most exact place is the longest.
  const places = all.map((error) => `${error.instancePath ?? ""} ${error.message ?? error}`);
  console.log(places.sort((a, b) => b.length - a.length).slice(0, 5).join("\n"));
  process.exit(1);
}
