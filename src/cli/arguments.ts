/**
 * The arguments and the environment of the command, parsed; and how it is used, from the table of the settings.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { didYouMean, nearest } from "../nearest.ts";
import { configuration } from "../settings/configuration.ts";
import {
  CLI_OPTIONS,
  type CliOption,
  type CliValues,
  type CommandName,
  COMMANDS,
  SWITCHES,
  type SwitchName,
} from "../settings/command-line.ts";
import { type About, partsOf, readValue, type Schema } from "../settings/schema.ts";
import { quote } from "../untrusted-text.ts";
import { wrap } from "./output.ts";

/** Everything that is wrong with the arguments, the environment and the files, found at once. */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** The commands, and what is printed in place of one. */
export type Command = "serve" | CommandName | "version" | "help";

export type Environment = Readonly<Record<string, string | undefined>>;

type Name = keyof CliValues;

/** The arguments and the environment, as far as they are right. */
export interface ParsedArgs {
  command: Command;
  topic?: string;
  asJson: boolean;
  asFile: boolean;
  /** The settings as texts, right or wrong, each with the name that it was given by. */
  given: Map<Name, { text: string; called: string }>;
  values: CliValues;
  problems: string[];
  /** Lines on names of the version before. */
  renamed: string[];
}

const SETTINGS = Object.entries<CliOption>(CLI_OPTIONS) as [Name, CliOption][];

const FLAGS = new Map(
  SETTINGS.flatMap(([name, { flag, before }]) =>
    [flag, before?.flag].flatMap((flag) => flag === undefined ? [] : [[flag, name] as const])
  ),
);

const VARIABLES = new Map(
  SETTINGS.flatMap(([name, { variables = [], before }]) =>
    [...variables, ...before ? [before.variable] : []].map((variable) => [variable, name] as const)
  ),
);

const SWITCH_OPTIONS = Object.keys(SWITCHES).map((name) => {
  const short = SWITCHES[name as SwitchName].flags.find((flag) => !flag.startsWith("--"));
  return [name, { type: "boolean", ...short && { short: short.slice(1) } }] as const;
});

const SETTING_OPTIONS = [...FLAGS].map(([flag, name]) =>
  [flag, { type: CLI_OPTIONS[name].argument === undefined ? "boolean" : "string" }] as const
);

const OPTIONS = Object.fromEntries([...SWITCH_OPTIONS, ...SETTING_OPTIONS]);

/** Tells whether a command only prints: settings have no use then, and none is read. */
export const isPrinting = (command: Command): boolean => /^(help|version|kinds)$/.test(command);

/** Parses the arguments, and reads the settings that the environment has besides. */
export function parseArguments(args: readonly string[], env: Environment): ParsedArgs {
  const found = readArguments(args);
  const { command, topic, given, values, problems, asJson, asFile } = found;
  if (asFile && topic === undefined) {
    problems.push("--file goes with the name of a kind, as in nodeface kinds etcd --file");
  }
  if (isPrinting(command)) {
    return {
      ...found,
      given: new Map(),
      renamed: [],
      problems: command === "kinds" ? problems : [],
    };
  }
  if (asJson && command !== "check") problems.push("--json goes with check alone");
  for (const [variable, name] of VARIABLES) {
    const text = given.has(name) ? undefined : tryRead(() => env[variable]);
    if (text) setGiven(found, name, text, variable);
  }
  if (command === "init" && !given.has("url")) {
    problems.push("init needs the URL of a node, as in nodeface init http://127.0.0.1:8545");
  }
  for (const [name, { text, called }] of given) {
    const { value, diagnostics } = readValue(text, CLI_OPTIONS[name].schema as Schema);
    if (diagnostics.length === 0) Object.assign(values, { [name]: value });
    for (const { message } of diagnostics) problems.push(`${called} ${message}`);
  }
  return found;
}

/** Tells whether one JSON object is wanted whatever comes of the command, be the other arguments right or wrong. */
export function wantsJson(args: readonly string[]): boolean {
  const { command, asJson } = readArguments(args);
  return asJson && command === "check";
}

