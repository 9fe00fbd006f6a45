/**
 * Opens the way to the node, where the operator allows calls.
 *
 * @module
 */
import { createGateway, type Gateway } from "../gateway/gateway.ts";
import { bytesOf } from "../gateway/policy.ts";
import { createClient } from "../node/client.ts";
import { createCredentials, type Credentials } from "../node/credentials.ts";
import { milliseconds } from "../info/settings.ts";
import type { Duration } from "../kinds/kind.ts";
import { lazy } from "../lazy.ts";
import { isLogged } from "../log.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import type { ResolvedOptions } from "../options.ts";
import type { NodeBeside } from "./node-beside.ts";

/**
 * Opens the way to the node.
 *
 * @param operations gives those that the description shows now
 * @returns `undefined` where no calls are forwarded, or nobody knows where the node is
 */
export function openGateway(
  { forward, node, log, logCalls, meters }: ResolvedOptions,
  beside: NodeBeside,
  operations: () => Promise<readonly NodeOperation[]>,
): Gateway | undefined {
  const { url } = node;
  if (!forward || url === undefined) return undefined;
  const credentials = lazy(async () => {
    const [kind, kinds] = await Promise.all([beside.kind(), beside.kinds()]);
    return createCredentials({ nodeUrl: url, configured: node.auth, kind, kinds });
  });
  const anonymous = createCredentials({ nodeUrl: url });
  /** Whether the kind of the node has reads called without the secret; `undefined` while it is not known. */
  let isReadBare = node.auth ? undefined : false;
  const askKind = async () => {
    const name = (await beside.find())?.kind ?? node.kind;
    if (name === undefined) return false;
    const kinds = await beside.kinds();
    return isReadBare = Object.hasOwn(kinds, name) && kinds[name]!.auth?.reads === "none";
  };
  const credentialsOf = async (operation: NodeOperation): Promise<Credentials> => {
    const isBare = operation.isAnonymous ||
      (operation.access === "read" && (isReadBare ?? await askKind()));
    return isBare ? anonymous : await credentials.get();
  };
  return createGateway({
    ...{ forward, url },
    secretHeader: node.auth && "header" in node.auth ? node.auth.header : undefined,
    timeout: milliseconds(forward.timeout as Duration),
    limit: bytesOf(forward.limit),
    concurrency: forward.concurrency,
    rpcPath: beside.rpcPath.get,
    client: createClient(node),
    credentials: credentialsOf,
    operations,
    log(call) {
      meters?.countCall(call);
      if (!isLogged(call, logCalls)) return;
      const took = `${Math.round(call.milliseconds)} ms ${call.bytes} bytes`;
      log(`${call.operation} ${call.status} ${took}`, { code: "call", level: "info", call });
    },
  });
}
