/**
 * `npm run schema`: writes what is made of the table of the settings: the JSON Schema of the
 * configuration file, for editors, and its reference, for people.
 *
 * @module
 */
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { COMMAND, CONFIGURATION } from "../options-schema.ts";
import type { ObjectShape, Setting, Settings, Shape } from "../settings/shapes.ts";

type Json = Record<string, unknown>;

/** The text of `spec/nodeface.schema.json`. */
export function configurationSchema(): string {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "The configuration of Nodeface",
    ...schemaOf(CONFIGURATION),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function schemaOf(shape: Shape): Json {
  switch (shape.is) {
    case "text":
    case "path": {
      const { source } = shape.rule.pattern;
      return { type: "string", ...source === "^" ? {} : { pattern: source } };
    }
    case "word":
      return { enum: shape.words };
    case "boolean":
      return { type: "boolean" };
    case "list":
      return {
        type: "array",
        items: schemaOf(shape.of),
        ...shape.least && { minItems: shape.least },
      };
    case "map":
      return {
        type: "object",
        propertyNames: { pattern: shape.name.pattern.source },
        additionalProperties: schemaOf(shape.of),
      };
    case "object":
      return objectSchema(shape);
    case "form":
      return {
        anyOf: Object.entries(shape.forms).map(([key, { settings }]) =>
          objectSchema({ is: "object", settings, needs: [key] })
        ),
      };
    case "either":
      return { anyOf: shape.shapes.map(schemaOf) };
    default:
      return {};
  }
}

/** An object; a section of which nothing is needed may be empty. */
function objectSchema({ settings, needs = [] }: ObjectShape): Json {
  const properties = Object.entries(settings).map(([key, { text, shape, default: usual }]) => {
    const description = `${text}${usual === undefined ? "" : `. Default: ${usual}`}`;
    return [key, { description, ...schemaOf(shape) }];
  });
  return {
    type: needs.length > 0 ? "object" : ["object", "null"],
    properties: Object.fromEntries(properties),
    additionalProperties: false,
    ...needs.length > 0 && { required: needs },
  };
}

/** The text of `docs/configuration.md`. */
export function configurationReference(): string {
  return `<!-- deno-fmt-ignore-file -->

# Configuration

<!-- Made by \`npm run schema\` from src/options-schema.ts: change it there. -->

A configuration is one file, YAML or JSON. It is named by \`--config\` or \`NODEFACE_CONFIG\`; where
neither is there, \`nodeface.yaml\` of the working directory is read, and the first line of the log says
so. Every key may be left out. \`SIGHUP\` has the file read again; while it is wrong, the service goes on
with what it had.

Flags win over variables, variables over the file, the file over the defaults. Files that the
configuration names are relative to it, and \`~/\` is the home directory; those that flags and variables
name are relative to the working directory. Durations are \`500ms\`, \`2s\`, \`1m\` or \`1h\`.
[nodeface.schema.json](../spec/nodeface.schema.json) says the same to editors:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/nodeface/spec/nodeface.schema.json
\`\`\`

Everything that is wrong is said at once, each with its line and column, and the command ends with 2.

## Flags and variables

| flag | variables | key of the file | default |
| --- | --- | --- | --- |
${Object.entries(COMMAND).map(([name, setting]) => flagRow(name, setting)).join("")}
\`NODEFACE_HOST\` and \`NODEFACE_PORT\` win over \`listen\`; platforms set \`PORT\`. Any other variable whose
name begins with \`NODEFACE_\` is a warning.

${sections(CONFIGURATION, "").join("\n")}`;
}

/** Which keys of the file the settings of the command stand for. */
const KEYS: Readonly<Record<string, string>> = {
  url: "node.url",
  kind: "node.kind",
  spec: "description",
  host: "listen",
  port: "listen",
  log: "log",
};

function flagRow(
  name: string,
  { flag, variables = [], argument, default: usual }: Setting,
): string {
  const cells = [
    code(flag ? `--${flag} ${argument}` : `${argument}`),
    variables.map(code).join(", "),
    KEYS[name] ? code(KEYS[name]) : "",
    usual ?? "",
  ];
  return `| ${cells.join(" | ")} |\n`;
}

/** A part for each object, the outer ones first. */
function sections({ settings }: ObjectShape, path: string): string[] {
  const title = path ? code(path) : "The whole file";
  const examples = Object.entries(settings).flatMap(([key, { example }]) =>
    example === undefined ? [] : [`${path ? "  " : ""}${key}: ${example}`]
  );
  const yaml = [...path ? [`${path}:`] : [], ...examples].join("\n");
  const rows = Object.entries(settings).map(([key, setting]) => row(key, setting)).join("");
  const part = `## ${title}\n\n${HEAD}${rows}\n\`\`\`yaml\n${yaml}\n\`\`\`\n`;
  const inner = Object.entries(settings).flatMap(([key, { shape }]) =>
    within(shape, path ? `${path}.${key}` : key)
  );
  return [part, ...inner];
}

const HEAD = "| key | value | default | what it says |\n| --- | --- | --- | --- |\n";

function row(key: string, { shape, text, default: usual = "" }: Setting, more = ""): string {
  return `| ${code(key)} | ${formOf(shape)} | ${escape(usual)} | ${escape(text)}${more} |\n`;
}

/** The parts for the objects inside of a shape. */
function within(shape: Shape, path: string): string[] {
  switch (shape.is) {
    case "object":
      return /^\w+$/.test(path) ? sections(shape, path) : [details(path, [shape.settings])];
    case "map":
      return within(shape.of, `${path}.NAME`);
    case "either":
      return shape.shapes.flatMap((each) => within(each, path));
    case "form":
      return [details(path, Object.values(shape.forms).map(({ settings }) => settings))];
    default:
      return [];
  }
}

/** A part for an object of one of some forms: each key once, with an example. */
function details(path: string, forms: readonly Settings[]): string {
  const all: Settings = Object.assign({}, ...forms);
  const rows = Object.entries(all).map(([key, setting]) => {
    const { example } = setting;
    return row(
      key,
      setting,
      example === undefined ? "" : `. Example: ${code(`${key}: ${example}`)}`,
    );
  });
  const choice = forms.length > 1
    ? `One of ${forms.map((settings) => code(Object.keys(settings)[0]!)).join(", ")}, ` +
      "and of the other keys those that go with it.\n\n"
    : "";
  return `## ${code(path)}\n\n${choice}${HEAD}${rows.join("")}`;
}

/** What a value may be, in a few words. */
function formOf(shape: Shape): string {
  switch (shape.is) {
    case "text":
    case "path":
      return escape(shape.rule.right.replace(/^an? /, "").replace(/, or "\*" in place.*/, ""));
    case "word":
      return shape.words.length > 8 ? escape(shape.right) : shape.words.map(code).join(", ");
    case "boolean":
      return "`true` or `false`";
    case "list":
      return escape(shape.right.replace(/^an? /, ""));
    case "map":
      return "object";
    case "object":
      return "object";
    case "form":
      return `object with one of ${Object.keys(shape.forms).map(code).join(", ")}`;
    case "either":
      return escape(shape.right.replace(/^an? /, ""));
    default:
      return "any JSON value";
  }
}

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;
const escape = (text: string) =>
  text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("<", "&lt;");

/** What is written, by its path from the root. */
const WRITTEN: Readonly<Record<string, () => string>> = {
  "spec/nodeface.schema.json": configurationSchema,
  "docs/configuration.md": configurationReference,
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, make] of Object.entries(WRITTEN)) {
    await writeFile(new URL(`../../${path}`, import.meta.url), make());
  }
}
