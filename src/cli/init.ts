/**
 * `nodeface init`: queries the node and writes a configuration for it, with most settings
 * explained.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, relative } from "node:path";
import { expandPath, isAnchored } from "../platform.ts";
import { VERSION } from "../generated/build-info.js";
import { KINDS } from "../generated/kinds.js";
import type { Detection } from "../info/detect-kind.ts";
import { openNode } from "../info/open-node.ts";
import { lintTokens } from "../gateway/lint-settings.ts";
import { resolveForward } from "../gateway/policy.ts";
import type { Info } from "../info/info.ts";
import type { NodeStatus } from "../info/status.ts";
import { checkPlace } from "../node/secrets.ts";
import { NO_ANSWER } from "../node/failures.ts";
import type { Kind } from "../kinds/kind.ts";
import type { ForwardSettings } from "../setting-types.ts";
import { isFilePlace, isKindFile } from "../settings/texts.ts";
import { excerpt, withoutKeys } from "../untrusted-text.ts";
import { inspectNode } from "./check.ts";
import type { Config } from "./read-config.ts";
import type { Files } from "./configuration-file.ts";
import { type Progress, SILENT, wrap } from "./output.ts";
import { inFlow } from "./yaml-file.ts";
import { configuration } from "../settings/configuration.ts";
import { CLI_OPTIONS, type CliValues } from "../settings/flags.ts";
import {
  aboutOf,
  ConfigError,
  partsOfSchema,
  type Schema,
  type Settings,
} from "../settings/schema.ts";

const PLACES_MAX = 6;

const WANTS_SECRET: readonly string[] = ["unauthorized", "forbidden", "no_credentials"];

const PRIVATE = 0o600, PUBLIC = 0o644;

/** Returns the report, or throws if the configuration cannot be written. */
export async function init(
  config: Config,
  values: CliValues,
  files: Pick<Files, "isThere">,
  { during }: Progress = SILENT,
): Promise<string> {
  const path = expandPath(config.file!);
  if (await files.isThere(path)) {
    throw new Error(`${path} exists already and is not changed; name another file with --config`);
  }
  const { status, detection, info } = await during(
    `asking ${withoutKeys(config.node.url!)}`,
    inspectNode(openNode(config.node, config.kinds), config.info),
  );
  const kind = config.node.kind ?? detection?.kind ?? status.looksLike;
  requireKind(config, values, status, kind);
  const secret = await lookForSecret({ ...KINDS, ...config.kinds }[kind ?? ""]?.auth);
  const title = titleOf(info, kind);
  const token = values.forward === "reads" ? await placeToken(path, files) : undefined;
  const text = newConfiguration({
    head: [
      `The configuration of Nodeface ${VERSION} for ${title}.`,
      "Most keys are optional. Lines that begin with # are ignored: to set a key, remove its #.",
      "Paths are relative to this file; ~/ is the home directory.",
      "$CREDENTIALS_DIRECTORY/ is the folder in which systemd puts the credentials of a service.",
    ],
    values: {
      ...fileContent(config, values, path, kind),
      ...identityIn(info),
      ...token && { forward: withOneClient(basename(token.path)) },
    },
    remarks: {
      ...secret && { "node.auth": secret.lines },
      ...kind !== undefined && { "node.kind": [whyKind(config, detection)] },
      "node.expect": ["What nodeface init has seen, if the node has told it."],
    },
    examples: secret ? { "node.auth": secret.example } : {},
  });
  const hasKey = [config.node.url!, values.spec ?? ""].some((url) => withoutKeys(url) !== url);
  await writeNewFile(path, text, secret || hasKey ? PRIVATE : PUBLIC);
  if (token && !token.isThere) await writeToken(token.path, path);
  const flag = values.config === undefined ? "" : ` --config ${inShell(path)}`;
  return [
    `Wrote ${path} for ${withoutKeys(config.node.url!)}: ${title}`,
    ...token ? [`${token.path} has the token of the client ${CLIENT}`] : [],
    ...adviceOn(status, path, secret),
    `Next: nodeface check${flag}, then nodeface${flag}\n`,
  ].join("\n");
}

