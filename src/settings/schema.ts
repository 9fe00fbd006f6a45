/**
 * Valibot schemas for settings, with a description of each setting. A schema's message, such as `a
 * list`, usually says only what a value must be: see `sentenceOf`.
 *
 * @module
 */
import * as v from "valibot";
import { isPlainObject, toJson } from "../json/lossless.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { describeValue } from "../untrusted-text.ts";

export type Schema<T = unknown> = v.GenericSchema<unknown, T>;

export interface About {
  /** The description for `--help` and the manual, without a final period. */
  readonly text: string;
  readonly default?: string;
  readonly example?: string;
  /** Common wrong keys for the setting. The diagnostic for a wrong key suggests the right one. */
  readonly also?: readonly string[];
}

export type Settings = Readonly<Record<string, Schema>>;
export type SettingsOf<T> = { readonly [Key in keyof T]-?: Schema<T[Key]> };
type Output<S extends Settings> = { [Key in keyof S]: v.InferOutput<S[Key]> };

type More = Omit<About, "text">;

export function optional<T>(schema: Schema<T>, text: string, more?: More): Schema<T | undefined> {
  return described(v.optional(schema), text, more);
}

export function described<T>(schema: Schema<T>, text: string, more: More = {}): Schema<T> {
  return v.pipe(schema, v.metadata({ about: { ...more, text } }));
}

/** Names the TypeScript type of a schema's values, for the types that `npm run schema` writes. */
export function typed<T>(typeName: string, schema: Schema<T>): Schema<T> {
  return v.pipe(schema, v.metadata({ typeName }));
}

export function typeNameOf(schema: Schema & { readonly wrapped?: Schema }): string | undefined {
  if (schema.wrapped) return typeNameOf(schema.wrapped);
  return v.getMetadata(schema).typeName as string | undefined;
}

export function aboutOf(schema: Schema): About {
  const { about = { text: "" } } = v.getMetadata(schema) as { about?: About };
  return about;
}

export interface Parts {
  readonly type?: string;
  readonly message?: string;
  readonly entries?: Settings;
  readonly key?: Schema;
  readonly value?: Schema;
  readonly item?: Schema;
  readonly options?: readonly Schema[];
  readonly words?: readonly string[];
}

export function partsOfSchema(schema: Schema): Parts {
  const { type, wrapped, options, ...parts } = schema as Schema & Parts & { wrapped?: Schema };
  if (wrapped) return partsOfSchema(wrapped);
  if (type === "picklist") return { ...parts, type, words: options as unknown as string[] };
  return { ...parts, type, ...options && { options } };
}

interface TextRule<T = string> {
  /** Returns the complete message for a common mistake. */
  readonly explain?: (text: string) => string | undefined;
  /** Called only if the text matches the pattern. */
  readonly isValid?: (text: string) => boolean;
  readonly read?: (text: string) => T;
}

export function text<T = string>(
  expected: string,
  pattern: RegExp,
  { explain, isValid = () => true, read = (text) => text as T }: TextRule<T> = {},
): Schema<T> {
  const schema = v.pipe(
    v.string(expected),
    v.rawCheck(({ dataset: { value }, addIssue }) => {
      const message = typeof value === "string" ? explain?.(value) : undefined;
      if (message !== undefined) addIssue({ message });
    }),
    v.regex(pattern, expected),
    v.check(isValid, expected),
    v.transform(read),
  );
  return v.config(schema, { abortPipeEarly: true }) as Schema<T>;
}

/** For each common wrong word in `also`, the message suggests the right word. */
export function choice<const W extends string>(
  words: readonly W[],
  expected: string = `one of ${words.join(", ")}`,
  also?: Readonly<Record<string, W>>,
): Schema<W> {
  return v.picklist(words, ({ input }) => {
    // YAML reads `true` as a boolean, even where a word is meant.
    const isWord = typeof input === "string" || (also && typeof input === "boolean");
    if (!isWord) return mustBe(expected, input);
    const typed = String(input);
    return mustBe(expected, typed) + didYouMean(meantWord(typed, words, also));
  }) as Schema<W>;
}

