/**
 * What `nodeface check` says of calls: which operations of the node are forwarded, and why.
 *
 * @module
 */
import { decisionRows } from "../gateway/decision-rows.ts";
import { type Judgement, judgeNames, judgeSettings } from "../gateway/judge-settings.ts";
import type { Kind } from "../kinds/kind.ts";
import { lineWithServers } from "../openapi/load.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import type { Described } from "./check-description.ts";
import type { Section } from "./check-report-types.ts";
import type { Config } from "./configuration.ts";
import { formatTable } from "./table.ts";

/** How many names of operations are told to be pasted. */
const NAMES_MAX = 20;

/**
 * Describes what may be called.
 *
 * @param described the description that is shown
 * @param kind that of the node, where it is known
 */
export async function describeCalls(
  config: Config,
  described: Omit<Described, "sections">,
  kind: Kind | undefined,
): Promise<Section[]> {
  const { forward = "off", hosts = [], node, host, port } = config;
  if (forward === "off") return [];
  const { operations = [] } = described.content ?? {};
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
    ? `There is nothing to be called: ${whyNothing(config, described)}\n`
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

/** Why no operation can be called at the node, and what to write. */
function whyNothing(
  { description, servers }: Config,
  { content, basePaths, from = "FILE" }: Omit<Described, "sections">,
): string {
  if (!content) {
    return description === undefined
      ? "nobody describes the node; write what kind it is (node.kind), or where its description is " +
        "(description)"
      : description === "none"
      ? 'description is "none"; leave it out, or name one'
      : "the description cannot be shown; see above";
  }
  const { elsewhere } = content;
  if (elsewhere.length === 0) return "the description has no operations";
  const list = (lines: readonly string[]) => lines.map((line) => `\n  ${line}`).join("");
  const lead = `the servers of the description lead elsewhere:${list(elsewhere)}\n`;
  if (servers === "keep") {
    return `${lead}Without "servers: keep" they stand for the node:${
      list([`description: ${from}`])
    }`;
  }
  if (basePaths) {
    const lines = basePaths.map((path) => lineWithServers(from, path));
    return `${lead}Write which path is the node's:${list(lines)}`;
  }
  return `${lead}They stand at its paths or operations. Take them out there, or write in their ` +
    "place:\n  servers: [{ url: / }]";
}

const wordOf = (level: Judgement["level"]) => level === "error" ? "error" : "note ";

/** The lines to be pasted for operations without a mark. */
function hint(unmarked: readonly NodeOperation[]): string {
  if (unmarked.length === 0) return "";
  const isGet = ({ method }: NodeOperation) => method === "GET";
  const sorted = [...unmarked.filter(isGet), ...unmarked.filter((one) => !isGet(one))];
  const names = sorted.slice(0, NAMES_MAX).map(({ name }) => `      - ${JSON.stringify(name)}\n`);
  const more = sorted.length - NAMES_MAX;
  if (more > 0) names.push(`      # and ${more} more\n`);
  return "Nobody says of these what they do. What only reads can be opened by name:\n" +
    `  forward:\n    open:\n      - reads\n${names.join("")}`;
}
