/**
 * Opens the way to the node, where the operator allows calls.
 *
 * @module
 */
import type { Gateway } from "../gateway/gateway.ts";
import { bytesOf, FORWARD_DEFAULTS } from "../gateway/forward-settings.ts";
import type { Auth } from "../info/sources/give-credentials.ts";
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
export async function openGateway(
  { forward, node, log, logCalls, meters }: ResolvedOptions,
  beside: NodeBeside,
  operations: () => Promise<readonly NodeOperation[]>,
): Promise<Gateway | undefined> {
  const { url } = node;
  if (!forward || url === undefined) return undefined;
  const [{ createGateway }, { callOutForNode }, { createAuth }] = await Promise.all(
    [
      import("../gateway/gateway.ts"),
      import("../info/node-client.ts"),
      import("../info/sources/give-credentials.ts"),
    ],
  );
  const auth = lazy(async () => {
    const [kind, kinds] = await Promise.all([beside.kind(), beside.kinds()]);
    return createAuth({ nodeUrl: url, configured: node.auth, kind, kinds });
  });
  const anonymous = createAuth({
    ...{ nodeUrl: url, configured: undefined, kind: undefined, kinds: {}, triesUsual: false },
  });
  /** Whether the kind of the node has reads called without the secret; `undefined` while it is not known. */
  let isReadBare = node.auth ? undefined : false;
  const askKind = async () => {
    const name = (await beside.find())?.kind ?? node.kind;
    if (name === undefined) return false;
    const kinds = await beside.kinds();
    return isReadBare = Object.hasOwn(kinds, name) && kinds[name]!.auth?.reads === "none";
  };
  const authOf = async (operation: NodeOperation): Promise<Auth> => {
    const isBare = operation.isAnonymous ||
      (operation.access === "read" && (isReadBare ?? await askKind()));
    return isBare ? anonymous : await auth.get();
  };
  return createGateway({
    ...{ forward, url, token: forward },
    secretHeader: node.auth && "header" in node.auth ? node.auth.header : undefined,
    timeout: milliseconds((forward.timeout ?? FORWARD_DEFAULTS.timeout) as Duration),
    limit: bytesOf(forward.limit ?? FORWARD_DEFAULTS.limit),
    concurrency: forward.concurrency ?? FORWARD_DEFAULTS.concurrency,
    origins: forward.origins ?? [],
    rpcPath: beside.rpcPath.get,
    callOut: callOutForNode(node),
    auth: authOf,
    operations,
    log(call) {
      meters?.countCall(call);
      if (!isLogged(call, logCalls)) return;
      const took = `${Math.round(call.milliseconds)} ms ${call.bytes} bytes`;
      log(`${call.operation} ${call.status} ${took}`, { code: "call", level: "info", call });
    },
  });
}
