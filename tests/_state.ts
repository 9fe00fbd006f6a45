/** A simulated node that reports its whole state in one response. */
import { parseJson } from "../src/json/lossless.ts";
import type { JsonObject } from "../src/json/values.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { contentOf } from "./_representation.ts";
import { type SceneOptions, setScene } from "./_scene.ts";

/** A kind whose values are all in one response. */
export const KIND: Kind = {
  title: "A node",
  url: "http://127.0.0.1:1",
  detect: { "state#/is": "^node$" },
  sources: { state: { get: "/state" } },
  fields: {
    software: "state#/software",
    chain_id: "state#/chain",
    network: "state#/network",
    height: "state#/height",
    peers: "state#/peers",
    head_at: { from: "state#/head", as: "time" },
    progress: "state#/progress",
  },
  health: {
    ok: "it responds",
    networks: { "*": { peers: 3, quiet: "1h" } },
    complete: 1,
    target: "state#/target",
  },
};

/** Sets a scene with a node whose response is `state`, which a test can change. */
export function playState(state: JsonObject, options: Partial<SceneOptions> = {}) {
  const fetch = () =>
    Promise.resolve(
      new Response(JSON.stringify(state, (_, v) => typeof v === "bigint" ? String(v) : v)),
    );
  const node = { kind: "mine" };
  return { state, ...setScene({ fetch, kinds: { mine: KIND }, node, ...options }) };
}

/** Returns the columns of `/v1/history`; integers that a number cannot represent are `bigint`s. */
export const readHistory = async (
  { history }: { history: ReturnType<typeof setScene>["history"] },
) => {
  return parseJson(await contentOf(await history.get())) as Record<string, unknown[]>;
};
