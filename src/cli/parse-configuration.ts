/**
 * The configuration file: YAML, of which JSON is a part. Everything that is wrong in it is found at
 * once and has its position.
 *
 * @module
 */
import { KINDS } from "../generated/kinds.js";
import type { Forward } from "../gateway/forward-settings.ts";
import type { InfoSettings, NodeSettings } from "../info/node-and-info-settings.ts";
import type { Field, Kind } from "../kinds/kind.ts";
import { mistakeInLogo } from "../explorer/logo.ts";
import { objectOf } from "../json/values.ts";
import type { LogCalls } from "../log.ts";
import { configuration } from "../options-schema.ts";
import { type Mistake, readValue } from "../settings/check.ts";
import type { LOGS } from "../settings/flags-and-variables.ts";
import { mistakesWithForward } from "../settings/forward-schema.ts";
import { kindNameOf } from "../settings/kind-name.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { show } from "../settings/show.ts";
import { hasKind, unknownSources } from "../settings/unknown-sources.ts";
import { ConfigError } from "./configuration-error.ts";
import { locateBeside, parseYaml } from "./parse-yaml.ts";

/** What a configuration file may say. */
export interface FileConfig {
  listen?: { host: string; port: number };
  log?: (typeof LOGS)[number];
  log_calls?: LogCalls;
  hosts?: readonly string[] | "*";
  cors?: readonly string[] | "*";
  /** A path as the process sees it, a URL, or `none`; with what becomes of its servers. */
  description?: string | { from: string; servers?: string };
  /** The files of the operator's own kinds, as the process sees them. */
  kinds?: readonly string[];
  /** The logo is a file, as the process sees it. */
  page?: { title?: string; logo?: string };
  node?: NodeSettings;
  forward?: Forward;
  metrics?: boolean;
  info?: InfoSettings;
}

/** What came of reading the file of the logo: its bytes, or why there are none. */
export type LogoFile = { readonly bytes: Uint8Array } | { readonly mistake: string };

/**
 * Reads a configuration file.
 *
 * @param text what is in it
 * @param name its own path, which messages call it by and paths in it are relative to
 * @param own the operator's own kinds, by name, as far as their files are right
 * @param given what flags and variables say of the node and of `forward`, which goes before the file
 * @param logo what came of the file that {@linkcode logoIn} names
 * @throws {ConfigError} with everything that is wrong, each with line and column
 */
export function parseFile(
  text: string,
  name: string,
  own: Readonly<Record<string, Kind>> = {},
  given: Pick<NodeSettings, "url" | "kind"> & { readonly forward?: Forward } = {},
  logo?: LogoFile,
): FileConfig {
  const { value, describe } = parseYaml(text, name, "a configuration");
  const names = kindFilesOf(value).map((path) => kindNameOf(path)!);
  const schema = configuration((path) => locateBeside(path, name), names);
  const { value: read, mistakes } = readValue(value, schema);
  const config = withoutMistakes(read, mistakes) as FileConfig;
  const { forward = config.forward, ...givenNode } = given;
  const kinds = { ...KINDS, ...own };
  const found = [
    ...mistakes,
    ...sameKinds(config),
    ...mistakesInLogo(config, logo),
    ...mistakesWithForward(forward, config.hosts, undefined),
  ];
  // What a kind brings along is not known where its file is wrong.
  if (names.every((name) => Object.hasOwn(own, name))) {
    const node = { ...config.node, ...givenNode };
    found.push(
      ...unknownSources(withRightFields(config.info), kindsOf(node, kinds)),
      ...unknownKeys(config, kinds),
    );
  }
  if (found.length > 0) throw new ConfigError(describe(found));
  return config;
}

/** The file of the logo, as the process sees it. What is wrong is left to {@linkcode parseFile}. */
export function logoIn(text: string, name: string): string | undefined {
  try {
    const { value } = parseYaml(text, name, "a configuration");
    const path = objectOf(objectOf(value).page).logo;
    return typeof path === "string" && path !== "" ? locateBeside(path, name) : undefined;
  } catch {
    return undefined;
  }
}

