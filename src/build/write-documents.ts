/**
 * `npm run schema`: writes the JSON Schemas of a configuration and of a kind, and the generated
 * parts of the manual.
 *
 * @module
 */
import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { mapMembers, objectOf } from "../json/values.ts";
import { inFlow } from "../cli/yaml-file.ts";
import { loadInterface } from "../description/known-interface.ts";
import { KINDS } from "../generated/kinds.js";
import { KNOWN_KEYS } from "../info/fields.ts";
import { type Access, type KindInterface, MARKS, type OperationMarks } from "../kinds/interface.ts";
import type { Kind } from "../kinds/kind.ts";
import type { AuthFile, Test } from "../kinds/parts.ts";
import { METRICS } from "../metrics/metrics.ts";
import { operationsOf } from "../openapi/operations.ts";
import { configuration } from "../settings/configuration.ts";
import { COMMANDS, EXIT_CODES, SWITCHES } from "../cli/usage.ts";
import { LAG } from "../info/evidence.ts";
import { CLI_OPTIONS, type CliOption } from "../settings/flags.ts";
import { kindSchema } from "../settings/kind-schema.ts";
import {
  type About,
  aboutOf,
  type Parts,
  partsOfSchema,
  type Schema,
  type Settings,
} from "../settings/schema.ts";
import { kindTypes, settingTypes } from "./write-types.ts";

const ROOT = new URL("../../", import.meta.url);

export const WRITTEN = {
  "spec/nodeface.schema.json": (): string =>
    jsonSchemaOf(configuration(), "The configuration of Nodeface"),
  "spec/kind.schema.json": (): string =>
    jsonSchemaOf(kindSchema(), "A kind of node for Nodeface", withExtensions),
  "src/setting-types.ts": settingTypes,
  "src/kinds/kind.ts": kindTypes,
  "docs/configuration.md": configurationReference,
  "docs/kinds.md": kindsReference,
  "docs/monitoring.md": monitoringReference,
  "docs/beside-your-node.md": besideReference,
};

function jsonSchemaOf(of: Schema, title: string, change = (schema: JsonSchema) => schema): string {
  const { $schema, ...schema } = change(convert(of));
  return `${JSON.stringify({ $schema, title, ...schema }, null, 2)}\n`;
}

/** A kind with `extends` may omit the keys that are otherwise required. */
function withExtensions({ required, properties, ...schema }: JsonSchema): JsonSchema {
  const { required: inHealth, ...health } = properties!.health as JsonSchema;
  const whole = { required, properties: { health: { required: inHealth } } };
  const anyOf = [whole, { required: ["extends"] }];
  return { ...schema, properties: { ...properties, health }, anyOf } as JsonSchema;
}

function convert(schema: Schema): JsonSchema {
  return toJsonSchema(schema, {
    target: "draft-2020-12",
    typeMode: "input",
    ignoreActions: ["check", "raw_check", "raw_transform", "transform"],
    overrideAction: ({ jsonSchema }) => withoutMetadata(jsonSchema),
    overrideSchema: ({ valibotSchema, jsonSchema }) => described(jsonSchema, valibotSchema),
  });
}

function withoutMetadata(schema: JsonSchema & { about?: About; typeName?: string }): JsonSchema {
  const { about: _, typeName: __, description: ___, ...others } = schema;
  return others;
}

/** The conversion of a setting ends at its first transformation, and misses a text behind it. */
function described(
  { default: _, required = [], ...schema }: JsonSchema,
  { type, entries }: Parts,
): JsonSchema {
  const properties = entries && mapMembers(
    objectOf(schema.properties),
    (member, key) => ({ ...descriptionOf(entries[key]!), ...objectOf(member) }),
  );
  return {
    ...schema,
    ...properties && { properties },
    ...type === "loose_object" && { additionalProperties: false },
    ...required.length > 0 && { required },
  } as JsonSchema;
}

function descriptionOf(setting: Schema): { readonly description?: string } {
  const { text, default: usual } = aboutOf(setting);
  if (text === "") return {};
  return { description: usual === undefined ? text : `${text}. Default: ${usual}` };
}