export function meantWord(
  typed: string,
  words: readonly string[],
  also: Readonly<Record<string, string>> = {},
): string | undefined {
  const lower = typed.toLowerCase();
  if (Object.hasOwn(also, lower)) return also[lower];
  return nearest(typed, words) ?? also[nearest(typed, Object.keys(also)) ?? ""];
}

export const NUMBER: Schema<number> = v.pipe(v.number("a number"), v.finite("a number"));

export function wholeNumber(least: number = -Infinity, most: number = Infinity): Schema<number> {
  const atLeast = least > -Infinity ? ` of at least ${least}` : "";
  const bounds = most < Infinity ? ` from ${least} to ${most}` : atLeast;
  const expected = `a whole number${bounds}`;
  const isValid = (number: number) =>
    Number.isSafeInteger(number) && number >= least && number <= most;
  return v.pipe(v.number(expected), v.check(isValid, expected));
}

export const BOOLEAN: Schema<boolean> = v.boolean("true or false");

export function filledList<T>(of: Schema<T>, expected: string): Schema<T[]> {
  return v.pipe(v.array(of, expected), v.minLength(1, "must not be empty"));
}

export function object<S extends Settings>(settings: S): Schema<Output<S>> {
  const keys = Object.keys(settings);
  const some = keys.length > 4
    ? `keys such as ${keys.slice(0, 4).join(", ")}`
    : `the keys ${keys.join(", ")}`;
  return plainObject(
    v.looseObject(settings as v.ObjectEntries, `an object with ${some}`),
    (key) => keys.includes(key) ? undefined : unknownKey(key, settings),
  ) as Schema<Output<S>>;
}

/** `null`, the empty value in YAML, counts as an empty object. */
export function section<S extends Settings>(settings: S): Schema<Output<S>> {
  return v.nullable(object(settings), {}) as Schema<Output<S>>;
}

export function map<K extends string, T>(name: Schema<K>, of: Schema<T>): Schema<Record<K, T>> {
  const schema = v.record(name as v.GenericSchema<string, K>, of, "an object");
  // The keys that valibot 1.5 silently drops from a record.
  const taken = ["__proto__", "constructor", "prototype"];
  return v.nullable(
    plainObject(schema, (key) => taken.includes(key) ? "is reserved; use another name" : undefined),
    {},
  ) as Schema<Record<K, T>>;
}

export function filledMap<K extends string, T>(
  name: Schema<K>,
  of: Schema<T>,
  expected: string,
): Schema<Record<K, T>> {
  return v.pipe(
    map(name, of),
    v.check((members) => Object.keys(members).length > 0, expected),
  );
}

/**
 * Accepts an object in one of several forms. Each form is listed under the key that identifies it.
 */
export function oneOf<F extends Readonly<Record<string, Settings>>>(
  forms: F,
): Schema<{ [Key in keyof F]: Output<F[Key]> }[keyof F]> {
  type Form = { [Key in keyof F]: Output<F[Key]> }[keyof F];
  return byKey(Object.entries(forms).map(([key, form]) => [[key], object(form) as Schema<Form>]));
}

export function byKey<T>(
  forms: readonly (readonly [keys: readonly string[], form: Schema<T>])[],
): Schema<T> {
  const keys = forms.flatMap(([keys]) => keys);
  const expected = `an object with one of ${keys.join(", ")}`;
  return chosenBy(v.union(forms.map(([, form]) => form), expected), (value) => {
    if (!isPlainObject(value)) return v.never(expected);
    const form = forms.find(([keys]) => keys.some((key) => Object.hasOwn(value, key)));
    if (form) return form[1];
    const typed = Object.keys(value);
    const meant = typed.map((key) => nearest(key, keys)).find((key) => key !== undefined);
    // A key may be a secret after a forgotten space.
    const isName = typed.every((key) => /^\w{1,20}$/.test(key));
    const there = isName && typed.length > 0
      ? `, but has ${typed.map(describeValue).join(", ")}`
      : "";
    const message = `must have one of ${keys.join(", ")}${there}${didYouMean(meant)}`;
    return withIssues(v.unknown(), [{ message }]) as Schema<T>;
  });
}

