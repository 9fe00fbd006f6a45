/**
 * What `npm run schema` makes of the kinds and their schema: the JSON Schema of a kind's file, for editors,
 * and what is known of each kind, for people.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { KINDS } from "../generated/kinds.js";
import type { KindInterface } from "../kinds/interface.ts";
import { type Access, type Mark, MARKS } from "../kinds/marks.ts";
import type { Kind, NetworkRules, Source, Test } from "../kinds/kind.ts";
import { operationsOf } from "../openapi/operations.ts";
import { loadInterface } from "../openapi/kind.ts";
import { kindSchema } from "../settings/kind.ts";
import { code, jsonSchemaOf } from "./configuration-documents.ts";

/** The text of `spec/kind.schema.json`. */
export function kindJsonSchema(): string {
  return jsonSchemaOf(kindSchema(), "A kind of node for Nodeface");
}

/** The text of `docs/kinds.md`. */
export async function kindsReference(): Promise<string> {
  const all = Object.entries(KINDS);
  const accesses = new Map(
    await Promise.all(
      all.map(async ([name]) => [name, accessesOf(await loadInterface(name))] as const),
    ),
  );
  const example = readFileSync(new URL("../../examples/kinds/aria2.yaml", import.meta.url), "utf8");
  const silent = all.filter(([, kind]) => !saysSync(kind)).map(([name]) => code(name));
  return `<!-- deno-fmt-ignore-file -->

# Kinds of node

<!-- Made by \`npm run schema\` from spec/kinds/: change it there. -->

Nodeface knows these kinds of node. Each is one file of data in [spec/kinds](../spec/kinds): how it is
detected, what is asked, where its answers lie, and which of them say that something is wrong. How to start
Nodeface beside one, and where its secret lies, is in [beside your node](beside-your-node.md).

| kind | what it is | usual URL | operations |
| --- | --- | --- | --- |
${
    all.map(([name, { title, url }]) =>
      `| [${name}](#${name}) | ${title} | ${url} | ${accesses.get(name)!.length} |\n`
    ).join("")
  }
![The pages of four nodes, played from their answers: Lighthouse, kubo, algod and Mastodon](kinds.png)

A kind's file also says what its nodes can do, and [one of your own](#a-kind-of-your-own) is written in the
same form. \`written_from\` in it says what that was written from, and \`tried\` which node it was tried against.

## What ok means

\`status\` is \`ok\` where every source of the kind answers and nothing that the answers say is wrong. What
that rests on is said below for each kind.

These kinds cannot tell whether they are in sync, or are nothing that could be: ${listOf(silent)}.
For them \`ok\` says nothing of sync, and \`/v1/info\` has no \`synced\`.

The time without a new block after which a node is \`stalled\` is long: where blocks come at random, a
network that is well goes beyond it less than once in ten years, and elsewhere it is many times what lies
between two blocks. It holds for the networks named and for no others, since a network of one's own may
rest. \`stalled\` and \`no_peers\` are said only of nodes that are not \`syncing\`.

## What a node can do

A kind may say what its nodes offer to be called: \`openrpc\`, a part of an
[OpenRPC 1.3](https://spec.open-rpc.org) document, where they speak JSON-RPC, and \`openapi\`, a part of an
[OpenAPI 3.1](https://spec.openapis.org/oas/v3.1.1) document, where they speak REST. These marks are added:

| mark | of | value | what it says |
| --- | --- | --- | --- |
${Object.entries(MARKS).map(([name, mark]) => markRow(name, mark)).join("")}
A method becomes \`POST /v1/rpc/getblock\` with an object of parameters. Where it is a \`read\` and each of its
parameters is one text, number or boolean, it is \`GET /v1/rpc/getblock?hash=…\` as well. An operation of REST
keeps its path, below \`/v1/node\`.

Two keys say what one node has of it. \`description\` is where it describes itself: a path to OpenAPI, or a
method that gives OpenRPC, as in \`{ jsonrpc: rpc.discover }\`. \`listing\` is how it names what it has: what is
asked, and \`names\`, a regular expression whose first group is a name, wherever it matches in the answer, or
\`tree\`, the members of a tree in JSON: names are the ways from its root, such as \`block/get\`. What is not named
is left out. Where it names nothing, \`x-software\` and \`x-since\` are compared with its software and the version
of that.

${all.map(([name, kind]) => partOf(name, kind, accesses.get(name)!)).join("\n")}
## A kind of your own

A file in the same form makes a further kind, called as the file is. It wins over a known one of the same
name. Here is one for aria2, a program that downloads, step by step.

1. **See what the node answers.** \`aria2c --enable-rpc\` listens on port 6800, and its manual says that it
   speaks JSON-RPC at \`/jsonrpc\`:

   \`\`\`sh
   curl http://127.0.0.1:6800/jsonrpc -d '{"jsonrpc":"2.0","id":1,"method":"aria2.getGlobalStat"}'
   \`\`\`

2. **Write down what tells how it is.** \`detect\` is what no other node says, \`sources\` are the questions,
   \`fields\` the places in their answers, \`health\` what \`ok\` rests on. \`nodeface kinds etcd\` prints a known
   kind to begin with.
3. **Write down what it can do**, as far as you want to: names, parameters, answers, and for each what
   calling it may do. With \`listing\` the others are shown by their names, without a mark.
4. **Check it.** \`nodeface check http://127.0.0.1:6800 --kind aria2.yaml\` says what is wrong in the file, with
   line and column, asks the node once, and prints what would be shown.
5. **Use it**: \`nodeface http://127.0.0.1:6800 --kind aria2.yaml\`, and the node is of that kind. Or
   \`kinds: [aria2.yaml]\` in the configuration, and it is detected. A host gives the same as an object,
   \`createNodeface({ kinds: { aria2: { … } } })\`.

The whole file, [examples/kinds/aria2.yaml](../examples/kinds/aria2.yaml). Its first line gives editors the schema:

\`\`\`yaml
${example.trim()}
\`\`\`

Where nodes speak REST, \`openapi\` stands in place of \`openrpc\`, or beside it:

\`\`\`yaml
openapi:
  paths:
    /blocks/{height}:
      get:
        operationId: getBlock
        summary: Get a block by its height
        parameters:
          - { name: height, in: path, required: true, schema: { type: integer, minimum: 0 } }
        responses:
          "200": { description: The block, content: { application/json: { schema: { type: object } } } }
        x-access: read
\`\`\`
`;
}

