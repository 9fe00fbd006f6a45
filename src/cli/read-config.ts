/**
 * The command's configuration. Flags override variables, variables override the file, and the file overrides defaults.
 *
 * @module
 */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { resolveForward } from "../gateway/policy.ts";
import type { InfoSettings, NodeSettings } from "../info/settings.ts";
import type { Kind } from "../kinds/kind.ts";
import type { LogCalls } from "../log.ts";
import { didYouMean, nearest } from "../nearest.ts";
import type { PageSettings } from "../options.ts";
import { fileUrl, findFile, PlatformError, readFile } from "../platform.ts";
import { configuration, type FileConfig, forwardConflicts } from "../settings/configuration.ts";
import { type AccessLog, CLI_OPTIONS, type CliOption, type CliValues } from "../settings/flags.ts";
import { ConfigError, partsOf, readValue, type Schema } from "../settings/schema.ts";
import { isFilePlace, isKindFile, kindName, kindNameOf } from "../settings/texts.ts";
import { quote } from "../untrusted-text.ts";
import type { Files, Overrides, ReadFiles } from "./configuration-file.ts";
import { type CommandName, COMMANDS, SWITCHES, type SwitchName } from "./usage.ts";

export interface Config
  extends Pick<FileConfig, "hosts" | "cors" | "metrics" | "events" | "forward"> {
  command: Command;
  topic?: string | undefined;
  asJson?: boolean;
  asFile?: boolean;
  /** The configuration file that was read, or that `nodeface init` writes. */
  file?: string | undefined;
  values?: CliValues;
  remarks: readonly { level: "info" | "warn"; message: string }[];
  host: string;
  /** 0 picks a free port. */
  port: number;
  accessLog: AccessLog;
  logCalls: LogCalls;
  description?: string | undefined;
  base?: string | undefined;
  kinds: Readonly<Record<string, Kind>>;
  page?: PageSettings | undefined;
  node: NodeSettings;
  info: InfoSettings;
}

const USUAL_FILE = "nodeface.yaml";

/** @throws {ConfigError} with all errors in the arguments, the environment and the files */
export async function readConfig(
  args: readonly string[],
  env: Environment,
  files: Files,
): Promise<Config> {
  const { command, topic, values, asJson, asFile, ...parsed } = parseArguments(args, env);
  const calledOf = (name: Name) => parsed.texts.get(name)?.called;
  const isNew = command === "init";
  const isUsual = !isPrinting(command) && !isNew && !parsed.texts.has("config") &&
    await files.isThere(USUAL_FILE);
  const path = isUsual ? USUAL_FILE : values.config ?? (isNew ? USUAL_FILE : undefined);
  const overrides = overridesOf(values);
  const kindFile = values.kind !== undefined && isKindFile(values.kind) ? values.kind : undefined;
  const isRead = (path !== undefined && !isNew) || kindFile !== undefined;
  const read: ReadFiles = isRead
    // This module loads YAML and all kinds, so it is imported only if a file must be read.
    ? await (await import("./configuration-file.ts"))
      .readConfigurationFile(isNew ? undefined : path, kindFile, overrides, files)
    : { file: {}, kinds: {}, warnings: [], problems: [] };
  const { file, kinds, page } = read;
  const problems = [...parsed.problems, ...read.problems];
  if (values.kind !== undefined && kindFile === undefined) {
    const { diagnostics } = readValue(values.kind, kindName(Object.keys(kinds)));
    problems.push(...diagnostics.map(({ message }) => `${calledOf("kind")} ${message}`));
  }
  if (problems.length > 0) throw new ConfigError(problems);

  const node = { ...file.node, ...overrides.node };
  const { hosts, cors, forward } = { ...file, ...overrides };
  const place: FileConfig["description"] = values.spec ? { from: values.spec } : file.description;
  const description = place?.from;
  for (const { message } of forwardConflicts(forward, hosts, node.url !== undefined)) {
    problems.push(`${calledOf("forward") ?? `${path}: forward`} ${message}`);
  }
  if (!isNew && description !== undefined && isFilePlace(description)) {
    await files.find(description).catch(({ message }) => {
      problems.push(`${calledOf("spec") ?? `${path}: description`} names ${message}`);
    });
  }
  if (problems.length > 0) throw new ConfigError(problems);

  const usual = `the configuration is ${USUAL_FILE} in the working directory`;
  const remarks: Config["remarks"][number][] = isUsual ? [{ level: "info", message: usual }] : [];
  if (values.forward !== undefined && file.forward !== undefined) {
    const message = `${
      calledOf("forward")
    } replaces all of "forward" in ${path}, including its token`;
    remarks.push({ level: "warn", message });
  }
  const used = Object.values(file.node?.auth ?? {});
  const unknown = isPrinting(command) ? [] : explainUnknownVariables(env, used);
  for (const message of [...read.warnings, ...unknown]) {
    remarks.push({ level: "warn", message });
  }
  return {
    ...{ command, topic, asJson, asFile, file: path, values, remarks },
    host: values.host ?? file.listen?.host ?? defaultOf(CLI_OPTIONS.host),
    port: values.port ?? file.listen?.port ?? defaultOf(CLI_OPTIONS.port),
    accessLog: values.accessLog ?? file.access_log ?? defaultOf(CLI_OPTIONS.accessLog),
    logCalls: values.logCalls ?? file.log_calls ?? defaultOf(CLI_OPTIONS.logCalls),
    metrics: values.metrics ?? file.metrics,
    events: file.events,
    info: { watch: "30s", ...file.info },
    ...{ kinds, page, node, hosts, cors, description, base: place?.base, forward },
  };
}

