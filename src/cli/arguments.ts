/**
 * The arguments of the command, and the environment variables that stand for flags.
 *
 * @module
 */
import { didYouMean, nearest } from "../nearest.ts";
import { configuration } from "../settings/configuration.ts";
import { CLI_OPTIONS, type CliOption, type CliValues } from "../settings/flags.ts";
import { partsOfSchema, readValue, type Schema } from "../settings/schema.ts";
import { quote } from "../untrusted-text.ts";
import { isOfServiceLink, isServiceLink } from "./service-links.ts";
import { type CommandName, COMMANDS, SWITCHES, type SwitchName } from "./usage.ts";

export type Command = "serve" | CommandName | "version" | "help";
export type Environment = Readonly<Record<string, string | undefined>>;
type Name = keyof CliValues;

const SETTINGS = Object.entries(CLI_OPTIONS) as [Name, CliOption][];

const FLAGS = new Map(
  SETTINGS.flatMap(([name, { flag }]) => flag === undefined ? [] : [[`--${flag}`, name]]),
);

const SWITCH_FLAGS = new Map<string, SwitchName>();
for (const [name, { short }] of Object.entries(SWITCHES) as [SwitchName, { short?: string }][]) {
  SWITCH_FLAGS.set(`--${name}`, name);
  if (short !== undefined) SWITCH_FLAGS.set(`-${short}`, name);
}

const VARIABLES = new Map(
  SETTINGS.flatMap(([name, { variables }]) => variables.map((variable) => [variable, name])),
);

const PREFIX = "NODEFACE_";

const isFlag = (argument: string): boolean => /^-./.test(argument);

export class Arguments {
  command: Command = "serve";
  /** The kind to print. */
  kindToPrint: string | undefined;
  readonly switches: Set<SwitchName> = new Set();
  readonly values: CliValues = {};
  /** What is wrong with the arguments, whatever the configuration file says. */
  readonly problems: string[] = [];
  /** What is wrong with the environment variables. */
  readonly variableProblems: string[] = [];
  /**
   * The text of each setting, even if invalid, and the flag, argument or variable that holds it.
   */
  readonly #texts = new Map<Name, { text: string; called: string }>();
  readonly #env: Environment;

  constructor(args: readonly string[], env: Environment) {
    this.#env = env;
    const words = this.#readFlags([...args]);
    // `--help` wins over `--version`, and both over a command.
    const printed = (["help", "version"] as const).find((name) => this.switches.has(name));
    if (printed) this.command = printed;
    this.#readWords(words);
    this.#reportStraySwitches();
    // These commands only print a text, without a configuration.
    if (/^(?:help|version|kinds)$/.test(this.command)) return;
    if (this.command === "probe") {
      this.problems.push("probe must be the first argument, as in nodeface probe --accept ok");
    }
    this.#readVariables();
    if (this.command === "init" && !this.has("url")) {
      this.problems.push(
        "init needs the URL of a node, as in nodeface init http://127.0.0.1:8545",
      );
    }
    this.#readValues();
  }

