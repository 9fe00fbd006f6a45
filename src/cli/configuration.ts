/**
 * What the command is to do: flags before the environment, the environment before the file, the file before the
 * defaults.
 *
 * @module
 */
import { clashesWith, type ResolvedForward, resolveForward } from "../gateway/policy.ts";
import type { InfoSettings, NodeSettings } from "../info/settings.ts";
import type { Kind } from "../kinds/kind.ts";
import type { LogCalls } from "../log.ts";
import type { PageSettings } from "../options.ts";
import type { FileConfig } from "../options-schema.ts";
import {
  type AccessLog,
  CLI_OPTIONS,
  type CliOption,
  type CliValues,
} from "../settings/command-line.ts";
import { readValue } from "../settings/schema.ts";
import { isFilePlace, isKindFile, kindName, kindNameOf } from "../settings/texts.ts";
import {
  type Command,
  ConfigError,
  type Environment,
  explainUnknownVariables,
  parseArguments,
  type ParsedArgs,
} from "./arguments.ts";
import type { ReadFiles } from "./configuration-file.ts";
import type { Files } from "./files.ts";

/** The whole of what the command is told: what to do, and every setting. */
export interface Config {
  command: Command;
  topic?: string;
  asJson?: boolean;
  /** The configuration file that was read; the one to be written, of `nodeface init`. */
  file?: string;
  /** The settings that flags and variables gave, for `nodeface init`. */
  given?: CliValues;
  /** What an operator should know of what was read, though nothing is wrong. */
  remarks: readonly Remark[];
  host: string;
  /** The port to listen on, 0 to 65535; 0 takes a free one. */
  port: number;
  accessLog: AccessLog;
  logCalls: LogCalls;
  /** The host names that are served besides loopback names and IP literals; `"*"` for any. */
  hosts?: readonly string[] | "*";
  /** The origins whose pages may read the responses; `"*"` for any. */
  cors?: readonly string[] | "*";
  /** The node's own description: a path as the process sees it, a URL, or `none`. */
  description?: string;
  /** What becomes of the servers at its top: `keep`, or the path before every path of the node. */
  servers?: string;
  kinds: Readonly<Record<string, Kind>>;
  page?: PageSettings;
  node: NodeSettings;
  metrics?: boolean;
  /** What may be called at the node; nothing where it is left out. */
  forward?: ResolvedForward;
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
  const given = parseArguments(args, env);
  const { command, topic, values, isPrinting } = given;
  const isNew = command === "init";
  const isUsual = !isPrinting && !isNew && !given.called.has("config") &&
    await files.isThere(USUAL_FILE);
  const path = isUsual ? USUAL_FILE : values.config ?? (isNew ? USUAL_FILE : undefined);
  const read = await readFiles(isNew ? undefined : path, values, files);
  const { file, kinds, page } = read;
  const problems = [...given.problems, ...read.problems];
  if (values.kind !== undefined && !isKindFile(values.kind)) {
    const { diagnostics } = readValue(values.kind, kindName(Object.keys(kinds)));
    const called = given.called.get("kind");
    problems.push(...diagnostics.map(({ message }) => `${called} ${message}`));
  }
  if (problems.length > 0) throw new ConfigError(problems);

  const node = { ...file.node, ...nodeOf(values) };
  const forward = resolveForward(values.forward ?? file.forward);
  const { from: description, servers } = placeOf(values.spec ?? file.description);
  const placeOfSetting = (name: "forward" | "spec", key: string) =>
    given.called.get(name) ?? `${path}: ${key}`;
  // What else clashes has a place in the file, and was found there.
  const clashes = clashesWith(forward, {
    hosts: file.hosts ?? [],
    hasNode: node.url !== undefined,
  });
  for (const { message } of clashes) {
    problems.push(`${placeOfSetting("forward", "forward")} ${message}`);
  }
  if (!isNew && description !== undefined && isFilePlace(description)) {
    await files.find(description).catch(({ message }) => {
      problems.push(`${placeOfSetting("spec", "description")} names ${message}`);
    });
  }
  if (problems.length > 0) throw new ConfigError(problems);

  const { hosts, cors } = file;
  return {
    command,
    remarks: isPrinting ? [] : remarksOn(given, read, isUsual, env),
    host: values.host ?? file.listen?.host ?? defaultOf(CLI_OPTIONS.host),
    port: values.port ?? file.listen?.port ?? defaultOf(CLI_OPTIONS.port),
    accessLog: values.accessLog ?? file.access_log ?? defaultOf(CLI_OPTIONS.accessLog),
    logCalls: values.logCalls ?? file.log_calls ?? defaultOf(CLI_OPTIONS.logCalls),
    kinds,
    node,
    info: file.info ?? {},
    ...isNew && { given: values },
    ...given.asJson && { asJson: true },
    ...withoutUndefined({ topic, file: path, hosts, cors, description, servers, page, forward }),
    ...withoutUndefined({ metrics: values.metrics ?? file.metrics }),
  };
}

async function readFiles(
  path: string | undefined,
  values: CliValues,
  files: Files,
): Promise<ReadFiles> {
  const kindFile = values.kind !== undefined && isKindFile(values.kind) ? values.kind : undefined;
  if (path === undefined && kindFile === undefined) {
    return { file: {}, kinds: {}, warnings: [], problems: [] };
  }
  // It brings YAML and the kinds along.
  const { readConfigurationFile } = await import("./configuration-file.ts");
  const given = { ...nodeOf(values), ...values.forward && { forward: values.forward } };
  return await readConfigurationFile(path, kindFile, given, files);
}

function nodeOf({ url, kind }: CliValues): Pick<NodeSettings, "url" | "kind"> {
  const name = kind !== undefined && isKindFile(kind) ? kindNameOf(kind) : kind;
  return { ...url && { url }, ...name && { kind: name } };
}

function withoutUndefined<T extends object>(
  object: T,
): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

function remarksOn(
  given: ParsedArgs,
  { file, warnings }: ReadFiles,
  isUsual: boolean,
  env: Environment,
): Remark[] {
  const message = `the configuration is ${USUAL_FILE} in the working directory`;
  const used = Object.values(file.node?.auth ?? {}).filter((value) => value !== undefined);
  const all = [
    ...given.renamed,
    ...warnings,
    ...explainUnknownVariables(env, used),
  ];
  return [
    ...isUsual ? [{ level: "info" as const, message }] : [],
    ...all.map((message) => ({ level: "warn" as const, message })),
  ];
}

function placeOf(
  description: FileConfig["description"],
): { from?: string | undefined; servers?: string | undefined } {
  return typeof description === "string" ? { from: description } : description ?? {};
}

function defaultOf<T>({ schema, default: text }: CliOption<T>): T {
  return readValue(text, schema).value;
}