/** For `--forward off`, the result contains `forward: undefined` to override the file. */
function overridesOf({ url, kind, forward }: CliValues): Overrides {
  const name = kind !== undefined && isKindFile(kind) ? kindNameOf(kind) : kind;
  return {
    node: { ...url && { url }, ...name && { kind: name } },
    ...forward && { forward: resolveForward(forward) },
  };
}

function defaultOf<T>({ schema, default: text }: CliOption<T>): T {
  return readValue(text, schema).value;
}

const TEXT_BYTES_MAX = 1024 * 1024, TIMEOUT_MS = 2000;

export const files: Files = {
  async read(path) {
    return new TextDecoder().decode(await files.readBytes(path, TEXT_BYTES_MAX));
  },
  readBytes: (path, limit) => naming(path, readFile(path, { limit, timeout: TIMEOUT_MS })),
  find: (path) => naming(path, fileUrl(path).then(findFile).then(() => {})),
  isThere: (path) => files.find(path).then(() => true, () => false),
};

async function naming<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof PlatformError ? new Error(`${path}: ${error.message}`) : error;
  }
}

type Command = "serve" | CommandName | "version" | "help";
type Environment = Readonly<Record<string, string | undefined>>;
type Name = keyof CliValues;

interface ParsedArgs {
  command: Command;
  topic?: string;
  asJson: boolean;
  asFile: boolean;
  /** The text of each setting, even if invalid. `called` is the flag, argument or variable that contained the text. */
  texts: Map<Name, { text: string; called: string }>;
  values: CliValues;
  problems: string[];
}

const SETTINGS = Object.entries<CliOption>(CLI_OPTIONS) as [Name, CliOption][];

const FLAGS = new Map(
  SETTINGS.flatMap(([name, { flag }]) => flag === undefined ? [] : [[flag, name] as const]),
);

const VARIABLES = new Map(
  SETTINGS.flatMap(([name, { variables = [] }]) =>
    variables.map((variable) => [variable, name] as const)
  ),
);

const isSwitch = (name: Name) => CLI_OPTIONS[name].argument === undefined;

const OPTIONS: NonNullable<ParseArgsConfig["options"]> = {
  ...Object.fromEntries(
    [...FLAGS].map(([flag, name]) => [flag, { type: isSwitch(name) ? "boolean" : "string" }]),
  ),
  ...Object.fromEntries(
    Object.entries(SWITCHES).map((
      [name, { short }],
    ) => [name, { type: "boolean", ...short && { short } }]),
  ),
};

const isPrinting = (command: Command): boolean => /^(help|version|kinds)$/.test(command);

function parseArguments(args: readonly string[], env: Environment): ParsedArgs {
  const found = readArguments(args);
  const { command, topic, texts, values, problems, asJson, asFile } = found;
  if (asFile && topic === undefined) {
    problems.push("--file needs the name of a kind, as in nodeface kinds etcd --file");
  }
  if (isPrinting(command)) {
    const shown = command === "kinds" ? problems : [];
    return { ...found, texts: new Map(), problems: shown };
  }
  if (asJson && command !== "check") problems.push("--json works only with check");
  for (const [variable, name] of VARIABLES) {
    const text = texts.has(name) ? undefined : tryRead(() => env[variable]);
    if (text) texts.set(name, { text, called: variable });
  }
  if (command === "init" && !texts.has("url")) {
    problems.push("init needs the URL of a node, as in nodeface init http://127.0.0.1:8545");
  }
  for (const [name, { text, called }] of texts) {
    const { value, diagnostics } = readValue(text, CLI_OPTIONS[name].schema as Schema);
    if (diagnostics.length === 0) Object.assign(values, { [name]: value });
    for (const { message } of diagnostics) problems.push(`${called} ${message}`);
  }
  return found;
}

/** Works even if other arguments are invalid. */
export function wantsJson(args: readonly string[]): boolean {
  const { command, asJson } = readArguments(args);
  return asJson && command === "check";
}

