/**
 * `nodeface check`: what kind of node it is, what each source gives, what is wrong with the node's
 * description, and what `/v1/info` would say.
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";
import { KINDS } from "../generated/kinds.js";
import { isLoopback } from "../http/request.ts";
import { type Inspection, Monitor } from "../info/info-monitor.ts";
import { findUnreadable } from "../node/client.ts";
import { findOpenSecrets } from "../node/secrets.ts";
import { isAlone, type PlannedSource } from "../info/query-plan.ts";
import type { Outcome } from "../info/sources.ts";
import { formatJson } from "../json/lossless.ts";
import { isObject, mapMembers } from "../json/values.ts";
import { questionOf } from "../settings/node.ts";
import { ConfigError } from "../settings/schema.ts";
import { excerpt, printableJson, withoutKeys } from "../untrusted-text.ts";
import { describeCalls, describeDescription } from "./check-description.ts";
import type { Config } from "./configuration.ts";
import { formatTable, type Progress, type Section, SILENT } from "./output.ts";

export interface Checked {
  /** For people: parts with a heading each, the info last. */
  readonly report: string;
  readonly json: string;
  readonly isWell: boolean;
}

/** Asks the node once, as the service does. */
export async function inspectNode(
  { node, info, kinds: own }: Pick<Config, "node" | "info" | "kinds">,
): Promise<Inspection> {
  const service = { software: "nodeface", version: VERSION, started_at: new Date().toISOString() };
  // What there is to say is said by the command.
  const quiet = { log: () => {}, onError: () => {} };
  const monitor = new Monitor({ service, node, info, kinds: { ...KINDS, ...own }, ...quiet });
  return await monitor.inspect();
}

/**
 * Asks the node and reads its description once.
 *
 * @throws {ConfigError} if there is nothing to check, or a file or a variable that the configuration names cannot be
 * read
 */
export async function check(config: Config, { during }: Progress = SILENT): Promise<Checked> {
  const hasDescription = config.description !== undefined && config.description !== "none";
  const isWithoutNode = isAlone(config.node, config.info);
  if (isWithoutNode && !hasDescription && config.file === undefined) {
    throw new ConfigError(["no node is named, as in nodeface check http://127.0.0.1:8545"]);
  }
  const unreadable = await findUnreadable(config.node);
  if (unreadable.length > 0) throw new ConfigError(unreadable);
  const inspection = await during(
    `asking ${config.node.url ?? "the sources"}`,
    inspectNode(config),
  );
  const { info } = inspection;
  const kind = config.node.kind ?? inspection.detection?.kind;
  const described = await during(
    "reading the description",
    describeDescription(config, kind, info),
  );
  const sections = withoutKeysIn([
    ...describeSecrets(await findOpenSecrets(config.node.auth)),
    ...describeKind(config, inspection),
    ...describeSources(inspection),
    ...isWithoutNode ? [] : [describeService(config)],
    ...described.sections,
    ...await describeCalls(config, described, kind),
  ]);
  const troubles = [
    ...withoutKeysIn(troublesOfStatus(inspection)),
    ...sections.flatMap(({ troubles = [] }) => troubles),
  ];
  return {
    report: reportOf(sections, withoutKeys(verdictOn(troubles, inspection, isWithoutNode)), info),
    json: jsonOf(config, sections, troubles, info),
    isWell: troubles.length === 0,
  };
}

function describeSecrets(notes: readonly string[]): Section[] {
  if (notes.length === 0) return [];
  return [{ title: "Secrets", text: notes.map((note) => `note  ${note}\n`).join(""), notes }];
}

function describeKind({ node }: Config, { detection }: Inspection): Section[] {
  const name = node.kind ?? detection?.kind;
  if (name === undefined && !detection) return [];
  const because = node.kind !== undefined
    ? "it is configured"
    : detection?.kind === undefined
    ? detection!.status.reason
    : detection.because;
  return [{
    title: "Kind",
    text: `The kind of the node is ${name ?? "not known"}: ${because}\n`,
    data: { kind: { ...name !== undefined && { name }, because } },
  }];
}