/**
 * Accepts a value of one of several types, such as a text or an object. Reports the issues of the
 * first option that accepts the value's type. An option that is a {@linkcode choice} must be the
 * last.
 */
export function anyOf<const S extends readonly Schema[]>(
  options: S,
  expected: string,
): Schema<v.InferOutput<S[number]>> {
  return running(v.union(options, expected), (value) => {
    const results = options.map((option) => run(option, value));
    return results.find(({ issues }) => !issues) ??
      results.find(({ issues = [] }) => issues.every(isOfRightType)) ??
      run(v.never(expected), value);
  });
}

function isOfRightType({ path, kind, type, input }: v.BaseIssue<unknown>): boolean {
  if (type === "picklist") return typeof input === "string" || typeof input === "boolean";
  return path !== undefined || kind !== "schema";
}

/** Replaces a schema by another one for each value, such as by one that always fails. */
function chosenBy<T>(schema: Schema<T>, choose: (value: unknown) => Schema<T>): Schema<T> {
  return running(schema, (value) => run(choose(value), value));
}

type Result<T> = ReturnType<Schema<T>["~run"]>;

/** Replaces how valibot validates. The parts of the schema stay, which the manual is made of. */
const running = <T>(schema: Schema<T>, run: (value: unknown) => Result<T>): Schema<T> => ({
  ...schema,
  "~run": ({ value }) => run(value),
});

const run = <T>(schema: Schema<T>, value: unknown): Result<T> => schema["~run"]({ value }, {});

type IssueInfo = Parameters<Parameters<typeof v.rawCheck>[0]>[0] extends
  { addIssue: (info?: infer Info) => void } ? NonNullable<Info> : never;

const withIssues = <T>(schema: Schema<T>, issues: readonly IssueInfo[]): Schema<T> =>
  v.pipe(schema, v.rawCheck(({ addIssue }) => issues.forEach((issue) => addIssue(issue))));

/** Integers that do not fit a `number` become `bigint`s. */
export const json: Schema = v.pipe(
  v.unknown(),
  v.rawTransform(({ dataset, addIssue }) =>
    toJson(dataset.value, describeValue, (message, path) => {
      addIssue({ message, ...path.length > 0 && { path: issuePath(dataset.value, path) } });
    })
  ),
);

/** Stands for the input of an issue that no message may show. */
const SECRET = Symbol("secret");

/** The messages of the schema do not show the invalid value, which may be a misplaced secret. */
export function secret<T>(schema: Schema<T>): Schema<T> {
  return running<T>(schema, (value) => {
    const result = run(schema, value);
    const issues = result.issues?.map((issue) => ({ ...issue, input: issue.input && SECRET }));
    return Object.assign(result, { issues });
  });
}

export function mustBe(expected: string, input: unknown): string {
  return `must be ${expected}${input === SECRET ? "" : `, not ${describeValue(input)}`}`;
}

function plainObject<T>(
  schema: Schema<T> & { readonly message?: unknown },
  explain: (key: string) => string | undefined,
): Schema<T> {
  return chosenBy(schema, (value) => {
    if (!isPlainObject(value)) return v.never(schema.message as string);
    const wrong = Object.keys(value).flatMap((key) => {
      const message = explain(key);
      return message === undefined ? [] : [{ message, path: issuePath(value, [key], true) }];
    });
    return wrong.length === 0 ? schema : withIssues(schema, wrong);
  });
}

