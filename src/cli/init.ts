/**
 * `nodeface init`: asks the node and writes a configuration for it, with everything that can be set. The text is made of
 * the table of the settings.
 *
 * @module
 */
import { writeFile } from "node:fs/promises";
import { dirname, isAbsolute, relative } from "node:path";
import { isAnchored } from "../platform.ts";
import { VERSION } from "../generated/build-info.js";
import { KINDS } from "../generated/kinds.js";
import type { Detection } from "../info/detect-kind.ts";
import type { NodeStatus } from "../info/status.ts";
import { checkPlace } from "../node/secrets.ts";
import { NO_ANSWER } from "../node/failures.ts";
import type { Kind } from "../kinds/kind.ts";
import { isFilePlace, isKindFile } from "../settings/texts.ts";
import { excerpt } from "../untrusted-text.ts";
import { inspectNode } from "./check.ts";
import type { Config } from "./configuration.ts";
import type { Files } from "./configuration-file.ts";
import { type Progress, SILENT, wrap } from "./output.ts";
import { inFlow } from "./yaml-file.ts";
import { CLI_OPTIONS, configuration } from "../settings/configuration.ts";
import { aboutOf, partsOf, type Schema, type Settings } from "../settings/schema.ts";

const PLACES_MAX = 6;

const WANTS_SECRET: readonly (string | undefined)[] = [
  "unauthorized",
  "forbidden",
  "no_credentials",
];

/** Permissions of a file that says where a secret lies, and of any other. */
const PRIVATE = 0o600, PUBLIC = 0o644;

/** Asks the node and writes the file; returns what to tell the operator. Throws where nothing is written. */
export async function init(
  config: Config,
  files: Pick<Files, "isThere">,
  { during }: Progress = SILENT,
): Promise<string> {
  const path = config.file!;
  if (await files.isThere(path)) {
    throw new Error(
      `${path} exists already and is not changed; name another file with --config`,
    );
  }
  const { status, detection, info } = await during(
    `asking ${config.node.url}`,
    inspectNode(config),
  );
  const name = config.node.kind ?? detection?.kind ?? status.looksLike;
  refuse(config, status, name);
  const kind = { ...KINDS, ...config.kinds }[name ?? ""];
  const secret = kind && await lookForSecret(kind);
  const software = info.software === "nodeface" ? undefined : info.software;
  const title = [software ?? name, info.version].filter((part) => part !== undefined).join(" ");
  const node = excerpt(
    [title || "a node of no known kind", info.network].filter(Boolean).join(", "),
  );
  const text = newConfiguration({
    head: [
      `The configuration of Nodeface ${VERSION}, beside ${node}.`,
      "Every key is optional. A line that begins with # is not read: remove the # to set a key.",
      "Files are relative to this one; ~/ is the home directory, $CREDENTIALS_DIRECTORY/ systemd's.",
    ],
    values: valuesOf(config, path, name),
    remarks: {
      ...secret && { "node.auth": secret.lines },
      ...name !== undefined && { "node.kind": [whyKind(config, detection)] },
    },
    examples: secret ? { "node.auth": secret.example } : {},
  });
  await writeNewFile(path, text, secret ? PRIVATE : PUBLIC);
  return report(config, path, node, status, secret);
}

function refuse({ node, given }: Config, status: NodeStatus, name: string | undefined): void {
  if (name !== undefined) {
    // Whoever names the kind may want the file before the node is there.
    if (given?.kind !== undefined) return;
    if (!isSilent(status)) return;
  }
  const { reason, hint } = status;
  const why = `${node.url}: ${reason}${hint === undefined ? "" : `; ${hint}`}`;
  const advice = isSilent(status)
    ? "Start the node first, or name its kind: with --kind KIND the file is written unasked"
    : "With --kind KIND (see nodeface kinds), or --kind none, the file is written";
  throw new Error(`nothing is written, since the kind of the node is not known\n${why}\n${advice}`);
}

const isSilent = ({ code }: NodeStatus) => (NO_ANSWER as readonly unknown[]).includes(code);

/** Gives what flags, variables and the node say, by the paths of settings. */
function valuesOf(
  { given = {}, host, port }: Config,
  path: string,
  name: string | undefined,
): Record<string, unknown> {
  const beside = (place: string) =>
    isAbsolute(place) || isAnchored(place) || !isFilePlace(place)
      ? place
      : relative(dirname(path), place).replaceAll("\\", "/");
  const { kind, spec, config: _, ...plain } = given;
  const values = Object.entries(plain).map(([setting, value]) =>
    [CLI_OPTIONS[setting as keyof typeof plain].key, value] as const
  );
  const isListening = plain.host !== undefined || plain.port !== undefined;
  return {
    ...Object.fromEntries(values),
    ...isListening && { listen: `${host.includes(":") ? `[${host}]` : host}:${port}` },
    ...spec !== undefined && { description: beside(spec) },
    ...kind !== undefined && isKindFile(kind) && { kinds: [beside(kind)] },
    ...name !== undefined && { "node.kind": name },
  };
}