/** What is wrong with the file of the logo. */
function* mistakesInLogo({ page }: FileConfig, logo: LogoFile | undefined): Generator<Mistake> {
  if (!logo || !page?.logo) return;
  const wrong = "bytes" in logo ? mistakeInLogo(logo.bytes) : undefined;
  const message = "bytes" in logo ? wrong && `${page.logo}: it ${wrong}` : logo.mistake;
  if (message) yield { path: ["page", "logo"], message: `names ${message}`, isKey: false };
}

/**
 * The files of the operator's own kinds, as the process sees them. What is wrong is left to
 * {@linkcode parseFile}.
 */
export function kindFilesIn(text: string, name: string): string[] {
  try {
    const { value } = parseYaml(text, name, "a configuration");
    return kindFilesOf(value).map((path) => locateBeside(path, name));
  } catch {
    return [];
  }
}

/** The files that `kinds` names rightly. */
function kindFilesOf(value: unknown): string[] {
  const { kinds = [] } = value as { kinds?: unknown };
  return [kinds].flat().filter((path): path is string =>
    typeof path === "string" && kindNameOf(path) !== undefined
  );
}

/** Files of kinds that would have the same name. */
function* sameKinds({ kinds = [] }: FileConfig): Generator<Mistake> {
  const names = kinds.map((path) => path === undefined ? undefined : kindNameOf(path));
  for (const [at, name] of names.entries()) {
    const first = names.indexOf(name);
    if (name === undefined || first === at) continue;
    const message = `is called as kinds[${first}] is: ${name}`;
    yield { path: ["kinds", at], message, isKey: false };
  }
}

/** The same value with `undefined` where something is wrong. */
function withoutMistakes(value: unknown, mistakes: readonly Mistake[]): unknown {
  const root = { value };
  for (const { path } of mistakes) {
    const keys = ["value", ...path];
    const last = keys.pop()!;
    let around: unknown = root;
    for (const key of keys) around = (around as Record<string, unknown> | undefined)?.[key];
    if (around) (around as Record<string, unknown>)[last] = undefined;
  }
  return root.value ?? {};
}

/** The kinds that the node may be. */
function kindsOf(node: NodeSettings, kinds: Readonly<Record<string, Kind>>): Kind[] {
  if (!hasKind(node)) return [];
  const kind = kinds[node.kind ?? ""];
  return kind ? [kind] : Object.values(kinds);
}

/** The info without the fields that are wrong in themselves, which has been said by then. */
function withRightFields(info: InfoSettings = {}): InfoSettings {
  const fields = Object.entries(info.fields ?? {}).filter(([, field]) => isReadable(field));
  return { ...info, fields: Object.fromEntries(fields) };
}

/** Whether the places that a field names are right; `undefined` stands where they are not. */
function isReadable(field: Field | undefined): boolean {
  if (field === undefined || typeof field === "string") return field !== undefined;
  return [field.from].flat().every((reference) => reference !== undefined);
}

/** Keys of the info that every kind may have, and that can be hidden. */
const COMMON_KEYS = ["name", "software", "version", "started_at"];

/** The keys to be hidden that nothing could show. */
function* unknownKeys(
  { info }: FileConfig,
  kinds: Readonly<Record<string, Kind>>,
): Generator<Mistake> {
  const names = new Set(COMMON_KEYS);
  for (const { static: fixed, fields } of [...Object.values(kinds), info ?? {}]) {
    for (const key of Object.keys({ ...fixed, ...fields })) names.add(key);
  }
  for (const [at, key] of (info?.hide ?? []).entries()) {
    if (key === undefined || names.has(key)) continue;
    const message = `is ${show(key)}, a key that nothing shows${didYouMean(nearest(key, names))}`;
    yield { path: ["info", "hide", at], message, isKey: false };
  }
}
