/**
 * `nodeface check`: what kind of node it is, what each source gives, what is wrong with the node's
 * description, and what `/v1/info` would say.
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";
import { inspect, type Inspection } from "../info/inspect-node.ts";
import type { Outcome } from "../info/query-sources.ts";
import { formatJson } from "../json/lossless.ts";
import { KINDS } from "../kinds/index.ts";
import type { Source } from "../kinds/kind.ts";
import { formatFinding } from "../openapi/diagnostics.ts";
import { placeBelow, reasonIn } from "../openapi/discover.ts";
import { documentOf } from "../openapi/serve-description.ts";
import { inspectDescription } from "../openapi/watch.ts";
import { OWN_DESCRIPTION } from "../resources.ts";
import { excerpt } from "../text.ts";
import type { Config } from "./configuration.ts";
import { formatTable } from "./table.ts";

/** How much of a value is shown in the table. */
const WIDTH = 60;

/** One part of what is printed. */
interface Section {
  title: string;
  /** Lines, with a break after each. */
  text: string;
  /** What is wrong, for the verdict. */
  troubles: readonly string[];
}

/**
 * Asks the node and reads its description once.
 *
 * @returns the report, in parts with a heading each, the info last; and whether all is well
 */
export async function check(config: Config): Promise<{ report: string; isWell: boolean }> {
  const service = { software: "nodeface", version: VERSION, started_at: new Date().toISOString() };
  const inspection = await inspect(service, config.node, config.info, KINDS);
  const kind = config.node.kind ?? inspection.recognition?.kind;
  const sections = [
    ...describeKind(config, inspection),
    ...describeSources(inspection),
    ...await describeDescription(config, kind),
  ];
  const troubles = sections.flatMap((section) => section.troubles);
  if (inspection.info.status === "unreachable") troubles.unshift("the node cannot be reached");
  const verdict = troubles.map((trouble) => `- ${trouble}\n`).join("") || "All is well\n";
  const all = [
    ...sections,
    { title: "Verdict", text: verdict },
    { title: "Info", text: `${formatJson(inspection.info, 2)}\n` },
  ];
  return {
    report: all.map(({ title, text }) => `# ${title}\n${text}`).join("\n"),
    isWell: troubles.length === 0,
  };
}

function describeKind({ node }: Config, { recognition }: Inspection): Section[] {
  const title = "Kind";
  if (recognition) {
    const { kind = "not known", because } = recognition;
    const troubles = recognition.kind ? [] : ["the kind of the node is not known"];
    return [{ title, text: `The kind of the node is ${kind}: ${because}\n`, troubles }];
  }
  if (node.kind === undefined) return [];
  return [{
    title,
    text: `The kind of the node is ${node.kind}: it is configured\n`,
    troubles: [],
  }];
}

function describeSources({ steps }: Inspection): Section[] {
  if (steps.length === 0) return [];
  const rows = steps.map(({ name, source, outcome }) => [
    name,
    question(source),
    `${Math.round(outcome.took)} ms`,
    answer(outcome),
  ]);
  const failed = steps.filter(({ outcome }) => "error" in outcome).map(({ name }) => name);
  const troubles = failed.length > 0 ? [`no answer of ${failed.join(", ")}`] : [];
  const text = formatTable([["SOURCE", "ASKS", "TOOK", "GAVE"], ...rows]);
  return [{ title: "Sources", text, troubles }];
}

/** What is wrong with the node's description, where there is one. */
async function describeDescription(
  { description, node }: Config,
  kind: string | undefined,
): Promise<Section[]> {
  const path = KINDS[kind ?? ""]?.description;
  const itself = description === undefined && path ? node.url : undefined;
  const place = itself === undefined ? description : placeBelow(itself, path!);
  if (place === undefined || place === "none") return [];
  const own = documentOf((await OWN_DESCRIPTION.get()).json);
  const where = { base: node.url, publicUrl: node.public_url, itself };
  const { findings, merged } = await inspectDescription({ place, own, ...where });
  const title = "Description";
  if (itself && !merged) {
    const text = `There is no description of the node at ${place}: ${reasonIn(findings)}\n`;
    return [{ title, text, troubles: [] }];
  }
  const lines = findings.map((finding) => `${finding.level.padEnd(5)} ${formatFinding(finding)}\n`);
  const errors = findings.filter(({ level }) => level === "error").length;
  const troubles = [
    ...merged ? [] : ["the description cannot be shown"],
    ...errors > 0 ? [`errors in the description: ${errors}`] : [],
  ];
  const last = merged ? "The description can be shown\n" : "The description cannot be shown\n";
  return [{ title, text: `${lines.join("")}${last}`, troubles }];
}

function question(source: Source): string {
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
