/**
 * Reads the configuration file and the files that it names.
 *
 * @module
 */
import { LOGO_BYTES_MAX, mistakeInLogo } from "../explorer/page-settings.ts";
import { loadInterface } from "../description/known-interface.ts";
import { KINDS } from "../generated/kinds.js";
import { Clients } from "../gateway/clients.ts";
import { placeKey } from "../gateway/policy.ts";
import { type JsonObject, listOf, objectOf, textOf, valueAt } from "../json/values.ts";
import type { Kind } from "../kinds/kind.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { partsOfPlace } from "../node/secrets.ts";
import type { NodeSettings, PageSettings } from "../setting-types.ts";
import { configuration, type FileConfig, forwardConflicts } from "../settings/configuration.ts";
import { hasKind, unknownSources } from "../settings/node-schema.ts";
import { KNOWN_KIND, withoutSecretFiles } from "../settings/kind-schema.ts";
import { extendKind, looseningsIn } from "../settings/kind-extension.ts";
import {
  ConfigError,
  diagnosticsOfRepeated,
  readValue,
  type SettingDiagnostic,
} from "../settings/schema.ts";
import { kindNameOf } from "../settings/texts.ts";
import { KNOWN_KEYS } from "../info/fields.ts";
import { describeValue } from "../untrusted-text.ts";
import { checkKind, locateBeside, readYaml, type YamlFile } from "./yaml-file.ts";

/** The methods reject with errors whose messages are written for the operator. */
export interface Files {
  read(path: string): Promise<string>;
  readBytes(path: string, limit: number): Promise<Uint8Array>;
  /** Rejects if the file cannot be found. Does not read the file. */
  find(path: string): Promise<void>;
  isThere(path: string): Promise<boolean>;
}

export interface ReadFiles {
  readonly file: FileConfig;
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly page?: PageSettings | undefined;
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
  readonly describe: YamlFile["describe"];
}

export type Overrides = Pick<FileConfig, "forward"> & {
  readonly node?: Pick<NodeSettings, "url" | "kind">;
};

export async function readConfigurationFile(
  path: string | undefined,
  kindFile: string | undefined,
  overrides: Overrides,
  files: Files,
): Promise<ReadFiles> {
  const reading = new Reading(files);
  if (kindFile !== undefined) await reading.addKindFile(kindFile);
  const read = path === undefined ? undefined : await reading.attempt(async () => {
    const yaml = parseConfiguration(await files.read(path), path);
    await reading.addKindsIn(yaml, kindFile === undefined ? undefined : kindNameOf(kindFile));
    const logo = await readLogo(yaml, files);
    const file = checkFile(yaml, reading.kinds, overrides, logo);
    const shared = await sharedTokens(file);
    if (shared.length > 0) throw new ConfigError(yaml.describe(shared));
    const page = file.page && { ...file.page, logo: logo?.bytes };
    return { file, page, describe: yaml.describe };
  });
  const { kinds, warnings, problems } = reading;
  return { file: {}, describe: () => [], ...read, kinds, warnings, problems };
}

/** Gathers the operator's kinds, and goes on after each file that has a problem. */
class Reading {
  readonly kinds: Record<string, Kind> = {};
  readonly warnings: string[] = [];
  readonly problems: string[] = [];
  readonly #files: Files;

  constructor(files: Files) {
    this.#files = files;
  }

