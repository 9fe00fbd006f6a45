/** Tests what is said of nodes of built-in kinds in states that no recording has. */
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../src/json/values.ts";
import { SourceError } from "../src/node/failures.ts";
import { type SceneOptions, setScene } from "./_scene.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const states = suite("states of kinds");

type Respond = (request: string, methods: readonly string[]) => Response | undefined;

/** Sets the scene of a recorded node, but `respond` responds to some of the requests. */
function nodeLike(name: string, respond: Respond, options: Partial<SceneOptions> = {}) {
  const recording = RECORDINGS.get(name)!;
  const recorded = play(recording);
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = `${init?.method ?? "GET"} ${new URL(String(input)).pathname}`;
    const calls: JsonObject[] = [JSON.parse(String(init?.body ?? "[]"))].flat();
    const methods = calls.map(({ method }) => String(method));
    return respond(request, methods) ?? await recorded(input, init);
  };
  const scene = setScene({ fetch, node: { kind: recording.kind }, ...options });
  if (recording.now) scene.held.date = Date.parse(recording.now);
  return scene;
}

/** Sets the scene of a recorded node that has another response to a JSON-RPC method, or none. */
function nodeWithout(name: string, method: string, error?: JsonObject) {
  const recording = RECORDINGS.get(name)!;
  const { [method]: _, ...answers } = recording.answers;
  const errors = error && { [method]: error };
  return setScene({
    fetch: play({ ...recording, answers, ...errors && { errors } }),
    node: { kind: recording.kind },
  });
}

const refusal = (status: number) => new Response(null, { status });
const timeout = () => new SourceError("timeout", "does not respond");

states("a node of Bitcoin Core whose rpcwhitelist lacks an optional method is ok", async () => {
  let sizes: number[] = [];
  const { info, pass } = nodeLike("litecoin", (_, methods) => {
    sizes.push(methods.length);
    return methods.includes("uptime") ? refusal(403) : undefined;
  });
  const { status, software, started_at } = await info();
  assert.equal([status, typeof software, started_at], ["ok", "string", undefined]);
  pass(5000);
  sizes = [];
  assert.is((await info()).status, "ok");
  assert.ok(sizes.some((size) => size > 1), "the node still gets batches");
});

states(
  "a proxy that forbids paths of optional sources makes no healthy node degraded",
  async () => {
    const forbidden = new Map([["GET /net_info", 401], ["GET /abci_info", 403]]);
    const { info } = nodeLike("cosmos", (request) => {
      const status = forbidden.get(request);
      return status === undefined ? undefined : refusal(status);
    });
    const { status, peers, version, software } = await info();
    assert.equal([status, peers, version, software], ["ok", undefined, "0.32.1", undefined]);
  },
);

states("a node that forbids all of its paths is degraded", async () => {
  const { info } = nodeLike("cosmos", () => refusal(401));
  assert.is((await info()).status_code, "unauthorized");
});

states("a forbidden source that tells whether it is the expected node is a fault", async () => {
  const { info } = nodeLike(
    "beacon",
    (request) => request.endsWith("/deposit_contract") ? refusal(403) : undefined,
    { node: { kind: "beacon", expect: { chain_id: "1" } } },
  );
  assert.is((await info()).status_code, "forbidden");
});

states("a secret that only optional sources reject is a fault", async () => {
  process.env.KIND_STATES_SECRET = "s3cret-of-the-node";
  const { info } = nodeLike(
    "cosmos",
    (request) => request === "GET /net_info" ? refusal(401) : undefined,
    { node: { kind: "cosmos", auth: { bearer_env: "KIND_STATES_SECRET" } } },
  );
  assert.is((await info()).status_code, "unauthorized");
});

states("a JSON-RPC error that forbids an optional method is no fault of the node", async () => {
  for (const code of [401, 403, -32601]) {
    const error = { code, message: "unauthorized access" };
    const { status, peers } = await nodeWithout("anvil", "net_peerCount", error).info();
    assert.equal([status, peers], ["ok", undefined], `${code}`);
  }
});

states("an optional source of the operator that is forbidden counts as absent", async () => {
  const sources = { disk: { get: "/disk", optional: true } } as const;
  const { monitor } = nodeLike(
    "beacon",
    (request) => request === "GET /disk" ? refusal(403) : undefined,
    { info: { sources, fields: { free: "disk#" } } },
  );
  const { outcomes, status } = await monitor.inspect();
  assert.equal([status.status, "error" in outcomes.get("disk")!], ["ok", false]);
});

