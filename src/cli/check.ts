/**
 * `nodeface check`: what kind of node it is, what each source gives, what is wrong with the node's
 * description, and what `/v1/info` would say.
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";
import { KINDS } from "../generated/kinds.js";
import { createServiceInfo, isAlone } from "../info/info-without-node.ts";
import { createMonitor, type Inspection } from "../info/monitor.ts";
import { findUnreadable } from "../info/secret-and-ca-files.ts";
import type { PlannedSource } from "../info/query-plan.ts";
import type { Outcome } from "../info/query-sources.ts";
import { formatJson } from "../json/lossless.ts";
import { excerpt, printableJson } from "../text.ts";
import type { Config } from "./configuration.ts";
import { ConfigError } from "./configuration-error.ts";
import { describeCalls } from "./check-calls.ts";
import { describeDescription } from "./check-description.ts";
import type { Section } from "./check-section.ts";
import { formatTable } from "./table.ts";

/** How much of a value is shown in the table. */
const WIDTH = 60;

/**
 * Asks the node and reads its description once.
 *
 * @returns the report, in parts with a heading each, the info last; and whether all is well
 * @throws {ConfigError} if a file or a variable that the configuration names cannot be read
 */
export async function check(config: Config): Promise<{ report: string; isWell: boolean }> {
  const unreadable = await findUnreadable(config.node);
  if (unreadable.length > 0) throw new ConfigError(unreadable);
  const { inspection, info } = await inspectNode(config);
  const kind = config.node.kind ?? inspection?.detection?.kind;
  const described = await describeDescription(config, kind, info);
  const sections = [
    ...describeKind(config, inspection),
    ...describeSources(inspection),
    ...described.sections,
    ...await describeCalls(config, described.operations),
  ];
  const troubles = sections.flatMap((section) => section.troubles);
  troubles.unshift(...troublesOfStatus(inspection));
  const verdict = troubles.map((trouble) => `- ${trouble}\n`).join("") || "All is well\n";
  const all = [
    ...sections,
    { title: "Verdict", text: verdict },
    { title: "Info", text: `${printableJson(formatJson(info, 2))}\n` },
  ];
  return {
    report: all.map(({ title, text }) => `# ${title}\n${text}`).join("\n"),
    isWell: troubles.length === 0,
  };
}

/** Asks the node once, as the service does. */
async function inspectNode(
  { node, info, kinds: own }: Config,
): Promise<{ inspection?: Inspection; info: Inspection["info"] }> {
  const service = { software: "nodeface", version: VERSION, started_at: new Date().toISOString() };
  if (isAlone(node, info)) return await createServiceInfo(service, info).get();
  // What there is to say is in the report.
  const quiet = { log: () => {}, onError: () => {} };
  const monitor = createMonitor({ service, node, info, kinds: { ...KINDS, ...own }, ...quiet });
  const inspection = await monitor.inspect();
  return { inspection, info: inspection.info };
}

/** What is wrong with the node, and what would mend it. */
function troublesOfStatus(inspection: Inspection | undefined): string[] {
  if (!inspection) return [];
  const { status, reason, hint } = inspection.status;
  if (status === "ok" || status === "syncing") return [];
  return [`the node is ${status}: ${reason}${hint === undefined ? "" : `; ${hint}`}`];
}

function describeKind({ node }: Config, inspection: Inspection | undefined): Section[] {
  const title = "Kind";
  const detection = inspection?.detection;
  if (detection) {
    const text = detection.kind === undefined
      ? `The kind of the node is not known: ${detection.status.reason}`
      : `The kind of the node is ${detection.kind}: ${detection.because}`;
    return [{ title, text: `${text}\n`, troubles: [] }];
  }
  if (node.kind === undefined) return [];
  return [{
    title,
    text: `The kind of the node is ${node.kind}: it is configured\n`,
    troubles: [],
  }];
}

function describeSources(inspection: Inspection | undefined): Section[] {
  if (!inspection || inspection.outcomes.size === 0) return [];
  const { plan, outcomes } = inspection;
  const rows = [...outcomes].map(([name, outcome]) => [
    name,
    question(plan.sources.get(name)!),
    `${Math.round(outcome.took)} ms`,
    answer(outcome),
  ]);
  const failed = [...outcomes].filter(([, outcome]) => "error" in outcome).map(([name]) => name);
  const troubles = failed.length > 0 ? [`no answer of ${failed.join(", ")}`] : [];
  const text = formatTable([["SOURCE", "ASKS", "TOOK", "GAVE"], ...rows]);
  return [{ title: "Sources", text, troubles }];
}

function question({ source }: PlannedSource): string {
  if ("call" in source) return "the host";
  if ("jsonrpc" in source) return source.jsonrpc;
  if ("get" in source) return `GET ${source.get}`;
  if ("post" in source) return `POST ${source.post}`;
  return "file" in source ? source.file : source.command.join(" ");
}

function answer(outcome: Outcome): string {
  if ("error" in outcome) return `trouble: ${outcome.error.message}`;
  if (outcome.absent) return `nothing, which is no trouble: ${outcome.absent.message}`;
  const values = [...outcome.taken].map(([pointer, value]) =>
    `${pointer && `${pointer} `}${value === undefined ? "(nothing)" : formatJson(value, 2)}`
  );
  return excerpt(values.join(", "), WIDTH);
}
