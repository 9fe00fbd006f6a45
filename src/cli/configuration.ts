/**
 * What the command was told: flags before the environment, the environment before the file, the
 * file before the defaults.
 *
 * @module
 */
import { readBy, type Rule } from "../http/allowed.ts";
import type { InfoSettings, NodeSettings } from "../info/settings.ts";
import { quote } from "../text.ts";
import { ConfigError } from "./configuration-error.ts";
import type { FileConfig } from "./configuration-schema.ts";
import {
  HOST,
  kindRule,
  LINE,
  LOG,
  type LOGS,
  mistakeIn,
  NODE_URL,
  PLACE,
  PORT,
} from "./setting-rules.ts";

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
  rule: Rule<string | number> | (() => Promise<Rule>);
}

/** The settings, each by its flag; `url` has none and stands alone. */
const SETTINGS = {
  config: { env: "NODEFACE_CONFIG", rule: LINE },
  host: { env: "HOST", rule: HOST },
  port: { env: "PORT", rule: PORT },
  kind: {
    env: "NODEFACE_KIND",
    rule: async () => kindRule(Object.keys((await import("../kinds/index.ts")).KINDS)),
  },
  spec: { env: "NODEFACE_SPEC", rule: PLACE },
  log: { env: "NODEFACE_LOG", rule: LOG },
  url: { env: "NODEFACE_URL", rule: NODE_URL },
} as const satisfies Readonly<Record<string, Setting>>;

/** What the settings are once they are read. */
interface Values {
  config?: string;
  host?: string;
  port?: number;
  kind?: string;
  spec?: string;
  log?: Config["log"];
  url?: string;
}

type Name = keyof typeof SETTINGS;

/** What holds where nobody says otherwise. */
const DEFAULTS = {
  host: "127.0.0.1",
  port: 8080,
  log: "off",
  hosts: [],
  cors: "*",
  node: {},
  info: {},
} as const satisfies Omit<Config, "command">;

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
  const asked = { command, ...(topic === undefined ? {} : { topic }) };
  // What only prints has no use for anything else, right or wrong.
  const isPrinting = command === "help" || command === "version" ||
    (command === "kinds" && problems.length === 0);
  if (isPrinting) return { ...DEFAULTS, ...asked };
  for (const [name, { env: variable }] of Object.entries(SETTINGS) as [Name, Setting][]) {
    const text = env[variable];
    if (text && !given.has(name)) given.set(name, { text, called: variable });
  }
  const values: Values = {};
  for (const [name, { text, called }] of given) {
    const setting: Setting["rule"] = SETTINGS[name].rule;
    const rule = typeof setting === "function" ? await setting() : setting;
    const value = readBy<string | number>(rule, text);
    if (value !== undefined) {
      Object.assign(values, { [name]: value });
    } else {
      const mistake = mistakeIn(rule, text);
      const mayBeSecret = name === "url" && /[@?#]/.test(text);
      const isShown = mistake.startsWith("must ") && !mayBeSecret;
      problems.push(`${called} ${mistake}${isShown ? `, not ${quote(text)}` : ""}`);
    }
  }
  let file: FileConfig = {};
  if (values.config !== undefined) {
    try {
      const text = await readFile(values.config);
      // It brings YAML and the schema along, which take longer to load than all else.
      const { parseFile } = await import("./configuration-file.ts");
      file = parseFile(text, values.config, env.HOME ?? "");
    } catch (error) {
      problems.push(...error instanceof ConfigError ? error.problems : [(error as Error).message]);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const { host, port, log, url, kind, spec } = values;
  const description = spec ?? file.description;
  return {
    ...asked,
    host: host ?? file.listen?.host ?? DEFAULTS.host,
    port: port ?? file.listen?.port ?? DEFAULTS.port,
    log: log ?? file.log ?? DEFAULTS.log,
    hosts: file.hosts ?? DEFAULTS.hosts,
    cors: file.cors ?? DEFAULTS.cors,
    ...(description === undefined ? {} : { description }),
    node: { ...file.node, ...(url ? { url } : {}), ...(kind ? { kind } : {}) },
    info: file.info ?? DEFAULTS.info,
  };
}

function readArguments(args: string[], problems: string[]): Arguments {
  const found: Arguments = { command: "serve", given: new Map() };
  const seen = new Set<string>();
  let position = 0;
  const rest = [...args];
  let isOver = false;
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, flag = "", name = "", written] = /^(--([^=]*)|-[^=]+)(?:=([^]*))?$/.exec(arg) ?? [];
    if (arg === "--" && !isOver) {
      isOver = true;
      continue;
    }
    if (!flag || isOver) {
      readPositional(arg, position++, found, problems);
      continue;
    }
    const takesNone = name === "version" || name === "help";
    const isKnown = takesNone || (name !== "url" && Object.hasOwn(SETTINGS, name));
    // What follows an unknown option may be its value.
    const mayFollow = isKnown ? !takesNone : !rest[0]?.startsWith("-");
    const value = written === undefined && mayFollow ? rest.shift() : written;
    if (!isKnown) {
      problems.push(`unknown option ${quote(flag)}; see nodeface --help`);
    } else if (seen.has(name)) problems.push(`${flag} is given twice`);
    else if (takesNone) {
      if (value !== undefined) problems.push(`${flag} takes no value`);
      else if (found.command !== "help") found.command = name;
    } else if (!value) problems.push(`${flag} needs a value; see nodeface --help`);
    else found.given.set(name as Name, { text: value, called: flag });
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
