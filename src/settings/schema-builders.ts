/**
 * The schemas that settings are made of: those of valibot, which here report every unknown key with
 * the nearest known one, choose one form of a value before they read it, and hide secrets.
 *
 * The message of a schema is what would be right, after "must be". `check.ts` adds what is there. A
 * `rawCheck` or `rawTransform` gives the whole message.
 *
 * @module
 */
import * as v from "valibot";
import { isPlainObject, toJson } from "../json/copy-as-json.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { show } from "./show.ts";
import { mistakeInText, oneWordOf, readText, type TextRule } from "./text-rules.ts";

/** What reads a value. */
export type Schema<T = unknown> = v.GenericSchema<unknown, T>;

/** What there is to say of a setting besides its schema. */
export interface About {
  /** What it does, for `--help` and the reference: sentences without a period at the end. */
  readonly text: string;
  /** What holds where nobody says otherwise, as it is written. */
  readonly default?: string;
  /** What it may look like in a configuration file, as YAML. */
  readonly example?: string;
  /** The flag of the command, without its dashes. */
  readonly flag?: string;
  /** The variables of the environment that are read, the first that is set. */
  readonly variables?: readonly string[];
  /** What people call its key in a configuration file, since its flags are called so. */
  readonly also?: readonly string[];
  /** What stands for the value in `--help`; a flag without one switches something on. */
  readonly argument?: string;
}

/** The keys of an object, each with its setting. */
export type Settings = Readonly<Record<string, Schema>>;

/** A setting that may be left out. */
export function setting<T>(schema: Schema<T>, about: About): Schema<T | undefined> {
  return needed(v.optional(schema), about);
}

/** A setting that may not be left out. */
export function needed<T>(schema: Schema<T>, about: About): Schema<T> {
  return v.pipe(schema, v.metadata({ about }));
}

/** The same setting with other words for what it does. */
export function reworded<T>(schema: Schema<T>, text: string): Schema<T> {
  return v.pipe(schema, v.metadata({ about: { ...aboutOf(schema), text } }));
}

/** What there is to say of a setting. */
export function aboutOf(schema: Schema): About {
  const { about = { text: "" } } = v.getMetadata(schema) as { about?: About };
  return about;
}

/**
 * A schema of an object in which nothing is needed. It is made when an object with any key is first
 * read, since most starts have none.
 */
export function later(make: () => Schema): Schema {
  let made: Schema | undefined;
  const empty = v.unknown();
  return v.lazy((value) => isPlainObject(value) && isEmpty(value) ? empty : made ??= make());
}

function isEmpty(object: Record<string, unknown>): boolean {
  return Object.values(object).every((member) => member === undefined);
}

/** What a schema is made of, for those who describe it. */
export interface Parts {
  /** What would be right, after "must be". */
  readonly message?: string;
  /** The settings of an object. */
  readonly entries?: Settings;
  /** What the members of a map are. */
  readonly value?: Schema;
  /** What the members of a list are. */
  readonly item?: Schema;
  /** The schemas of which one holds. */
  readonly options?: readonly Schema[];
  /** The words of which it is one. */
  readonly words?: readonly string[];
}

/** What a schema is made of. */
export function partsOf(schema: Schema): Parts {
  const { type, wrapped, getter, options, ...parts } = schema as Schema & Parts & {
    wrapped?: Schema;
    getter?: () => Schema;
  };
  if (wrapped) return partsOf(wrapped);
  if (getter) return partsOf(getter());
  if (type === "picklist") return { ...parts, words: options as unknown as string[] };
  return { ...parts, ...options && { options } };
}

/** Stands in an issue for a value that is not to be repeated. */
export const SECRET: unique symbol = Symbol("secret");

/** A schema whose issues do not repeat what is there: it may be a secret in the wrong place. */
export function secret<T>(schema: Schema<T>): Schema<T> {
  return readBy(schema, (value, read) => {
    const dataset = read(schema, value);
    if (!dataset.issues) return dataset;
    const [first, ...others] = dataset.issues;
    const hide = (issue: v.BaseIssue<unknown>) => ({ ...issue, input: SECRET });
    return { ...dataset, issues: [hide(first), ...others.map(hide)] };
  });
}

