/** Compares the JSON and YAML forms of a description, including every digit of each number. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { exact, parseJson } from "../../../src/json/lossless.ts";

const [json = "", yaml = ""] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const options = { intAsBigInt: true, uniqueKeys: false, maxAliasCount: -1 } as const;
const place = difference(parseJson(json), parse(yaml, options), "#");
if (place !== undefined) {
  console.log(`JSON and YAML differ at ${place}`);
  process.exit(1);
}

function difference(a: unknown, b: unknown, place: string): string | undefined {
  if (typeof b === "bigint") b = exact(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return isDeepStrictEqual(a, b) ? undefined : `${place}: ${a} and ${b}`;
  }
  const [of, other] = [a, b] as Record<string, unknown>[];
  const keys = [Object.keys(of!), Object.keys(other!)] as const;
  if (!isDeepStrictEqual(...keys)) return `${place}: ${keys[0].length} and ${keys[1].length} keys`;
  for (const key of keys[0]) {
    const found = difference(of![key], other![key], `${place}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
