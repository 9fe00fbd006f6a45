/**
 * `nodeface kinds`: the kinds of node that are known.
 *
 * @module
 */
import { stringify } from "yaml";
import { KINDS } from "../kinds/index.ts";
import { type Kind, KIND_NAMES, PROGRAM_KINDS } from "../kinds/kind.ts";
import { didYouMean } from "../settings/nearest.ts";
import { meantWord } from "../settings/texts.ts";
import { quote } from "../text.ts";
import { ConfigError } from "./configuration-error.ts";
import { formatTable } from "./table.ts";

/**
 * What `nodeface kinds` prints.
 *
 * @param name one of them; all where it is left out
 * @throws {ConfigError} where there is no such kind
 */
export function formatKinds(name?: string): string {
  if (name === undefined) return listKinds();
  const text = printKind(name);
  if (text !== undefined) return text;
  const meant = meantWord(name, KIND_NAMES, PROGRAM_KINDS);
  const right = meant ? didYouMean(meant) : "; see nodeface kinds";
  throw new ConfigError([`${quote(name)} is no kind known${right}`]);
}

/** All kinds, a line each: the name, what it is, where such a node listens as a rule. */
export function listKinds(): string {
  return formatTable(Object.entries(KINDS).map(([name, { title, url }]) => [name, title, url]));
}

/** One kind as configuration to start from, in YAML; `undefined` where there is none. */
export function printKind(name: string): string | undefined {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (!kind) return undefined;
  const { title, url, static: fixed, sources, fields } = kind;
  const info = { ...(fixed ? { static: fixed } : {}), sources, fields };
  return `# ${title}
# "kind: ${name}" alone means all of this. What a file says lies over it: keep what you change.
${stringify({ node: { url, kind: name } })}${secrets(kind)}${
    stringify({ info }, { lineWidth: 100 })
  }`;
}

/** Where the secret is looked for, as a comment: it is not needed where it lies there. */
function secrets({ auth }: Kind): string {
  if (!auth) return "";
  const [place] = auth.files;
  return `  # The secret is found in its usual place on this machine. Elsewhere, such as:
  # auth: ${JSON.stringify(place)}
`;
}
