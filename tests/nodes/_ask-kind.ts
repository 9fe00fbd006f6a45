/** Starts a real node, calls the operations of its kind, and stops the node. */
import { createNodeface } from "../../src/index.ts";
import type { NodeOptions } from "../../src/options.ts";
import type { KindInterface } from "../../src/kinds/interface.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { objectOf, textOf } from "../../src/json/values.ts";
import { askOperations } from "./_ask-operations.ts";
import { OTHERS, type Program, PROGRAMS } from "./_start-chains.ts";
import { type AskedNode, askMethods, type Outcome } from "./_interface.ts";

export interface NamedProgram extends Program {
  readonly name: string;
  readonly kind: string;
}

export const NODES: readonly NamedProgram[] = Object.entries({ ...PROGRAMS, ...OTHERS })
  .map(([name, program]) => ({ name, kind: name, ...program }));

export interface Asked {
  readonly parts: KindInterface;
  readonly outcomes: readonly Outcome[];
}

/** @param also the function to call before the node is stopped */
export async function askKind(
  { kind, start }: NamedProgram,
  also: (node: AskedNode, asked: Asked) => Promise<void> = async () => {},
): Promise<Asked> {
  const parts = await loadInterface(kind);
  const node = await start();
  try {
    const outcomes = [
      ...parts.openrpc ? await askMethods(parts.openrpc, node) : [],
      ...parts.openapi ? await askOperations(parts.openapi, node) : [],
    ];
    const asked = { parts, outcomes };
    await also(node, asked);
    return asked;
  } finally {
    await node.stop();
  }
}

export interface Learnt {
  readonly called: readonly string[];
  /** The methods that the service has marked as missing when all calls have been made. */
  readonly lacking: readonly string[];
}

/** Calls each read-only JSON-RPC method that the service's description shows. */
export async function callShown(
  { url, auth }: AskedNode,
  kind: string,
  { parts, outcomes }: Asked,
): Promise<Learnt> {
  const node = { url, kind, ...auth && { auth } } as NodeOptions;
  const app = createNodeface({ node, info: { ttl: "0ms" }, forward: "reads", log() {} });
  const ask = async (path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : {};
    return await app.fetch(new Request(`http://localhost${path}`, init));
  };
  const shownNow = async () => {
    // This request makes the service query the node's status.
    await (await ask("/v1/info")).text();
    await app.refresh();
    const { paths } = await (await ask("/spec.json")).json();
    return new Map(
      Object.entries(objectOf(paths)).flatMap(([path, item]) =>
        path.startsWith(RPC)
          ? [[path.slice(RPC.length), textOf(objectOf(objectOf(item).post).description) ?? ""]]
          : []
      ),
    );
  };
  try {
    const before = await shownNow();
    const reads = (parts.openrpc?.methods ?? []).filter((method) => method["x-access"] === "read")
      .map(({ name }) => name);
    const called = outcomes.filter(({ name }) => reads.includes(name) && before.has(name));
    for (const { name, params } of called) await (await ask(RPC + name, params)).text();
    const lacking = [...await shownNow()].filter(([, text]) => text.startsWith(LACKING));
    return { called: called.map(({ name }) => name), lacking: lacking.map(([name]) => name) };
  } finally {
    await app.close();
  }
}

const RPC = "/v1/rpc/";

const LACKING = "This node does not have this method";
