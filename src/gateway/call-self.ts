/**
 * Responds to `GET /v1/clients/self`: tells a client whose token it has, and what the token opens.
 *
 * @module
 */
import { SELF_PATH } from "../http/own-paths.ts";
import type { Call, CallProtocol } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { respondWithTexts } from "./rpc-replies.ts";
import type { Guarded } from "./guard.ts";
import { callableBy } from "./policy.ts";
import { problemOfRefusal } from "./refusal.ts";

const METHODS: readonly string[] = ["GET", "HEAD"];

export const selfCalls: CallProtocol = {
  prefix: SELF_PATH,
  respond: tellClient,
  toResponse: problemOfRefusal,
  methodsAt: () => METHODS,
};

async function tellClient({ clients }: Gateway, call: Call): Promise<Response> {
  const { caller, table } = call;
  const self: Guarded = {
    operation: { name: `GET ${SELF_PATH}` },
    permission: "token",
    clients: clients.all.map(({ name }) => name),
    publicReason: "",
    isOpenable: false,
  };
  caller.check(self, SELF_PATH);
  const { settings } = caller.client!;
  const { name, per_minute } = settings;
  const operations = callableBy(settings, table.entries).map(({ name }) => name);
  const texts = [JSON.stringify({ name, operations, per_minute })];
  return await respondWithTexts({ texts }, call);
}
