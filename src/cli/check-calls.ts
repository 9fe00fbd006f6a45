/**
 * What `nodeface check` says of calls: which operations of the node are forwarded, and why.
 *
 * @module
 */
import { decisionRows } from "../gateway/decision-rows.ts";
import { type Judgement, judgeNames, judgeSettings } from "../gateway/judge-settings.ts";
import type { Kind } from "../kinds/kind.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import type { Section } from "./check-report-types.ts";
import type { Config } from "./configuration.ts";
import { formatTable } from "./table.ts";

/** How many names of operations are told to be pasted. */
const NAMES_MAX = 20;

/**
 * Describes what may be called.
 *
 * @param operations those of the description that is shown
 * @param kind that of the node, where it is known
 */
export async function describeCalls(
  { forward = "off", hosts = [], node, host, port }: Config,
  operations: readonly NodeOperation[],
  kind: Kind | undefined,
): Promise<Section[]> {
  if (forward === "off") return [];
  const facts = { hosts, url: node.url, listening: { host, port } };
  const judged = [
    ...await judgeSettings(forward, facts),
    ...judgeNames(operations, forward),
    ...node.auth && kind?.auth?.reads === "none" ? [READS_WITHOUT_AUTH] : [],
  ];
  const lines = judged.map(({ level, message }) => `${wordOf(level)} ${message}\n`);
  const rows = decisionRows(operations, forward);
  const notes = judged.filter(({ level }) => level === "warn").map(({ message }) => message);
  const table = rows.length === 0
    ? "There is nothing to be called: the description has no operations at the node\n"
    : formatTable([["OPERATION", "MARK", "CALL", "WHY"], ...rows]);
  const unmarked = operations.filter(({ access, isStreaming }) => !access && !isStreaming);
  return [{
    title: "Calls",
    text: [...lines, table, hint(unmarked)].join(""),
    troubles: judged.filter(({ level }) => level === "error").map(({ message }) => message),
    notes,
    data: {
      calls: rows.map(([operation, mark, call, why]) => ({ operation, mark, call, why })),
    },
  }];
}

const READS_WITHOUT_AUTH: Judgement = {
  level: "warn",
  message:
    "what reads is called without node.auth: the node would show what its owner alone may see",
};

const wordOf = (level: Judgement["level"]) => level === "error" ? "error" : "note ";

/** The lines to be pasted for operations without a mark. */
function hint(unmarked: readonly NodeOperation[]): string {
  if (unmarked.length === 0) return "";
  const names = unmarked.slice(0, NAMES_MAX).map(({ name }) => `      - ${JSON.stringify(name)}\n`);
  return "Nobody says of these what they do. What only reads can be opened by name:\n" +
    `  forward:\n    open:\n      - reads\n${names.join("")}`;
}