const WIDTH = 60;

function describeSources({ plan, outcomes }: Inspection): Section[] {
  if (outcomes.size === 0) return [];
  const asked = [...outcomes].map(([name, outcome]) => ({
    ...{ name, outcome, asks: askedBy(plan.sources.get(name)!) },
    took: Math.round(outcome.took),
  }));
  const rows = asked.map(({ name, asks, took, outcome }) => [
    ...[name, asks, `${took} ms`, formatOutcome(outcome)],
  ]);
  const failed = asked.filter(({ outcome }) => "error" in outcome).map(({ name }) => name);
  return [{
    title: "Sources",
    text: formatTable([["SOURCE", "ASKS", "TOOK", "GAVE"], ...rows]),
    troubles: failed.length > 0 ? [`no response of ${failed.join(", ")}`] : [],
    data: {
      sources: asked.map(({ name, asks, took, outcome }) => ({
        ...{ name, asks, took_ms: took },
        ...dataOf(outcome),
      })),
    },
  }];
}

/** Tells what the service does by itself, and who learns of it. */
function describeService({ info, host }: Config): Section {
  const { watch = "off", history } = info;
  const pace = watch === "off"
    ? "The node is asked only while somebody asks the service (info.watch: off)"
    : `The service asks the node every ${watch} by itself (info.watch)`;
  const notes = history === "off" || isLoopback(host) ? [] : [
    `whoever reaches ${host} learns from /v1/history when the node was down; ` +
    "info.history: off switches it off",
  ];
  const text = [pace, ...notes.map((note) => `note  ${note}`)].map((line) => `${line}\n`).join("");
  return { title: "Service", text, notes };
}

function askedBy({ source }: PlannedSource): string {
  return "call" in source ? "the host" : withoutKeys(questionOf(source));
}

function formatOutcome(outcome: Outcome): string {
  if ("error" in outcome) return `failed: ${outcome.error.message}`;
  if (outcome.absent) return `not available (optional): ${outcome.absent.message}`;
  const values = [...outcome.taken].map(([pointer, value]) =>
    `${pointer && `${pointer} `}${value === undefined ? "(nothing)" : formatJson(value, 2)}`
  );
  return excerpt(values.join(", "), WIDTH);
}

/** The values that a source gave, whole: values by JSON Pointer, or why there is none. */
function dataOf(outcome: Outcome): Record<string, unknown> {
  if ("error" in outcome) return { error: outcome.error.message, code: outcome.error.code };
  if (outcome.absent) return { absent: outcome.absent.message };
  const values = [...outcome.taken].filter(([, value]) => value !== undefined);
  return { gave: Object.fromEntries(values) };
}

function troublesOfStatus({ status: { status, reason, hint } }: Inspection): string[] {
  if (status === "ok" || status === "syncing") return [];
  return [`the node is ${status}: ${reason}${hint === undefined ? "" : `; ${hint}`}`];
}

/** A value without the keys in the URLs of its texts: what is printed here is pasted elsewhere. */
function withoutKeysIn<T>(value: T): T {
  if (typeof value === "string") return withoutKeys(value) as T;
  if (Array.isArray(value)) return value.map(withoutKeysIn) as T;
  return isObject(value) ? mapMembers(value, withoutKeysIn) as T : value;
}

/** All that is wrong; where nothing is, what else an operator would want to know of the node. */
function verdictOn(
  troubles: readonly string[],
  { status: { status, reason } }: Inspection,
  isWithoutNode: boolean,
): string {
  if (troubles.length > 0) return troubles.map((trouble) => `- ${trouble}\n`).join("");
  if (isWithoutNode) return "All is well; no node is named, so none was asked\n";
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
