// Parses a description with Scalar's parser, and prints the errors or the number of operations.
import { readFileSync } from "node:fs";
import process from "node:process";
import { dereference, validate } from "@scalar/openapi-parser";
import { countOperations } from "./count-operations.ts";

const text = readFileSync(process.argv[2], "utf8");
const { valid, errors } = await validate(text);
const { schema, errors: unresolved } = dereference(text);
const complaints = [...errors ?? [], ...unresolved ?? []];
if (!valid || complaints.length > 0) {
  console.log(JSON.stringify(complaints.slice(0, 5), undefined, 1));
  process.exit(1);
}
console.log(`${countOperations(schema)} operations`);
