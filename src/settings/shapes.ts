/**
 * What the value of a setting may be, as data. `check.ts` reads values by it. The build makes the JSON
 * Schema and the reference of the configuration of it.
 *
 * @module
 */

/** What a text has to be. */
export interface TextRule<T = unknown> {
  /** What every right text matches. */
  readonly pattern: RegExp;
  /** What would be right, after "must be". */
  readonly right: string;
  /**
   * What a text that matches stands for; `undefined` where it is wrong all the same.
   *
   * @default the text itself
   */
  readonly read?: (text: string) => T | undefined;
  /** What is wrong with a text, where more can be said than what would be right. */
  readonly why?: (text: string) => string | undefined;
  /** Whether it may hold a secret, and is never repeated in a message. */
  readonly isSecret?: boolean;
}

/** What a value may be. */
export type Shape =
  | { readonly is: "text"; readonly rule: TextRule }
  /** The path of a file; in a configuration file it is relative to that. */
  | { readonly is: "path"; readonly rule: TextRule }
  /** One of some words; `also` has further words that point to one of them. */
  | {
    readonly is: "word";
    readonly words: readonly string[];
    readonly right: string;
    readonly also?: Readonly<Record<string, string>>;
  }
  | { readonly is: "boolean" }
  /** Any JSON value; whole numbers of any size. */
  | { readonly is: "json" }
  | { readonly is: "function"; readonly right: string }
  | { readonly is: "date" }
  /** A `URL` object, or with a rule what it is as text. */
  | { readonly is: "url"; readonly rule?: TextRule }
  | { readonly is: "list"; readonly of: Shape; readonly right: string; readonly least?: number }
  /** An object whose keys are names that the operator chooses. */
  | { readonly is: "map"; readonly name: TextRule; readonly of: Shape }
  | { readonly is: "object"; readonly settings: Settings; readonly needs?: readonly string[] }
  /** An object whose form depends on which of some keys it has. */
  | { readonly is: "form"; readonly forms: Readonly<Record<string, ObjectShape>> }
  /** The first of some shapes that is of the value's type. */
  | { readonly is: "either"; readonly shapes: readonly Shape[]; readonly right: string };

/** One of some words. */
export type WordShape = Extract<Shape, { is: "word" }>;

/** An object with keys that are known. */
export type ObjectShape = Extract<Shape, { is: "object" }>;

/** The keys of an object. */
export type Settings = Readonly<Record<string, Setting>>;

/** One setting: all that there is to say of it. */
export interface Setting {
  readonly shape: Shape;
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
  /** What stands for the value in `--help`. */
  readonly argument?: string;
  /** Whether values in it may be secrets in the wrong place, and are never repeated. */
  readonly isSecret?: boolean;
}

/** A text by a rule. */
export const text = (rule: TextRule): Shape => ({ is: "text", rule });

/** The path of a file. */
export const path = (rule: TextRule): Shape => ({ is: "path", rule });

/** A list of at least so many values. */
export const list = (of: Shape, right: string, least = 0): Shape => ({
  is: "list",
  of,
  right,
  least,
});

/** An object with keys that are known, some of which are needed. */
export const object = (settings: Settings, needs: readonly string[] = []): ObjectShape => ({
  is: "object",
  settings,
  needs,
});

/** The first of some shapes that is of the value's type. */
export const either = (right: string, ...shapes: Shape[]): Shape => ({
  is: "either",
  shapes,
  right,
});

/** One of some words. */
export const word = (words: readonly string[], right: string): WordShape => ({
  is: "word",
  words,
  right,
});
