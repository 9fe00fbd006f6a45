/**
 * What `npm run schema` makes of the kinds for operators: how Nodeface is started beside a node of each.
 *
 * @module
 */
import { stringify } from "yaml";
import { KINDS } from "../generated/kinds.js";
import { KNOWN_KEYS } from "../info/fields.ts";
import type { KindInterface } from "../kinds/interface.ts";
import type { OperationMarks } from "../kinds/marks.ts";
import type { AuthFile, Kind } from "../kinds/kind.ts";
import { operationsOf } from "../openapi/operations.ts";
import { loadInterface } from "../openapi/load-interface.ts";
import { code, fillPage } from "./configuration-documents.ts";

/** How many operations are named. */
const NAMED_MAX = 5;

/** How many places of a secret are named. */
const PLACES_MAX = 3;

/** The port that Nodeface listens on, which some nodes listen on as well. */
const OWN_PORT = "8080";

/** The text of `docs/beside-your-node.md`. */
export async function besideReference(): Promise<string> {
  const all = Object.entries(KINDS);
  const parts = await Promise.all(
    all.map(async ([name, kind]) => partOf(name, kind, await loadInterface(name))),
  );
  return fillPage("docs/beside-your-node.md", {
    list: all.map(([name, { title }]) => `- [${name}](#${name}): ${title}`).join("\n"),
    kinds: parts.join("\n"),
  });
}

function partOf(name: string, kind: Kind, parts: KindInterface): string {
  const { title, url } = kind;
  const port = isOnOwnPort(url) ? " --port 8081" : "";
  const rows = [
    ["shown", shownOf(kind)],
    ["opened", openedOf(parts)],
    ["its secret", secretOf(kind)],
    ["more", `[what ok means](kinds.md#${name})`],
  ];
  return `## ${name}

${title}

\`\`\`sh
nodeface ${url} --forward reads${port}
\`\`\`

| | |
| --- | --- |
${rows.map(([key, value]) => `| ${key} | ${value} |\n`).join("")}${configurationOf(kind)}`;
}

const isOnOwnPort = (url: string) => new URL(url).port === OWN_PORT;

/** The keys that `/v1/info` may have, in its order. */
function shownOf({ static: fixed = {}, fields, health }: Kind): string {
  const saysSync = health.complete !== undefined || health.target !== undefined ||
    (health.rules ?? []).some(({ code }) => code === "syncing");
  const keys = new Set([...Object.keys(fixed), ...Object.keys(fields)]);
  if (saysSync) keys.add("synced");
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
  if (files.length === 0) return "where it wants one, as below";
  const places = files.map((file) => code(pathIn(file)));
  const others = places.length > PLACES_MAX ? ` and ${places.length - PLACES_MAX} more` : "";
  return `found in ${
    places.slice(0, PLACES_MAX).join(", ")
  }${others}, for the same user; elsewhere, as below`;
}

const pathIn = (file: AuthFile): string =>
  Object.entries(file).find(([key]) => key.endsWith("_file"))![1] as string;

/** The configuration for a node that wants a secret. */
function configurationOf({ url, auth }: Kind): string {
  if (!auth?.example) return "";
  const flow = { collectionStyle: "flow", lineWidth: 0 } as const;
  const listen = isOnOwnPort(url) ? "listen: 127.0.0.1:8081\n" : "";
  return `
\`\`\`yaml
# nodeface.yaml
${listen}node:
  url: ${url}
  auth: ${stringify(auth.example, flow).trim()}
forward: reads
\`\`\`
`;
}