function readArguments(args: readonly string[]): ParsedArgs {
  const found: ParsedArgs = {
    ...{ command: "serve", asJson: false, asFile: false },
    ...{ given: new Map(), values: {}, problems: [], renamed: [] },
  };
  const { tokens } = parseArgs({
    ...{ args: [...args], options: OPTIONS, strict: false, allowPositionals: true, tokens: true },
  });
  const positionals: string[] = [];
  /** The places of the last unknown flag, and of what may be its value. */
  let unknownAt = -1, valueAt = -1;
  for (const token of tokens) {
    if (token.kind === "positional" && token.index !== valueAt) positionals.push(token.value);
    if (token.kind === "option") {
      const whole = args[token.index]!;
      // `-port` is one mistake, not four flags of one letter.
      const isKnown = Object.hasOwn(OPTIONS, token.name) &&
        (token.rawName.startsWith("--") || whole === token.rawName);
      if (isKnown) readOption(token, found);
      else if (token.index !== unknownAt) {
        unknownAt = token.index;
        valueAt = whole.includes("=") ? -1 : unknownAt + 1;
        found.problems.push(explainUnknownFlag(whole.split("=")[0]!));
      }
    }
  }
  readPositionals(positionals, found);
  return found;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function readOption({ name: flag, rawName, value, inlineValue }: OptionToken, found: ParsedArgs) {
  const name = FLAGS.get(flag);
  if (name === undefined) {
    if (value !== undefined) found.problems.push(`${rawName} takes no value`);
    else if (flag === "json") found.asJson = true;
    else if (flag === "file") found.asFile = true;
    else if (found.command !== "help") found.command = flag as SwitchName & Command;
    return;
  }
  const isSwitch = CLI_OPTIONS[name].argument === undefined;
  const text = isSwitch && !inlineValue ? "true" : value;
  if (found.given.has(name)) found.problems.push(`${rawName} is given twice`);
  else if (!text) found.problems.push(`${rawName} needs a value; see nodeface --help`);
  else setGiven(found, name, text, rawName);
}

function setGiven({ given, renamed }: ParsedArgs, name: Name, text: string, called: string): void {
  given.set(name, { text, called });
  const { before, flag, variables = [] }: CliOption = CLI_OPTIONS[name];
  if (called === `--${before?.flag}`) renamed.push(explainRenamed(called, `--${flag}`));
  if (called === before?.variable) renamed.push(explainRenamed(called, variables[0]!));
}

export function explainRenamed(before: string, now: string): string {
  return `${before} is called ${now} now; the old name is read in 0.3 alone`;
}

/** The names that other programs have for serving. */
const SERVING: readonly string[] = ["serve", "start", "run"];

const WORDS: Readonly<Record<string, string>> = { help: "--help", version: "--version" };

/** A command comes first. What else stands there is the node's URL, or the name of a kind. */
function readPositionals([first, ...others]: readonly string[], found: ParsedArgs): void {
  if (first === undefined) return;
  const names = Object.keys(COMMANDS) as CommandName[];
  const command = names.find((name) => name === first);
  let rest = others;
  if (command) {
    if (found.command === "serve") found.command = command;
    const [value, ...more] = others;
    if (value !== undefined && command === "kinds") found.topic = value;
    else if (value !== undefined) setGiven(found, "url", value, "NODE_URL");
    rest = more;
  } else if (/^[\w-]+$/.test(first)) {
    const word = nearest(first, [...names, ...Object.keys(WORDS)]);
    const meant = SERVING.includes(first)
      ? "; nodeface serves without one, as in nodeface http://127.0.0.1:8545"
      : didYouMean(word && (WORDS[word] ?? word));
    found.problems.push(
      meant
        ? `unknown command ${quote(first)}${meant}`
        : `${quote(first)} is neither a command nor the URL of a node; see nodeface --help`,
    );
    rest = others.slice(1);
  } else setGiven(found, "url", first, "NODE_URL");
  for (const value of rest) {
    found.problems.push(`unexpected argument ${quote(value)}; see nodeface --help`);
  }
}

const PLACES_MAX = 3;

/** Finds what is meant by an unknown flag: another flag, or a key of the configuration. */
function explainUnknownFlag(flag: string): string {
  const key = flag.replace(/^-+/, "").replaceAll("-", "_").toLowerCase();
  const places = key === "node" ? ["node.url"] : [...placesOf(key, configuration())];
  const standing = SETTINGS.flatMap(([, setting]) => setting.key === places[0] ? [setting] : []);
  const flags = places.length === 0 ? [] : standing.flatMap(({ flag }) => flag ? `--${flag}` : []);
  const hint = flags.length > 0
    ? didYouMean(flags.join(" and "))
    : places[0] === "node.url"
    ? "; the URL of the node needs none, as in nodeface http://127.0.0.1:8545"
    : places.length > 0
    ? `; it is a key of the configuration: ${places.slice(0, PLACES_MAX).join(", ")}`
    : didYouMean(nearestFlag(flag)) || "; see nodeface --help";
  return `unknown option ${quote(flag)}${hint}`;
}

function nearestFlag(flag: string): string | undefined {
  const known = [
    ...SETTINGS.flatMap(([, { flag }]) => flag === undefined ? [] : `--${flag}`),
    ...Object.values(SWITCHES).flatMap(({ flags }) => flags),
  ];
  // A short one is near to any other short one, but for its case.
  return /^--|^-../.test(flag)
    ? nearest(flag.replace(/^-+/, "--"), known.filter((other) => other.startsWith("--")))
    : known.find((other) => other.toLowerCase() === flag.toLowerCase());
}

/** The places of a key in the configuration, the outer ones first. */
function* placesOf(key: string, schema: Schema, path = ""): Generator<string> {
  const { entries = {}, options = [] } = partsOf(schema);
  if (Object.hasOwn(entries, key)) yield path + key;
  for (const [name, inner] of Object.entries(entries)) {
    yield* placesOf(key, inner, `${path}${name}.`);
  }
  for (const option of options) yield* placesOf(key, option, path);
}

const PREFIX = "NODEFACE_";

/** Finds variables whose names begin with `NODEFACE_` and that nothing reads. */
export function explainUnknownVariables(env: Environment, used: readonly string[]): string[] {
  const known = SETTINGS.flatMap(([, { variables = [] }]) => variables)
    .filter((name) => name.startsWith(PREFIX));
  const names = tryRead(() => Object.keys(env)) ?? [];
  const unknown = names.filter((name) =>
    name.startsWith(PREFIX) && !VARIABLES.has(name) && !used.includes(name)
  );
  return unknown.map((name) => {
    // The prefix, which all have, would make all of them alike.
    const ends = known.map((other) => other.slice(PREFIX.length));
    const end = nearest(name.slice(PREFIX.length), ends);
    return `unknown environment variable ${name}${didYouMean(end && PREFIX + end)}`;
  });
}

/** Reads the environment; `undefined` where the runtime does not let it be read, as Deno may not. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const COLUMN = 18, LONGEST = 96;

export function usage(): string {
  const { url, ...flags } = CLI_OPTIONS;
  const commands = Object.entries(COMMANDS);
  const synopses = commands.map(([name, command]) =>
    `       nodeface ${name} ${command.arguments}\n`
  );
  const rows = [
    ...commands.map(([name, { text }]) => row(name, text)),
    "\n",
    row("NODE_URL", textOf(url)),
    ...Object.values(flags).map((setting) => row(nameOf(setting), textOf(setting))),
    ...Object.values(SWITCHES).map(({ flags, text }) => row(flags.join(", "), text)),
  ];
  return `Usage: nodeface [NODE_URL] [options]
${synopses.join("")}
Serves the explorer at /v1/spec, information about the node at /v1/info and the description
at /spec.json and /spec.yaml.

${rows.join("")}
Flags win over variables, variables over the configuration file.
`;
}

function nameOf({ flag, argument }: About): string {
  return argument === undefined ? `--${flag}` : `--${flag} ${argument}`;
}

function textOf({ text, default: usual, variables = [] }: About): string {
  const more = [
    ...usual === undefined ? [] : [`default ${usual}`],
    ...variables.length > 0 ? [`environment ${variables.join(" or ")}`] : [],
  ];
  return more.length > 0 ? `${text} (${more.join("; ")})` : text;
}

function row(name: string, text: string): string {
  const lines = wrap(text, LONGEST - COLUMN);
  const indent = " ".repeat(COLUMN);
  return `  ${name.padEnd(COLUMN - 2)}${lines.join(`\n${indent}`)}\n`;
}
