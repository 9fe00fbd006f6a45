/**
 * `nodeface check`: reports the kind of the node, its sources, its description and `/v1/info`.
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";
import { KINDS } from "../generated/kinds.js";
import { isLoopbackListener } from "../http/host-names.ts";
import { type Inspection, Monitor } from "../info/monitor.ts";
import { openNode } from "../info/open-node.ts";
import { findUnusable } from "../node/http-client.ts";
import type { Node } from "../node/node.ts";
import { findOpenSecrets } from "../node/secrets.ts";
import {
  isWithoutNode,
  parseReference,
  type Plan,
  type PlannedSource,
  referencesOf,
} from "../info/query-plan.ts";
import type { QueryOutcome } from "../info/sources.ts";
import { clausesOf } from "../info/status.ts";
import { formatJson } from "../json/lossless.ts";
import { isEqual, isObject, mapMembers, textOf } from "../json/values.ts";
import type { Reference } from "../kinds/parts.ts";
import { ConfigError, UsageError } from "../settings/schema.ts";
import { excerpt, printableJson, withoutKeys } from "../untrusted-text.ts";
import { describeCalls, describeDescription, lintForward } from "./check-description.ts";
import type { Config } from "./read-config.ts";
import { formatTable, type Progress, type ReportSection, SILENT } from "./output.ts";

export interface Checked {
  readonly report: string;
  readonly json: string;
  readonly isWell: boolean;
}

export async function inspectNode(
  node: Node,
  info: Config["info"],
): Promise<Inspection> {
  const service = { software: "nodeface", version: VERSION, started_at: new Date().toISOString() };
  return await new Monitor(node, { service, info, log: () => {}, onError: () => {} }).inspect();
}

/**
 * @throws {UsageError} if there is nothing to check
 * @throws {ConfigError} if credentials cannot be read
 */
export async function check(config: Config, { during }: Progress = SILENT): Promise<Checked> {
  const hasDescription = config.description !== undefined && config.description !== "none";
  const hasNoNode = isWithoutNode(config);
  if (hasNoNode && !hasDescription && config.file === undefined) {
    throw new UsageError(["name a node, as in nodeface check http://127.0.0.1:8545"]);
  }
  const unusable = await findUnusable(config.node);
  if (unusable.length > 0) {
    const others = (await lintForward(config)).filter(({ level }) => level === "error");
    throw new ConfigError(messagesOf([...unusable, ...others]));
  }
  const asked = `asking ${withoutKeys(config.node.url ?? "the sources")}`;
  const node = openNode(config.node, config.kinds);
  const inspection = await during(asked, inspectNode(node, config.info));
  const { info, status: { status }, software, version } = inspection;
  const known = { status, software, version, shownVersion: textOf(info.version) };
  const describing = describeDescription(config, node, known);
  const described = await during("reading the description", describing);
  const sections = withoutKeysIn([
    ...describeSecrets(await findOpenSecrets(config.node.auth)),
    ...describeKind(config, inspection),
    ...describeSources(config, inspection),
    ...hasNoNode ? [] : [describeService(config)],
    ...described.sections,
    ...await describeCalls(config, described, node),
  ]);
  const troubles = [
    ...withoutKeysIn(troublesOfStatus(inspection)),
    ...sections.flatMap(({ troubles = [] }) => troubles),
  ];
  return {
    report: reportOf(sections, withoutKeys(verdictOn(troubles, inspection, hasNoNode)), info),
    json: writeReport(config, sections, troubles, info),
    isWell: troubles.length === 0,
  };
}

/**
 * Checks the configuration without any query.
 *
 * @throws {ConfigError} with the errors that the service would log
 */
export async function checkOffline(config: Config): Promise<Pick<Checked, "report" | "json">> {
  const found = await lintForward(config);
  const all = [
    ...found.filter(({ level }) => level === "error"),
    ...await findUnusable({ tls: config.node.tls }),
  ];
  // The service may be another user, and systemd hides credentials from other programs than it. A
  // disk that is away must not keep a reload from ending rights.
  const errors = all.filter(({ dependsOnReader }) => !dependsOnReader);
  if (errors.length > 0) throw new ConfigError(messagesOf(errors));
  // A node that has stopped may have removed its secret.
  const notes = messagesOf([...all, ...await findUnusable({ auth: config.node.auth })]);
  const remarks = config.remarks.map(({ message }) => withoutKeys(message));
  return {
    report: linesOf([...notes.map(markNote), "The configuration has no errors"]),
    json: jsonOfTroubles([], [...remarks, ...notes]),
  };
}

const messagesOf = (found: readonly { readonly message: string }[]) =>
  found.map(({ message }) => message);

function describeSecrets(notes: readonly string[]): ReportSection[] {
  if (notes.length === 0) return [];
  return [{ title: "Secrets", text: linesOf(notes.map(markNote)), notes }];
}

const markNote = (note: string) => `note  ${note}`;

const linesOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

