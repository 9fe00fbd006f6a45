/**
 * What `npm run schema` makes of the table of the settings: the JSON Schema of the configuration file, for
 * editors, and its reference, for people.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import { configuration } from "../settings/configuration.ts";
import { CLI_OPTIONS, type CliOption } from "../settings/command-line.ts";
import { type About, aboutOf, partsOf, type Schema, type Settings } from "../settings/schema.ts";

/** The text of `spec/nodeface.schema.json`. */
export function configurationSchema(): string {
  return jsonSchemaOf(configuration(), "The configuration of Nodeface");
}

/** A schema as the text of a JSON Schema, for editors. */
export function jsonSchemaOf(of: Schema, title: string): string {
  const { $schema, ...schema } = convert(of);
  const whole = { $schema, title, ...schema };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

function convert(schema: Schema): JsonSchema {
  const { $defs: _, ...converted } = toJsonSchema(schema, {
    target: "draft-2020-12",
    typeMode: "input",
    ignoreActions: ["check", "raw_check", "raw_transform", "transform"],
    overrideAction: ({ jsonSchema }) => described(jsonSchema),
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      if (!("getter" in valibotSchema)) return closed(jsonSchema, valibotSchema.type);
      // Editors show a schema in its place better than a reference to it.
      const { $schema: _, ...inner } = convert((valibotSchema.getter as () => Schema)());
      return inner;
    },
  });
  return converted;
}

/** A schema with what is said of its setting in place of the metadata. */
function described(schema: JsonSchema & { about?: About }): JsonSchema {
  const { about, description: _, ...others } = schema;
  if (!about) return schema;
  const usual = about.default === undefined ? "" : `. Default: ${about.default}`;
  return { description: `${about.text}${usual}`, ...others };
}

/** Objects have no other keys than those of their settings; what stands for an empty one is no default. */
function closed({ default: _, required = [], ...schema }: JsonSchema, type: string): JsonSchema {
  if (type !== "loose_object") return schema;
  return { ...schema, additionalProperties: false, ...required.length > 0 && { required } };
}

/** The text of `docs/configuration.md`. */
export function configurationReference(): string {
  const rows = Object.values<CliOption>(CLI_OPTIONS).map(flagRow);
  return fillPage("docs/configuration.md", {
    flags: table(["flag", "variables", "key of the file", "default"], rows),
    keys: sections(partsOf(configuration()).entries!, "").join("\n"),
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

const HEAD = ["key", "value", "default", "what it says"];

function row(key: string, setting: Schema, more = ""): string[] {
  const { text, default: usual = "" } = aboutOf(setting);
  return [code(key), formOf(setting), escape(usual), escape(text) + more];
}

function within(schema: Schema, path: string): string[] {
  const { entries, value, options = [] } = partsOf(schema);
  if (entries) return /^\w+$/.test(path) ? sections(entries, path) : [details(path, [entries])];
  if (value) return within(value, `${path}.NAME`);
  const forms = options.map((option) => partsOf(option).entries).filter((form) => !!form);
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
    ? `One of ${forms.map((settings) => code(Object.keys(settings)[0]!)).join(", ")}, ` +
      "and of the other keys those that go with it.\n\n"
    : "";
  return `## ${code(path)}\n\n${choice}${table(HEAD, rows)}`;
}

/** What a value may be, in a few words: what its messages say would be right. */
function formOf(schema: Schema): string {
  const { words = [], entries, value, message = "any JSON value" } = partsOf(schema);
  if (words.length > 0 && words.length <= 8) return words.map(code).join(", ");
  return entries || value ? "object" : escape(message.replace(/^an? /, ""));
}

/** A page of the manual, with what stands between two markers in it made anew. */
export function fillPage(path: string, parts: Readonly<Record<string, string>>): string {
  const left = new Map(Object.entries(parts));
  const page = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  const made = page.replace(
    /(<!-- make (\w+) -->)(\n?)[^]*?(<!-- made -->)/g,
    (_, begin: string, name: string, line: string, end: string) => {
      const text = left.get(name);
      if (text === undefined) throw new Error(`${path}: nothing makes "${name}"`);
      left.delete(name);
      return line ? `${begin}\n\n${text.trim()}\n\n${end}` : begin + text + end;
    },
  );
  for (const name of left.keys()) throw new Error(`${path}: "<!-- make ${name} -->" is missing`);
  return made;
}

/** A table of Markdown; without a heading it has two columns. */
export function table(
  heading: readonly string[] | undefined,
  rows: readonly (readonly (string | number | undefined)[])[],
): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |\n`;
  const head = heading ? line(heading) + line(heading.map(() => "---")) : "| | |\n| --- | --- |\n";
  return head + rows.map(line).join("");
}

/** A text as code in Markdown, in a table as well. */
export const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;
const escape = (text: string) =>
  text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("<", "&lt;");