  #reportStraySwitches(): void {
    if (this.switches.has("file") && this.kindToPrint === undefined) {
      this.problems.push("--file needs the name of a kind, as in nodeface kinds etcd --file");
    }
    for (const name of ["json", "offline"] as const) {
      const isStray = this.switches.has(name) && this.command !== "check";
      if (isStray) this.problems.push(`--${name} works only with check`);
    }
  }

  #readVariables(): void {
    for (const [variable, name] of VARIABLES) {
      const text = this.has(name) ? undefined : tryRead(() => this.#env[variable]);
      if (text && !isServiceLink(variable, text)) this.#texts.set(name, { text, called: variable });
    }
  }

  #readValues(): void {
    for (const [name, { text }] of this.#texts) {
      const { value, diagnostics } = readValue(text, CLI_OPTIONS[name].schema as Schema);
      if (diagnostics.length === 0) Object.assign(this.values, { [name]: value });
      const problems = this.isVariable(name) ? this.variableProblems : this.problems;
      problems.push(...diagnostics.map(({ message }) => `${this.called(name)} ${message}`));
    }
  }

  /** True for a setting that has a text, even if the text is invalid. */
  has(name: Name): boolean {
    return this.#texts.has(name);
  }

  /** The flag, argument or variable that holds a setting. */
  called(name: Name): string | undefined {
    return this.#texts.get(name)?.called;
  }

  /** True if a variable holds the setting. */
  isVariable(name: Name): boolean {
    return VARIABLES.has(this.called(name) ?? "");
  }

  /** @param used the variables that the configuration names */
  explainUnknownVariables(used: readonly unknown[]): string[] {
    const withPrefix = (names: Iterable<string>) =>
      [...names].filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
    const known = withPrefix(VARIABLES.keys());
    return withPrefix(tryRead(() => Object.keys(this.#env)) ?? []).flatMap((end) => {
      const name = PREFIX + end;
      if (VARIABLES.has(name) || used.includes(name)) return [];
      const text = tryRead(() => this.#env[name]) ?? "";
      if (text === "" || isOfServiceLink(name) || isServiceLink(name, text)) return [];
      // Every name begins with `PREFIX`, so comparing the prefix would make all names look similar.
      const meant = nearest(end, known);
      return `unknown environment variable ${name}${didYouMean(meant && PREFIX + meant)}`;
    });
  }

  /** Returns the arguments that are not flags. */
  #readFlags(args: string[]): string[] {
    const words: string[] = [];
    while (args.length > 0) {
      const argument = args.shift()!;
      if (argument === "--") return [...words, ...args];
      const [, flag = "", inline] = /^([^=]*)(?:=([^]*))?$/.exec(argument)!;
      const name = FLAGS.get(flag);
      const switchName = SWITCH_FLAGS.get(flag);
      if (!isFlag(argument)) words.push(argument);
      else if (name !== undefined) {
        const takesNone = CLI_OPTIONS[name].argument === undefined;
        this.#add(name, flag, inline ?? (takesNone ? "true" : args.shift()));
      } else if (switchName === undefined) {
        this.problems.push(`unknown option ${quote(flag)}${hintOn(flag)}`);
        // The next argument may be the value of the unknown flag.
        if (inline === undefined && args[0] !== undefined && !isFlag(args[0])) args.shift();
      } else if (inline !== undefined) this.problems.push(`${flag} takes no value`);
      else this.switches.add(switchName);
    }
    return words;
  }

  #add(name: Name, flag: string, text: string | undefined): void {
    if (this.has(name)) this.problems.push(`${flag} is given twice`);
    else if (!text) this.problems.push(`${flag} needs a value; see nodeface --help`);
    else this.#texts.set(name, { text, called: flag });
  }

  #addUrl(text: string): void {
    if (!/^[^:]+\.(?:ya?ml|json)$/i.test(text)) {
      this.#texts.set("url", { text, called: "NODE_URL" });
    } else {
      const word = quote(text);
      this.problems.push(
        `NODE_URL must be a URL; to read the file ${word}, write --config ${word}`,
      );
    }
  }

  #readWords([first, ...others]: readonly string[]): void {
    if (first === undefined) return;
    let rest = others;
    if (Object.hasOwn(COMMANDS, first)) {
      if (this.command === "serve") this.command = first as CommandName;
      const [value, ...more] = others;
      rest = more;
      if (first === "kinds") this.kindToPrint = value;
      else if (value !== undefined) this.#addUrl(value);
    } else if (/^[\w-]+$/.test(first)) {
      rest = others.slice(1);
      this.problems.push(explainWord(first));
    } else this.#addUrl(first);
    for (const value of rest) {
      this.problems.push(`unexpected argument ${quote(value)}; see nodeface --help`);
    }
  }
}

const SERVING: readonly string[] = ["serve", "start", "run"];
const WORDS: Readonly<Record<string, string>> = { help: "--help", version: "--version" };

function explainWord(typed: string): string {
  const word = nearest(typed, [...Object.keys(COMMANDS), ...Object.keys(WORDS)]);
  const meant = SERVING.includes(typed)
    ? "; to start the service, run nodeface http://127.0.0.1:8545"
    : didYouMean(word && (WORDS[word] ?? word));
  return meant
    ? `unknown command ${quote(typed)}${meant}`
    : `${quote(typed)} is neither a command nor the URL of a node; see nodeface --help`;
}

const PLACES_MAX = 3;

function hintOn(flag: string): string {
  const key = flag.replace(/^-+/, "").replaceAll("-", "_").toLowerCase();
  const places = key === "node" ? ["node.url"] : [...placesOf(key, configuration())];
  const [place] = places;
  if (place === undefined) return didYouMean(nearestFlag(flag)) || "; see nodeface --help";
  if (place === "node.url") {
    return "; the URL of the node needs no flag, as in nodeface http://127.0.0.1:8545";
  }
  const flags = SETTINGS.flatMap(([, { key, flag }]) => key === place ? [`--${flag}`] : []);
  return flags.length > 0
    ? didYouMean(flags.join(" and "))
    : `; it is a key of the configuration: ${places.slice(0, PLACES_MAX).join(", ")}`;
}

function nearestFlag(flag: string): string | undefined {
  if (/^--|^-../.test(flag)) {
    const known = [...FLAGS.keys(), ...SWITCH_FLAGS.keys()].filter((name) => /^--/.test(name));
    return nearest(flag.replace(/^-+/, "--"), known);
  }
  // A letter in the wrong case leads to the right one, and others to the flag that begins with it:
  // `-v` leads to `-V`, and `-c` to `--config`.
  const names = [...SWITCH_FLAGS.keys(), ...FLAGS.keys()];
  return names.find((other) => other.toLowerCase() === flag.toLowerCase()) ??
    names.find((other) => other.startsWith(`-${flag}`));
}

function* placesOf(key: string, schema: Schema, path = ""): Generator<string> {
  const { entries = {}, options = [], item } = partsOfSchema(schema);
  if (item) yield* placesOf(key, item, path.replace(/\.$/, "[]."));
  if (Object.hasOwn(entries, key)) yield path + key;
  for (const [name, inner] of Object.entries(entries)) {
    yield* placesOf(key, inner, `${path}${name}.`);
  }
  for (const option of options) yield* placesOf(key, option, path);
}

/** Returns `undefined` if Deno forbids reading the environment. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