  /** Resolves to `undefined` if `work` finds a problem. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const isConfigError = error instanceof ConfigError;
      this.problems.push(...isConfigError ? error.problems : [(error as Error).message]);
      return undefined;
    }
  }

  /** @param skipped the name of a kind that is not read, since a flag replaces it */
  async addKindsIn(yaml: YamlFile, skipped: string | undefined): Promise<void> {
    for (const [index, { name, file, value }] of kindsIn(yaml).entries()) {
      if (name === undefined || name === skipped) continue;
      const at = ["kinds", index];
      if (file === undefined) {
        await this.attempt(() => this.#addKind(name, yaml, { at, value }));
      } else {
        await this.addKindFile(
          locateBeside(file, yaml.name),
          (message) => yaml.describe([{ path: at, message: `names ${message}` }]),
        );
      }
    }
  }

  /** @param placed tells where the file is named, if it cannot be read */
  async addKindFile(path: string, placed = (message: string) => [message]): Promise<void> {
    await this.attempt(async () => {
      const text = await this.#files.read(path).catch(({ message }) => {
        throw new ConfigError(placed(message));
      });
      await this.#addKind(kindNameOf(path) ?? path, readYaml(text, path, "a kind"));
    });
  }

  async #addKind(name: string, yaml: YamlFile, place?: KindPlace): Promise<void> {
    const { kind, loosened } = await readKind(yaml, place);
    this.kinds[name] = kind;
    this.warnings.push(...loosened.map((line) => `${yaml.name}: in the kind ${name}, ${line}`));
  }
}

async function sharedTokens({ forward }: FileConfig): Promise<SettingDiagnostic[]> {
  const clients = new Clients(forward?.clients ?? []);
  await clients.read();
  const { all } = clients;
  return diagnosticsOfRepeated(all.map(({ token }) => token?.text), (_, at, first) => ({
    path: ["forward", "clients", at, partsOfPlace(all[at]!.settings).key],
    message: `has the same token as clients[${first}]; each client needs its own`,
  }));
}

/** The places of the names of operations in the setting `forward`. */
function placesIn({ value, placeOf }: YamlFile): Record<string, string> {
  const places: Record<string, string> = {};
  const add = (list: string, path: readonly (string | number)[]) => {
    const names = listOf(valueAt(value, path.map(String)));
    for (const [at, name] of names.entries()) {
      places[placeKey(list, String(name))] = placeOf([...path, at]);
    }
  };
  add("forward.open", ["forward", "open"]);
  for (const [at, client] of listOf(valueAt(value, ["forward", "clients"])).entries()) {
    add(`forward.clients ${objectOf(client).name}`, ["forward", "clients", at, "allow"]);
  }
  return places;
}

type KindPlace = NonNullable<Parameters<typeof checkKind>[1]>;

async function readKind(
  yaml: YamlFile,
  place: KindPlace = { at: [], value: yaml.value },
): Promise<{ kind: Kind; loosened: readonly string[] }> {
  const { extends: name } = objectOf(place.value);
  if (name !== undefined) {
    // Without the known kind, whatever the kind inherits would be missed.
    const { diagnostics } = readValue(name, KNOWN_KIND);
    const path = [...place.at, "extends"];
    const problems = yaml.describe(diagnostics.map((one) => ({ ...one, path })));
    if (problems.length > 0) throw new ConfigError(problems);
  }
  if (typeof name !== "string") {
    return { kind: withoutSecretFiles(checkKind(yaml, place)), loosened: [] };
  }
  const base: Kind = { ...KINDS[name]!, ...await loadInterface(name) };
  const own = withoutSecretFiles(checkKind(yaml, place, base)) as unknown as JsonObject;
  const kind = extendKind(base, own) as unknown as Kind;
  return { kind, loosened: looseningsIn(base, own).map(({ name, how }) => `${name} ${how}`) };
}

export function parseConfiguration(text: string, name: string): YamlFile {
  return readYaml(text, name, "a configuration");
}

type LogoFile = { readonly bytes?: Uint8Array; readonly problem?: string };

