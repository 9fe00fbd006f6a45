// Parses a description with @apidevtools/swagger-parser, and prints the errors or the number of operations.
import process from "node:process";
import SwaggerParser from "@apidevtools/swagger-parser";
import { countOperations } from "./count-operations.ts";

// By default, the parser does not request anything from the addresses of this machine.
const resolve = { http: { safeUrlResolver: false } };
try {
  const document = await SwaggerParser.validate(process.argv[2], { resolve });
  console.log(`${countOperations(document)} operations`);
} catch ({ message }) {
  console.log(message);
  process.exit(1);
}
