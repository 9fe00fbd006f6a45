/**
 * Writes the TypeScript types of the settings from their schemas.
 *
 * @module
 */
import { wrap } from "../cli/output.ts";
import { optionsSchema } from "../options-schema.ts";
import { configuration } from "../settings/configuration.ts";
import { aboutOf, partsOf, type Schema, type Settings, typeNameOf } from "../settings/schema.ts";

const HEAD = `/**
 * The types of settings. Written by \`npm run schema\` from the tables in \`src/settings/\` and
 * \`src/options-schema.ts\`.
 *
 * @module
 */
import type { Duration, Field, Source } from "./kinds/kind.ts";
import type { SecretPlace } from "./node/secrets.ts";
`;

export function settingTypes(): string {
  const { node, info, events, forward } = entriesOf(configuration());
  const { clients } = entriesOf(objectIn(forward!));
  const { node: nodeOption, page } = entriesOf(optionsSchema([]));
  const nodeOptions = entriesOf(objectIn(nodeOption!));
  const interfaces: [name: string, key: string, keys: Settings, base?: Base][] = [
    ["NodeOptions", "node", nodeOptions],
    ["NodeSettings", "node", entriesOf(node!), { name: "NodeOptions", keys: nodeOptions }],
    ["InfoSettings", "info", entriesOf(info!)],
    ["EventSettings", "events", entriesOf(events!)],
    ["ClientSettings", "forward.clients", entriesOf(partsOf(clients!).item!)],
    ["ForwardSettings", "forward", entriesOf(objectIn(forward!))],
    ["PageSettings", "page", entriesOf(page!)],
  ];
  const written = interfaces.map(([name, key, keys, base]) => {
    const link = `[Configuration](../docs/configuration.md#${key.replace(".", "")})`;
    return interfaceOf(name, `The keys of \`${key}\`: see ${link}.`, keys, base);
  });
  return [HEAD, ...written].join("\n");
}

const entriesOf = (schema: Schema): Settings => partsOf(schema).entries!;

/** The option of a union that is an object. */
const objectIn = (schema: Schema): Schema =>
  partsOf(schema).options!.find((option) => partsOf(option).entries)!;

/** The interfaces that an interface extends, whose members it does not repeat. */
interface Base {
  readonly name: string;
  readonly keys: Settings;
}

const LONGEST = 92;

function interfaceOf(name: string, text: string, keys: Settings, base?: Base): string {
  const inherited = base ? membersOf(base.keys) : [];
  const members = membersOf(keys).filter((member) => !inherited.includes(member));
  const heritage = base ? ` extends ${base.name}` : "";
  return `${comment(text, "")}export interface ${name}${heritage} {\n${members.join("")}}\n`;
}

const membersOf = (keys: Settings): string[] =>
  Object.entries(keys).map(([key, member]) => {
    const { text, default: usual } = aboutOf(member);
    return `${comment(text && `${text}.`, "  ", usual)}  ${memberOf(key, member)};\n`;
  });

function comment(text: string, indent: string, usual?: string): string {
  if (text === "") return "";
  const lines = wrap(text.replaceAll("*/", "*\\/"), LONGEST);
  if (usual !== undefined) lines.push(`@default ${usual}`);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

function memberOf(key: string, member: Schema): string {
  const name = /^[\w$]+$/.test(key) ? key : JSON.stringify(key);
  const isOptional = member.type === "optional";
  const type = typeOf(member);
  const other = isOptional && type !== "unknown" ? " | undefined" : "";
  return `${name}${isOptional ? "?" : ""}: ${type}${other}`;
}

function typeOf(schema: Schema): string {
  const name = typeNameOf(schema);
  if (name !== undefined) return name;
  const { words, entries, value, item, options, type, ...parts } = partsOf(schema);
  if (words) return words.map((word) => JSON.stringify(word)).join(" | ");
  if (entries) return objectOf(entries);
  if (value) return `Readonly<Record<string, ${typeOf(value)}>>`;
  if (item) return `readonly ${grouped(typeOf(item))}[]`;
  if (options) return [...new Set(options.map(typeOf))].join(" | ");
  if ("class" in parts) return (parts.class as { name: string }).name;
  return type ?? "unknown";
}

const objectOf = (entries: Settings): string =>
  `{ ${Object.entries(entries).map(([key, member]) => memberOf(key, member)).join("; ")} }`;

const grouped = (type: string): string => type.includes("|") ? `(${type})` : type;