/** A text. */
export function text<T = string>(rule: TextRule<T>): Schema<T> {
  const { right, pattern } = rule;
  const schema = v.pipe(
    v.string(right),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? mistakeInText(dataset.value, rule) : undefined;
      if (message !== undefined) addIssue({ message });
    }),
    // For the JSON Schema: the rule has tested it.
    v.regex(pattern, right),
    v.transform((text) => readText(text, rule)),
  );
  // One thing is said of a text.
  return v.config(schema, { abortPipeEarly: true }) as Schema<T>;
}

/** One of some words; `also` has further words that people give, by what they mean. */
export function word<W extends string>(
  words: readonly W[],
  right?: string,
  also?: Readonly<Record<string, W>>,
): Schema<W> {
  const rule = oneWordOf(words, right, also);
  const schema = v.picklist(words, rule.right);
  return readBy(schema, (value, read) => {
    // YAML has `true` for what is meant as a word.
    const isText = typeof value === "string" || (also && typeof value === "boolean");
    const message = isText ? mistakeInText(String(value), rule) : undefined;
    return read(message === undefined ? schema : wrong(message), value);
  });
}

/**
 * A word by a rule, of which editors are told some words beside any other text: more may be right.
 *
 * @param words the words that editors offer
 */
export function knownWord(words: readonly string[], rule: TextRule): Schema<string> {
  const known = text(rule);
  return readBy(
    v.union([v.picklist(words), v.string()], rule.right),
    (value, read) => read(known, value),
  );
}

/** A number, which YAML may give as a `bigint`. */
export function number(
  right: string,
  isRight: (number: number) => boolean = Number.isFinite,
): Schema<number> {
  const schema = v.pipe(v.number(right), v.check(isRight, right));
  return readBy(
    schema,
    (value, read) => read(schema, typeof value === "bigint" ? Number(value) : value),
  );
}

/** A list. */
export function list<T>(of: Schema<T>, right: string): Schema<T[]> {
  return v.array(of, right);
}

/** A list of one value at least. */
export function filledList<T>(of: Schema<T>, right: string): Schema<T[]> {
  return v.pipe(v.array(of, right), v.minLength(1, `${right}; it must not be empty`));
}

/**
 * An object with keys that are known.
 *
 * @param isOther whether a further key is right, whatever its value is
 */
export function object(
  settings: Settings,
  isOther: (key: string) => boolean = () => false,
): Schema<Record<string, unknown>> {
  const keys = Object.keys(settings);
  const some = keys.length > 4
    ? `keys such as ${keys.slice(0, 4).join(", ")}`
    : `the keys ${keys.join(", ")}`;
  const schema = v.looseObject(settings, `an object with ${some}`);
  return readBy(schema, (value, read) => {
    if (!isPlainObject(value)) return read(v.never(schema.message), value);
    const unknown = Object.keys(value).filter((key) => !keys.includes(key) && !isOther(key));
    const closed = v.pipe(schema, aboutKeys(unknown, (key) => noSuchKey(key, settings)));
    return read(closed, withoutUndefined(value));
  });
}

/** What to say of a key that is none: it may be one of an object inside, or a flag whose key has another name. */
function noSuchKey(key: string, settings: Settings): string {
  const keys = Object.keys(settings);
  const outer = keys.find((name) => keysInside(settings[name]!).includes(key));
  const meant = outer !== undefined
    ? `${outer}.${key}`
    : keys.find((name) => aboutOf(settings[name]!).also?.includes(key)) ?? nearest(key, keys);
  return `is no key here${meant ? didYouMean(meant) : `; there are ${keys.join(", ")}`}`;
}

/** The keys of an object, in whichever form it has. */
function keysInside(schema: Schema): string[] {
  const { entries = {}, options = [] } = partsOf(schema);
  return [...Object.keys(entries), ...options.flatMap(keysInside)];
}

/** An object with keys that are known; `null`, as a file has it where nothing follows, is an empty one. */
export function section(settings: Settings): Schema<Record<string, unknown>> {
  return v.nullable(object(settings), {});
}

/** An object whose keys are names that the operator chooses; `null` is an empty one. */
export function map<T>(name: Schema<string>, of: Schema<T>): Schema<Record<string, T>> {
  const schema = v.record(name as v.GenericSchema<string, string>, of, "an object");
  return v.nullable(
    readBy(schema, (value, read) => {
      if (!isPlainObject(value)) return read(v.never("an object"), value);
      // valibot leaves these keys out without an issue (1.5).
      const taken = ["__proto__", "constructor", "prototype"].filter((key) =>
        Object.hasOwn(value, key)
      );
      return read(v.pipe(schema, aboutKeys(taken, () => "must be another name")), value);
    }),
    {},
  );
}

