/** Starts a real node of a kind, asks it what the kind offers, and stops it. */
import type { KindInterface } from "../../src/kinds/interface.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { askOperations } from "./_ask-operations.ts";
import { PROGRAMS } from "./_start-chains.ts";
import { type AskedNode, askMethods, type Outcome } from "./_interface.ts";

/** What became of a kind. */
export interface Asked {
  readonly parts: KindInterface;
  readonly outcomes: readonly Outcome[];
}

/**
 * Asks a node of a kind.
 *
 * @param also is asked while it runs
 */
export async function askKind(
  kind: string,
  also: (node: AskedNode, parts: KindInterface) => Promise<void> = async () => {},
): Promise<Asked> {
  const parts = await loadInterface(kind);
  const node = await PROGRAMS[kind]!.start();
  try {
    const outcomes = [
      ...parts.openrpc ? await askMethods(parts.openrpc, node) : [],
      ...parts.openapi ? await askOperations(parts.openapi, node) : [],
    ];
    await also(node, parts);
    return { parts, outcomes };
  } finally {
    await node.stop();
  }
}
