/**
 * Makes the node of a configuration.
 *
 * @module
 */
import type { Kinds } from "../kinds/kind.ts";
import { Node } from "../node/node.ts";
import type { NodeSettings } from "../setting-types.ts";
import { milliseconds } from "../units.ts";
import { DEFAULTS } from "./settings.ts";

/** @param own kinds beside the built-in ones; a built-in kind of the same name is replaced */
export function openNode(settings: NodeSettings, own: Kinds): Node {
  const timeout = milliseconds(settings.timeout ?? DEFAULTS.timeout);
  const loadKinds = async () => ({ ...(await import("../generated/kinds.js")).KINDS, ...own });
  return new Node({ ...settings, timeout }, loadKinds);
}