/** An object whose keys are names that the operator chooses, one at least. */
export function filledMap<T>(
  name: Schema<string>,
  of: Schema<T>,
  right: string,
): Schema<Record<string, T>> {
  return v.pipe(
    map(name, of),
    v.check((members) => Object.keys(members).length > 0, right),
  );
}

/** An object whose form depends on which of some keys it has: each form is named by that key. */
export function oneOf(forms: Readonly<Record<string, Settings>>): Schema<Record<string, unknown>> {
  const keys = Object.keys(forms);
  const schemas = Object.values(forms).map((form) => object(form));
  const schema = v.union(schemas, `an object with one of ${keys.join(", ")}`);
  return readBy(schema, (value, read) => {
    if (!isPlainObject(value)) return read(v.never(schema.message), value);
    const form = keys.findIndex((key) => Object.hasOwn(value, key));
    if (form >= 0) return read(schemas[form]!, value);
    const typed = Object.keys(value);
    const meant = typed.map((key) => nearest(key, keys)).find((key) => key !== undefined);
    const there = typed.length > 0 ? `, and has ${typed.map(show).join(", ")}` : "";
    return read(wrong(`must have one of ${keys.join(", ")}${there}${didYouMean(meant)}`), value);
  });
}

/** An object whose form depends on its keys: it has the first form of which it has a key. */
export function byKey(
  forms: readonly (readonly [keys: readonly string[], form: Schema])[],
): Schema {
  const names = forms.flatMap(([keys]) => keys).join(", ");
  const schema = v.union(forms.map(([, form]) => form), `an object with one of ${names}`);
  return readBy(schema, (value, read) => {
    if (!isPlainObject(value)) return read(v.never(schema.message), value);
    const form = forms.find(([keys]) => keys.some((key) => Object.hasOwn(value, key)));
    return read(form ? form[1] : wrong(`must have one of ${names}`), value);
  });
}

/** A value of one of some types: the schema of its type says what is wrong with it. */
export function either<T>(right: string, ...schemas: Schema<T>[]): Schema<T> {
  return readBy(v.union(schemas, right), (value, read) => {
    for (const schema of schemas) {
      const dataset = read(schema, value);
      const isOfType = !dataset.issues?.some(({ kind, path }) => kind === "schema" && !path);
      if (isOfType) return dataset;
    }
    return read(v.never(right), value);
  });
}

/** A function. */
export function callback(right = "a function"): Schema {
  return v.custom((value) => typeof value === "function", right);
}

/** Any JSON value; a whole number that `number` holds is one, a larger one a `bigint`. */
export const json: Schema = v.pipe(
  v.unknown(),
  v.rawTransform(({ dataset, addIssue }) =>
    toJson(dataset.value, show, (message, keys) => {
      const [first, ...others] = keys.map((key) => pathItem(dataset.value, key));
      addIssue({ message, ...first && { path: [first, ...others] } });
    })
  ),
);

type Dataset<T> = v.OutputDataset<T, v.BaseIssue<unknown>>;
type Read = <T>(schema: Schema<T>, value: unknown) => Dataset<T>;

/** A schema that reads values in another way. Its parts stay, from which the JSON Schema is made. */
function readBy<T>(
  schema: Schema<T>,
  run: (value: unknown, read: Read) => Dataset<unknown>,
): Schema<T> {
  return {
    ...schema,
    "~run": ({ value }, config) =>
      run(value, (other, value) => other["~run"]({ value }, config)) as Dataset<T>,
  };
}

/** A schema that refuses every value. */
function wrong(message: string): Schema {
  return v.pipe(v.unknown(), v.rawCheck(({ addIssue }) => addIssue({ message })));
}

/** Refuses keys. */
function aboutKeys<T>(
  keys: readonly string[],
  describe: (key: string) => string,
): v.RawCheckAction<T> {
  return v.rawCheck(({ dataset, addIssue }) => {
    for (const key of keys) {
      addIssue({ message: describe(key), path: [pathItem(dataset.value, key, "key")] });
    }
  });
}

/** A step of the path to a value, for an issue. */
export function pathItem(
  input: unknown,
  key: unknown,
  origin: "key" | "value" = "value",
): v.UnknownPathItem {
  return { type: "unknown", origin, input, key, value: undefined };
}

function withoutUndefined(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, member]) => member !== undefined));
}
