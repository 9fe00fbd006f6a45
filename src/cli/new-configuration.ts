/**
 * The text of a new configuration file: every setting with what it does, those that are known set and all others
 * commented out. It is made of the table of the settings.
 *
 * @module
 */
import { stringify } from "yaml";
import { configuration } from "../options-schema.ts";
import { aboutOf, partsOf, type Schema, type Settings } from "../settings/schema.ts";
import { wrap } from "./terminal.ts";

/** The longest line of what is said of a setting. */
const LONGEST = 92;

/** The values that are known, and what there is to say of them. */
export interface Known {
  /** What the file is about: lines for its head. */
  readonly head: readonly string[];
  /** The values of settings by their paths, such as `node.url`. */
  readonly values: Readonly<Record<string, unknown>>;
  /** What else there is to say of settings, by their paths: lines. */
  readonly remarks: Readonly<Record<string, readonly string[]>>;
  /** What a setting may look like here, in place of what the table has. */
  readonly examples: Readonly<Record<string, unknown>>;
}

/** Makes the text of the file. */
export function newConfiguration(known: Known): string {
  const { entries } = partsOf(configuration());
  const head = known.head.map((line) => `# ${line}\n`).join("");
  return `${head}\n${blocksOf(entries!, "", known).join("\n")}`;
}

/** A text for each setting. The heads of objects stand there as they are: an empty one says nothing. */
function blocksOf(settings: Settings, path: string, known: Known): string[] {
  return Object.entries(settings).map(([key, setting]) => {
    const place = path ? `${path}.${key}` : key;
    const { entries } = partsOf(setting);
    const { example } = aboutOf(setting);
    const comment = commentOf(setting, known.remarks[place]);
    if (!entries || example !== undefined) return comment + lineOf(key, place, setting, known);
    const inner = blocksOf(entries, place, known).join("");
    return `${comment}${key}:\n${inner.replaceAll(/^(?=.)/gm, "  ")}`;
  });
}

function commentOf(setting: Schema, remarks: readonly string[] = []): string {
  const { text, default: usual } = aboutOf(setting);
  const whole = usual === undefined ? text : `${text}. Default: ${usual}`;
  const lines = [...wrap(whole, LONGEST), ...wrap(longForm(setting), LONGEST), ...remarks];
  return lines.filter(Boolean).map((line) => `# ${line}\n`).join("");
}

/** Shows a setting as an object, where it is a word as a rule; nothing for others. */
function longForm(setting: Schema): string {
  const forms = (partsOf(setting).options ?? []).map((option) => partsOf(option));
  const entries = forms.find(({ entries }) => entries)?.entries;
  if (!entries || forms.every(({ entries }) => entries)) return "";
  const members = Object.entries(entries).map(([key, member]) => {
    const { example, default: usual } = aboutOf(member);
    return [key, example ?? usual] as const;
  });
  const shown = members.filter(([, value]) => value !== undefined);
  return `As an object: { ${shown.map(([key, value]) => `${key}: ${value}`).join(", ")} }`;
}

function lineOf(key: string, place: string, setting: Schema, known: Known): string {
  if (Object.hasOwn(known.values, place)) return `${key}: ${inFlow(known.values[place])}\n`;
  const { example, default: usual } = aboutOf(setting);
  const shown = Object.hasOwn(known.examples, place)
    ? inFlow(known.examples[place])
    : example ?? usual ?? "";
  return `#${key}: ${shown}\n`;
}

/** A value as YAML on one line. */
export function inFlow(value: unknown): string {
  return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();
}
