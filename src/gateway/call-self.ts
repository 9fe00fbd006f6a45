/**
 * Responds to `GET /v1/clients/self`: tells a client whose token it has, and what the token opens.
 *
 * @module
 */
import { SELF_PATH } from "../http/own-paths.ts";
import { makeResponse } from "../http/response.ts";
import type { Call, CallForm } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import type { Guarded } from "./guard.ts";
import { problemOf } from "./refusal.ts";
import { JSON_HEADERS } from "./response-headers.ts";

const METHODS: readonly string[] = ["GET", "HEAD"];

export const selfCalls: CallForm = {
  start: SELF_PATH,
  respond: tellClient,
  toResponse: problemOf,
  methodsAt: () => METHODS,
};

// deno-lint-ignore require-await -- an exception must become a rejection
async function tellClient({ clients }: Gateway, call: Call): Promise<Response> {
  const { caller, common, table } = call;
  const self: Guarded = {
    operation: { name: `GET ${SELF_PATH}` },
    permission: "token",
    clients: clients.all.map(({ name }) => name),
    publicReason: "",
  };
  caller.check(self, SELF_PATH);
  const { name, per_minute } = caller.client!.settings;
  const operations = table.entries.filter(({ clients }) => clients.includes(name))
    .map(({ operation }) => operation.name);
  const body = new TextEncoder().encode(JSON.stringify({ name, operations, per_minute }));
  const headers = { ...JSON_HEADERS, "content-length": String(body.byteLength) };
  return makeResponse(200, headers, body, common);
}
