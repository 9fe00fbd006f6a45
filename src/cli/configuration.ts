/**
 * The whole of what the command is told: flags before the environment, the environment before the file, the file before the
 * defaults.
 *
 * @module
 */
import { resolveForward } from "../gateway/policy.ts";
import type { InfoSettings, NodeSettings } from "../info/settings.ts";
import type { Kind } from "../kinds/kind.ts";
import type { LogCalls } from "../log.ts";
import type { PageSettings } from "../options.ts";
import { fileUrl, findFile, PlatformError, readFile } from "../platform.ts";
import {
  type AccessLog,
  CLI_OPTIONS,
  type CliOption,
  type CliValues,
} from "../settings/command-line.ts";
import { clashesOfForward, type FileConfig } from "../settings/configuration.ts";
import { readValue } from "../settings/schema.ts";
import { isFilePlace, isKindFile, kindName, kindNameOf } from "../settings/texts.ts";
import {
  type Command,
  ConfigError,
  type Environment,
  explainUnknownVariables,
  isPrinting,
  parseArguments,
} from "./arguments.ts";
import type { Files, GivenSettings, ReadFiles } from "./configuration-file.ts";

export interface Config
  extends Pick<FileConfig, "hosts" | "cors" | "metrics" | "events" | "forward"> {
  command: Command;
  topic?: string | undefined;
  asJson?: boolean;
  asFile?: boolean;
  /** The configuration file that was read; the one to be written, of `nodeface init`. */
  file?: string | undefined;
  /** The settings that flags and variables gave, for `nodeface init`. */
  given?: CliValues;
  /** Lines for the operator on what was read, though nothing is wrong. */
  remarks: readonly Remark[];
  host: string;
  /** The port to listen on, 0 to 65535; 0 takes a free one. */
  port: number;
  accessLog: AccessLog;
  logCalls: LogCalls;
  /** The node's own description: a path as the process sees it, a URL, or `none`. */
  description?: string | undefined;
  /** The treatment of the servers at its top: `keep`, or the path before every path of the node. */
  servers?: string | undefined;
  kinds: Readonly<Record<string, Kind>>;
  page?: PageSettings | undefined;
  node: NodeSettings;
  info: InfoSettings;
}

/** Something an operator should know, with how much it matters. */
interface Remark {
  level: "info" | "warn";
  message: string;
}

const USUAL_FILE = "nodeface.yaml";

/** Reads the arguments, the environment and the files; throws a {@linkcode ConfigError} with all that is wrong. */
export async function readConfig(
  args: readonly string[],
  env: Environment,
  files: Files,
): Promise<Config> {
  const { command, topic, values, asJson, asFile, ...parsed } = parseArguments(args, env);
  const calledOf = (name: keyof CliValues) => parsed.given.get(name)?.called;
  const isNew = command === "init";
  const isUsual = !isPrinting(command) && !isNew && !parsed.given.has("config") &&
    await files.isThere(USUAL_FILE);
  const path = isUsual ? USUAL_FILE : values.config ?? (isNew ? USUAL_FILE : undefined);
  const given = settingsOf(values);
  const read = await readFiles(isNew ? undefined : path, values.kind, given, files);
  const { file, kinds, page } = read;
  const problems = [...parsed.problems, ...read.problems];
  if (values.kind !== undefined && !isKindFile(values.kind)) {
    const { diagnostics } = readValue(values.kind, kindName(Object.keys(kinds)));
    problems.push(...diagnostics.map(({ message }) => `${calledOf("kind")} ${message}`));
  }
  if (problems.length > 0) throw new ConfigError(problems);

  const node = { ...file.node, ...given.node };
  const { hosts, cors, forward } = { ...file, ...given };
  const { from: description, servers } = placeOf(values.spec ?? file.description);
  // What else clashes has a place in the file, and was found there.
  for (const { message } of clashesOfForward(forward, hosts, node.url !== undefined)) {
    problems.push(`${calledOf("forward") ?? `${path}: forward`} ${message}`);
  }
  if (!isNew && description !== undefined && isFilePlace(description)) {
    await files.find(description).catch(({ message }) => {
      problems.push(`${calledOf("spec") ?? `${path}: description`} names ${message}`);
    });
  }
  if (problems.length > 0) throw new ConfigError(problems);

  const usual = `the configuration is ${USUAL_FILE} in the working directory`;
  const used = Object.values(file.node?.auth ?? {}).filter((value) => value !== undefined);
  const unknown = isPrinting(command) ? [] : explainUnknownVariables(env, used);
  const warnings = [...parsed.renamed, ...read.warnings, ...unknown];
  return {
    ...{ command, topic, asJson, asFile, file: path, given: values },
    remarks: [
      ...isUsual ? [{ level: "info" as const, message: usual }] : [],
      ...warnings.map((message) => ({ level: "warn" as const, message })),
    ],
    host: values.host ?? file.listen?.host ?? defaultOf(CLI_OPTIONS.host),
    port: values.port ?? file.listen?.port ?? defaultOf(CLI_OPTIONS.port),
    accessLog: values.accessLog ?? file.access_log ?? defaultOf(CLI_OPTIONS.accessLog),
    logCalls: values.logCalls ?? file.log_calls ?? defaultOf(CLI_OPTIONS.logCalls),
    metrics: values.metrics ?? file.metrics,
    events: file.events,
    // The log of a command tells of a failure when it happens.
    info: { watch: "30s", ...file.info },
    ...{ kinds, page, node, hosts, cors, description, servers, forward },
  };
}

/** The settings that flags and variables give, in the form of the file's. */
function settingsOf({ url, kind, forward }: CliValues): GivenSettings {
  const name = kind !== undefined && isKindFile(kind) ? kindNameOf(kind) : kind;
  return {
    node: { ...url && { url }, ...name && { kind: name } },
    ...forward && { forward: resolveForward(forward) },
  };
}

async function readFiles(
  path: string | undefined,
  kind: string | undefined,
  given: GivenSettings,
  files: Files,
): Promise<ReadFiles> {
  const kindFile = kind !== undefined && isKindFile(kind) ? kind : undefined;
  if (path === undefined && kindFile === undefined) {
    return { file: {}, kinds: {}, warnings: [], problems: [] };
  }
  // It brings YAML and the kinds along.
  const { readConfigurationFile } = await import("./configuration-file.ts");
  return await readConfigurationFile(path, kindFile, given, files);
}

function placeOf(
  description: FileConfig["description"],
): { from?: string | undefined; servers?: string | undefined } {
  return typeof description === "string" ? { from: description } : description ?? {};
}

function defaultOf<T>({ schema, default: text }: CliOption<T>): T {
  return readValue(text, schema).value;
}

/** The largest text, in bytes, and the longest time that a file may take, in milliseconds. */
const TEXT_BYTES_MAX = 1024 * 1024, TIMEOUT_MS = 2000;

export const files: Files = {
  async read(path) {
    return new TextDecoder().decode(await files.readBytes(path, TEXT_BYTES_MAX));
  },
  readBytes: (path, limit) => naming(path, readFile(path, { limit, timeout: TIMEOUT_MS })),
  find: (path) => naming(path, fileUrl(path).then(findFile).then(() => {})),
  isThere: (path) => files.find(path).then(() => true, () => false),
};

/** Has the message of what goes wrong say with which file. */
async function naming<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof PlatformError ? new Error(`${path}: ${error.message}`) : error;
  }
}
