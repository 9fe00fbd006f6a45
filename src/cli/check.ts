/**
 * `nodeface check`: what kind of node it is, what each source gives, what is wrong with the node's
 * description, and what `/v1/info` would say.
 *
 * @module
 */
import { KINDS } from "../generated/kinds.js";
import { findOpenSecrets, findUnreadable } from "../info/node-client.ts";
import { formatJson } from "../json/lossless.ts";
import { isObject } from "../json/values.ts";
import type { Kind } from "../kinds/kind.ts";
import { printableJson, withoutKeys } from "../untrusted-text.ts";
import { describeCalls } from "./check-calls.ts";
import { describeDescription } from "./check-description.ts";
import { describeKind, describeSources, troublesOfStatus } from "./check-node.ts";
import type { Section } from "./check-report-types.ts";
import type { Config } from "./configuration.ts";
import { ConfigError } from "./configuration-error.ts";
import { inspectNode } from "./inspect-node.ts";
import type { Progress } from "./progress.ts";

/** What was found. */
export interface Checked {
  /** For people: parts with a heading each, the info last. */
  readonly report: string;
  /** For programs: one JSON object. */
  readonly json: string;
  /** Whether there is no trouble. */
  readonly isWell: boolean;
}

/**
 * Asks the node and reads its description once.
 *
 * @param progress says what takes long
 * @throws {ConfigError} if a file or a variable that the configuration names cannot be read
 */
export async function check(
  config: Config,
  { during }: Pick<Progress, "during"> = { during: (_, work) => work },
): Promise<Checked> {
  const unreadable = await findUnreadable(config.node);
  if (unreadable.length > 0) throw new ConfigError(unreadable);
  const { inspection, info } = await during(
    `asking ${config.node.url ?? "the sources"}`,
    inspectNode(config),
  );
  const kind = config.node.kind ?? inspection?.detection?.kind;
  const described = await during(
    "reading the description",
    describeDescription(config, kind, info),
  );
  const sections = withoutKeysIn([
    ...describeSecrets(await findOpenSecrets(config.node)),
    ...describeKind(config, inspection),
    ...describeSources(inspection),
    ...described.sections,
    ...await describeCalls(config, described, kindOf(config, kind)),
  ]);
  const troubles = [
    ...withoutKeysIn(troublesOfStatus(inspection)),
    ...sections.flatMap((section) => section.troubles),
  ];
  return {
    report: reportOf(sections, troubles, info),
    json: jsonOf(config, sections, troubles, info),
    isWell: troubles.length === 0,
  };
}

function kindOf({ kinds }: Config, name: string | undefined): Kind | undefined {
  const all = { ...KINDS, ...kinds };
  return name !== undefined && Object.hasOwn(all, name) ? all[name] : undefined;
}

function describeSecrets(notes: readonly string[]): Section[] {
  if (notes.length === 0) return [];
  const text = notes.map((note) => `note  ${note}\n`).join("");
  return [{ title: "Secrets", text, troubles: [], notes }];
}

/** A value without the keys in the URLs of its texts: what is printed here is pasted elsewhere. */
function withoutKeysIn<T>(value: T): T {
  if (typeof value === "string") return withoutKeys(value) as T;
  if (Array.isArray(value)) return value.map(withoutKeysIn) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, value]) => [key, withoutKeysIn(value)]),
  ) as T;
}

function reportOf(sections: readonly Section[], troubles: readonly string[], info: unknown) {
  const verdict = troubles.map((trouble) => `- ${trouble}\n`).join("") || "All is well\n";
  const all = [
    ...sections,
    { title: "Verdict", text: verdict },
    { title: "Info", text: `${printableJson(formatJson(info, 2))}\n` },
  ];
  return all.map(({ title, text }) => `# ${title}\n${text}`).join("\n");
}

function jsonOf(
  { file, node, remarks }: Config,
  sections: readonly Section[],
  troubles: readonly string[],
  info: unknown,
) {
  const notes = [
    ...remarks.map(({ message }) => withoutKeys(message)),
    ...sections.flatMap(({ notes = [] }) => notes),
  ];
  return formatObject({
    ok: troubles.length === 0,
    troubles,
    notes,
    ...file !== undefined && { configuration: file },
    ...node.url !== undefined && { url: node.url },
    ...Object.assign({}, ...sections.map(({ data }) => data)),
    info,
  });
}

/** The one object where the command could not begin: what is wrong, a line each. */
export function jsonOfFailure(troubles: readonly string[]): string {
  return formatObject({ ok: false, troubles, notes: [] });
}

function formatObject(value: unknown): string {
  return `${printableJson(formatJson(value, 2))}\n`;
}