function readArguments(args: readonly string[]): ParsedArgs {
  const found: ParsedArgs = {
    ...{ command: "serve", asJson: false, asFile: false },
    ...{ texts: new Map(), values: {}, problems: [] },
  };
  const { tokens } = parseArgs({
    ...{ args: [...args], options: OPTIONS, strict: false, allowPositionals: true, tokens: true },
  });
  const positionals: string[] = [];
  /** The indices of the last unknown flag and of the argument that may be its value. */
  let unknownAt = -1, valueAt = -1;
  for (const token of tokens) {
    const whole = args[token.index]!;
    if (token.kind === "positional" && token.index !== valueAt) positionals.push(token.value);
    if (token.kind !== "option" || token.index === unknownAt) continue;
    // `-port` counts as one mistake, not as four one-letter flags.
    const isWhole = token.rawName.startsWith("--") || whole === token.rawName;
    if (isWhole && Object.hasOwn(OPTIONS, token.name)) readOption(token, found);
    else {
      unknownAt = token.index;
      valueAt = whole.includes("=") ? -1 : unknownAt + 1;
      const [flag = ""] = whole.split("=");
      found.problems.push(`unknown option ${quote(flag)}${hintOn(flag)}`);
    }
  }
  readPositionals(positionals, found);
  return found;
}

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];

function readOption(
  { name: flag, rawName, value, inlineValue }: Extract<Token, { kind: "option" }>,
  found: ParsedArgs,
) {
  const name = FLAGS.get(flag);
  if (name === undefined) {
    if (value !== undefined) found.problems.push(`${rawName} takes no value`);
    else if (flag === "json") found.asJson = true;
    else if (flag === "file") found.asFile = true;
    else if (found.command !== "help") found.command = flag as SwitchName & Command;
    return;
  }
  const text = isSwitch(name) && !inlineValue ? "true" : value;
  if (found.texts.has(name)) found.problems.push(`${rawName} is given twice`);
  else if (!text) found.problems.push(`${rawName} needs a value; see nodeface --help`);
  else found.texts.set(name, { text, called: rawName });
}

const SERVING: readonly string[] = ["serve", "start", "run"];
const WORDS: Readonly<Record<string, string>> = { help: "--help", version: "--version" };

function readPositionals([first, ...others]: readonly string[], found: ParsedArgs): void {
  if (first === undefined) return;
  const names = Object.keys(COMMANDS) as CommandName[];
  const command = names.find((name) => name === first);
  let rest = others.slice(1);
  if (command) {
    if (found.command === "serve") found.command = command;
    const [value] = others;
    if (value !== undefined && command === "kinds") found.topic = value;
    else if (value !== undefined) found.texts.set("url", { text: value, called: "NODE_URL" });
  } else if (/^[\w-]+$/.test(first)) {
    const word = nearest(first, [...names, ...Object.keys(WORDS)]);
    const meant = SERVING.includes(first)
      ? "; to start the service, run nodeface http://127.0.0.1:8545"
      : didYouMean(word && (WORDS[word] ?? word));
    found.problems.push(
      meant
        ? `unknown command ${quote(first)}${meant}`
        : `${quote(first)} is neither a command nor the URL of a node; see nodeface --help`,
    );
  } else {
    found.texts.set("url", { text: first, called: "NODE_URL" });
    rest = others;
  }
  for (const value of rest) {
    found.problems.push(`unexpected argument ${quote(value)}; see nodeface --help`);
  }
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
    const flags = SETTINGS.flatMap(([, { flag }]) => flag ?? []);
    const known = [...flags, ...Object.keys(SWITCHES)].map((name) => `--${name}`);
    return nearest(flag.replace(/^-+/, "--"), known);
  }
  // A short flag is suggested only if the letter was given in the wrong case: `-v` leads to `-V`.
  const short = Object.values(SWITCHES).flatMap(({ short }) => short ? `-${short}` : []);
  return short.find((other) => other.toLowerCase() === flag.toLowerCase());
}

function* placesOf(key: string, schema: Schema, path = ""): Generator<string> {
  const { entries = {}, options = [] } = partsOf(schema);
  if (Object.hasOwn(entries, key)) yield path + key;
  for (const [name, inner] of Object.entries(entries)) {
    yield* placesOf(key, inner, `${path}${name}.`);
  }
  for (const option of options) yield* placesOf(key, option, path);
}

const PREFIX = "NODEFACE_";

function explainUnknownVariables(env: Environment, used: readonly unknown[]): string[] {
  const withPrefix = (names: readonly string[]) =>
    names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  const known = withPrefix(SETTINGS.flatMap(([, { variables = [] }]) => variables));
  return withPrefix(tryRead(() => Object.keys(env)) ?? []).flatMap((end) => {
    const name = PREFIX + end;
    if (VARIABLES.has(name) || used.includes(name)) return [];
    // Every name begins with `PREFIX`, so comparing the prefix would make all names look similar.
    const meant = nearest(end, known);
    return `unknown environment variable ${name}${didYouMean(meant && PREFIX + meant)}`;
  });
}

/** Returns `undefined` if Deno forbids reading the environment. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
