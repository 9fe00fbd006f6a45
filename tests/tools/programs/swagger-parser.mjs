// Reads a description with @apidevtools/swagger-parser, and prints its errors or the number of its operations.
import process from "node:process";
import SwaggerParser from "@apidevtools/swagger-parser";
import { countOperations } from "./count-operations.ts";

// By default it requests nothing from this machine's own addresses.
const resolve = { http: { safeUrlResolver: false } };
try {
  const document = await SwaggerParser.validate(process.argv[2], { resolve });
  console.log(`${countOperations(document)} operations`);
} catch ({ message }) {
  console.log(message);
  process.exit(1);
}
