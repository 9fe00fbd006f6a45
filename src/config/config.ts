/**
 * What the command was told: flags before the environment, the environment before the file, the
 * file before the defaults.
 *
 * @module
 */
import { dirname, isAbsolute, join } from "node:path";
import { parseArgs } from "node:util";
import * as v from "valibot";
import type { InfoSettings, NodeSettings } from "../info/settings.ts";
import { ConfigError, describeIssue } from "./problem.ts";
import { type FileConfig, Host, KindName, Log, LOGS, NodeUrl, Place, Port } from "./schema.ts";

/** What the command is to do. */
export interface Config {
  command: "serve" | "check" | "kinds" | "version" | "help";
  /** The kind to print, of `nodeface kinds KIND`. */
  topic?: string;
  /** The host name or IP literal to listen on. */
  host: string;
  /** The port to listen on, 0 to 65535; 0 takes a free one. */
  port: number;
  /** What is written about requests. */
  log: (typeof LOGS)[number];
  /** The host names answered for besides loopback names and IP literals; `"*"` for any. */
  hosts: readonly string[] | "*";
  /** The origins whose pages may read the answers; `"*"` for any. */
  cors: readonly string[] | "*";
  /** Where the node's own description is: a path as the process sees it, a URL, or `none`. */
  description?: string;
  node: NodeSettings;
  info: InfoSettings;
}

/** Reads the file whose name it is given; rejects with a message for the operator. */
export type ReadFile = (path: string) => Promise<string>;

/** A setting that a flag, a variable or both give. */
interface Setting {
  env: string;
  schema: v.GenericSchema<string, string | number>;
}

/** The flags that take a value, in the order of the usage. */
const SETTINGS = {
  config: { env: "NODEFACE_CONFIG", schema: v.string() },
  host: { env: "HOST", schema: Host },
  port: { env: "PORT", schema: Port },
  kind: { env: "NODEFACE_KIND", schema: KindName },
  spec: { env: "NODEFACE_SPEC", schema: Place },
  log: { env: "NODEFACE_LOG", schema: Log },
  url: { env: "NODEFACE_URL", schema: NodeUrl },
} as const satisfies Readonly<Record<string, Setting>>;

type Name = keyof typeof SETTINGS;

const FLAGS = {
  config: { type: "string" },
  host: { type: "string" },
  port: { type: "string" },
  kind: { type: "string" },
  spec: { type: "string" },
  log: { type: "string" },
  version: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** What was given on the command line, as text, with what it is called there. */
interface Arguments {
  command: Config["command"];
  topic?: string;
  given: Map<Name, { text: string; called: string }>;
}

/**
 * Reads the command's arguments, its environment and its configuration file.
 *
 * @param args the arguments after the command's name
 * @param env the environment
 * @param readFile reads the configuration file
 * @throws {ConfigError} with everything that is wrong
 */
export async function readConfig(
  args: string[],
  env: Readonly<Record<string, string | undefined>>,
  readFile: ReadFile,
): Promise<Config> {
  const problems: string[] = [];
  const { command, topic, given } = readArguments(args, problems);
  for (const [name, { env: variable }] of Object.entries(SETTINGS) as [Name, Setting][]) {
    const text = env[variable];
    if (text && !given.has(name)) given.set(name, { text, called: variable });
  }
  const values: { -readonly [N in Name]?: v.InferOutput<(typeof SETTINGS)[N]["schema"]> } = {};
  for (const [name, { text, called }] of given) {
    const result = v.safeParse(SETTINGS[name].schema as Setting["schema"], text);
    if (result.success) Object.assign(values, { [name]: result.output });
    else problems.push(...result.issues.map((issue) => describeIssue(issue, [], called)));
  }
  let file: FileConfig = {};
  if (values.config !== undefined) {
    try {
      const text = await readFile(values.config);
      // It brings YAML along, which takes longer to load than all else.
      const { parseFile } = await import("./file.ts");
      file = parseFile(text, values.config);
    } catch (error) {
      problems.push(...error instanceof ConfigError ? error.problems : [(error as Error).message]);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const { host, port, log, url, kind, spec } = values;
  const description = spec ?? placeOf(file.description, values.config, env.HOME);
  return {
    command,
    ...(topic === undefined ? {} : { topic }),
    host: host ?? file.listen?.host ?? "127.0.0.1",
    port: port ?? file.listen?.port ?? 8080,
    log: log ?? file.log ?? "off",
    hosts: file.hosts ?? [],
    cors: file.cors ?? "*",
    ...(description === undefined ? {} : { description }),
    node: { ...file.node, ...(url ? { url } : {}), ...(kind ? { kind } : {}) },
    info: file.info ?? {},
  };
}

/** A place that a configuration file names: it stands beside the file, wherever the command runs. */
function placeOf(place: string | undefined, file = "", home = ""): string | undefined {
  if (
    place === undefined || place === "none" || isAbsolute(place) || /^(https?|file):/i.test(place)
  ) return place;
  return place.startsWith("~/") && home ? home + place.slice(1) : join(dirname(file), place);
}

function readArguments(args: string[], problems: string[]): Arguments {
  const { tokens } = parseArgs({ args, options: FLAGS, strict: false, tokens: true });
  const found: Arguments = { command: "serve", given: new Map() };
  const seen = new Set<string>();
  let position = 0;
  let isUnknown = false;
  for (const token of tokens) {
    // What follows an unknown option may be its value.
    if (token.kind === "positional" && !isUnknown) {
      readPositional(token.value, position++, found, problems);
    }
    isUnknown = false;
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    if (!Object.hasOwn(FLAGS, name) || !rawName.startsWith("--")) {
      problems.push(`unknown option ${quote(rawName)}; see nodeface --help`);
      isUnknown = true;
    } else if (seen.has(name)) problems.push(`${rawName} is given twice`);
    else if (name === "version" || name === "help") {
      if (value !== undefined) problems.push(`${rawName} takes no value`);
      if (found.command !== "help") found.command = name;
    } else if (!value) problems.push(`${rawName} needs a value; see nodeface --help`);
    else found.given.set(name as Name, { text: value, called: rawName });
    seen.add(name);
  }
  return found;
}

/** `check` and `kinds` come first; what else stands there is the node's URL, or a kind's name. */
function readPositional(value: string, position: number, found: Arguments, problems: string[]) {
  if (position === 0 && (value === "check" || value === "kinds")) {
    if (found.command === "serve") found.command = value;
  } else if (found.command === "kinds" && found.topic === undefined) found.topic = value;
  else if (found.given.has("url") || found.command === "kinds") {
    problems.push(`unexpected argument ${quote(value)}; see nodeface --help`);
  } else found.given.set("url", { text: value, called: "NODE_URL" });
}

const quote = (text: string) => JSON.stringify(text);
