/**
 * `nodeface kinds`: lists the known kinds of node, or prints one.
 *
 * @module
 */
import { stringify } from "yaml";
import { loadInterface } from "../description/known-interface.ts";
import { VERSION } from "../generated/build-info.js";
import { KIND_ALIASES, KIND_NAMES } from "../generated/kind-names.js";
import { KINDS } from "../generated/kinds.js";
import type { Kind } from "../kinds/kind.ts";
import { didYouMean } from "../nearest.ts";
import { meantWord, UsageError } from "../settings/schema.ts";
import { quote } from "../untrusted-text.ts";
import { formatTable } from "./output.ts";
import { inFlow } from "./yaml-file.ts";

export function formatKinds(name?: string): string {
  if (name !== undefined) return formatKind(name, kindOf(name));
  return formatTable(Object.entries(KINDS).map(([name, { title, url }]) => [name, title, url]));
}

export async function formatKindFile(name: string): Promise<string> {
  const { examples: _, rpc_path: __, ...kind } = kindOf(name);
  const whole = { ...kind, ...await loadInterface(name) };
  return `# Written by "nodeface kinds ${name} --file" of Nodeface ${VERSION}
# For a few changes, write only "extends: ${name}" and the changes: see docs/kinds.md
${stringify(whole, { lineWidth: 100 })}`;
}

function kindOf(name: string): Kind {
  if (Object.hasOwn(KINDS, name)) return KINDS[name]!;
  const meant = didYouMean(meantWord(name, KIND_NAMES, KIND_ALIASES)) || "; see nodeface kinds";
  throw new UsageError([`unknown kind ${quote(name)}${meant}`]);
}

function formatKind(name: string, kind: Kind): string {
  const { title, url, static: fixed, sources, fields, health } = kind;
  const info = { ...(fixed ? { static: fixed } : {}), sources, fields };
  return `# ${title}
# "kind: ${name}" already includes all of this: keep only what you change or add.
# The status is ok if ${health.ok}.
${origin(kind)}${stringify({ node: { url, kind: name } })}${secrets(kind)}${
    stringify({ info }, { lineWidth: 100 })
  }`;
}

function origin({ written_from: sources = [], tried }: Kind): string {
  if (sources.length === 0) return "";
  const test = tried
    ? `Read operations were tested with ${tried}`
    : "The operations were not tested with a real node";
  const lines = sources.map((url) => `#   ${url}\n`).join("");
  return `# The operations are based on these sources. ${test}.\n${lines}`;
}

function secrets({ auth }: Kind): string {
  const [usual] = auth?.files ?? [];
  const example = auth?.example ?? usual;
  if (!example) return "";
  const what = usual
    ? "Nodeface finds the secret in its usual place on this machine. If the secret is " +
      "elsewhere, write:"
    : "If the node requires a secret, write:";
  return `  # ${what}\n  # auth: ${inFlow(example)}\n`;
}