function titleOf({ software, version, network }: Info, kind: string | undefined): string {
  const name = software ?? (kind === "none" ? undefined : kind);
  const program = [name, version].filter((part) => part !== undefined).join(" ");
  return excerpt([program || "a node of unknown kind", network].filter(Boolean).join(", "));
}

interface TokenFile {
  readonly path: string;
  readonly isThere: boolean;
}

/** Places the client's token beside the configuration. A token that is there already is kept. */
async function placeToken(
  configurationPath: string,
  files: Pick<Files, "isThere">,
): Promise<TokenFile> {
  const path = `${configurationPath.replace(/\.[^./\\]*$/, "")}.token`;
  const isThere = await files.isThere(path);
  if (isThere) {
    const wrong = await lintTokens(resolveForward(withOneClient(path)));
    if (wrong.length > 0) throw new ConfigError(wrong.map(({ message }) => message));
  }
  return { path, isThere };
}

async function writeToken(path: string, configurationPath: string): Promise<void> {
  try {
    await writeNewFile(path, `${randomBytes(32).toString("hex")}\n`, PRIVATE);
  } catch (error) {
    // Without its token, the configuration has an error, and would be in the way of the next try.
    await rm(configurationPath);
    throw error;
  }
}

function inShell(path: string): string {
  if (/^[\w./~-]+$/.test(path)) return path;
  return process.platform === "win32" ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}

const CLIENT = "app";

/** The client has a share and a name of its own; the operator adds what else it may call. */
const withOneClient = (token: string): ForwardSettings => ({
  open: ["reads"],
  clients: [{ name: CLIENT, token_file: token, allow: ["reads"] }],
});

/** Pins what tells the chains of one kind apart. Several currencies have a network `main`. */
function identityIn({ chain_id, network, software }: Info): Record<string, unknown> {
  if (chain_id !== undefined) return { "node.expect": { chain_id } };
  if (network === undefined) return {};
  return { "node.expect": { network, ...software !== undefined && { software } } };
}

function requireKind(
  { node }: Config,
  values: CliValues,
  status: NodeStatus,
  name: string | undefined,
): void {
  const { code, reason, hint } = status;
  const isSilent = (NO_ANSWER as readonly unknown[]).includes(code);
  // If --kind is given, the file is written even if the node does not respond.
  if (name !== undefined && (values.kind !== undefined || !isSilent)) return;
  const why = `${node.url}: ${reason}${hint === undefined ? "" : `; ${hint}`}`;
  const advice = isSilent
    ? "Start the node first, or name its kind with --kind KIND"
    : "Name its kind with --kind KIND (see nodeface kinds), or write --kind none";
  throw new Error(`the kind of the node is not known, so nothing is written\n${why}\n${advice}`);
}

function fileContent(
  { host, port }: Config,
  values: CliValues,
  path: string,
  name: string | undefined,
): Record<string, unknown> {
  const beside = (place: string) =>
    isAbsolute(place) || isAnchored(place) || !isFilePlace(place)
      ? place
      : relative(dirname(path), place).replaceAll("\\", "/");
  const { kind, spec, config: _, ...plain } = values;
  const content: Record<string, unknown> = {};
  for (const [setting, value] of Object.entries(plain)) {
    content[CLI_OPTIONS[setting as keyof typeof plain].key!] = value;
  }
  if (content.listen !== undefined) {
    content.listen = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  }
  if (spec !== undefined) content.description = beside(spec);
  if (kind !== undefined && isKindFile(kind)) content.kinds = [beside(kind)];
  if (name !== undefined) content["node.kind"] = name;
  return content;
}

function whyKind({ node }: Config, detection: Detection | undefined): string {
  if (node.kind !== undefined) return "This kind was given to nodeface init.";
  const isFound = detection?.kind !== undefined;
  const because = isFound
    ? excerpt(detection.because)
    : "the node refuses access in a way typical of this kind";
  return `This kind was detected: ${because}`;
}

interface SecretPlaces {
  readonly lines: readonly string[];
  readonly example: unknown;
}