function markRow(name: string, { on, value, text }: Mark): string {
  return `| ${code(name)} | ${on} | ${value} | ${text} |\n`;
}

/** Whether a kind says if its node is in sync. */
function saysSync({ fields, health }: Kind): boolean {
  return "synced" in fields || health.complete !== undefined || health.target !== undefined ||
    (health.rules ?? []).some(({ code }) => code === "syncing");
}

/** What each operation may do. */
function accessesOf({ openrpc, openapi }: KindInterface): unknown[] {
  const paths = Object.values(openapi?.paths ?? {}).flatMap(operationsOf);
  const operations = [...openrpc?.methods ?? [], ...paths.map(({ operation }) => operation)];
  return operations.map((operation) => operation["x-access"]);
}

function operationsText({ tried }: Kind, accesses: readonly unknown[]): string {
  if (accesses.length === 0) return "";
  const counts = (["read", "secret", "write"] satisfies Access[]).map((access) =>
    `${accesses.filter((of) => of === access).length} ${code(access)}`
  );
  const trial = tried ? `what reads was tried against ${tried}` : "not tried against a real node";
  return `${accesses.length} (${counts.join(", ")}), ${trial}`;
}

function partOf(name: string, kind: Kind, accesses: readonly unknown[]): string {
  const { title, aliases = [], description, detect, auth, health } = kind;
  const lines = [
    ["ok", health.ok],
    ["in sync", saysSync(kind) ? "" : "it cannot tell"],
    [
      "detected by",
      listOf(Object.entries(detect).map(([place, test]) => evidence(kind, place, test))),
    ],
    ["also called", listOf(aliases.map(code))],
    [
      "describes itself at",
      description ? code(typeof description === "string" ? description : description.jsonrpc) : "",
    ],
    ["starting", listOf((health.warming_up ?? []).map((number) => `the error ${number}`))],
    ["synced within", health.target ? `${health.lag ?? 2} blocks` : ""],
    [
      "refuses with",
      auth?.refusal
        ? `${code(auth.refusal.header)} that matches ${code(auth.refusal.pattern)}`
        : "",
    ],
    ["operations", operationsText(kind, accesses)],
    ["reads", auth?.reads === "none" ? "called without `node.auth`" : ""],
    ["written from", listOf(kind.written_from ?? [])],
  ].filter(([, value]) => value !== "");
  const rows = lines.map(([key, value]) => `| ${key} | ${value} |\n`).join("");
  const networks = Object.entries(health.networks ?? {});
  return `## ${name}\n\n${title}\n\n| | |\n| --- | --- |\n${rows}${rulesOf(kind)}${
    networksOf(networks)
  }`;
}

function evidence({ sources }: Kind, place: string, test: string): string {
  const name = place.slice(0, place.indexOf("#"));
  const pointer = place.slice(name.length + 1);
  const where = pointer ? `${code(pointer)} of ` : "";
  return `${where}${code(question(sources[name]!))} matches ${code(test)}`;
}

function question(source: Source): string {
  if ("jsonrpc" in source) return source.jsonrpc;
  if ("get" in source) return `GET ${source.get}`;
  if ("post" in source) return `POST ${source.post}`;
  return "file" in source ? source.file : source.command.join(" ");
}

function rulesOf({ health: { rules = [] } }: Kind): string {
  if (rules.length === 0) return "";
  const rows = rules.map(({ when, code: status, reason }) => {
    const tests = Object.entries(when).map(([place, test]) => `${code(place)} ${testOf(test)}`);
    return `| ${code(status)} | ${reason.replaceAll("|", "\\|")} | ${listOf(tests)} |\n`;
  });
  return `\n| status_code | status_reason | where |\n| --- | --- | --- |\n${rows.join("")}`;
}

function testOf(test: Test): string {
  if (test === null) return "is not there";
  if (typeof test === "string") return `matches ${code(test)}`;
  return "above" in test ? `is above ${test.above}` : `is below ${test.below}`;
}

function networksOf(networks: readonly [string, NetworkRules][]): string {
  if (networks.length === 0) return "";
  const rows = networks.map(([name, { quiet = "", peers = "" }]) =>
    `| ${name === "*" ? "any" : code(name)} | ${quiet} | ${peers} |\n`
  );
  return `\n| network | stalled after | fewest peers |\n| --- | --- | --- |\n${rows.join("")}`;
}

function listOf(texts: readonly string[]): string {
  const [last = "", ...others] = texts.toReversed();
  return others.length > 0 ? `${others.reverse().join(", ")} and ${last}` : last;
}
