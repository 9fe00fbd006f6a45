/**
 * `npm run schema`: writes what is made of the table of the settings, of the schema of a kind and of the kinds. Of these,
 * that is the JSON Schema of a kind's file, for editors, what is known of each kind, for people, and for operators how
 * Nodeface is started beside a node of each.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { KINDS } from "../generated/kinds.js";
import { type Access, type KindInterface, MARKS, type OperationMarks } from "../kinds/interface.ts";
import type { AuthFile, Kind, NetworkRules, Test } from "../kinds/kind.ts";
import { operationsOf } from "../openapi/operations.ts";
import { loadInterface } from "../description/known-interface.ts";
import { questionOf } from "../settings/info.ts";
import { kindSchema } from "../settings/kind.ts";
import {
  code,
  configurationReference,
  configurationSchema,
  fillPage,
  jsonSchemaOf,
  table,
} from "./configuration-documents.ts";
import { inFlow } from "../cli/yaml-file.ts";
import { KNOWN_KEYS } from "../info/fields.ts";
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";

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
  const rows = all.map((
    [name, { title, url }],
  ) => [`[${name}](#${name})`, title, url, accesses.get(name)!.length]);
  const marks = Object.entries(MARKS).map((
    [name, { on, value, text }],
  ) => [code(name), on, value, text]);
  return fillPage("docs/kinds.md", {
    table: table(["kind", "what it is", "usual URL", "operations"], rows),
    silent: listOf(silent),
    marks: table(["mark", "of", "value", "what it says"], marks),
    kinds: all.map(([name, kind]) => partOf(name, kind, accesses.get(name)!)).join("\n"),
    example: `\`\`\`yaml\n${example.trim()}\n\`\`\``,
  });
}

function saysSync({ fields, health }: Kind): boolean {
  return "synced" in fields || health.complete !== undefined || health.target !== undefined ||
    (health.rules ?? []).some(({ code }) => code === "syncing");
}

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
  const trial = tried ? `reads tested with ${tried}` : "not tested with a real node";
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
  ].filter(([, value]) => value !== "");
  const networks = Object.entries(health.networks ?? {});
  return `## ${name}\n\n${title}\n\n${table(undefined, lines)}${rulesOf(kind)}${
    networksOf(networks)
  }`;
}

function evidence({ sources }: Kind, place: string, test: string): string {
  const name = place.slice(0, place.indexOf("#"));
  const pointer = place.slice(name.length + 1);
  const where = pointer ? `${code(pointer)} of ` : "";
  return `${where}${code(questionOf(sources[name]!))} matches ${code(test)}`;
}

function rulesOf({ health: { rules = [] } }: Kind): string {
  if (rules.length === 0) return "";
  const rows = rules.map(({ when, code: status, reason }) => {
    const tests = Object.entries(when).map(([place, test]) => `${code(place)} ${testOf(test)}`);
    return [code(status), reason.replaceAll("|", "\\|"), listOf(tests)];
  });
  return `\n${table(["status_code", "status_reason", "where"], rows)}`;
}

function testOf(test: Test): string {
  if (test === null) return "is not there";
  if (typeof test === "string") return `matches ${code(test)}`;
  return "above" in test ? `is above ${test.above}` : `is below ${test.below}`;
}

function networksOf(networks: readonly [string, NetworkRules][]): string {
  if (networks.length === 0) return "";
  const rows = networks.map((
    [name, { quiet = "", peers = "" }],
  ) => [name === "*" ? "any" : code(name), quiet, peers]);
  return `\n${table(["network", "stalled after", "fewest peers"], rows)}`;
}

function listOf(texts: readonly string[]): string {
  const [last = "", ...others] = texts.toReversed();
  return others.length > 0 ? `${others.reverse().join(", ")} and ${last}` : last;
}

const NAMED_MAX = 5;

const PLACES_MAX = 3;

/** The port that Nodeface listens on, which some nodes listen on as well. */
const OWN_PORT = "8080";

