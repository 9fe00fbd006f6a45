/**
 * The configuration file, with the files that it names. Everything that is wrong is found at once.
 *
 * @module
 */
import { LOGO_BYTES_MAX, mistakeInLogo } from "../explorer/page-settings.ts";
import { KINDS } from "../generated/kinds.js";
import type { NodeSettings } from "../info/settings.ts";
import { valueAt } from "../json/values.ts";
import type { Kind } from "../kinds/kind.ts";
import { didYouMean, nearest } from "../nearest.ts";
import type { PageSettings } from "../options.ts";
import { CLI_OPTIONS, type CliOption } from "../settings/command-line.ts";
import { clashesOfForward, configuration, type FileConfig } from "../settings/configuration.ts";
import { hasKind, unknownSources } from "../settings/info.ts";
import { type Diagnostic, readValue } from "../settings/schema.ts";
import { kindNameOf } from "../settings/texts.ts";
import { describeValue } from "../untrusted-text.ts";
import { ConfigError, explainRenamed } from "./arguments.ts";
import { locateBeside, parseKind, parseYaml, type YamlFile } from "./yaml-file.ts";

/** The files that the command reads. What rejects has a message for the operator. */
export interface Files {
  read(path: string): Promise<string>;
  readBytes(path: string, limit: number): Promise<Uint8Array>;
  /** Looks for a file, whatever its size. */
  find(path: string): Promise<void>;
  isThere(path: string): Promise<boolean>;
}

export interface ReadFiles {
  readonly file: FileConfig;
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly page?: PageSettings | undefined;
  /** Lines on keys of the version before. */
  readonly renamed: readonly string[];
  readonly problems: readonly string[];
}

/** The settings that flags and variables give in place of the file's. */
export type GivenSettings = Pick<FileConfig, "forward"> & {
  readonly node?: Pick<NodeSettings, "url" | "kind">;
};

/** Reads the configuration and the kinds that it names, and the kind of `--kind`. */
export async function readConfigurationFile(
  path: string | undefined,
  kindFile: string | undefined,
  given: GivenSettings,
  files: Files,
): Promise<ReadFiles> {
  const kinds: Record<string, Kind> = {};
  const problems: string[] = [];
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      problems.push(...error instanceof ConfigError ? error.problems : [(error as Error).message]);
      return undefined;
    }
  };
  const addKind = (path: string) =>
    attempt(async () => kinds[kindNameOf(path) ?? path] = parseKind(await files.read(path), path));
  if (kindFile !== undefined) await addKind(kindFile);
  const read = path === undefined ? undefined : await attempt(async () => {
    const yaml = parseConfiguration(await files.read(path), path);
    for (const file of kindFilesIn(yaml)) await addKind(locateBeside(file, path));
    const logo = await readLogo(yaml, files);
    const file = checkFile(yaml, kinds, given, logo);
    const page = file.page && { ...file.page, logo: logo?.bytes };
    return { file, page, renamed: yaml.renamed.map((key) => explainRenamed(key, RENAMED[key]!)) };
  });
  return { file: {}, renamed: [], ...read, kinds, problems };
}

const RENAMED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values<CliOption>(CLI_OPTIONS).flatMap(({ key, before }) =>
    key !== undefined && before ? [[before.key, key]] : []
  ),
);

export function parseConfiguration(text: string, name: string): YamlFile {
  return parseYaml(text, name, "a configuration", RENAMED);
}

interface LogoFile {
  readonly bytes?: Uint8Array;
  readonly problem?: string | undefined;
}

async function readLogo(yaml: YamlFile, files: Files): Promise<LogoFile | undefined> {
  const named = valueAt(yaml.value, ["page", "logo"]);
  if (typeof named !== "string" || named === "") return undefined;
  const path = locateBeside(named, yaml.name);
  try {
    const bytes = await files.readBytes(path, LOGO_BYTES_MAX);
    const problem = mistakeInLogo(bytes);
    return { bytes, problem: problem && `${path}: it ${problem}` };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function kindFilesIn(yaml: YamlFile): string[] {
  return [valueAt(yaml.value, ["kinds"])].flat().filter((path): path is string =>
    typeof path === "string" && kindNameOf(path) !== undefined
  );
}

/**
 * Checks a configuration file.
 *
 * @param own the operator's own kinds, by name, as far as their files are right
 * @throws {ConfigError} with everything that is wrong, each with line and column
 */
export function checkFile(
  yaml: YamlFile,
  own: Readonly<Record<string, Kind>> = {},
  given: GivenSettings = {},
  logo?: LogoFile,
): FileConfig {
  const names = kindFilesIn(yaml).map((path) => kindNameOf(path)!);
  const schema = configuration((path) => locateBeside(path, yaml.name), names);
  const { value, diagnostics } = readValue(yaml.value, schema);
  const file = withoutWrong(value, diagnostics);
  const kinds = { ...KINDS, ...own };
  const found = [
    ...diagnostics,
    ...sameKinds(file),
    ...clashesOfForward({ ...file, ...given }.forward, file.hosts),
  ];
  if (logo?.problem && file.page?.logo) {
    found.push({ path: ["page", "logo"], message: `names ${logo.problem}`, isKey: false });
  }
  // What a kind brings along is not known where its file is wrong.
  if (names.every((name) => Object.hasOwn(own, name))) {
    const node = { ...file.node, ...given.node };
    found.push(
      ...unknownSources(file.info ?? {}, kindsOf(node, kinds)),
      ...unknownKeys(file, kinds),
    );
  }
  if (found.length > 0) throw new ConfigError(yaml.describe(found));
  return file;
}

/** The same value with `undefined` where something is wrong. */
function withoutWrong(value: FileConfig, diagnostics: readonly Diagnostic[]): FileConfig {
  const root = { value };
  for (const { path } of diagnostics) {
    const keys = ["value", ...path];
    const last = keys.pop()!;
    let around: unknown = root;
    for (const key of keys) around = (around as Record<string, unknown> | undefined)?.[key];
    if (around) (around as Record<string, unknown>)[last] = undefined;
  }
  return root.value ?? {};
}

function sameKinds({ kinds = [] }: FileConfig): Diagnostic[] {
  const names = kinds.map((path) => path === undefined ? undefined : kindNameOf(path));
  return names.flatMap((name, at) => {
    const first = names.indexOf(name);
    if (name === undefined || first === at) return [];
    const message = `is called as kinds[${first}] is: ${name}`;
    return [{ path: ["kinds", at], message, isKey: false }];
  });
}

function kindsOf(node: NodeSettings, kinds: Readonly<Record<string, Kind>>): Kind[] {
  if (!hasKind(node)) return [];
  const kind = kinds[node.kind ?? ""];
  return kind ? [kind] : Object.values(kinds);
}

/** Keys of the info that every kind may have, and that can be hidden. */
const COMMON_KEYS = ["name", "software", "version", "started_at"];

/** Finds keys to be hidden that nothing could show. */
function unknownKeys(
  { info }: FileConfig,
  kinds: Readonly<Record<string, Kind>>,
): Diagnostic[] {
  const shown = [...Object.values(kinds), info ?? {}].flatMap(({ static: fixed, fields }) =>
    Object.keys({ ...fixed, ...fields })
  );
  const names = new Set([...COMMON_KEYS, ...shown]);
  return (info?.hide ?? []).flatMap((key, at) => {
    if (key === undefined || names.has(key)) return [];
    const meant = didYouMean(nearest(key, names));
    const message = `is ${describeValue(key)}, a key that nothing shows${meant}`;
    return [{ path: ["info", "hide", at], message, isKey: false }];
  });
}
