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
import { isAlone } from "../info/info-without-node.ts";
import type { Inspection } from "../info/info-monitor.ts";
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
 * @throws {ConfigError} if there is nothing to check, or a file or a variable that the configuration names cannot be
 * read
 */
export async function check(
  config: Config,
  { during }: Pick<Progress, "during"> = { during: (_, work) => work },
): Promise<Checked> {
  const hasDescription = config.description !== undefined && config.description !== "none";
  const isWithoutNode = isAlone(config.node, config.info);
  if (isWithoutNode && !hasDescription && config.file === undefined) {
    throw new ConfigError([NO_NODE]);
  }
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
    report: reportOf(sections, withoutKeys(verdictOn(troubles, inspection)), info),
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

/** What to say where there is nothing to check. */
const NO_NODE = "no node is named, as in nodeface check http://127.0.0.1:8545";

/** All that is wrong; where nothing is, what else an operator would want to know of the node. */
function verdictOn(troubles: readonly string[], inspection: Inspection | undefined): string {
  if (troubles.length > 0) return troubles.map((trouble) => `- ${trouble}\n`).join("");
  if (!inspection) return "All is well; no node is named, so none was asked\n";
  const { status, reason } = inspection.status;
  return status === "ok" ? "All is well\n" : `All is well; the node is ${status}: it ${reason}\n`;
}

function reportOf(sections: readonly Section[], verdict: string, info: unknown) {
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