/** The text of `docs/beside-your-node.md`. */
export async function besideReference(): Promise<string> {
  const all = Object.entries(KINDS);
  const parts = await Promise.all(
    all.map(async ([name, kind]) => besidePartOf(name, kind, await loadInterface(name))),
  );
  return fillPage("docs/beside-your-node.md", {
    list: all.map(([name, { title }]) => `- [${name}](#${name}): ${title}`).join("\n"),
    kinds: parts.join("\n"),
  });
}

function besidePartOf(name: string, kind: Kind, parts: KindInterface): string {
  const { title, url } = kind;
  const port = isOnOwnPort(url) ? " --port 8081" : "";
  const rows = [
    ["shown", shownOf(kind)],
    ["opened", openedOf(parts)],
    ["its secret", secretOf(kind)],
    ["`ok` means", `see [kinds of node](kinds.md#${name})`],
  ];
  return `## ${name}

${title}

\`\`\`sh
nodeface ${url} --forward reads${port}
\`\`\`

${table(undefined, rows)}${configurationOf(kind)}`;
}

const isOnOwnPort = (url: string) => new URL(url).port === OWN_PORT;

/** The keys that `/v1/info` may have, in its order. */
function shownOf(kind: Kind): string {
  const { static: fixed = {}, fields } = kind;
  const keys = new Set([...Object.keys(fixed), ...Object.keys(fields)]);
  if (saysSync(kind)) keys.add("synced");
  const known = Object.keys(KNOWN_KEYS).filter((key) => keys.has(key));
  const others = [...keys].filter((key) => !known.includes(key));
  return [...known, ...others].map(code).join(", ");
}

/** How many operations `--forward reads` opens, and which of them a client uses first. */
function openedOf({ openrpc, openapi }: KindInterface): string {
  const methods = (openrpc?.methods ?? []).map((method) => ({ name: method.name, marks: method }));
  const base = openapi?.servers?.[0]?.url ?? "";
  const paths = Object.entries(openapi?.paths ?? {}).flatMap(([path, item]) =>
    operationsOf(item).map(({ method, operation }) => ({
      name: `${method} ${base}${path}`,
      marks: operation as unknown as OperationMarks,
    }))
  );
  const all = [...methods, ...paths];
  const reads = all.filter(({ marks }) => marks["x-access"] === "read" && !marks["x-streaming"]);
  const common = reads.filter(({ marks }) => marks["x-common"]).map(({ name }) => code(name));
  const named = common.slice(0, NAMED_MAX).join(", ");
  return `${reads.length} of ${all.length} operations${named && `, such as ${named}`}`;
}

function secretOf({ auth }: Kind): string {
  const { files = [], example } = auth ?? {};
  if (!example) return "none is usual";
  if (files.length === 0) return "if it wants one, as below";
  const places = files.map((file) => code(pathIn(file)));
  const others = places.length > PLACES_MAX ? ` and ${places.length - PLACES_MAX} more` : "";
  return `found in ${
    places.slice(0, PLACES_MAX).join(", ")
  }${others} for the same user; elsewhere, as below`;
}

const pathIn = (file: AuthFile): string =>
  Object.entries(file).find(([key]) => key.endsWith("_file"))![1] as string;

function configurationOf({ url, auth }: Kind): string {
  if (!auth?.example) return "";
  const listen = isOnOwnPort(url) ? "listen: 127.0.0.1:8081\n" : "";
  return `
\`\`\`yaml
# nodeface.yaml
${listen}node:
  url: ${url}
  auth: ${inFlow(auth.example)}
forward: reads
\`\`\`
`;
}

/** What is written, by its path from the root. */
export const WRITTEN: Readonly<Record<string, () => string | Promise<string>>> = {
  "spec/nodeface.schema.json": configurationSchema,
  "spec/kind.schema.json": kindJsonSchema,
  "docs/configuration.md": configurationReference,
  "docs/kinds.md": kindsReference,
  "docs/beside-your-node.md": besideReference,
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, make] of Object.entries(WRITTEN)) {
    await writeFile(new URL(`../../${path}`, import.meta.url), await make());
  }
}