function whyKind({ node }: Config, detection: Detection | undefined): string {
  if (node.kind !== undefined) return "It was named.";
  const because = detection?.kind === undefined
    ? "it refuses as nodes of this kind do"
    : excerpt(detection.because);
  return `It was found by asking: ${because}`;
}

interface SecretPlaces {
  readonly lines: readonly string[];
  readonly example: unknown;
}

async function lookForSecret({ auth }: Kind): Promise<SecretPlaces | undefined> {
  const { files = [], example = files[0] } = auth ?? {};
  if (example === undefined) return undefined;
  const looked = await Promise.all(files.map(checkPlace));
  const found = looked.filter(({ reason }) => reason === undefined);
  const told = (found.length > 0 ? found : looked).slice(0, PLACES_MAX);
  const more = (found.length > 0 ? found : looked).length - told.length;
  const lines = [
    files.length === 0
      ? "Nodes of this kind leave it in no usual place."
      : "Without this key it is looked for where nodes of this kind leave it:",
    ...told.map(({ name, reason }) => `  ${name}: ${reason ?? "it is there"}`),
    ...more > 0 ? [`  and ${more} more places`] : [],
  ];
  return { lines, example };
}

function report(
  { node, file, given }: Config,
  path: string,
  name: string,
  { status, code, reason }: NodeStatus,
  secret: SecretPlaces | undefined,
): string {
  const isUsual = given?.config === undefined;
  const flag = isUsual ? "" : ` --config ${file}`;
  const isWanting = WANTS_SECRET.includes(code);
  const example = inFlow(secret?.example ?? { basic_file: "/path/to/secret" });
  const lines = [
    `${path} is written, for ${node.url}: ${name}`,
    ...code === undefined ? [] : [`The node is ${status}: ${reason}`],
    ...isWanting
      ? [
        ...secret?.lines ?? [],
        `Set auth below node in ${path} to where its secret lies, such as`,
        `  auth: ${example}`,
      ]
      : [],
    `Next: nodeface check${flag}, then nodeface${flag}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

const LONGEST = 92;

interface Known {
  /** The lines at its head. */
  readonly head: readonly string[];
  /** The values of settings by their paths, such as `node.url`. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Further lines on settings, by their paths. */
  readonly remarks: Readonly<Record<string, readonly string[]>>;
  /** Examples of settings that fit here, in place of those of the table. */
  readonly examples: Readonly<Record<string, unknown>>;
}

export function newConfiguration(known: Known): string {
  const { entries } = partsOf(configuration());
  const head = known.head.map((line) => `# ${line}\n`).join("");
  return `${head}\n${blocksOf(entries!, "", known).join("\n")}`;
}

/** A text for each setting. The heads of objects stand there as they are: an empty one says nothing. */
function blocksOf(settings: Settings, path: string, known: Known): string[] {
  return Object.entries(settings).map(([key, setting]) => {
    const place = path ? `${path}.${key}` : key;
    const { entries } = partsOf(setting);
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

/** Shows a setting as an object, where it is a word as a rule; nothing for others. */
function longForm(setting: Schema): string {
  const forms = (partsOf(setting).options ?? []).map((option) => partsOf(option));
  const entries = forms.find(({ entries }) => entries)?.entries;
  if (!entries || forms.every(({ entries }) => entries)) return "";
  const members = Object.entries(entries).map(([key, member]) => {
    const { example, default: usual } = aboutOf(member);
    return [key, example ?? usual] as const;
  });
  const shown = members.filter(([, value]) => value !== undefined);
  return `As an object: { ${shown.map(([key, value]) => `${key}: ${value}`).join(", ")} }`;
}

function lineOf(key: string, place: string, setting: Schema, known: Known): string {
  if (Object.hasOwn(known.values, place)) return `${key}: ${inFlow(known.values[place])}\n`;
  const { example, default: usual } = aboutOf(setting);
  const shown = Object.hasOwn(known.examples, place)
    ? inFlow(known.examples[place])
    : example ?? usual ?? "";
  return `#${key}: ${shown}\n`;
}

const WRITE_FAILURES: Readonly<Record<string, string>> = {
  EEXIST: "it exists already and is not changed",
  ENOENT: "no such folder",
  ENOTDIR: "no such folder",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "nothing can be written there",
  ENOSPC: "no space left",
  NotCapable: "the runtime has not been allowed to write it",
};

/** Writes a file that is not there yet, and never over another one; throws with a message for the operator. */
export async function writeNewFile(path: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx", mode });
  } catch (error) {
    const { code, name } = error as { code?: string; name: string };
    const reason = WRITE_FAILURES[code ?? name];
    if (reason === undefined) throw error;
    throw new Error(`cannot write ${path}: ${reason}`);
  }
}
