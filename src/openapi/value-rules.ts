/**
 * Reads the rules of values from the schemas of a description.
 *
 * @module
 */
import { type Json, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { followReference } from "./operations.ts";

const NUMBER_BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] as const;
const LENGTH_BOUNDS = ["minLength", "maxLength", "minItems", "maxItems"] as const;
type Bound = typeof NUMBER_BOUNDS[number] | typeof LENGTH_BOUNDS[number];
type Bounds = { readonly [B in Bound]?: number | bigint | undefined };

/** The JSON Schema keywords that the gateway checks in a call. */
export interface ValueRule extends Bounds {
  readonly types?: readonly string[] | undefined;
  readonly values?: readonly unknown[] | undefined;
  /** Patterns for forbidden sequences of path segments (`x-excludes`). */
  readonly excludes?: readonly string[] | undefined;
  /** Absent unless the operation is marked `x-checked`: another pattern may take hours to match. */
  readonly pattern?: string | undefined;
  /** The schema's description, present only with `pattern`. */
  readonly meaning?: string | undefined;
  readonly heavyFrom?: number | undefined;
  readonly items?: ValueRule | undefined;
  readonly anyOf?: readonly ValueRule[] | undefined;
  readonly properties?: Readonly<Record<string, ValueRule>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly isClosed?: boolean | undefined;
}

const DEPTH_MAX = 3;

/**
 * The maximum number of properties, and names of required properties, in all joined rules of a
 * description.
 */
const JOINED_MAX = 300_000;

/** Reads rules. Patterns are part of the rules only if `isChecked` is true. */
export class RuleReader {
  readonly #document: Json;
  readonly #isChecked: boolean;
  /** The rule of a schema depends on the nesting depth, so each depth has its own cache. */
  readonly #readers: readonly ((schema: Json) => ValueRule)[];
  #left = JOINED_MAX;
  constructor(document: Json, isChecked: boolean) {
    this.#document = document;
    this.#isChecked = isChecked;
    this.#readers = Array.from(
      { length: DEPTH_MAX + 1 },
      (_, depth) => onceFor((schema: Json) => this.#read(schema, depth + 1)),
    );
  }

  ruleOf(schema: unknown, depth: number = 0): ValueRule {
    return this.#readers[depth]?.(followReference(this.#document, schema)) ?? {};
  }

  #read(schema: Json, depth: number): ValueRule {
    const { type, properties, items, additionalProperties } = schema;
    const inner = (value: unknown) => this.ruleOf(value, depth);
    const options = listOf(schema.anyOf ?? schema.oneOf).map(inner);
    const types = type === undefined ? undefined : [type].flat().map(String);
    const pattern = this.#isChecked ? textOf(schema.pattern) : undefined;
    const heavyFrom = schema["x-heavy-from"];
    const rule: ValueRule = {
      types: schema.nullable === true && types ? [...types, "null"] : types,
      values: schema.const === undefined ? arrayOf(schema.enum) : [schema.const],
      ...boundsOf(schema),
      excludes: arrayOf(schema["x-excludes"])?.map(String),
      pattern,
      meaning: pattern === undefined ? undefined : textOf(schema.description),
      heavyFrom: typeof heavyFrom === "number" ? heavyFrom : undefined,
      items: items === undefined ? undefined : inner(items),
      anyOf: options.length > 0 ? options : undefined,
      properties: properties === undefined ? undefined : Object.fromEntries(
        Object.entries(objectOf(properties)).map(([name, value]) => [name, inner(value)]),
      ),
      required: arrayOf(schema.required)?.map(String),
      isClosed: (additionalProperties === false && options.length === 0) || undefined,
    };
    const all = listOf(schema.allOf).map(inner);
    return all.length === 0 ? rule : this.#join([rule, ...all]);
  }

  /**
   * Several schemas may include one large schema, so joined rules can be much larger than the
   * description.
   */
  #join(rules: readonly ValueRule[]): ValueRule {
    const distinct = [...new Set(rules)];
    for (const rule of distinct) this.#left -= sizeOf(rule);
    if (this.#left >= 0) return joinRules(distinct);
    throw new RangeError("its allOf schemas would have too many properties together");
  }
}

const arrayOf = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : undefined;

/** Ignores booleans, which OpenAPI 3.0 uses for `exclusiveMinimum`. */
const boundsOf = (schema: Json): Bounds =>
  Object.fromEntries([...NUMBER_BOUNDS, ...LENGTH_BOUNDS].flatMap((keyword) => {
    const bound = schema[keyword];
    return typeof bound === "number" || typeof bound === "bigint" ? [[keyword, bound]] : [];
  }));

const sizeOf = onceFor(({ properties = {}, required = [] }: ValueRule): number =>
  Object.keys(properties).length + required.length
);

function joinRules(rules: readonly ValueRule[]): ValueRule {
  const entries = rules.flatMap((rule) =>
    Object.entries(rule).filter(([, value]) => value !== undefined)
  );
  const properties = rules.flatMap((rule) => Object.entries(rule.properties ?? {}));
  const required = rules.flatMap((rule) => rule.required ?? []);
  return {
    ...Object.fromEntries(entries),
    ...properties.length > 0 && { properties: Object.fromEntries(properties) },
    ...required.length > 0 && { required },
    // Unlisted properties are allowed, because each schema of an `allOf` may list only some of the
    // properties.
    isClosed: undefined,
  };
}
