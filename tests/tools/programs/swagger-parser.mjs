// Reads a description with @apidevtools/swagger-parser, and prints what is wrong or how many operations it has.
import process from "node:process";
import SwaggerParser from "@apidevtools/swagger-parser";
import { countOperations } from "./count-operations.ts";

// By itself it does not ask this machine's own addresses.
const resolve = { http: { safeUrlResolver: false } };
try {
  const document = await SwaggerParser.validate(process.argv[2], { resolve });
  console.log(`${countOperations(document)} operations`);
} catch ({ message }) {
  console.log(message);
  process.exit(1);
}
