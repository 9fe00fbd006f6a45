/**
 * `nodeface init`: asks the node and writes a configuration for it, with everything that can be set.
 *
 * @module
 */
import { dirname, isAbsolute, relative } from "node:path";
import { isAnchored } from "../expand-path.ts";
import { VERSION } from "../generated/build-info.js";
import { KINDS } from "../generated/kinds.js";
import type { NodeStatus } from "../info/status.ts";
import { checkPlace } from "../node/secrets.ts";
import { NO_ANSWER } from "../node/failures.ts";
import type { Kind } from "../kinds/kind.ts";
import { isFilePlace, isKindFile } from "../settings/texts.ts";
import { excerpt } from "../untrusted-text.ts";
import { type Inspected, inspectNode } from "./check.ts";
import type { Config } from "./configuration.ts";
import { type Files, writeNewFile } from "./files.ts";
import { inFlow, newConfiguration } from "./new-configuration.ts";
import { type Progress, SILENT } from "./terminal.ts";

/** The most usual places of a secret that are named. */
const PLACES_MAX = 6;

/** Statuses that say that the node wants a secret, and does not get one. */
const WANTS_SECRET: readonly (string | undefined)[] = [
  "unauthorized",
  "forbidden",
  "no_credentials",
];

/** Permissions of a file that says where a secret lies, and of any other. */
const PRIVATE = 0o600, PUBLIC = 0o644;

/**
 * Asks the node and writes the file.
 *
 * @param progress says what takes long
 * @returns what to tell the operator, with line breaks
 * @throws {Error} where nothing is written, with a message for the operator
 */
export async function init(
  config: Config,
  files: Pick<Files, "isThere">,
  { during }: Progress = SILENT,
): Promise<string> {
  const path = config.file!;
  if (await files.isThere(path)) {
    throw new Error(
      `${path} is there already, and stays as it is; name another file with --config`,
    );
  }
  const inspected = await during(`asking ${config.node.url}`, inspectNode(config));
  const { status } = inspected.inspection!;
  const name = config.node.kind ?? inspected.inspection!.detection?.kind ?? status.looksLike;
  refuse(config, status, name);
  const kind = { ...KINDS, ...config.kinds }[name ?? ""];
  const secret = kind && await lookForSecret(kind);
  const { version, network } = inspected.info as Record<string, unknown>;
  const software = inspected.info.software === "nodeface" ? undefined : inspected.info.software;
  const title = [software ?? name, version].filter((part) => part !== undefined).join(" ");
  const node = excerpt([title || "a node of no known kind", network].filter(Boolean).join(", "));
  const text = newConfiguration({
    head: [
      `The configuration of Nodeface ${VERSION}, beside ${node}.`,
      "Every key may be left out. A line that begins with # is not read: remove the # to set a key.",
      "Files are relative to this one; ~/ is the home directory, $CREDENTIALS_DIRECTORY/ systemd's.",
    ],
    values: valuesOf(config, path, name),
    remarks: {
      ...secret && { "node.auth": secret.lines },
      ...name !== undefined && { "node.kind": [whyKind(config, inspected)] },
    },
    examples: secret ? { "node.auth": secret.example } : {},
  });
  await writeNewFile(path, text, secret ? PRIVATE : PUBLIC);
  return report(config, path, node, status, secret);
}

/** Refuses to write where nothing would be right. */
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
  { given = {}, host, port, node }: Config,
  path: string,
  name: string | undefined,
): Record<string, unknown> {
  const beside = (place: string) =>
    isAbsolute(place) || isAnchored(place) || !isFilePlace(place)
      ? place
      : relative(dirname(path), place).replaceAll("\\", "/");
  const isListening = given.host !== undefined || given.port !== undefined;
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return {
    ...isListening && { listen: `${shownHost}:${port}` },
    ...given.accessLog !== undefined && { access_log: given.accessLog },
    ...given.logCalls !== undefined && { log_calls: given.logCalls },
    ...given.metrics !== undefined && { metrics: given.metrics },
    ...given.spec !== undefined && { description: beside(given.spec) },
    ...given.forward !== undefined && { forward: given.forward },
    ...given.kind !== undefined && isKindFile(given.kind) && { kinds: [beside(given.kind)] },
    "node.url": node.url,
    ...name !== undefined && { "node.kind": name },
  };
}

function whyKind({ node }: Config, { inspection }: Inspected): string {
  if (node.kind !== undefined) return "It was named.";
  const detection = inspection?.detection;
  const because = detection?.kind === undefined
    ? "it refuses as nodes of this kind do"
    : excerpt(detection.because);
  return `It was found by asking: ${because}`;
}

/** The places where nodes of a kind leave their secret. */
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
