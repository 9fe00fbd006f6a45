/**
 * What the command was told by its arguments and by the environment. `parseArgs` of `node:util` would
 * take Deno and Bun longer to load than all else here (8 ms on Deno 2.9, 2 ms on Bun 1.4).
 *
 * @module
 */
import { type CommandName, COMMANDS, SWITCHES, type SwitchName } from "../settings/commands.ts";
import { COMMAND, type CommandSetting, type Values } from "../settings/flags-and-variables.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { mistakeInText, readText, type TextRule } from "../settings/text-rules.ts";
import { quote } from "../untrusted-text.ts";

/** What the command may be told to do. */
export type Command = "serve" | CommandName | "version" | "help";

type Name = keyof Values;

/** What arguments and the environment say. */
export interface Given {
  readonly command: Command;
  /** What follows `kinds`. */
  readonly topic: string | undefined;
  /** The settings, as far as they are right. */
  readonly values: Values;
  /** Whether the command only prints: settings have no use then, and none is read. */
  readonly isPrinting: boolean;
  /** Whether `check` is to print one JSON object. */
  readonly asJson: boolean;
  /** What each setting is called where it was given, right or wrong. */
  readonly called: ReadonlyMap<Name, string>;
  readonly problems: readonly string[];
  /** Flags that are none. */
  readonly unknownFlags: readonly string[];
}

/** What was said on the command line. */
interface Arguments {
  command: Command;
  topic?: string;
  asJson: boolean;
  /** The settings as text, with what they are called there. */
  given: Map<Name, { text: string; called: string }>;
  problems: string[];
  unknownFlags: string[];
}

/** The variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Words that stand where a command would. */
const WORDS_OF_COMMANDS = Object.keys(COMMANDS) as CommandName[];

/** What other programs call serving. */
const SERVING: readonly string[] = ["serve", "start", "run"];

/** What people write in place of a flag. */
const WORDS: Readonly<Record<string, string>> = { help: "--help", version: "--version" };

/** Flags without a value, by what they are called. */
const SWITCH_NAMES = new Map<string, SwitchName>();
for (const [name, { flags }] of Object.entries(SWITCHES)) {
  for (const flag of flags) SWITCH_NAMES.set(flag, name as SwitchName);
}

const SETTINGS = Object.entries<CommandSetting>(COMMAND) as [Name, CommandSetting][];

/** The settings by their flags. */
const FLAGS = new Map<string, Name>();

/** The variables that are read. */
const VARIABLES = new Set<string>();

for (const [name, { flag, variables = [] }] of SETTINGS) {
  if (flag !== undefined) FLAGS.set(`--${flag}`, name);
  for (const variable of variables) VARIABLES.add(variable);
}

/**
 * Reads the arguments and the environment.
 *
 * @param args the arguments after the command's name
 */
export function readGiven(args: readonly string[], env: Environment): Given {
  const found = readArguments(args);
  const { command, topic, given, problems, unknownFlags, asJson } = found;
  const isRight = problems.length + unknownFlags.length === 0;
  const isPrinting = command === "help" || command === "version" ||
    (command === "kinds" && isRight);
  const called = new Map<Name, string>();
  const same = { command, topic, isPrinting, asJson, called };
  if (isPrinting) return { ...same, values: {}, problems: [], unknownFlags: [] };
  if (asJson && command !== "check") problems.push("--json goes with check alone");
  addEnvironment(found, env);
  if (command === "init" && !given.has("url")) {
    problems.push("init needs the URL of a node, as in nodeface init http://127.0.0.1:8545");
  }
  for (const [name, { called: as }] of given) called.set(name, as);
  const values = readSettings(found);
  return { ...same, values, problems, unknownFlags };
}

/** Whether one JSON object is wanted whatever comes of the command, be the other arguments right or wrong. */
export function wantsJson(args: readonly string[]): boolean {
  const { command, asJson } = readArguments(args);
  return asJson && command === "check";
}

