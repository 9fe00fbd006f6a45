/**
 * Reads values by their shapes and finds everything that is wrong with them at once.
 *
 * @module
 */
import { quote, shorten } from "../text.ts";
import { didYouMean, nearest } from "./nearest.ts";
import {
  type ObjectShape,
  type Settings,
  type Shape,
  text,
  type TextRule,
  type WordShape,
} from "./shapes.ts";

/** The keys and indices that lead to a value. */
export type Path = readonly (string | number)[];

/** One thing that is wrong. */
export interface Mistake {
  readonly path: Path;
  /** What is wrong and what would be right, after the value's name. */
  readonly message: string;
  /** Whether it is about the last key of the path and not its value. */
  readonly isKey: boolean;
}

/** How values are read. */
export interface ReadBy {
  /** Where a path leads to that a value names. @default the path as it is */
  readonly locate?: (path: string) => string;
  /** Whether an object that is `null` counts as an empty one, as in a file where nothing follows. */
  readonly isNullEmpty?: boolean;
}

/**
 * Reads a value.
 *
 * @returns the value, with texts as their rules read them, and all that is wrong with it
 */
export function readValue(
  value: unknown,
  shape: Shape,
  by: ReadBy = {},
): { value: unknown; mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = [];
  const read = readAt(value, shape, [], { ...by, mistakes, isSecret: false });
  return { value: read, mistakes };
}

/** A mistake as one line: `node.kind must be …`. */
export function describeMistake({ path, message }: Mistake): string {
  return path.length > 0 ? `${nameOf(path)} ${message}` : message;
}

/** What a value is called: `info.sources.disk.command[0]`. */
export function nameOf(path: Path): string {
  return path.map((key, at) => typeof key === "number" ? `[${key}]` : at > 0 ? `.${key}` : key)
    .join("");
}

/** What is wrong with a text; `undefined` where nothing is. */
function mistakeInText(rule: TextRule, text: string): string | undefined {
  const isRight = rule.pattern.test(text) && (!rule.read || rule.read(text) !== undefined);
  if (isRight) return undefined;
  const why = rule.why?.(text);
  const shown = rule.isSecret ? "" : `, not ${show(text)}`;
  return why ?? `must be ${rule.right}${shown}`;
}

/** What is wrong with a word that is none of some; `undefined` where it is one. */
function mistakeInWord(shape: WordShape, word: string): string | undefined {
  if (shape.words.includes(word)) return undefined;
  return `must be ${shape.right}, not ${show(word)}${didYouMean(meantWord(shape, word))}`;
}

/** The word that somebody meant who gave another one; `undefined` where none is like it. */
export function meantWord({ words, also = {} }: WordShape, typed: string): string | undefined {
  const lower = typed.toLowerCase();
  if (Object.hasOwn(also, lower)) return also[lower];
  return nearest(typed, words) ?? also[nearest(typed, Object.keys(also)) ?? ""];
}

interface Reading extends ReadBy {
  readonly mistakes: Mistake[];
  readonly isSecret: boolean;
}

function readAt(value: unknown, shape: Shape, path: Path, reading: Reading): unknown {
  const wrong = (message: string | undefined) => {
    if (message !== undefined) reading.mistakes.push({ path, message, isKey: false });
    return undefined;
  };
  const mustBe = (right: string) =>
    wrong(`must be ${right}${reading.isSecret ? "" : `, not ${show(value)}`}`);
  switch (shape.is) {
    case "text":
    case "path": {
      const { rule } = shape;
      if (typeof value !== "string") return mustBe(rule.right);
      const mistake = mistakeInText(reading.isSecret ? { ...rule, isSecret: true } : rule, value);
      if (mistake !== undefined) return wrong(mistake);
      const read = rule.read ? rule.read(value) : value;
      return shape.is === "path" && reading.locate ? reading.locate(read as string) : read;
    }
    case "word":
      if (typeof value !== "string") return mustBe(shape.right);
      return wrong(mistakeInWord(shape, value)) ?? value;
    case "boolean":
      return typeof value === "boolean" ? value : mustBe("true or false");
    case "json":
      return readJson(value, path, reading, []);
    case "function":
      return typeof value === "function" ? value : mustBe(shape.right);
    case "date":
      if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
      return mustBe("a Date, such as new Date()");
    case "url":
      if (!(value instanceof URL)) return mustBe("a URL");
      return shape.rule ? readAt(value.href, text(shape.rule), path, reading) : value;
    case "list":
      return readList(value, shape, path, reading, mustBe);
    case "map":
      return readMap(value, shape, path, reading, mustBe);
    case "object":
      return readObject(value, shape, path, reading, mustBe);
    case "form":
      return readForm(value, shape.forms, path, reading, mustBe);
    case "either": {
      const fits = shape.shapes.find((each) => isOfType(value, each, reading));
      return fits ? readAt(value, fits, path, reading) : mustBe(shape.right);
    }
  }
}

type MustBe = (right: string) => undefined;

function readList(
  value: unknown,
  { of, right, least = 0 }: Extract<Shape, { is: "list" }>,
  path: Path,
  reading: Reading,
  mustBe: MustBe,
): unknown {
  if (!Array.isArray(value)) return mustBe(right);
  if (value.length < least) return mustBe(`${right}; it must not be empty`);
  return value.map((item, at) => readAt(item, of, [...path, at], reading));
}

