/** Checks that each reference in a description leads to an existing component with a valid name. */
import { readFileSync } from "node:fs";
import process from "node:process";

/** The values of these keys are arbitrary data, so a `$ref` in them is not a reference. */
const DATA = new Set(["example", "examples", "default", "enum", "const"]);
/**
 * The values of these keys are objects with arbitrary member names, so `example` is not a keyword
 * there.
 */
const NAMED = new Set(["properties", "patternProperties", "schemas", "parameters", "responses"]);
const REFERENCE = /^#\/components\/([A-Za-z]+)\/([A-Za-z0-9._-]+)$/;

type JsonObject = Record<string, unknown>;

const document = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as { components?: JsonObject };
const wrong: string[] = [];
visit(document, "#", false);
if (wrong.length > 0) {
  console.log(`${wrong.length} references\n${wrong.slice(0, 5).join("\n")}`);
  process.exit(1);
}

function visit(value: unknown, place: string, isNamed: boolean): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const at = `${place}/${key}`;
    if (!isNamed && (DATA.has(key) || key.startsWith("x-"))) continue;
    if (!isNamed && key === "$ref" && typeof member === "string") check(member, at);
    else visit(member, at, !Array.isArray(value) && !isNamed && NAMED.has(key));
  }
}

function check(reference: string, place: string): void {
  const [, section = "", name = ""] = REFERENCE.exec(reference) ?? [];
  const target = (document.components?.[section] as JsonObject | undefined)?.[name];
  if (target === undefined) wrong.push(`${place}: ${reference}`);
}