states("a source that is marked as extra decides nothing, unless there is no other", async () => {
  const b = { file: join(import.meta.dirname, "kind-states.test.ts") } as const;
  const fields = { a: "a#/x", b: "b#" } as const;
  for (const extra of [true, undefined]) {
    const sources = { a: { get: "/x", extra }, b } as const;
    const fetch = () => Promise.reject(timeout());
    const { info } = setScene({ fetch, node: { kind: "none" }, info: { sources, fields } });
    assert.is((await info()).status, extra ? "ok" : "unreachable");
  }
});

states("an Ethereum node behind a host without eth_syncing is ok", async () => {
  const { status, height } = await nodeWithout("anvil", "eth_syncing").info();
  assert.equal([status, typeof height], ["ok", "number"]);
});

states("a Besu node whose peer-to-peer network is off is ok without peers", async () => {
  const message = "P2P has been disabled. This functionality is not available";
  const { status, peers } = await nodeWithout("anvil", "net_peerCount", { code: -32000, message })
    .info();
  assert.equal([status, peers], ["ok", undefined]);
});

states("a CometBFT node whose application executes a block is judged by its status", async () => {
  const chain_id = String(RECORDINGS.get("cosmos")!.info.chain_id);
  const { info, monitor } = nodeLike(
    "cosmos",
    (request, methods) => {
      if (request === "GET /abci_info" || methods.includes("abci_info")) throw timeout();
      return undefined;
    },
    { node: { kind: "cosmos", expect: { chain_id } } },
  );
  assert.is((await info()).status, "ok");
  assert.is(await monitor.identityCheck.reasonAgainstCalls(), undefined);
});

states("the version of an application that executes a block is not that of CometBFT", async () => {
  let isBusy = true;
  const { info, pass } = nodeLike("cosmos", (request) => {
    if (request !== "GET /abci_info") return undefined;
    if (isBusy) throw timeout();
    return Response.json({ result: { response: { data: "gaia", version: "25.0.0" } } });
  });
  assert.is((await info()).version, undefined);
  isBusy = false;
  pass(61_000);
  assert.is((await info()).version, "25.0.0");
});

states(
  "a beacon node of mainnet whose head stands still is stalled, whatever it says",
  async () => {
    const { data } = RECORDINGS.get("beacon")!.answers["GET /eth/v1/node/syncing"] as {
      data: JsonObject;
    };
    for (const grows of [false, true]) {
      let slots = 0;
      const { info, pass } = nodeLike("beacon", (request) => {
        if (request.endsWith("/deposit_contract")) {
          return Response.json({ data: { chain_id: "1", address: "0x0" } });
        }
        if (!grows || !request.endsWith("/syncing")) return undefined;
        const distance = { sync_distance: String(slots), is_syncing: slots > 8 };
        return Response.json({ data: { ...data, ...distance } });
      });
      assert.is((await info()).status, "ok");
      for (let minute = 0; minute < 23; minute++) {
        pass(60_000);
        slots += 5;
        await info();
      }
      const { status_code, status_reason } = await info();
      const reason = grows ? "is syncing without progress for 21 min" : "no new block for 23 min";
      assert.equal([status_code, status_reason], ["stalled", reason]);
    }
  },
);

states(
  "a NATS server that recovers JetStream is starting, or has no leader if it is alone",
  async () => {
    const error = "JetStream is still recovering meta layer";
    for (const [routes, code] of [[2, "warming_up"], [0, "no_leader"]] as const) {
      const varz = { ...RECORDINGS.get("nats")!.answers["GET /varz"] as JsonObject, routes };
      const { info } = nodeLike("nats", (request) => {
        if (request === "GET /varz") return Response.json(varz);
        if (request !== "GET /healthz") return undefined;
        return Response.json({ status: "unavailable", error }, { status: 503 });
      });
      assert.is((await info()).status_code, code);
    }
  },
);

states("an Algorand node in follow mode, which catches up all the time, is ok", async () => {
  const { answers } = RECORDINGS.get("algorand")!;
  const status = { ...answers["GET /v2/status"] as JsonObject, "catchup-time": 1_000_000_000 };
  for (const isFollower of [true, false]) {
    const { info } = nodeLike("algorand", (request) => {
      if (request === "GET /v2/status") return Response.json(status);
      if (request !== "GET /v2/ledger/sync") return undefined;
      return isFollower ? Response.json({ round: 7 }) : refusal(404);
    });
    const { status: word, synced } = await info();
    assert.equal([word, synced], isFollower ? ["ok", undefined] : ["syncing", false]);
  }
});

states.run();