function configurationReference(): string {
  const commands = Object.entries(COMMANDS).map((
    [name, { arguments: words, text }],
  ) => [`\`nodeface ${name} ${words}\``, text]);
  const switches = Object.entries(SWITCHES).map(([name, { text }]) => [`\`--${name}\``, text]);
  const rows = Object.values<CliOption>(CLI_OPTIONS).map(flagRow);
  return fillPage("docs/configuration.md", {
    commands: table(["command", "what it does"], [
      ["`nodeface [NODE_URL] [options]`", "start the service"],
      ...commands,
      ...switches,
    ]),
    exits: table(["exit code", "meaning"], Object.entries(EXIT_CODES)),
    flags: table(["flag", "variables", "key in the file", "default"], rows),
    keys: sections(partsOfSchema(configuration()).entries!, "").join("\n"),
  });
}

function flagRow({ key, flag, variables = [], argument, default: usual }: CliOption): string[] {
  return [
    code([...flag ? [`--${flag}`] : [], ...argument ? [argument] : []].join(" ")),
    variables.map(code).join(", "),
    key ? code(key) : "",
    usual ?? "",
  ];
}

function sections(settings: Settings, path: string): string[] {
  const title = path ? code(path) : "The whole file";
  const examples = Object.entries(settings).flatMap(([key, setting]) => {
    const { example } = aboutOf(setting);
    return example === undefined ? [] : [`${path ? "  " : ""}${key}: ${example}`];
  });
  const yaml = [...path ? [`${path}:`] : [], ...examples].join("\n");
  const rows = Object.entries(settings).map(([key, setting]) => row(key, setting));
  const part = `## ${title}\n\n${table(HEAD, rows)}\n\`\`\`yaml\n${yaml}\n\`\`\`\n`;
  const inner = Object.entries(settings).flatMap(([key, setting]) =>
    within(setting, path ? `${path}.${key}` : key)
  );
  return [part, ...inner];
}

const HEAD = ["key", "value", "default", "meaning"];

function row(key: string, setting: Schema, more = ""): string[] {
  const { text, default: usual = "" } = aboutOf(setting);
  return [code(key), formOf(setting), escapeMarkdown(usual), escapeMarkdown(text) + more];
}

function within(schema: Schema, path: string): string[] {
  const { entries, value, item, options = [] } = partsOfSchema(schema);
  if (entries) return /^\w+$/.test(path) ? sections(entries, path) : [details(path, [entries])];
  if (value) return within(value, `${path}.NAME`);
  if (item) return within(item, `${path}[]`);
  const forms = options.map((option) => partsOfSchema(option).entries).filter((form) => !!form);
  if (forms.length > 1) return [details(path, forms)];
  return options.flatMap((option) => within(option, path));
}

function details(path: string, forms: readonly Settings[]): string {
  const all: Settings = Object.assign({}, ...forms);
  const rows = Object.entries(all).map(([key, setting]) => {
    const { example } = aboutOf(setting);
    return row(key, setting, example && `. Example: ${code(`${key}: ${example}`)}`);
  });
  const choice = forms.length > 1
    ? `Set one of ${forms.map((settings) => code(Object.keys(settings)[0]!)).join(", ")}. ` +
      "This key determines which other keys are allowed.\n\n"
    : "";
  return `## ${code(path)}\n\n${choice}${table(HEAD, rows)}`;
}

function formOf(schema: Schema): string {
  const { words = [], entries, value, message = "any JSON value" } = partsOfSchema(schema);
  if (words.length > 0 && words.length <= 8) return words.map(code).join(", ");
  // Removes the examples of durations, since the page explains the format of durations once.
  const form = message.replace(/^an? /, "").replace(/ such as "2s", .*"1m"/, "");
  return entries || value ? "object" : escapeMarkdown(form);
}

interface DocumentedKind extends Kind {
  readonly name: string;
  readonly operations: readonly { readonly name: string; readonly marks: OperationMarks }[];
}

const KNOWN: readonly DocumentedKind[] = await Promise.all(
  Object.entries(KINDS).map(async ([name, kind]) => {
    return { ...kind, name, operations: offeredBy(await loadInterface(name)) };
  }),
);

function kindsReference(): string {
  const example = readFileSync(new URL("examples/kinds/aria2.yaml", ROOT), "utf8");
  const rows = KNOWN.map(({ name, title, url, operations }) => {
    return [`[${name}](#${name})`, title, url, operations.length];
  });
  const marks = Object.entries(MARKS).map(([name, { on, value, text }]) => {
    return [code(name), on, value, text];
  });
  return fillPage("docs/kinds.md", {
    table: table(["kind", "what it is", "usual URL", "operations"], rows),
    silent: listOf(KNOWN.filter((kind) => !saysSync(kind)).map(({ name }) => code(name))),
    marks: table(["mark", "on", "value", "meaning"], marks),
    kinds: KNOWN.map(partOf).join("\n"),
    example: `\`\`\`yaml\n${example.trim()}\n\`\`\``,
    health: within(partsOfSchema(kindSchema()).entries!.health!, "health").join("\n"),
  });
}

