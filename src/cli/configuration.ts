/**
 * What the command was told: flags before the environment, the environment before the file, the
 * file before the defaults.
 *
 * @module
 */
import { clashesWith, type Forward } from "../gateway/forward-settings.ts";
import type { InfoSettings, NodeSettings } from "../info/node-and-info-settings.ts";
import type { Kind } from "../kinds/kind.ts";
import type { LogCalls } from "../log.ts";
import type { PageSettings } from "../options.ts";
import { COMMAND, type CommandSetting, type Values } from "../settings/flags-and-variables.ts";
import { isKindFile, kindNameOf, kindNameRule } from "../settings/kind-name.ts";
import { mistakeInText, readText } from "../settings/text-rules.ts";
import {
  type Command,
  type Environment,
  readGiven,
  unknownVariables,
} from "./arguments-and-environment.ts";
import { ConfigError } from "./configuration-error.ts";
import type { FileConfig, LogoFile } from "./parse-configuration.ts";

/** What the command is to do. */
export interface Config {
  command: Command;
  /** The kind to print, of `nodeface kinds KIND`. */
  topic?: string;
  /** Whether `nodeface check` prints one JSON object. */
  asJson?: boolean;
  /** The configuration file that was read; the one to be written, of `nodeface init`. */
  file?: string;
  /** Which settings flags and variables gave, for `nodeface init`. */
  given?: Values;
  /** What an operator should know of the arguments and the environment, though nothing is wrong. */
  remarks: readonly Remark[];
  /** The host name or IP literal to listen on. */
  host: string;
  /** The port to listen on, 0 to 65535; 0 takes a free one. */
  port: number;
  /** What is written about requests. */
  log: "text" | "json" | "off";
  /** Which calls of the node are logged. */
  logCalls: LogCalls;
  /** The host names answered for besides loopback names and IP literals; `"*"` for any. */
  hosts?: readonly string[] | "*";
  /** The origins whose pages may read the answers; `"*"` for any. */
  cors?: readonly string[] | "*";
  /** Where the node's own description is: a path as the process sees it, a URL, or `none`. */
  description?: string;
  /** What becomes of the servers at its top: `keep`, or the path before every path of the node. */
  servers?: string;
  /** The operator's own kinds, by name, which are laid over the known ones. */
  kinds: Readonly<Record<string, Kind>>;
  /** What the page is called, and its logo. */
  page?: PageSettings;
  node: NodeSettings;
  /** Whether metrics are answered. */
  metrics?: boolean;
  /** What may be called at the node; nothing where it is left out. */
  forward?: Forward;
  info: InfoSettings;
}

/** Something an operator should know, with how much it matters. */
export interface Remark {
  level: "info" | "warn";
  message: string;
}

/** What is read of the disk. */
export interface Files {
  /** Reads a file; rejects with a message for the operator. */
  read(path: string): Promise<string>;
  /** Reads a file of at most so many bytes; rejects with a message for the operator. */
  readBytes(path: string, limit: number): Promise<Uint8Array>;
  /** Looks for a file, whatever its size; rejects with a message for the operator. */
  find(path: string): Promise<void>;
  /** Whether there is such a file. */
  isThere(path: string): Promise<boolean>;
}

/** The configuration that is read where none is named. */
const USUAL_FILE = "nodeface.yaml";

/**
 * Reads the command's arguments, its environment and its configuration file.
 *
 * @param args the arguments after the command's name
 * @param env the environment
 * @param files reads the configuration file
 * @throws {ConfigError} with everything that is wrong
 */
export async function readConfig(
  args: readonly string[],
  env: Environment,
  files: Files,
): Promise<Config> {
  const given = readGiven(args, env);
  const { command, topic, values } = given;
  const isNew = command === "init";
  const isUsual = !given.isPrinting && !isNew && !given.called.has("config") &&
    await files.isThere(USUAL_FILE);
  const path = isUsual ? USUAL_FILE : values.config ?? (isNew ? USUAL_FILE : undefined);
  const { file, kinds, page, problems } = await readFiles(isNew ? undefined : path, values, files);
  const wrong = [...await describeFlags(given.unknownFlags), ...given.problems, ...problems];
  if (values.kind !== undefined && !isKindFile(values.kind)) {
    const mistake = mistakeInText(values.kind, kindNameRule(Object.keys(kinds)));
    if (mistake) wrong.push(`${given.called.get("kind")} ${mistake}`);
  }
  if (wrong.length > 0) throw new ConfigError(wrong);

  const node = { ...file.node, ...nodeOf(values) };
  const forward = values.forward ?? file.forward;
  const called = given.called.get("forward") ?? `${path}: forward`;
  const others = { hosts: file.hosts ?? [], hasNode: node.url !== undefined };
  // What else clashes has a place in the file, and was found there.
  const clashes = forward ? [...clashesWith(forward, others)] : [];
  if (clashes.length > 0) {
    throw new ConfigError(clashes.map(({ message }) => `${called} ${message}`));
  }
  const { from: description, servers } = placeOf(values.spec ?? file.description);
  if (!isNew && isFile(description)) {
    const called = given.called.get("spec") ?? `${path}: description`;
    await files.find(description).catch(({ message }) => {
      throw new ConfigError([`${called} names ${message}`]);
    });
  }
  const metrics = values.metrics ?? file.metrics;
  return {
    command,
    ...topic === undefined ? {} : { topic },
    ...given.asJson ? { asJson: true } : {},
    ...path === undefined ? {} : { file: path },
    ...isNew ? { given: values } : {},
    remarks: given.isPrinting ? [] : remarksOn(isUsual, env, file),
    host: values.host ?? file.listen?.host ?? defaultOf(COMMAND.host),
    port: values.port ?? file.listen?.port ?? defaultOf(COMMAND.port),
    log: values.log ?? file.log ?? defaultOf(COMMAND.log),
    logCalls: values.logCalls ?? file.log_calls ?? defaultOf(COMMAND.logCalls),
    ...metrics === undefined ? {} : { metrics },
    ...file.hosts === undefined ? {} : { hosts: file.hosts },
    ...file.cors === undefined ? {} : { cors: file.cors },
    ...description === undefined ? {} : { description },
    ...servers === undefined ? {} : { servers },
    ...page === undefined ? {} : { page },
    kinds,
    node,
    ...forward === undefined ? {} : { forward },
    info: file.info ?? {},
  };
}

