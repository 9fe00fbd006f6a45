/**
 * Valibot schemas for settings, with a description of each setting. A schema's message, such as `a list`, gets the
 * prefix `must be`. Messages of picklists, `rawCheck` and `rawTransform` are already complete.
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
  /** The flag of the command, without its dashes. */
  readonly flag?: string;
  /** The environment variables for the setting, in order of precedence. */
  readonly variables?: readonly string[];
  /** Common wrong keys for the setting. The diagnostic for a wrong key suggests the right one. */
  readonly also?: readonly string[];
  /** The placeholder for the flag's value in `--help`. A flag that takes no value has no placeholder. */
  readonly argument?: string;
}

export interface CliOption<T = unknown> extends About {
  readonly schema: Schema<T>;
  /** The setting's key in the configuration file, with dots between the keys of nested sections. */
  readonly key?: string;
}

export type Settings = Readonly<Record<string, Schema>>;
export type SettingsOf<T> = { readonly [Key in keyof T]-?: Schema<T[Key]> };
type Output<S extends Settings> = { [Key in keyof S]: v.InferOutput<S[Key]> };

export function setting<T>(schema: Schema<T>, about: About): Schema<T | undefined> {
  return needed(v.optional(schema), about);
}

export function needed<T>(schema: Schema<T>, about: About): Schema<T> {
  return v.pipe(schema, v.metadata({ about }));
}

export function aboutOf(schema: Schema): About {
  const { about = { text: "" } } = v.getMetadata(schema) as { about?: About };
  return about;
}

export interface Parts {
  readonly message?: string;
  readonly entries?: Settings;
  readonly value?: Schema;
  readonly item?: Schema;
  readonly options?: readonly Schema[];
  readonly words?: readonly string[];
}

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
    v.rawCheck(({ dataset, config, addIssue }) => {
      if (!dataset.typed) return;
      const explained = explain?.(dataset.value);
      if (explained !== undefined) addIssue({ message: explained });
      else if (!pattern.test(dataset.value) || !isValid(dataset.value)) {
        addIssue({ message: mustBe(expected, { ...config, input: dataset.value }) });
      }
    }),
    v.regex(pattern, expected),
    v.transform((text) => read(text)),
  );
  return v.config(schema, { abortPipeEarly: true }) as Schema<T>;
}

