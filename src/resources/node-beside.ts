/**
 * Holds the interface of the node that the service describes.
 *
 * @module
 */
import type { KnownNode } from "../description/known-interface.ts";
import { mayAskMethods, MissingMethods } from "../description/missing-methods.ts";
import type { Monitor } from "../info/info-monitor.ts";
import type { Info } from "../info/info.ts";
import type { Node } from "../node/node.ts";
import type { ResolvedOptions } from "../options.ts";

export interface NodeBeside {
  /** Queries the node if its kind is unknown. Returns `undefined` if the kind remains unknown. */
  find(): Promise<KnownNode | undefined>;
  readonly missing: MissingMethods;
  rpcPath(): Promise<string>;
}

export function createNodeBeside(
  options: ResolvedOptions,
  node: Node,
  monitor: Monitor,
  onMissing: () => void,
): NodeBeside {
  const { log, onError } = options;
  let shown: Info | undefined;
  let known: KnownNode | undefined;
  const find = async () => {
    const name = await monitor.findKind();
    if (name === undefined) return undefined;
    const { knowNode, withSoftware } = await import("../description/known-interface.ts");
    const info = shown;
    const readInfo = async () => (await monitor.get()).info;
    if (known?.kind !== name) known = await knowNode(node, name, info, readInfo);
    return known && withSoftware(known, info);
  };

  const missing = new MissingMethods({
    async prepare(signal) {
      if (!mayAskMethods(options.node)) return undefined;
      const [found, { questionsFor }] = await Promise.all([
        find(),
        import("../description/known-interface.ts"),
      ]);
      if (!found) return undefined;
      const { software, version } = found;
      return await questionsFor(found, { software, version }, signal);
    },
    onChange: onMissing,
    onIncredible() {
      const message = "the node seems to lack most methods of its kind, so none is omitted; " +
        "a proxy may refuse them, or the path of node.url may be wrong";
      log(message, { code: "description", level: "warn" });
    },
    onError,
  });
  monitor.onInfo.add((info) => {
    shown = info;
    missing.take(info);
  });

  let path: string | undefined;
  const rpcPath = async () => {
    if (path !== undefined) return path;
    const { rpcPathOf } = await import("../description/known-interface.ts");
    const found = await rpcPathOf(await find());
    // While the kind is unknown, the path is only a guess and must not be cached.
    if (node.kind !== undefined) path = found;
    return found;
  };
  return { find, missing, rpcPath };
}
