/**
 * Fetches descriptions over HTTP: at the node's own origin as the node is asked for all else, trusting the
 * authority of `node.tls` and with its secret; elsewhere as anybody would.
 *
 * @module
 */
import type { NodeSettings } from "../info/settings.ts";
import { fetchForNode } from "../info/node-client.ts";
import { createAuth } from "../info/sources/give-credentials.ts";
import { sendWithAuth } from "../info/sources/http-request.ts";
import { SourceError } from "../info/sources/source-error.ts";
import type { Kind } from "../kinds/kind.ts";
import { lazy } from "../lazy.ts";
import { type FetchUrl, ReadError } from "../openapi/files.ts";

/**
 * Makes what fetches descriptions.
 *
 * @param node where it is, whom it lets in and whom to trust
 * @param kinds all kinds that are known
 */
export function createFetchDescription(
  node: NodeSettings,
  kinds: () => Promise<Readonly<Record<string, Kind>>>,
): FetchUrl {
  const { url: nodeUrl, auth: configured, kind } = node;
  if (nodeUrl === undefined) return (url, init) => fetch(url, init);
  const atNode = lazy(async () => ({
    fetch: fetchForNode(node),
    auth: createAuth({ nodeUrl, configured, kind, kinds: await kinds() }),
  }));
  return async (url, init) => {
    if (url.origin !== new URL(nodeUrl).origin) return await fetch(url, init);
    const { headers, signal } = init;
    const context = await atNode.get();
    try {
      // A login in the URL of the description is meant for it.
      if ("authorization" in headers) return await context.fetch(url, init);
      return await context.auth.exchange(async (owner) => {
        const request = { url: url.href, method: "GET" as const, headers };
        const { response, isSecret } = await sendWithAuth(request, context, owner, signal);
        if (isSecret && response.headers.get("location") !== null) {
          await response.body?.cancel();
          throw new ReadError("the node redirects, which is not followed with its secret");
        }
        return response;
      });
    } catch (error) {
      throw error instanceof SourceError ? new ReadError(`the node ${error.message}`) : error;
    }
  };
}