async function readLogo(yaml: YamlFile, files: Files): Promise<LogoFile | undefined> {
  const named = valueAt(yaml.value, ["page", "logo"]);
  if (typeof named !== "string" || named === "") return undefined;
  const path = locateBeside(named, yaml.name);
  try {
    const bytes = await files.readBytes(path, LOGO_BYTES_MAX);
    const problem = mistakeInLogo(bytes);
    return problem === undefined ? { bytes } : { problem: `${path}: it ${problem}` };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

interface NamedKind {
  readonly name?: string | undefined;
  readonly file?: string;
  readonly value?: JsonObject;
}

function kindsIn(yaml: YamlFile): NamedKind[] {
  return listOf(valueAt(yaml.value, ["kinds"])).map((item) => {
    if (typeof item === "string") {
      const name = kindNameOf(item);
      return name === undefined ? {} : { name, file: item };
    }
    const { name, ...value } = objectOf(item);
    return { name: textOf(name ?? value.extends), value };
  });
}

/**
 * @param own the operator's valid kinds, by name
 * @throws {ConfigError} with all errors, each with line and column
 */
export function checkFile(
  yaml: YamlFile,
  own: Readonly<Record<string, Kind>> = {},
  overrides: Overrides = {},
  logo?: LogoFile,
): FileConfig {
  const all = kindsIn(yaml).map(({ name }) => name);
  const names = all.filter((name) => name !== undefined);
  const schema = configuration((path) => locateBeside(path, yaml.name), names);
  const { value, diagnostics } = readValue(yaml.value, schema);
  const file = withoutWrong(value, diagnostics);
  const found = [
    ...diagnostics,
    ...sameKinds(all),
    ...forwardConflicts({ ...file, ...overrides }.forward, file.hosts),
  ];
  if (logo?.problem && file.page?.logo) {
    found.push({ path: ["page", "logo"], message: `names ${logo.problem}` });
  }
  // The sources and fields of an invalid kind are unknown.
  if (names.every((name) => Object.hasOwn(own, name))) {
    const kinds = { ...KINDS, ...own };
    const node = { ...file.node, ...overrides.node };
    found.push(
      ...unknownSources(file.info ?? {}, kindsOf(node, kinds)),
      ...unknownKeys(file, kinds),
    );
  }
  if (found.length > 0) throw new ConfigError(yaml.describe(found));
  if (file.forward) file.forward = { ...file.forward, places: placesIn(yaml) };
  return file;
}

function withoutWrong(value: FileConfig, diagnostics: readonly SettingDiagnostic[]): FileConfig {
  if (diagnostics.some(({ path }) => path.length === 0)) return {};
  for (const { path } of diagnostics) {
    const around = valueAt(value, path.slice(0, -1).map(String));
    if (around) (around as Record<string, unknown>)[path.at(-1)!] = undefined;
  }
  return value;
}

function sameKinds(names: readonly (string | undefined)[]): SettingDiagnostic[] {
  return diagnosticsOfRepeated(names, (name, at, first) => ({
    path: ["kinds", at],
    message: `has the same name as kinds[${first}]: ${name}`,
  }));
}

function kindsOf(node: NodeSettings, kinds: Readonly<Record<string, Kind>>): Kind[] {
  if (!hasKind(node)) return [];
  const kind = kinds[node.kind ?? ""];
  return kind ? [kind] : Object.values(kinds);
}

const COMMON_KEYS = ["name", "software", "version", "started_at"];

function unknownKeys(
  { info, node }: FileConfig,
  kinds: Readonly<Record<string, Kind>>,
): SettingDiagnostic[] {
  const shown = [...Object.values(kinds), info ?? {}].flatMap(({ static: fixed, fields }) =>
    Object.keys({ ...fixed, ...fields })
  );
  const names = new Set([...COMMON_KEYS, ...shown]);
  const explain = (key: string | undefined, more: readonly string[] = []) =>
    key === undefined || names.has(key) || more.includes(key)
      ? []
      : [`is not a key of /v1/info${didYouMean(nearest(key, names))}`];
  return [
    ...(info?.hide ?? []).flatMap((key, at) =>
      explain(key, Object.keys(KNOWN_KEYS)).map((message) => ({
        path: ["info", "hide", at],
        message: `is ${describeValue(key)}, which ${message}`,
      }))
    ),
    ...Object.keys(node?.expect ?? {}).flatMap((key) =>
      explain(key).map((message) => ({ path: ["node", "expect", key], message, isKey: true }))
    ),
  ];
}