/** For each common wrong word in `also`, the message suggests the right word. */
export function word<const W extends string>(
  words: readonly W[],
  expected: string = `one of ${words.join(", ")}`,
  also?: Readonly<Record<string, W>>,
): Schema<W> {
  return v.picklist(words, (issue) => {
    // YAML reads `true` as a boolean, even where a word is meant.
    const isWord = typeof issue.input === "string" || (also && typeof issue.input === "boolean");
    if (!isWord) return mustBe(expected, issue);
    const input = String(issue.input);
    return mustBe(expected, { ...issue, input }) + didYouMean(meantWord(input, words, also));
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
  const from = least > -Infinity ? ` from ${least}` : "";
  const expected = `a whole number${from}${most < Infinity ? ` to ${most}` : ""}`;
  const isValid = (number: number) =>
    Number.isSafeInteger(number) && number >= least && number <= most;
  return v.pipe(v.number(expected), v.check(isValid, expected));
}

export const BOOLEAN: Schema<boolean> = v.boolean("true or false");

export function filledList<T>(of: Schema<T>, expected: string): Schema<T[]> {
  return v.pipe(v.array(of, expected), v.minLength(1, `${expected}; it must not be empty`));
}

/** Allows an additional key, with any value, if `isOther` returns true for the key. */
export function object<S extends Settings>(
  settings: S,
  isOther: (key: string) => boolean = () => false,
): Schema<Output<S>> {
  const keys = Object.keys(settings);
  const some = keys.length > 4
    ? `keys such as ${keys.slice(0, 4).join(", ")}`
    : `the keys ${keys.join(", ")}`;
  return plainObject(
    v.looseObject(settings as v.ObjectEntries, `an object with ${some}`),
    (key) => keys.includes(key) || isOther(key) ? undefined : unknownKey(key, settings),
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

/** Accepts an object in one of several forms. Each form is listed under the key that identifies it. */
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
  const any = v.union(forms.map(([, form]) => form), `an object with one of ${keys.join(", ")}`);
  return v.lazy((value) => {
    if (value === undefined) return any;
    if (!isPlainObject(value)) return v.never(any.message);
    const form = forms.find(([keys]) => keys.some((key) => Object.hasOwn(value, key)));
    if (form) return form[1];
    const typed = Object.keys(value);
    const meant = typed.map((key) => nearest(key, keys)).find((key) => key !== undefined);
    const there = typed.length > 0 ? `, but has ${typed.map(describeValue).join(", ")}` : "";
    const message = `must have one of ${keys.join(", ")}${there}${didYouMean(meant)}`;
    return v.pipe(v.unknown(), v.rawCheck(({ addIssue }) => addIssue({ message }))) as Schema<T>;
  });
}

/** Integers that do not fit a `number` become `bigint`s. */
export const json: Schema = v.pipe(
  v.unknown(),
  v.rawTransform(({ dataset, addIssue }) =>
    toJson(dataset.value, describeValue, (message, path) => {
      addIssue({ message, ...path.length > 0 && { path: issuePath(dataset.value, path) } });
    })
  ),
);

/** The `lang` of schemas for secrets. Of a schema's settings, Valibot copies only `lang` to the schema's issues. */
const SECRET = "secret";

/** The messages of the schema do not show the invalid value, which may be a misplaced secret. */
export function secret<T>(schema: Schema<T>): Schema<T> {
  return v.config(schema, { lang: SECRET });
}

function mustBe(
  expected: string,
  { input, lang }: { input: unknown; lang?: string | undefined },
): string {
  return `must be ${expected}${lang === SECRET ? "" : `, not ${describeValue(input)}`}`;
}

function plainObject<T>(
  schema: Schema<T> & { readonly message?: unknown },
  explain: (key: string) => string | undefined,
): Schema<T> {
  return v.lazy((value) => {
    // The generator of the JSON Schema calls this function without a value.
    if (value === undefined) return schema;
    if (!isPlainObject(value)) return v.never(schema.message as string);
    const wrong = Object.keys(value).flatMap((key) => {
      const message = explain(key);
      return message === undefined ? [] : [{ message, path: issuePath(value, [key], true) }];
    });
    if (wrong.length === 0) return schema;
    return v.pipe(schema, v.rawCheck(({ addIssue }) => wrong.forEach((issue) => addIssue(issue))));
  });
}

function unknownKey(key: string, settings: Settings): string {
  const keys = Object.keys(settings);
  const outer = keys.find((name) => keysInside(settings[name]!).includes(key));
  const meant = outer !== undefined
    ? `${outer}.${key}`
    : keys.find((name) => aboutOf(settings[name]!).also?.includes(key)) ?? nearest(key, keys);
  return UNKNOWN_KEY + (meant ? didYouMean(meant) : `; expected one of ${keys.join(", ")}`);
}

function keysInside(schema: Schema): string[] {
  const { entries = {}, options = [] } = partsOf(schema);
  return [...Object.keys(entries), ...options.flatMap(keysInside)];
}

export type Path = readonly (string | number)[];

export function issuePath(
  root: unknown,
  path: Path,
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

export interface Diagnostic {
  readonly path: Path;
  readonly message: string;
  /**
   * True if the message is about the last key of the path; false if it is about that key's value.
   */
  readonly isKey: boolean;
}

export class ConfigError extends Error {
  override name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** Invalid parts of the value are returned unchanged. */
export function readValue<T>(
  value: unknown,
  schema: Schema<T>,
): { value: T; diagnostics: readonly Diagnostic[] } {
  const { output, issues = [] } = v.safeParse(schema, value);
  return { value: output as T, diagnostics: issues.flatMap((issue) => diagnosticsOf(issue)) };
}

type Issue = v.BaseIssue<unknown>;
const WHOLE = ["raw_check", "raw_transform", "picklist"];

function diagnosticsOf(issue: Issue, around: Path = []): Diagnostic[] {
  const path = [...around, ...issue.path?.map(({ key }) => key as string | number) ?? []];
  const { type, message, input } = issue;
  const last = path.at(-1);
  const isKey = issue.path?.at(-1)?.origin === "key";
  if (typeof last === "string" && (input === undefined && type !== "raw_check")) {
    return [{ path: path.slice(0, -1), message: `needs ${last}`, isKey: false }];
  }
  const own = issuesOfForm(issue);
  if (own.length > 0) return own.flatMap((issue) => diagnosticsOf(issue, path));
  const word = issue.issues?.find(({ type }) => type === "picklist");
  if (word && /string|boolean/.test(typeof input)) return diagnosticsOf(word, path);
  return [{ path, message: WHOLE.includes(type) ? message : mustBe(message, issue), isKey }];
}

/** If no option of a union matches, returns the issues of the option that accepts the value's type. */
function issuesOfForm({ issues }: Issue): Issue[] {
  return (issues ?? []).flatMap((issue) =>
    issue.path || issue.kind !== "schema" ? [issue] : issuesOfForm(issue)
  );
}

const UNKNOWN_KEY = "unknown key";

export function formatDiagnostic({ path, message }: Diagnostic): string {
  const name = path
    .map((key, at) => typeof key === "number" ? `[${key}]` : at > 0 ? `.${key}` : key)
    .join("");
  if (name === "") return message;
  return message.startsWith(UNKNOWN_KEY)
    ? `${UNKNOWN_KEY} ${name}${message.slice(UNKNOWN_KEY.length)}`
    : `${name} ${message}`;
}
