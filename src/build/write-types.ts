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
  const { node, info, events, forward } = partsOf(configuration()).entries!;
  const { clients } = partsOf(objectIn(forward!)).entries!;
  const options = partsOf(optionsSchema([])).entries!;
  const interfaces: [name: string, key: string, schema: Schema][] = [
    ["NodeSettings", "node", node!],
    ["NodeOptions", "node", objectIn(options.node!)],
    ["InfoSettings", "info", info!],
    ["EventSettings", "events", events!],
    ["ClientSettings", "forward.clients", partsOf(clients!).item!],
    ["ForwardSettings", "forward", objectIn(forward!)],
    ["PageSettings", "page", options.page!],
  ];
  const written = interfaces.map(([name, key, schema]) => {
    const link = `[Configuration](../docs/configuration.md#${key.replace(".", "")})`;
    return interfaceOf(name, `The keys of \`${key}\`: see ${link}.`, schema);
  });
  return [HEAD, ...written].join("\n");
}

/** The option of a union that is an object. */
const objectIn = (schema: Schema): Schema =>
  partsOf(schema).options!.find((option) => partsOf(option).entries)!;

const LONGEST = 92;

function interfaceOf(name: string, text: string, schema: Schema): string {
  const members = Object.entries(partsOf(schema).entries!).map(([key, member]) => {
    const { text, default: usual } = aboutOf(member);
    return `${comment(text && `${text}.`, "  ", usual)}  ${memberOf(key, member)};\n`;
  });
  return `${comment(text, "")}export interface ${name} {\n${members.join("")}}\n`;
}

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
  return `${name}${isOptional ? "?" : ""}: ${typeOf(member)}${isOptional ? " | undefined" : ""}`;
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
