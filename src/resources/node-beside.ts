/**
 * Holds the last snapshot and the kind of the node that the service describes.
 *
 * @module
 */
import { mayAskMethods, MissingMethods } from "../description/missing-methods.ts";
import type { KnownNode } from "../description/known-interface.ts";
import type { NodeFacts } from "../gateway/gateway.ts";
import { VERSION } from "../generated/build-info.js";
import { Monitor } from "../info/info-monitor.ts";
import type { Info, Snapshot } from "../info/info.ts";
import { type Lazy, lazy, type Resource } from "../lazy.ts";
import type { ResolvedOptions } from "../options.ts";
import type { Live } from "./live.ts";

export interface NodeBeside extends NodeFacts {
  readonly monitor: Lazy<Monitor>;
  readonly snapshot: Resource<Snapshot>;
  /** Queries the node if its kind is unknown. Returns `undefined` if the kind remains unknown. */
  find(): Promise<KnownNode | undefined>;
  readonly missing: MissingMethods;
}

export function createNodeBeside(
  options: ResolvedOptions,
  live: Pick<Live, "take" | "isHeard">,
  onMissing: () => void,
): NodeBeside {
  const { startedAt, log, onError, node, info, meters, memory } = options;
  const kinds = async () => ({
    ...(await import("../generated/kinds.js")).KINDS,
    ...options.kinds,
  });
  let shown: Info | undefined;
  const monitor = lazy(async (): Promise<Monitor> => {
    const service = { software: "nodeface", version: VERSION, started_at: startedAt.toISOString() };
    return new Monitor({
      ...{ service, node, info, log, onError, memory },
      kinds: node.url || node.kind ? await kinds() : {},
      onOutcome: (source, outcome) => meters?.countQuery(source, outcome),
      onIdentity() {
        if (meters) meters.identities++;
      },
      isHeard: live.isHeard,
      onPublished: (info, measured) => {
        shown = info;
        missing.take(info);
        live.take(info, measured);
      },
    });
  });
  const getSnapshot = async () => await (await monitor.get()).get();
  const snapshot = { get: () => monitor.made?.get() ?? getSnapshot() };
  const kind = async () => node.kind ?? (await monitor.get()).kind;
  let known: KnownNode | undefined;
  const find = async () => {
    let name = await kind();
    if (name === undefined) {
      await snapshot.get();
      name = await kind();
    }
    if (name === undefined) return undefined;
    const [{ knowNode, withSoftware }, { KINDS }] = await Promise.all([
      import("../description/known-interface.ts"),
      import("../generated/kinds.js"),
    ]);
    const info = shown;
    const readInfo = async () => (await snapshot.get()).info;
    if (known?.kind !== name) known = knowNode(node, name, KINDS, options.kinds, info, readInfo);
    return known && withSoftware(known, info);
  };

  const missing = new MissingMethods({
    async prepare(signal) {
      if (!mayAskMethods(node)) return undefined;
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

  let path: string | undefined;
  const rpcPath: Resource<string> = {
    async get() {
      if (path !== undefined) return path;
      const { rpcPathOf } = await import("../description/known-interface.ts");
      const found = await rpcPathOf(await find());
      // While the kind is unknown, the path is only a guess and must not be cached.
      if (await kind() !== undefined) path = found;
      return found;
    },
  };
  return {
    ...{ monitor, snapshot, kinds, kind, find, rpcPath, missing },
  };
}
