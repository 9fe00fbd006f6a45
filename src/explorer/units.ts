/**
 * The units of numbers in responses, by which the page says beside them what they mean: the mark `x-unit` of a schema.
 *
 * @module
 */
import { groupDigits } from "../info/settings.ts";
import { type Json, listOf, objectOf } from "../json/values.ts";
import { followReference } from "../openapi/operations.ts";

/** The unit of a number. */
export type Unit = "quantity" | "wei" | "satoshi" | "unix-time";

const SCHEMAS_MAX = 1000;

/** Names that have another meaning in the text of units are left out. */
const NAME = /^[\w-]{0,60}$/;

/**
 * Writes the units of the members of an operation's response, such as `wei:value,gasPrice unix-time:timestamp`; the
 * whole response has no name. A name with several units has none.
 */
export function writeUnits(root: Json, operation: Json): string {
  const response = followReference(root, objectOf(operation.responses)["200"]);
  const media = followReference(root, objectOf(response.content)["application/json"]);
  const units = new Map<string, string>();
  const seen = new Set<string>();
  const open: [value: unknown, name: string][] = [[media.schema, ""]];
  for (const [value, name] of open) {
    const { $ref } = objectOf(value);
    const key = `${name} ${String($ref)}`;
    if (open.length > SCHEMAS_MAX || ($ref !== undefined && seen.has(key))) continue;
    seen.add(key);
    const schema = followReference(root, value);
    const unit = unitOf({ ...schema, ...objectOf(value) });
    const known = units.get(name);
    if (unit !== undefined || isScalar(schema)) {
      units.set(name, known === undefined || known === unit ? unit ?? "" : "");
    }
    for (const options of [schema.oneOf, schema.anyOf, schema.allOf]) {
      for (const option of listOf(options)) open.push([option, name]);
    }
    if (schema.items !== undefined) open.push([schema.items, name]);
    for (const [member, inner] of Object.entries(objectOf(schema.properties))) {
      open.push([inner, member]);
    }
  }
  const names = new Map<string, string[]>();
  for (const [name, unit] of units) {
    if (unit && NAME.test(name)) names.set(unit, [...names.get(unit) ?? [], name]);
  }
  return [...names].map(([unit, names]) => `${unit}:${names.join(",")}`).join(" ");
}

const unitOf = ({ "x-unit": unit }: Json): string | undefined =>
  typeof unit === "string" && Object.hasOwn(NOTES, unit) ? unit : undefined;

const isScalar = ({ type, pattern }: Json) =>
  pattern !== undefined || [type].flat().some((one) => one === "string" || one === "integer");

/** Reads what {@linkcode writeUnits} has written. */
export function readUnits(text: string): ReadonlyMap<string, Unit> {
  return new Map(
    text.split(" ").filter(Boolean).flatMap((part) => {
      const [unit = "", names = ""] = part.split(":");
      return names.split(",").map((name) => [name, unit as Unit] as const);
    }),
  );
}

/** The most digits of a number that is converted: those of 256 bits. */
const NUMBER = /^"?(?:0x[\da-f]{1,64}|\d{1,78})"?$/i;

/** Says what a number in JSON means; an empty text where that is not known, or nothing more than it says itself. */
export function describeNumber(token: string, unit: Unit): string {
  if (!NUMBER.test(token)) return "";
  const digits = token.replaceAll('"', "");
  return NOTES[unit]?.(BigInt(digits), /^0x/i.test(digits)) ?? "";
}

/** The last second of the year 9999. */
const TIME_MAX = 253402300799n;

const NOTES: Readonly<Record<Unit, (number: bigint, isHex: boolean) => string>> = {
  quantity: (number, isHex) => isHex ? `= ${groupDigits(String(number), "\u202f")}` : "",
  wei(number, isHex) {
    if (number >= 10n ** 15n) return scale(number, 18, "ether");
    if (number >= 10n ** 6n) return scale(number, 9, "gwei");
    return isHex ? scale(number, 0, "wei") : "";
  },
  satoshi: (number) => number === 0n ? "" : scale(number, 8, "coins"),
  "unix-time": (number) =>
    number > TIME_MAX
      ? ""
      : `= ${new Date(Number(number) * 1000).toISOString().replace(/T(.*)\.000Z$/, " $1 UTC")}`,
};

/** The most digits behind the point that are shown. */
const DIGITS_MAX = 8;

function scale(number: bigint, places: number, name: string): string {
  const text = String(number).padStart(places + 1, "0");
  const fraction = places > 0 ? text.slice(-places).replace(/0+$/, "") : "";
  const shown = fraction.slice(0, DIGITS_MAX);
  const whole = groupDigits(places > 0 ? text.slice(0, -places) : text, "\u202f");
  return `${shown === fraction ? "=" : "≈"} ${whole}${shown && `.${shown}`} ${name}`;
}
