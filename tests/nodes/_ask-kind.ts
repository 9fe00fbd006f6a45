/** Starts a real node, calls the operations of its kind, and stops the node. */
import { createNodeface } from "../../src/index.ts";
import type { NodeOptions } from "../../src/setting-types.ts";
import type { KindInterface } from "../../src/kinds/interface.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { type JsonObject, objectOf } from "../../src/json/values.ts";
import { isNoMethod } from "../../src/node/json-rpc.ts";
import { askOperations } from "./_ask-operations.ts";
import { until } from "./_daemon.ts";
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

export interface Shown {
  /** The methods that the description shows when the service knows which methods are missing. */
  readonly shown: readonly string[];
  readonly called: readonly string[];
  /** The called methods that the node does not have. */
  readonly absent: readonly string[];
}

/**
 * Waits until the service omits the methods that the node lacks, and calls each light `read` method
 * that the service's description shows.
 *
 * @param missing the methods to wait for
 */
export async function callShown(
  { url, auth }: AskedNode,
  kind: string,
  { outcomes }: Asked,
  missing: readonly string[],
): Promise<Shown> {
  const node = { url, kind, ...auth && { auth } } as NodeOptions;
  const app = createNodeface({ node, info: { ttl: "0ms" }, forward: "reads", log() {} });
  const ask = async (path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : {};
    return await app.fetch(new Request(`http://localhost${path}`, init));
  };
  const read = async () => {
    // This request makes the service query the node's status.
    await (await ask("/v1/info")).text();
    const { info, paths } = await (await ask("/spec.json")).json();
    const methods = Object.entries<JsonObject>(objectOf(paths) as Record<string, JsonObject>)
      .filter(([path]) => path.startsWith(RPC))
      .map(([path, item]) => [path.slice(RPC.length), objectOf(item.post)] as const);
    return { methods: new Map(methods), isUnsure: /may lack/.test(String(info.description)) };
  };
  try {
    let { methods, isUnsure } = await read();
    await until(async () => {
      ({ methods, isUnsure } = await read());
      return methods.size > 0 && !isUnsure && !missing.some((name) => methods.has(name));
    });
    const light = [...methods].filter(([, { "x-access": access, "x-cost": cost, ...marks }]) =>
      access === "read" && cost !== "heavy" && !marks["x-streaming"] && !marks["x-subscription"] &&
      !marks["x-connection"]
    );
    const known = new Map(outcomes.map(({ name, params }) => [name, params]));
    const absent: string[] = [];
    for (const [name] of light) {
      const params = known.get(name) ?? [];
      const call = { jsonrpc: "2.0", id: 1, method: name, params };
      const { error } = await (await ask("/v1/rpc", call)).json();
      if (error && isNoMethod(error)) absent.push(name);
    }
    return { shown: [...methods.keys()], called: light.map(([name]) => name), absent };
  } finally {
    await app.close();
  }
}

const RPC = "/v1/rpc/";
