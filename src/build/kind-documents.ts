/**
 * What `npm run schema` makes of the kinds and their schema: the JSON Schema of a kind's file, for editors,
 * and what is known of each kind, for people.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { KINDS } from "../generated/kinds.js";
import type { KindInterface } from "../kinds/interface.ts";
import { type Access, type Mark, MARKS } from "../kinds/marks.ts";
import type { Kind, NetworkRules, Source, Test } from "../kinds/kind.ts";
import { operationsOf } from "../openapi/operations.ts";
import { loadInterface } from "../openapi/load-interface.ts";
import { kindSchema } from "../settings/kind.ts";
import { code, fillPage, jsonSchemaOf } from "./configuration-documents.ts";

/** The text of `spec/kind.schema.json`. */
export function kindJsonSchema(): string {
  return jsonSchemaOf(kindSchema(), "A kind of node for Nodeface");
}

/** The text of `docs/kinds.md`. */
export async function kindsReference(): Promise<string> {
  const all = Object.entries(KINDS);
  const accesses = new Map(
    await Promise.all(
      all.map(async ([name]) => [name, accessesOf(await loadInterface(name))] as const),
    ),
  );
  const example = readFileSync(new URL("../../examples/kinds/aria2.yaml", import.meta.url), "utf8");
  const silent = all.filter(([, kind]) => !saysSync(kind)).map(([name]) => code(name));
  const rows = all.map(([name, { title, url }]) =>
    `| [${name}](#${name}) | ${title} | ${url} | ${accesses.get(name)!.length} |\n`
  );
  const marks = Object.entries(MARKS).map(([name, mark]) => markRow(name, mark));
  return fillPage("docs/kinds.md", {
    table: `| kind | what it is | usual URL | operations |\n| --- | --- | --- | --- |\n${
      rows.join("")
    }`,
    silent: listOf(silent),
    marks: `| mark | of | value | what it says |\n| --- | --- | --- | --- |\n${marks.join("")}`,
    kinds: all.map(([name, kind]) => partOf(name, kind, accesses.get(name)!)).join("\n"),
    example: `\`\`\`yaml\n${example.trim()}\n\`\`\``,
  });
}

function markRow(name: string, { on, value, text }: Mark): string {
  return `| ${code(name)} | ${on} | ${value} | ${text} |\n`;
}

/** Whether a kind says if its node is in sync. */
function saysSync({ fields, health }: Kind): boolean {
  return "synced" in fields || health.complete !== undefined || health.target !== undefined ||
    (health.rules ?? []).some(({ code }) => code === "syncing");
}

/** What each operation may do. */
function accessesOf({ openrpc, openapi }: KindInterface): unknown[] {
  const paths = Object.values(openapi?.paths ?? {}).flatMap(operationsOf);
  const operations = [...openrpc?.methods ?? [], ...paths.map(({ operation }) => operation)];
  return operations.map((operation) => operation["x-access"]);
}

function operationsText({ tried }: Kind, accesses: readonly unknown[]): string {
  if (accesses.length === 0) return "";
  const counts = (["read", "secret", "write"] satisfies Access[]).map((access) =>
    `${accesses.filter((of) => of === access).length} ${code(access)}`
  );
  const trial = tried ? `what reads was tried against ${tried}` : "not tried against a real node";
  return `${accesses.length} (${counts.join(", ")}), ${trial}`;
}

function partOf(name: string, kind: Kind, accesses: readonly unknown[]): string {
  const { title, aliases = [], description, detect, auth, health } = kind;
  const lines = [
    ["ok", health.ok],
    ["in sync", saysSync(kind) ? "" : "it cannot tell"],
    [
      "detected by",
      listOf(Object.entries(detect).map(([place, test]) => evidence(kind, place, test))),
    ],
    ["also called", listOf(aliases.map(code))],
    [
      "describes itself at",
      description ? code(typeof description === "string" ? description : description.jsonrpc) : "",
    ],
    ["starting", listOf((health.warming_up ?? []).map((number) => `the error ${number}`))],
    ["synced within", health.target ? `${health.lag ?? 2} blocks` : ""],
    [
      "refuses with",
      auth?.refusal
        ? `${code(auth.refusal.header)} that matches ${code(auth.refusal.pattern)}`
        : "",
    ],
    ["operations", operationsText(kind, accesses)],
    ["reads", auth?.reads === "none" ? "called without `node.auth`" : ""],
    ["written from", listOf(kind.written_from ?? [])],
  ].filter(([, value]) => value !== "");
  const rows = lines.map(([key, value]) => `| ${key} | ${value} |\n`).join("");
  const networks = Object.entries(health.networks ?? {});
  return `## ${name}\n\n${title}\n\n| | |\n| --- | --- |\n${rows}${rulesOf(kind)}${
    networksOf(networks)
  }`;
}

function evidence({ sources }: Kind, place: string, test: string): string {
  const name = place.slice(0, place.indexOf("#"));
  const pointer = place.slice(name.length + 1);
  const where = pointer ? `${code(pointer)} of ` : "";
  return `${where}${code(question(sources[name]!))} matches ${code(test)}`;
}

function question(source: Source): string {
  if ("jsonrpc" in source) return source.jsonrpc;
  if ("get" in source) return `GET ${source.get}`;
  if ("post" in source) return `POST ${source.post}`;
  return "file" in source ? source.file : source.command.join(" ");
}

function rulesOf({ health: { rules = [] } }: Kind): string {
  if (rules.length === 0) return "";
  const rows = rules.map(({ when, code: status, reason }) => {
    const tests = Object.entries(when).map(([place, test]) => `${code(place)} ${testOf(test)}`);
    return `| ${code(status)} | ${reason.replaceAll("|", "\\|")} | ${listOf(tests)} |\n`;
  });
  return `\n| status_code | status_reason | where |\n| --- | --- | --- |\n${rows.join("")}`;
}

function testOf(test: Test): string {
  if (test === null) return "is not there";
  if (typeof test === "string") return `matches ${code(test)}`;
  return "above" in test ? `is above ${test.above}` : `is below ${test.below}`;
}

function networksOf(networks: readonly [string, NetworkRules][]): string {
  if (networks.length === 0) return "";
  const rows = networks.map(([name, { quiet = "", peers = "" }]) =>
    `| ${name === "*" ? "any" : code(name)} | ${quiet} | ${peers} |\n`
  );
  return `\n| network | stalled after | fewest peers |\n| --- | --- | --- |\n${rows.join("")}`;
}

function listOf(texts: readonly string[]): string {
  const [last = "", ...others] = texts.toReversed();
  return others.length > 0 ? `${others.reverse().join(", ")} and ${last}` : last;
}