function unknownKey(key: string, settings: Settings): string {
  const unknown = "is an unknown key";
  const keys = Object.keys(settings);
  const outer = keys.find((name) => keysInside(settings[name]!).includes(key));
  const right = keys.find((name) => aboutOf(settings[name]!).also?.includes(key));
  const meant = outer !== undefined ? `${outer}.${key}` : right ?? nearest(key, keys);
  // What a key in a list replaces is written in another way.
  if (right !== undefined && partsOfSchema(settings[right]!).item) {
    return unknown + didYouMean(`${right}: ${aboutOf(settings[right]!).example}`);
  }
  return unknown + (meant ? didYouMean(meant) : `; expected one of ${keys.join(", ")}`);
}

function keysInside(schema: Schema): string[] {
  const { entries = {}, options = [] } = partsOfSchema(schema);
  return [...Object.keys(entries), ...options.flatMap(keysInside)];
}

export type SettingPath = readonly (string | number)[];

export function issuePath(
  root: unknown,
  path: SettingPath,
  isKey = false,
): [v.UnknownPathItem, ...v.UnknownPathItem[]] {
  let input = root;
  const items = path.map((key, at): v.UnknownPathItem => {
    const origin = isKey && at === path.length - 1 ? "key" : "value";
    const item = { type: "unknown", origin, input, key, value: undefined } as const;
    input = (input as Readonly<Record<string | number, unknown>> | null | undefined)?.[key];
    return item;
  });
  return items as [v.UnknownPathItem, ...v.UnknownPathItem[]];
}

export interface SettingDiagnostic {
  readonly path: SettingPath;
  readonly message: string;
  /** True if the message is about the last key of the path, and not about that key's value. */
  readonly isKey?: boolean | undefined;
}

/** Diagnoses each name that has occurred before, at the index `first`. */
export function diagnosticsOfRepeated<T>(
  names: readonly T[],
  diagnose: (name: T, at: number, first: number) => SettingDiagnostic,
): SettingDiagnostic[] {
  return names.flatMap((name, at) => {
    const first = names.indexOf(name);
    return name === undefined || first === at ? [] : [diagnose(name, at, first)];
  });
}

export class ConfigError extends Error {
  override name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** An error in the arguments of the command. */
export class UsageError extends ConfigError {
  override name = "UsageError";
}

/** Invalid parts of the value are returned unchanged. */
export function readValue<T>(
  value: unknown,
  schema: Schema<T>,
): { value: T; diagnostics: readonly SettingDiagnostic[] } {
  const { output, issues = [] } = v.safeParse(schema, value);
  return { value: output as T, diagnostics: issues.map(diagnosticOf) };
}

/** The types of issues whose messages are sentences. Others only say what the value must be. */
const SENTENCES = ["raw_check", "raw_transform", "picklist", "min_length"];

function sentenceOf({ type, message, input }: v.BaseIssue<unknown>): string {
  return SENTENCES.includes(type) ? message : mustBe(message, input);
}

function diagnosticOf(issue: v.BaseIssue<unknown>): SettingDiagnostic {
  const { path: items, type, input } = issue;
  const path = (items ?? []).map(({ key }) => key as string | number);
  const last = path.at(-1);
  if (typeof last === "string" && input === undefined && type !== "raw_check") {
    return { path: path.slice(0, -1), message: `needs ${last}` };
  }
  return {
    path,
    message: sentenceOf(issue),
    isKey: items?.at(-1)?.origin === "key",
  };
}

/** @throws {TypeError} with one line for each diagnostic */
export function refuseOptions(diagnostics: readonly SettingDiagnostic[]): void {
  const lines = diagnostics.map(formatSettingDiagnostic);
  if (lines.length === 0) return;
  throw new TypeError(lines.length === 1 ? lines[0] : ["invalid options:", ...lines].join("\n  "));
}

export function formatSettingDiagnostic({ path, message }: SettingDiagnostic): string {
  const name = path
    .map((key, at) => typeof key === "number" ? `[${key}]` : at > 0 ? `.${key}` : key || '""')
    .join("");
  if (name === "") return message;
  return `${name} ${message}`;
}