async function describeFlags(flags: readonly string[]): Promise<string[]> {
  if (flags.length === 0) return [];
  const { describeUnknownFlag } = await import("./unknown-flag.ts");
  return flags.map(describeUnknownFlag);
}

/** Whether a description is at a path: at a URL it may be there later. */
const isFile = (place: string | undefined): place is string =>
  place !== undefined && place !== "none" && !/^(?:https?|file):/i.test(place);

/**
 * Reads the configuration file and the files of kinds.
 *
 * @param path the configuration file, if there is one
 * @returns what they say, and everything that is wrong with them
 */
async function readFiles(
  path: string | undefined,
  values: Values,
  files: Files,
): Promise<{
  file: FileConfig;
  kinds: Record<string, Kind>;
  page?: PageSettings | undefined;
  problems: readonly string[];
}> {
  const { read } = files;
  const kinds: Record<string, Kind> = {};
  const problems: string[] = [];
  const addKinds = async (paths: readonly string[]) => {
    if (paths.length === 0) return;
    const { readKinds } = await import("./kind-file.ts");
    const own = await readKinds(paths, read);
    Object.assign(kinds, own.kinds);
    problems.push(...own.problems);
  };
  if (values.kind !== undefined && isKindFile(values.kind)) await addKinds([values.kind]);
  if (path === undefined) return { file: {}, kinds, problems };
  try {
    const text = await read(path);
    // It brings YAML and the kinds along, which take longer to load than all else.
    const { kindFilesIn, logoIn, parseFile } = await import("./parse-configuration.ts");
    await addKinds(kindFilesIn(text, path));
    const logo = await readLogo(logoIn(text, path), files);
    const given = { ...nodeOf(values), ...values.forward && { forward: values.forward } };
    const file = parseFile(text, path, kinds, given, logo);
    const page = file.page && {
      ...file.page,
      logo: logo && "bytes" in logo ? logo.bytes : undefined,
    };
    return { file, kinds, page, problems };
  } catch (error) {
    problems.push(...error instanceof ConfigError ? error.problems : [(error as Error).message]);
    return { file: {}, kinds, problems };
  }
}

/** Reads the file of a logo; what is wrong is said with its place in the configuration. */
async function readLogo(path: string | undefined, files: Files): Promise<LogoFile | undefined> {
  if (path === undefined) return undefined;
  const { LOGO_BYTES_MAX } = await import("../explorer/logo.ts");
  try {
    return { bytes: await files.readBytes(path, LOGO_BYTES_MAX) };
  } catch (error) {
    return { mistake: (error as Error).message };
  }
}

/** What flags and variables say of the node. */
function nodeOf({ url, kind }: Values): Pick<NodeSettings, "url" | "kind"> {
  const name = kind !== undefined && isKindFile(kind) ? kindNameOf(kind) : kind;
  return { ...url ? { url } : {}, ...name ? { kind: name } : {} };
}

/** What an operator should know of what was read, though nothing is wrong. */
function remarksOn(isUsual: boolean, env: Environment, { node }: FileConfig): Remark[] {
  const remarks: Remark[] = [];
  if (isUsual) {
    const message = `the configuration is ${USUAL_FILE} in the working directory`;
    remarks.push({ level: "info", message });
  }
  for (const message of unknownVariables(env, Object.values(node?.auth ?? {}))) {
    remarks.push({ level: "warn", message });
  }
  return remarks;
}

function placeOf(description: FileConfig["description"]): { from?: string; servers?: string } {
  return typeof description === "string" ? { from: description } : description ?? {};
}

/** What holds where nobody says otherwise. */
function defaultOf<T>({ rule, default: text = "" }: CommandSetting<T>): T {
  return readText(text, rule);
}