/** Tells whether `synced` can be `true`. */
function saysSync({ fields, health }: Kind): boolean {
  return "synced" in fields || health.complete !== undefined || health.target !== undefined;
}

function offeredBy({ openrpc, openapi }: KindInterface): DocumentedKind["operations"] {
  const base = openapi?.servers?.[0]?.url ?? "";
  const paths = Object.entries(openapi?.paths ?? {}).flatMap(([path, item]) =>
    operationsOf(item).map(({ method, operation }) => ({
      name: `${method} ${base}${path}`,
      marks: operation as unknown as OperationMarks,
    }))
  );
  return [
    ...openrpc?.methods.map((method) => ({ name: method.name, marks: method })) ?? [],
    ...paths,
  ];
}

function operationsText({ tried, operations }: DocumentedKind): string {
  if (operations.length === 0) return "";
  const counts = (["read", "secret", "write"] satisfies Access[]).map((access) =>
    `${operations.filter(({ marks }) => marks["x-access"] === access).length} ${code(access)}`
  );
  const trial = tried ? `\`read\` operations tested with ${tried}` : "not tested with a real node";
  return `${operations.length} (${counts.join(", ")}), ${trial}`;
}

function partOf(kind: DocumentedKind): string {
  const { name, title, aliases = [], description, auth, health } = kind;
  const method = typeof description === "object" ? description.jsonrpc : description;
  const { warming_up = [], warming_up_text } = health;
  const starting = [
    ...warming_up.map((number) => `the error ${number}`),
    ...warming_up_text === undefined ? [] : [`the text ${code(warming_up_text)}`],
  ];
  const rows = [
    ["`ok` if", health.ok],
    ["programs, networks", listOf(aliases.map(code))],
    ["describes itself at", method && code(method)],
    ["warming up", listOf(starting)],
    ["synced within", health.target && `${health.lag ?? LAG} blocks`],
    ["operations", operationsText(kind)],
    ["checked", listOf(kind.operations.filter(isChecked).map(({ name }) => code(name)))],
    ["reads", auth?.reads === "none" && "called without `node.auth`"],
  ].filter(([, value]) => value);
  return `## ${name}\n\n${title}\n\n${table(undefined, rows)}${rulesOf(kind)}${networksOf(kind)}`;
}

const isChecked = ({ marks }: DocumentedKind["operations"][number]) => marks["x-checked"] === true;

function rulesOf({ health: { rules = [] } }: Kind): string {
  const rows = rules.map(({ when, code: status, reason }) => {
    const tests = Object.entries(when).map(([place, test]) => `${code(place)} ${testOf(test)}`);
    return [code(status), reason.replaceAll("|", "\\|"), listOf(tests)];
  });
  return rows.length === 0 ? "" : `\n${table(["status_code", "status_reason", "where"], rows)}`;
}

function testOf(test: Test): string {
  if (test === null) return "is missing";
  if (typeof test === "string") return `matches ${code(test)}`;
  if ("not" in test) return `does not match ${code(test.not)}`;
  return "above" in test ? `is above ${test.above}` : `is below ${test.below}`;
}

function networksOf({ health: { networks = {} } }: Kind): string {
  const rows = Object.entries(networks).map(([key, rules]) => {
    const { name = rules.private ? "private" : "", quiet = "", peers = "" } = rules;
    return [key === "*" ? "any" : code(key), name, quiet, peers];
  });
  const columns = ["network", "name", "stalled after", "minimum peers"];
  return rows.length === 0 ? "" : `\n${table(columns, rows)}`;
}

const listOf = (texts: readonly string[]) => new Intl.ListFormat("en-GB").format(texts);
const NAMED_MAX = 2, PLACES_MAX = 3;

function besideReference(): string {
  return fillPage("docs/beside-your-node.md", {
    list: KNOWN.map(({ name }) => `[${name}](#${name})`).join(",\n"),
    kinds: KNOWN.map(besidePartOf).join("\n"),
  });
}