function readMap(
  value: unknown,
  { name, of }: Extract<Shape, { is: "map" }>,
  path: Path,
  reading: Reading,
  mustBe: MustBe,
): unknown {
  if (value === null && reading.isNullEmpty) return {};
  if (!isPlainObject(value)) return mustBe("an object");
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => {
    const mistake = mistakeInText({ ...name, isSecret: true }, key);
    const at = [...path, key];
    if (mistake) reading.mistakes.push({ path: at, message: mistake, isKey: true });
    return [key, readAt(member, of, at, reading)];
  });
  return Object.fromEntries(entries);
}

function readObject(
  value: unknown,
  { settings, needs = [] }: ObjectShape,
  path: Path,
  reading: Reading,
  mustBe: MustBe,
): unknown {
  const keys = Object.keys(settings);
  if (value === null && reading.isNullEmpty && needs.length === 0) return {};
  if (!isPlainObject(value)) return mustBe(`an object with ${someOf(keys)}`);
  const entries: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const at = [...path, key];
    const setting = Object.hasOwn(settings, key) ? settings[key]! : undefined;
    if (!setting) {
      reading.mistakes.push({ path: at, message: noSuchKey(key, settings), isKey: true });
    } else if (member !== undefined) {
      const isSecret = reading.isSecret || setting.isSecret === true;
      const read = readAt(member, setting.shape, at, { ...reading, isSecret });
      if (read !== undefined) entries.push([key, read]);
    }
  }
  for (const key of needs) {
    if ((value as Record<string, unknown>)[key] === undefined) {
      reading.mistakes.push({ path, message: `needs ${key}`, isKey: false });
    }
  }
  return Object.fromEntries(entries);
}

function readForm(
  value: unknown,
  forms: Readonly<Record<string, ObjectShape>>,
  path: Path,
  reading: Reading,
  mustBe: MustBe,
): unknown {
  const keys = Object.keys(forms);
  if (!isPlainObject(value)) return mustBe(`an object with one of ${keys.join(", ")}`);
  const form = keys.find((key) => Object.hasOwn(value, key));
  if (form) return readAt(value, forms[form]!, path, reading);
  const typed = Object.keys(value);
  const meant = typed.map((key) => nearest(key, keys)).find((key) => key !== undefined);
  const there = typed.length > 0 ? `, and has ${typed.map(show).join(", ")}` : "";
  const message = `must have one of ${keys.join(", ")}${there}${didYouMean(meant)}`;
  reading.mistakes.push({ path, message, isKey: false });
  return undefined;
}

/** Whether a value is of a shape's type, so that the shape can say what is wrong with it. */
function isOfType(value: unknown, shape: Shape, reading: Reading): boolean {
  switch (shape.is) {
    case "text":
    case "path":
    case "word":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "function":
      return typeof value === "function";
    case "date":
      return value instanceof Date;
    case "url":
      return value instanceof URL;
    case "list":
      return Array.isArray(value);
    case "map":
    case "object":
    case "form":
      return isPlainObject(value) || (value === null && reading.isNullEmpty === true);
    case "either":
      return shape.shapes.some((each) => isOfType(value, each, reading));
    case "json":
      return true;
  }
}

/** Takes a JSON value as it is; a whole number that `number` holds is one, a larger one a `bigint`. */
function readJson(
  value: unknown,
  path: Path,
  reading: Reading,
  around: readonly unknown[],
): unknown {
  const wrong = (message: string) => {
    reading.mistakes.push({ path, message, isKey: false });
    return undefined;
  };
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (around.includes(value)) return wrong("contains itself");
  const within = [...around, value];
  if (Array.isArray(value)) {
    return value.map((item, at) => readJson(item, [...path, at], reading, within));
  }
  if (isPlainObject(value)) {
    return Object.fromEntries(
      Object.entries(value).filter(([, member]) => member !== undefined).map(([key, member]) => [
        key,
        readJson(member, [...path, key], reading, within),
      ]),
    );
  }
  return wrong(`must be a JSON value, not ${show(value)}`);
}

/** What to say of a key that is none. */
function noSuchKey(key: string, settings: Settings): string {
  const keys = Object.keys(settings);
  const meant = nearest(key, keys);
  return `is no key here${meant ? didYouMean(meant) : `; there are ${keys.join(", ")}`}`;
}

const someOf = (keys: readonly string[]) =>
  keys.length > 4 ? `keys such as ${keys.slice(0, 4).join(", ")}` : `the keys ${keys.join(", ")}`;

/** Texts are shown as far as this. */
const SHOWN_MAX = 60;

/** A value in a message: a short text or number as it is written, of others what they are. */
export function show(value: unknown): string {
  if (typeof value === "string") return quote(shorten(value, SHOWN_MAX));
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid Date" : "a Date";
  if (value instanceof URL) return "a URL object";
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "symbol" ? "a symbol" : String(value);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  // An object of a class, such as a Map or bytes, has its values elsewhere.
  return Object.prototype.toString.call(value) === "[object Object]";
}
