/**
 * `nodeface check`: what each source gives, and what `/v1/info` would say.
 *
 * @module
 */
import type { Outcome } from "../info/query-sources.ts";
import type { Inspection } from "../info/inspect-node.ts";
import { formatJson } from "../json/lossless.ts";
import type { Source } from "../kinds/kind.ts";
import { excerpt } from "../text.ts";
import { formatTable } from "./table.ts";

/** How much of a value is shown in the table. */
const WIDTH = 60;

/** Whether anything is not as it should be. */
export function hasTrouble({ recognition, steps, info }: Inspection): boolean {
  return (recognition !== undefined && !recognition.kind) || info.status === "unreachable" ||
    steps.some(({ outcome }) => "error" in outcome);
}

/** The report, for a terminal. */
export function formatReport({ recognition, steps, info }: Inspection): string {
  const parts: string[] = [];
  if (recognition) {
    const { kind = "not known", because } = recognition;
    parts.push(`The kind of the node is ${kind}: ${because}\n`);
  }
  if (steps.length > 0) {
    const rows = steps.map(({ name, source, outcome }) => [
      name,
      question(source),
      `${Math.round(outcome.took)} ms`,
      answer(outcome),
    ]);
    parts.push(formatTable([["SOURCE", "ASKS", "TOOK", "GAVE"], ...rows]));
  }
  return [...parts, `${formatJson(info, 2)}\n`].join("\n");
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
