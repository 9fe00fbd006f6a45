/**
 * What `nodeface check` says of the node: what kind it is, and what each source gives.
 *
 * @module
 */
import type { Inspection } from "../info/info-monitor.ts";
import type { PlannedSource } from "../info/query-plan.ts";
import type { Outcome } from "../info/query-sources.ts";
import { formatJson } from "../json/lossless.ts";
import { excerpt, withoutKeys } from "../untrusted-text.ts";
import type { Section } from "./check-report-types.ts";
import type { Config } from "./configuration.ts";
import { formatTable } from "./table.ts";

/** How much of a value is shown in the table. */
const WIDTH = 60;

/** What is wrong with the node, and what would mend it. */
export function troublesOfStatus(inspection: Inspection | undefined): string[] {
  if (!inspection) return [];
  const { status, reason, hint } = inspection.status;
  if (status === "ok" || status === "syncing") return [];
  return [`the node is ${status}: ${reason}${hint === undefined ? "" : `; ${hint}`}`];
}

/** Describes the kind. */
export function describeKind({ node }: Config, inspection: Inspection | undefined): Section[] {
  const detection = inspection?.detection;
  const name = node.kind ?? detection?.kind;
  if (name === undefined && !detection) return [];
  const because = node.kind === undefined
    ? (detection?.kind === undefined ? detection!.status.reason : detection.because)
    : "it is configured";
  const start = name === undefined ? "not known" : name;
  return [{
    title: "Kind",
    text: `The kind of the node is ${start}: ${because}\n`,
    troubles: [],
    data: { kind: { ...name !== undefined && { name }, because } },
  }];
}

/** Describes the sources. */
export function describeSources(inspection: Inspection | undefined): Section[] {
  if (!inspection || inspection.outcomes.size === 0) return [];
  const { plan, outcomes } = inspection;
  const asked = [...outcomes].map(([name, outcome]) => {
    const took = Math.round(outcome.took);
    return { name, asks: question(plan.sources.get(name)!), took, outcome };
  });
  const rows = asked.map(({ name, asks, took, outcome }) => [
    name,
    asks,
    `${took} ms`,
    answer(outcome),
  ]);
  const failed = asked.filter(({ outcome }) => "error" in outcome).map(({ name }) => name);
  const troubles = failed.length > 0 ? [`no answer of ${failed.join(", ")}`] : [];
  const text = formatTable([["SOURCE", "ASKS", "TOOK", "GAVE"], ...rows]);
  const sources = asked.map(({ name, asks, took, outcome }) => ({
    name,
    asks,
    took_ms: took,
    ...given(outcome),
  }));
  return [{ title: "Sources", text, troubles, data: { sources } }];
}

function question({ source }: PlannedSource): string {
  if ("call" in source) return "the host";
  if ("jsonrpc" in source) return source.jsonrpc;
  if ("get" in source) return withoutKeys(`GET ${source.get}`);
  if ("post" in source) return withoutKeys(`POST ${source.post}`);
  return withoutKeys("file" in source ? source.file : source.command.join(" "));
}

function answer(outcome: Outcome): string {
  if ("error" in outcome) return `failed: ${outcome.error.message}`;
  if (outcome.absent) return `not available (optional): ${outcome.absent.message}`;
  const values = [...outcome.taken].map(([pointer, value]) =>
    `${pointer && `${pointer} `}${value === undefined ? "(nothing)" : formatJson(value, 2)}`
  );
  return excerpt(values.join(", "), WIDTH);
}

/** What a source gave, whole: values by JSON Pointer, or why there is none. */
function given(outcome: Outcome): Record<string, unknown> {
  if ("error" in outcome) return { error: outcome.error.message, code: outcome.error.code };
  if (outcome.absent) return { absent: outcome.absent.message };
  const values = [...outcome.taken].filter(([, value]) => value !== undefined);
  return { gave: Object.fromEntries(values) };
}
