/**
 * Reads the units of numbers in responses (`x-unit` in a schema), and explains these numbers on the
 * page.
 *
 * @module
 */
import { groupDigits } from "../units.ts";
import { type JsonObject, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { followReference } from "../openapi/operations.ts";
import { typesOf } from "../openapi/parameter-schema.ts";

export type Unit = "quantity" | "wei" | "satoshi" | "unix-time";

/** Maps the name of each member to its unit. The empty name stands for the response itself. */
export type Units = Readonly<Record<string, Unit>>;
const SCHEMAS_MAX = 300, NAME_LENGTH_MAX = 60;

/** Cached, since many responses may have one large schema. */
const firstPropertiesOf = onceFor((properties: JsonObject) =>
  Object.entries(properties).slice(0, SCHEMAS_MAX)
);

/** Omits member names that occur with different units in one response. */
export function unitsOf(root: JsonObject, operation: JsonObject): Units | undefined {
  const response = followReference(root, objectOf(operation.responses)["200"]);
  const media = followReference(root, objectOf(response.content)["application/json"]);
  const units = new Map<string, Unit | undefined>();
  const seen = new Set<string>();
  const open: [value: unknown, name: string][] = [[media.schema, ""]];
  for (const [value, name] of open) {
    const reference = textOf(objectOf(value).$ref);
    const key = `${name} ${reference}`;
    if (open.length > SCHEMAS_MAX || (reference !== undefined && seen.has(key))) continue;
    seen.add(key);
    const schema = followReference(root, value);
    const mark = objectOf(value)["x-unit"] ?? schema["x-unit"];
    const unit = typeof mark === "string" && Object.hasOwn(NOTES, mark) ? mark as Unit : undefined;
    const isScalar = schema.pattern !== undefined ||
      typesOf(schema).some((type) => type === "string" || type === "integer");
    if (unit !== undefined || isScalar) {
      units.set(name, !units.has(name) || units.get(name) === unit ? unit : undefined);
    }
    for (const options of [schema.oneOf, schema.anyOf, schema.allOf]) {
      for (const option of listOf(options).slice(0, SCHEMAS_MAX)) open.push([option, name]);
    }
    if (schema.items !== undefined) open.push([schema.items, name]);
    for (const [member, inner] of firstPropertiesOf(objectOf(schema.properties))) {
      open.push([inner, member]);
    }
  }
  const found = [...units].flatMap(([name, unit]) =>
    unit && name.length <= NAME_LENGTH_MAX ? [[name, unit] as const] : []
  );
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

export function describeNumber(token: string, unit: Unit): string {
  if (!/^"?(?:0x[\da-f]{1,64}|\d{1,78})"?$/i.test(token)) return "";
  const digits = token.replaceAll('"', "");
  return NOTES[unit](BigInt(digits), /^0x/i.test(digits));
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

function scale(number: bigint, places: number, name: string): string {
  const text = String(number).padStart(places + 1, "0");
  const fraction = places > 0 ? text.slice(-places).replace(/0+$/, "") : "";
  const shown = fraction.slice(0, 8);
  const whole = groupDigits(places > 0 ? text.slice(0, -places) : text, "\u202f");
  return `${shown === fraction ? "=" : "≈"} ${whole}${shown && `.${shown}`} ${name}`;
}
