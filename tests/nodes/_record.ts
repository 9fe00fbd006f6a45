/**
 * Records a node that runs here:
 *
 *     node --import tsx tests/nodes/_record.ts KIND URL "what ran where" > tests/nodes/recorded/KIND.json
 *
 * Read what it prints before it is kept: a node may tell of the machine it runs on.
 */
import process from "node:process";
import { createInfo } from "../../src/info/monitor.ts";
import { formatJson, parseJson } from "../../src/json/lossless.ts";
import { KINDS } from "../../src/kinds/index.ts";

const [kind = "", url = "", recorded = ""] = process.argv.slice(2);
const answers: Record<string, unknown> = {};

const { info } = await createInfo({
  service: { software: "nodeface", version: "0", started_at: "" },
  node: { url, kind },
  kinds: KINDS,
  log: console.error,
  onError: console.error,
  async fetch(input, init) {
    const response = await fetch(input, init);
    const text = await response.clone().text();
    if (response.ok) note(`${init?.method} ${new URL(String(input)).pathname}`, init?.body, text);
    return response;
  },
}).get();

const { api: _api, links: _links, ...rest } = info;
console.log(formatJson({ kind, recorded, answers, info: rest }, 2));

function note(name: string, body: unknown, text: string) {
  const sent = typeof body === "string" ? JSON.parse(body) : undefined;
  const answer = parseJson(text);
  if (!(Array.isArray(sent) ? sent[0] : sent)?.jsonrpc) {
    answers[name] = answer;
    return;
  }
  for (const [index, call] of [sent].flat().entries()) {
    const result = [answer].flat()[index] as { result?: unknown };
    if (result.result !== undefined) answers[call.method] = result.result;
  }
}