function describeKind({ node }: Config, { detection }: Inspection): ReportSection[] {
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

function describeSources(config: Config, inspection: Inspection): ReportSection[] {
  const { plan, outcomes } = inspection;
  const notes = [...describeEmptyFields(config, inspection), ...describeUnused(config, plan)];
  if (outcomes.size === 0 && notes.length === 0) return [];
  const table = [["SOURCE", "ASKS", "TOOK", "GAVE"]];
  const sources: unknown[] = [];
  const failed: string[] = [];
  for (const [name, outcome] of outcomes) {
    const asks = withoutKeys(questionOf(plan.sources.get(name)!));
    const took = Math.round(outcome.took);
    table.push([name, asks, `${took} ms`, formatOutcome(outcome)]);
    sources.push({ name, asks, took_ms: took, ...dataOf(outcome) });
    if ("error" in outcome) failed.push(name);
  }
  return [{
    title: "Sources",
    text: formatTable(table) + linesOf(notes.map(markNote)),
    troubles: failed.length > 0 ? [`failed sources: ${failed.join(", ")}`] : [],
    notes,
    data: { sources },
  }];
}

function questionOf({ source }: PlannedSource): string {
  if ("call" in source) return "the host";
  if ("reach" in source) return "HEAD";
  if ("jsonrpc" in source) return source.jsonrpc;
  if ("get" in source) return `GET ${source.get}`;
  if ("post" in source) return `POST ${source.post}`;
  return "file" in source ? source.file : source.command.join(" ");
}

function describeEmptyFields({ kinds = {}, info: settings }: Config, inspection: Inspection) {
  const { plan, outcomes, info, status } = inspection;
  // A node that is not well is never shown as synced.
  const isShown = (key: string) => key !== "synced" || status.status === "ok";
  const kind = Object.hasOwn(kinds, plan.kind ?? "") ? kinds[plan.kind!] : undefined;
  const inherited = KINDS[kind?.extends ?? ""]?.fields ?? {};
  const fields = { ...kind?.fields, ...settings.fields };
  const own = new Set(Object.keys(fields).filter((key) => !isEqual(fields[key], inherited[key])));
  const hasResponded = (reference: Reference) => {
    const outcome = outcomes.get(parseReference(reference)[0]);
    return outcome && !("error" in outcome) && !outcome.absent;
  };
  return Object.entries(plan.fields)
    .filter(([key, field]) => own.has(key) && referencesOf(field).every(hasResponded))
    .filter(([key]) => info[key] === undefined && isShown(key) && !settings.hide?.includes(key))
    .map(([key, field]) =>
      `${key} has no value: ${referencesOf(field).join(", ")} is missing or of another type`
    );
}

/** A source that no field uses is not queried. */
const describeUnused = ({ info }: Config, plan: Plan): string[] =>
  Object.keys(info.sources ?? {}).filter((name) => !plan.sources.has(name))
    .map((name) => `the source ${name} is never queried, since no field uses it`);

function describeService({ info, host }: Config): ReportSection {
  const { watch = "off", history } = info;
  const pace = watch === "off"
    ? "The service queries the node only when a client sends a request (info.watch: off)"
    : `The service queries the node every ${watch}, even without requests (info.watch)`;
  const notes = history === "off" || isLoopbackListener(host) ? [] : [
    `/v1/history shows the node's downtime to every client that can reach ${host}; ` +
    "to disable it, set info.history: off",
  ];
  const text = linesOf([pace, ...notes.map(markNote)]);
  return { title: "Service", text, notes };
}

function formatOutcome(outcome: QueryOutcome): string {
  if ("error" in outcome) return `failed: ${outcome.error.message}`;
  if (outcome.absent) return `not available (optional): ${outcome.absent.message}`;
  const values = [...outcome.values].map(([pointer, value]) =>
    `${pointer && `${pointer} `}${value === undefined ? "(nothing)" : formatJson(value, 2)}`
  );
  return excerpt(values.join(", "), WIDTH);
}

function dataOf(outcome: QueryOutcome): Record<string, unknown> {
  if ("error" in outcome) return { error: outcome.error.message, code: outcome.error.code };
  if (outcome.absent) return { absent: outcome.absent.message };
  const values = [...outcome.values].filter(([, value]) => value !== undefined);
  return { gave: Object.fromEntries(values) };
}

function troublesOfStatus({ status }: Inspection): string[] {
  if (status.status === "ok" || status.status === "syncing") return [];
  return [`the node is ${status.status}: ${clausesOf(status).join("; ")}`];
}

/** Masks possible secrets in URLs, since people share reports. */
function withoutKeysIn<T>(value: T): T {
  if (typeof value === "string") return withoutKeys(value) as T;
  if (Array.isArray(value)) return value.map(withoutKeysIn) as T;
  return isObject(value) ? mapMembers(value, withoutKeysIn) as T : value;
}

function verdictOn(
  troubles: readonly string[],
  { status: { status, reason } }: Inspection,
  hasNoNode: boolean,
): string {
  if (troubles.length > 0) return linesOf(troubles.map((trouble) => `- ${trouble}`));
  if (hasNoNode) return "All is well; no node is configured, so none was queried\n";
  return status === "ok"
    ? "All is well\n"
    : `All is well with the configuration; the node is ${status}: it ${reason}\n`;
}

function reportOf(sections: readonly ReportSection[], verdict: string, info: unknown) {
  const all = [
    ...sections,
    { title: "Verdict", text: verdict },
    { title: "Info", text: `${printableJson(formatJson(info, 2))}\n` },
  ];
  return all.map(({ title, text }) => `# ${title}\n${text}`).join("\n");
}

function writeReport(
  { file, node, remarks }: Config,
  sections: readonly ReportSection[],
  troubles: readonly string[],
  info: unknown,
) {
  const notes = [
    ...remarks.map(({ message }) => withoutKeys(message)),
    ...sections.flatMap(({ notes = [] }) => notes),
  ];
  return jsonOutput({
    ok: troubles.length === 0,
    troubles,
    notes,
    ...file !== undefined && { configuration: file },
    ...node.url !== undefined && { url: withoutKeys(node.url) },
    ...Object.assign({}, ...sections.map(({ data }) => data)),
    info,
  });
}

export function jsonOfTroubles(
  troubles: readonly string[],
  notes: readonly string[] = [],
): string {
  return jsonOutput({ ok: troubles.length === 0, troubles, notes });
}

function jsonOutput(value: unknown): string {
  return `${printableJson(formatJson(value, 2))}\n`;
}
