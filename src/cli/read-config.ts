/**
 * The command's configuration. Flags override variables, variables override the file, and the file
 * overrides defaults.
 *
 * @module
 */
import { DEFAULTS } from "../info/settings.ts";
import { resolveForward } from "../gateway/policy.ts";
import { isLoopback } from "../http/host-names.ts";
import type { Kind } from "../kinds/kind.ts";
import type { LogCalls } from "../log.ts";
import { fileUrl, findFile, isThere, PlatformError, readFile } from "../platform.ts";
import type { InfoSettings, NodeSettings, PageSettings } from "../setting-types.ts";
import { type FileConfig, NEEDS_NODE } from "../settings/configuration.ts";
import { type AccessLog, CLI_OPTIONS, type CliOption, type CliValues } from "../settings/flags.ts";
import { ConfigError, readValue, UsageError } from "../settings/schema.ts";
import { isFilePlace, isKindFile, kindName, kindNameOf } from "../settings/texts.ts";
import type { Arguments } from "./arguments.ts";
import type { Files, Overrides, ReadFiles } from "./configuration-file.ts";

export interface Config
  extends Pick<FileConfig, "hosts" | "cors" | "metrics" | "events" | "forward"> {
  /** The configuration file that was read, or that `nodeface init` writes. */
  file?: string | undefined;
  remarks: readonly Remark[];
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

interface Remark {
  readonly level: "info" | "warn";
  readonly message: string;
}

const DEFAULT_FILE = "nodeface.yaml";
const USUAL: Remark = {
  level: "info",
  message: `the configuration is ${DEFAULT_FILE} in the working directory`,
};

const warning = (message: string): Remark => ({ level: "warn", message });

/**
 * @throws {UsageError} if an argument is wrong
 * @throws {ConfigError} with all errors in the arguments, the environment and the files
 */
export async function readConfig(args: Arguments, files: Files): Promise<Config> {
  const isNew = args.command === "init";
  const isUsual = !isNew && !args.has("config") && await files.isThere(DEFAULT_FILE);
  const path = isUsual ? DEFAULT_FILE : args.values.config ?? (isNew ? DEFAULT_FILE : undefined);
  const read = await readFiles(args, isNew ? undefined : path, files);
  const config = configOf(args, read, path);
  const problems = await conflictsIn(config, args, read, files);
  if (problems.length > 0) throw new ConfigError(problems);
  const replaced = args.values.forward !== undefined && read.file.forward !== undefined
    ? [`${args.called("forward")} replaces all of "forward" in ${path}, including its clients`]
    : [];
  const unknown = args.explainUnknownVariables([
    ...Object.values(read.file.node?.auth ?? {}),
    ...(read.file.forward?.clients ?? []).map(({ token_env }) => token_env),
  ]);
  const unused = settingsOfOtherNode(args.values, read.file).map((key) =>
    `node.${key} in ${path} is not used, since ${args.called("url")} is another node than node.url`
  );
  const warnings = [...replaced, ...unused, ...read.warnings, ...unknown];
  return { ...config, remarks: [...isUsual ? [USUAL] : [], ...warnings.map(warning)] };
}

/** Reads the configuration file, and the file of the kind that `--kind` names. */
async function readFiles(
  args: Arguments,
  path: string | undefined,
  files: Files,
): Promise<ReadFiles> {
  const { values } = args;
  const kindFile = values.kind !== undefined && isKindFile(values.kind) ? values.kind : undefined;
  const read: ReadFiles = path !== undefined || kindFile !== undefined
    // This module loads YAML and all kinds, so it is imported only if a file must be read.
    ? await (await import("./configuration-file.ts"))
      .readConfigurationFile(path, kindFile, overridesOf(values), files)
    : { file: {}, kinds: {}, warnings: [], problems: [], describe: () => [] };
  // A file that cannot be read may define the kind.
  const isKindName = values.kind !== undefined && kindFile === undefined;
  const wrongKind = isKindName && read.problems.length === 0
    ? readValue(values.kind, kindName(Object.keys(read.kinds))).diagnostics
    : [];
  const problems = [
    ...args.problems,
    ...wrongKind.map(({ message }) => `${args.called("kind")} ${message}`),
    ...args.variableProblems,
    ...read.problems,
  ];
  const isWrongUse = wrongKind.length > 0 && !args.isVariable("kind");
  if (args.problems.length > 0 || isWrongUse) throw new UsageError(problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return read;
}

function configOf(
  { values }: Arguments,
  { file, kinds, page }: ReadFiles,
  path: string | undefined,
): Omit<Config, "remarks"> {
  const overrides = overridesOf(values);
  const { hosts, cors, forward } = { ...file, ...overrides };
  const { from, base }: Partial<NonNullable<FileConfig["description"]>> = values.spec
    ? { from: values.spec }
    : file.description ?? {};
  return {
    file: path,
    host: values.host ?? file.listen?.host ?? defaultOf(CLI_OPTIONS.host),
    port: values.port ?? file.listen?.port ?? defaultOf(CLI_OPTIONS.port),
    accessLog: values.accessLog ?? file.access_log ?? defaultOf(CLI_OPTIONS.accessLog),
    logCalls: values.logCalls ?? file.log_calls ?? defaultOf(CLI_OPTIONS.logCalls),
    metrics: values.metrics ?? file.metrics,
    events: file.events,
    info: { watch: DEFAULTS.watch, ...file.info },
    kinds,
    page,
    node: { ...file.node, ...unset(settingsOfOtherNode(values, file)), ...overrides.node },
    hosts,
    cors,
    description: from,
    base,
    forward: forward && { ...forward, at_root: forward.at_root ?? true },
  };
}

/** Lists what the file sets for the node at its own `node.url`, if another node is named. */
function settingsOfOtherNode({ url }: CliValues, { node }: FileConfig): ("auth" | "ws")[] {
  if (url === undefined || node?.url === undefined) return [];
  if (placeOf(url) === placeOf(node.url)) return [];
  return (["auth", "ws"] as const).filter((key) => node[key] !== undefined);
}

function placeOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return [protocol, isLoopback(hostname) ? "" : hostname, port].join();
}

const unset = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, undefined]));