/** Reads the arguments after the command's name, with everything that is wrong. */
function readArguments(args: readonly string[]): Arguments {
  const found: Arguments = {
    ...{ command: "serve", asJson: false, given: new Map(), problems: [], unknownFlags: [] },
  };
  const seen = new Set<string>();
  const positionals: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      positionals.push(...rest.splice(0));
      break;
    }
    if (!/^-./.test(arg)) {
      positionals.push(arg);
      continue;
    }
    const [, flag = "", written] = /^([^=]*)(?:=([^]*))?$/.exec(arg) ?? [];
    const name = FLAGS.get(flag);
    const called = SWITCH_NAMES.get(flag);
    // What follows an unknown flag may be its value.
    const isOn = name !== undefined && COMMAND[name].argument === undefined;
    const takesNext = name !== undefined || (!called && !rest[0]?.startsWith("-"));
    const next = () => isOn ? "true" : takesNext ? rest.shift() : undefined;
    const value = written === undefined ? next() : written;
    if (called) {
      if (value !== undefined) found.problems.push(`${flag} takes no value`);
      else if (called === "json") found.asJson = true;
      else if (found.command !== "help") found.command = called;
    } else if (name === undefined) found.unknownFlags.push(flag);
    else if (seen.has(flag)) found.problems.push(`${flag} is given twice`);
    else if (!value) found.problems.push(`${flag} needs a value; see nodeface --help`);
    else found.given.set(name, { text: value, called: flag });
    seen.add(flag);
  }
  readPositionals(positionals, found);
  return found;
}

/** A command comes first. What else stands there is the node's URL, or the name of a kind. */
function readPositionals([first, ...others]: readonly string[], found: Arguments): void {
  if (first === undefined) return;
  const command = WORDS_OF_COMMANDS.find((name) => name === first);
  if (command) {
    if (found.command === "serve") found.command = command;
    const [value, ...more] = others;
    if (value !== undefined && command === "kinds") found.topic = value;
    else if (value !== undefined) found.given.set("url", { text: value, called: "NODE_URL" });
    return unexpected(more, found);
  }
  if (/^[\w-]+$/.test(first)) {
    const word = nearest(first, [...WORDS_OF_COMMANDS, ...Object.keys(WORDS)]);
    const meant = SERVING.includes(first)
      ? "; nodeface serves without one, as in nodeface http://127.0.0.1:8545"
      : didYouMean(word && (WORDS[word] ?? word));
    found.problems.push(
      meant
        ? `unknown command ${quote(first)}${meant}`
        : `${quote(first)} is neither a command nor the URL of a node; see nodeface --help`,
    );
    return unexpected(others.slice(1), found);
  }
  found.given.set("url", { text: first, called: "NODE_URL" });
  unexpected(others, found);
}

function unexpected(values: readonly string[], { problems }: Arguments): void {
  for (const value of values) {
    problems.push(`unexpected argument ${quote(value)}; see nodeface --help`);
  }
}

/** Adds what the environment says where no flag has said it. */
function addEnvironment({ given }: Arguments, env: Environment): void {
  for (const [name, { variables = [] }] of SETTINGS) {
    if (given.has(name)) continue;
    for (const called of variables) {
      const text = valueOf(env, called);
      if (!text) continue;
      given.set(name, { text, called });
      break;
    }
  }
}

/** Reads the settings by their rules; adds what is wrong with them. */
function readSettings({ given, problems }: Arguments): Values {
  const values: Values = {};
  for (const [name, { text, called }] of given) {
    const rule: TextRule<unknown> = COMMAND[name].rule;
    const mistake = mistakeInText(text, rule);
    if (mistake === undefined) Object.assign(values, { [name]: readText(text, rule) });
    else problems.push(`${called} ${mistake}`);
  }
  return values;
}

/**
 * What to say of variables whose names begin with `NODEFACE_` and that nothing reads.
 *
 * @param used the names of variables that the configuration names
 */
export function unknownVariables(env: Environment, used: readonly string[]): string[] {
  const messages: string[] = [];
  for (const name of namesOf(env)) {
    if (!name.startsWith(PREFIX) || VARIABLES.has(name) || used.includes(name)) continue;
    // The prefix, which all have, would make all of them alike.
    const known = [...VARIABLES].filter((other) => other.startsWith(PREFIX));
    const end = nearest(
      name.slice(PREFIX.length),
      known.map((other) => other.slice(PREFIX.length)),
    );
    messages.push(`nothing reads the variable ${name}${didYouMean(end && PREFIX + end)}`);
  }
  return messages;
}

const PREFIX = "NODEFACE_";

/** The value of a variable; nothing where the runtime does not let it be read, as Deno may not. */
function valueOf(env: Environment, name: string): string | undefined {
  try {
    return env[name];
  } catch {
    return undefined;
  }
}

/** The names of all variables; none where the runtime does not tell them, as Deno may not. */
function namesOf(env: Environment): string[] {
  try {
    return Object.keys(env);
  } catch {
    return [];
  }
}