function besidePartOf(kind: DocumentedKind): string {
  const { name, title, url, auth } = kind;
  // By default, Nodeface itself listens on port 8080, and so does Kubo's gateway.
  const isTaken = new URL(url).port === "8080" || name === "kubo";
  const rows = [
    ["`/v1/info`", shownOf(kind)],
    ["callable", openedOf(kind)],
    ["secret", secretOf(kind)],
  ].filter(([, value]) => value);
  const configuration = auth?.example && `
\`\`\`yaml
# nodeface.yaml
${isTaken ? "listen: 127.0.0.1:8081\n" : ""}node:
  url: ${url}
  auth: ${inFlow(auth.example)}
forward: reads
\`\`\`
`;
  return `## ${name}

[${title}](kinds.md#${name})

\`\`\`sh
nodeface ${url} --forward reads${isTaken ? " --port 8081" : ""}
\`\`\`

${table(undefined, rows)}${configuration ?? ""}`;
}

function shownOf(kind: Kind): string {
  const { static: fixed = {}, fields } = kind;
  const isJudged = kind.health.rules?.some(({ code }) => code === "syncing") ?? false;
  const keys = Object.keys({ ...fixed, ...fields });
  if (saysSync(kind) || isJudged) keys.push("synced");
  const known = Object.keys(KNOWN_KEYS).filter((key) => keys.includes(key));
  return [...new Set([...known, ...keys])].map(code).join(", ");
}

function openedOf({ operations }: DocumentedKind): string {
  const reads = operations.filter(({ marks }) =>
    marks["x-access"] === "read" && marks["x-streaming"] !== true
  );
  const common = reads.filter(({ marks }) => marks["x-common"]).map(({ name }) => code(name));
  const named = common.slice(0, NAMED_MAX).join(", ");
  return `${reads.length} of ${operations.length} operations${named && `, such as ${named}`}`;
}

function secretOf({ auth }: Kind): string | undefined {
  const { files = [], example } = auth ?? {};
  if (!example) return undefined;
  if (files.length === 0) return "if required, set `node.auth` as below";
  const places = files.slice(0, PLACES_MAX).map((file) => code(pathIn(file))).join(", ");
  const others = files.length > PLACES_MAX ? ` and ${files.length - PLACES_MAX} more` : "";
  return `if Nodeface runs as the node's user and \`node.url\` is a loopback address, it reads ` +
    `${places}${others}; otherwise, set \`node.auth\` as below`;
}

const pathIn = (file: AuthFile): string =>
  Object.entries(file).find(([key]) => key.endsWith("_file"))![1] as string;

function monitoringReference(): string {
  const metrics = Object.entries(METRICS).map(([name, { type, labels, help }]) => {
    return [code(name), type, labels.map(code).join(", "), help];
  });
  const { groups: [{ rules }] } = parse(readFileSync(new URL("deploy/alerts.yaml", ROOT), "utf8"));
  type Alert = {
    alert: string;
    for: string;
    annotations: { summary: string; description: string };
  };
  const alerts = (rules as Alert[]).map(({ alert, for: time, annotations }) => {
    const summary = annotations.summary.replaceAll(/:?(?: at| beside| through)? \{\{.*?\}\}/g, "");
    return [code(alert), time, `${summary}. ${annotations.description}`];
  });
  return fillPage("docs/monitoring.md", {
    metrics: table(["metric", "type", "labels", "what it says"], metrics),
    alerts: table(["alert", "after", "what it says"], alerts),
  });
}

function fillPage(path: string, parts: Readonly<Record<string, string>>): string {
  let page = readFileSync(new URL(path, ROOT), "utf8");
  for (const [name, text] of Object.entries(parts)) {
    const marked = new RegExp(`(<!-- make ${name} -->)(\\n?)[^]*?(?=<!-- made -->)`);
    if (!marked.test(page)) throw new Error(`${path}: "<!-- make ${name} -->" is missing`);
    page = page.replace(
      marked,
      (_, begin, line) => begin + (line ? `\n\n${text.trim()}\n\n` : text),
    );
  }
  return page;
}

function table(
  heading: readonly string[] | undefined,
  rows: readonly (readonly unknown[])[],
): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |\n`;
  const head = heading ? line(heading) + line(heading.map(() => "---")) : "| | |\n| --- | --- |\n";
  return head + rows.map(line).join("");
}

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;
const escapeMarkdown = (text: string) =>
  text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("<", "&lt;");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, make] of Object.entries(WRITTEN)) {
    await writeFile(new URL(path, ROOT), make());
  }
}
