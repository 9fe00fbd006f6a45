/**
 * Records the responses of a running node:
 *
 *     node --import tsx tests/nodes/_record.ts KIND URL "what ran where" > tests/nodes/recorded/KIND.json
 *
 * Read the output before you commit it, since a node may reveal facts about its machine.
 */
import process from "node:process";
import { KINDS } from "../../src/generated/kinds.js";
import { Monitor } from "../../src/info/monitor.ts";
import { formatJson, parseJson } from "../../src/json/lossless.ts";
import { createFetchClient } from "../../src/node/http-client.ts";
import { Node } from "../../src/node/node.ts";

const [kind = "", url = "", recorded = ""] = process.argv.slice(2);
const now = new Date().toISOString();
const answers: Record<string, unknown> = {};
const errors: Record<string, unknown> = {};
const statuses: Record<string, number> = {};

const client = createFetchClient(async (input, init) => {
  const response = await fetch(input, init);
  const text = await response.clone().text();
  const sent = init?.body instanceof Uint8Array ? new TextDecoder().decode(init.body) : undefined;
  note(`${init?.method} ${new URL(String(input)).pathname}`, sent, text, response.status);
  return response;
});
const { info } = await new Monitor(new Node({ url, kind, client }, () => Promise.resolve(KINDS)), {
  service: { software: "nodeface", version: "0", started_at: "" },
  log: console.error,
  onError: console.error,
}).snapshotNow();

const { api: _api, links: _links, ...rest } = info;
const said = {
  kind,
  recorded,
  now,
  answers,
  ...Object.keys(errors).length > 0 && { errors },
  ...Object.keys(statuses).length > 0 && { statuses },
  info: rest,
};
console.log(formatJson(said, 2));

function note(name: string, body: unknown, text: string, status: number) {
  const sent = typeof body === "string" ? JSON.parse(body) : undefined;
  const answer = parseJson(text);
  if (!(Array.isArray(sent) ? sent[0] : sent)?.jsonrpc) {
    answers[name] = answer;
    if (status !== 200) statuses[name] = status;
    return;
  }
  for (const [index, call] of [sent].flat().entries()) {
    const { result, error } = [answer].flat()[index] as { result?: unknown; error?: unknown };
    if (result !== undefined) answers[call.method] = result;
    if (error) errors[call.method] = error;
  }
}