async function lookForSecret(auth: Kind["auth"] = {}): Promise<SecretPlaces | undefined> {
  const { files = [], example = files[0] } = auth;
  if (example === undefined) return undefined;
  if (files.length === 0) {
    return { lines: ["Nodes of this kind have no usual place for their secret."], example };
  }
  const all = await Promise.all(files.map(checkPlace));
  const found = all.filter(({ reason }) => reason === undefined);
  const places = found.length > 0 ? found : all;
  const lines = [
    "Without node.auth, the secret is read from the usual places of this kind:",
    ...places.slice(0, PLACES_MAX).map(({ name, reason }) => `  ${name}: ${reason ?? "found"}`),
  ];
  const more = places.length - PLACES_MAX;
  if (more > 0) lines.push(`  and ${more} more places`);
  return { lines, example };
}

function adviceOn(
  { status, code, reason }: NodeStatus,
  path: string,
  secret: SecretPlaces | undefined,
): string[] {
  if (code === undefined) return [];
  const fault = `The node is ${status}: ${reason}`;
  if (!WANTS_SECRET.includes(code)) return [fault];
  const example = inFlow(secret?.example ?? { basic_file: "/path/to/secret" });
  return [
    fault,
    ...secret?.lines ?? [],
    `In ${path}, set node.auth to the place of the node's secret, such as\n  auth: ${example}`,
  ];
}

const LONGEST = 92;

/** The keys of `values`, `remarks` and `examples` are paths of settings, such as `node.url`. */
interface Known {
  readonly head: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly remarks: Readonly<Record<string, readonly string[]>>;
  readonly examples: Readonly<Record<string, unknown>>;
}

export function newConfiguration(known: Known): string {
  const { entries } = partsOfSchema(configuration());
  const head = known.head.map((line) => `# ${line}\n`).join("");
  return `${head}\n${blocksOf(entries!, "", known).join("\n")}`;
}

/**
 * Never comments out a key that holds an object, even if all keys of the object are commented out.
 */
function blocksOf(settings: Settings, path: string, known: Known): string[] {
  return Object.entries(settings).map(([key, setting]) => {
    const place = path ? `${path}.${key}` : key;
    const { entries } = partsOfSchema(setting);
    const { example } = aboutOf(setting);
    const comment = commentOf(setting, known.remarks[place]);
    if (!entries || example !== undefined) return comment + lineOf(key, place, setting, known);
    const inner = blocksOf(entries, place, known).join("");
    return `${comment}${key}:\n${inner.replaceAll(/^(?=.)/gm, "  ")}`;
  });
}

function commentOf(setting: Schema, remarks: readonly string[] = []): string {
  const { text, default: usual } = aboutOf(setting);
  const whole = usual === undefined ? text : `${text}. Default: ${usual}`;
  const lines = [...wrap(whole, LONGEST), ...wrap(longForm(setting), LONGEST), ...remarks];
  return lines.filter(Boolean).map((line) => `# ${line}\n`).join("");
}

function longForm(setting: Schema): string {
  const forms = (partsOfSchema(setting).options ?? []).map((option) =>
    partsOfSchema(option).entries
  );
  const entries = forms.find((entries) => entries !== undefined);
  if (!entries || !forms.includes(undefined)) return "";
  const members = Object.entries(entries).flatMap(([key, member]) => {
    const { default: usual, example = usual } = aboutOf(member);
    return example === undefined ? [] : [`${key}: ${example}`];
  });
  return `As an object: { ${members.join(", ")} }`;
}

function lineOf(key: string, place: string, setting: Schema, known: Known): string {
  if (Object.hasOwn(known.values, place)) return `${key}: ${inFlow(known.values[place])}\n`;
  const { default: usual = "", example = usual } = aboutOf(setting);
  const fitting = known.examples[place];
  return `#${key}: ${fitting === undefined ? example : inFlow(fitting)}\n`;
}

const WRITE_FAILURES: Readonly<Record<string, string>> = {
  EEXIST: "it exists already and is not changed",
  ENOENT: "no such folder",
  ENOTDIR: "no such folder",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left",
  NotCapable: "Deno needs the permission --allow-write",
};

/** If writing fails, leaves no partial file. */
export async function writeNewFile(path: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(path, text, { mode, flag: "wx" });
  } catch (error) {
    const { code, name } = error as { code?: string; name: string };
    if (code !== "EEXIST") await rm(path, { force: true }).catch(() => {});
    const reason = WRITE_FAILURES[code ?? name];
    if (reason === undefined) throw error;
    throw new Error(`cannot write ${path}: ${reason}`);
  }
}