/** Checks what flags, variables and the file say together. */
async function conflictsIn(
  { forward, node, description }: Omit<Config, "remarks">,
  args: Arguments,
  { describe }: ReadFiles,
  files: Files,
): Promise<string[]> {
  const told = (name: "forward" | "spec", key: string, message: string) =>
    args.has(name) ? [`${args.called(name)} ${message}`] : describe([{ path: [key], message }]);
  const problems = forward && node.url === undefined ? told("forward", "forward", NEEDS_NODE) : [];
  if (!description || !isFilePlace(description)) return problems;
  const missing = await files.find(description).then(() => undefined, (error: Error) => error);
  const ofFile = missing && told("spec", "description", `names ${missing.message}`);
  return [...problems, ...ofFile ?? []];
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
    const bytes = await files.readBytes(path, TEXT_BYTES_MAX);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      const before = new TextDecoder().decode(bytes).split("\ufffd", 1)[0]!.split("\n");
      const place = `${path}:${before.length}:${before.at(-1)!.length + 1}:`;
      throw new Error(`${place} is not UTF-8; save the file in this encoding`);
    }
  },
  readBytes: (path, limit) => naming(path, readFile(path, { limit, timeout: TIMEOUT_MS })),
  find: (path) => naming(path, findInTime(path)),
  isThere,
};

/** A disk that is away, or wakes up, does not make the configuration wrong. */
async function findInTime(path: string): Promise<void> {
  try {
    await findFile(await fileUrl(path), TIMEOUT_MS);
  } catch (error) {
    if (!(error instanceof PlatformError && error.isAway)) throw error;
  }
}

async function naming<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof PlatformError ? new Error(`${path}: ${error.message}`) : error;
  }
}
