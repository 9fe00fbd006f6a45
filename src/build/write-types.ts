/**
 * Writes the TypeScript types of settings and of kinds from their schemas.
 *
 * @module
 */
import { wrap } from "../cli/output.ts";
import { optionsSchema } from "../options-schema.ts";
import { configuration } from "../settings/configuration.ts";
import { INTERFACE_SETTINGS } from "../settings/kind-interface.ts";
import { kindSchema } from "../settings/kind-schema.ts";
import { SOURCE_OPTIONS } from "../settings/node-schema.ts";
import {
  aboutOf,
  partsOfSchema,
  type Schema,
  type Settings,
  typeNameOf,
} from "../settings/schema.ts";

const SETTINGS_HEAD = `/**
 * The types of settings. Written by \`npm run schema\` from the tables in \`src/settings/\` and
 * \`src/options-schema.ts\`.
 *
 * @module
 */
import type { Field, Source } from "./kinds/kind.ts";
import type { SecretPlace } from "./kinds/parts.ts";
import type { Duration } from "./units.ts";
`;

const KIND_HEAD = `/**
 * The types of the files in \`spec/kinds/\`, each of which defines a kind of node. Written by
 * \`npm run schema\` from \`src/settings/kind-schema.ts\` and \`src/settings/node-schema.ts\`.
 *
 * @module
 */
import type { Duration } from "../units.ts";
import type { KindInterface } from "./interface.ts";
import type {
  AuthFile,
  Conversion,
  DerivedKeys,
  KindStatusCode,
  Listing,
  MethodCall,
  Reference,
  Test,
} from "./parts.ts";
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
    ["ClientSettings", "forward.clients", entriesOf(partsOfSchema(clients!).item!)],
    ["ForwardSettings", "forward", entriesOf(objectIn(forward!))],
    ["PageSettings", "page", entriesOf(page!)],
  ];
  const written = interfaces.map(([name, key, keys, base]) => {
    const link = `[Configuration](../docs/configuration.md#${key.replace(".", "")})`;
    return interfaceOf(name, `The keys of \`${key}\`: see ${link}.`, keys, base);
  });
  return [SETTINGS_HEAD, ...written].join("\n");
}

/** The forms of a source, in the order of the schema. */
const SOURCES = {
  JsonRpcSource: "A JSON-RPC 2.0 call over HTTP.",
  GetSource: "An HTTP GET request for JSON.",
  PostSource: "An HTTP POST request for JSON.",
  FileSource: "A file with JSON or plain text.",
  CommandSource: "A program whose standard output is JSON or plain text.",
};

export function kindTypes(): string {
  const kind = entriesOf(kindSchema());
  const { auth, health, websocket } = kind;
  const { rules, networks } = entriesOf(health!);
  const { sources, fields } = entriesOf(entriesOf(configuration()).info!);
  const forms = partsOfSchema(partsOfSchema(sources!).value!).options!;
  const field = objectIn(partsOfSchema(fields!).value!);
  const common = { name: "SourceOptions", keys: SOURCE_OPTIONS };
  const base = { name: "KindInterface, DerivedKeys", keys: INTERFACE_SETTINGS };
  const source =
    "A source of values: see [Configuration](../docs/configuration.md#infosourcesname).";
  const place = "The place of a value for `/v1/info`, optionally with a conversion: see " +
    "[Kinds](../docs/kinds.md).";
  const text = "A kind of node: see [Kinds](../docs/kinds.md). The interfaces of built-in kinds " +
    "are in `src/generated/interfaces.js`, which is loaded on demand.";
  return [
    KIND_HEAD,
    interfaceOf("SourceOptions", "", SOURCE_OPTIONS),
    ...Object.entries(SOURCES).map(([name, text], at) =>
      interfaceOf(name, text, entriesOf(forms[at]!), common)
    ),
    aliasOf("Source", source, Object.keys(SOURCES).join(" | ")),
    interfaceOf("FieldOptions", "", entriesOf(field)),
    aliasOf("Field", place, "Reference | FieldOptions"),
    interfaceOf("KindAuth", "", entriesOf(auth!)),
    interfaceOf("HealthRule", "", entriesOf(partsOfSchema(rules!).item!)),
    interfaceOf("NetworkRules", "", entriesOf(partsOfSchema(networks!).value!)),
    interfaceOf("KindHealth", "", entriesOf(health!)),
    interfaceOf("WebSocketPlace", "", entriesOf(websocket!)),
    interfaceOf("Kind", text, kind, base),
    aliasOf("Kinds", "Kinds by name.", "Readonly<Record<string, Kind>>"),
  ].join("\n");
}

const entriesOf = (schema: Schema): Settings => partsOfSchema(schema).entries!;

/** The option of a union that is an object. */
const objectIn = (schema: Schema): Schema =>
  partsOfSchema(schema).options!.find((option) => partsOfSchema(option).entries)!;

const aliasOf = (name: string, text: string, type: string): string =>
  `${comment(text, "")}export type ${name} = ${type};\n`;

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
  const { words, entries, key, value, item, options, type, ...parts } = partsOfSchema(schema);
  if (words) return words.map((word) => JSON.stringify(word)).join(" | ");
  if (entries) return objectType(entries);
  if (value) return `Readonly<Record<${typeOf(key!)}, ${typeOf(value)}>>`;
  if (item) return `readonly ${grouped(typeOf(item))}[]`;
  if (options) return [...new Set(options.map(typeOf))].join(" | ");
  if ("class" in parts) return (parts.class as { name: string }).name;
  return type ?? "unknown";
}

const objectType = (entries: Settings): string =>
  `{ ${Object.entries(entries).map(([key, member]) => memberOf(key, member)).join("; ")} }`;

const grouped = (type: string): string => type.includes("|") ? `(${type})` : type;
