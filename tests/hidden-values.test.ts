import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { KINDS } from "../src/generated/kinds.js";
import type { JsonObject } from "../src/json/values.ts";
import { until } from "./_gateway.ts";
import { setScene } from "./_scene.ts";
import { play as playNode } from "./_sources.ts";
import { KIND, playState, readHistory } from "./_state.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const hiding = suite("hidden values");

hiding("a hidden height cannot be computed from an estimate", async () => {
  const { info } = playState({ height: 500, peers: 5, target: 1000 }, {
    info: { hide: ["height"] },
  });
  assert.equal(await info(), {
    peers: 5,
    synced: false,
    status: "syncing",
    status_code: "syncing",
    status_reason: "is catching up with its network",
  });
});

hiding("a hidden value appears in no response", async () => {
  const state: JsonObject = {
    ...{ is: "node", software: "softwarely", chain: "chainly-1", network: "networkly" },
    ...{ height: 7654321987, peers: 31415926, progress: 0.7654321, target: 7654322000 },
    head: "2026-11-20T07:08:09Z",
  };
  const shown: Record<string, RegExp> = {
    ...{ software: /softwarely/, chain_id: /chainly-1/, network: /networkly/ },
    ...{ height: /7654321987|7[ ,.\u202f]654[ ,.\u202f]321[ ,.\u202f]987/ },
    ...{ peers: /31415926|31[ ,.\u202f]415[ ,.\u202f]926/, progress: /\b76\.5|\b0\.7654321/ },
    head_at: /07:08:09/,
  };
  const everything = async (hide: string[]) => {
    const node = await playNode((_, response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(state));
    });
    const app = createNodeface({
      ...{ node: { url: node.url, kind: "mine" }, kinds: { mine: KIND }, info: { hide } },
      ...{ metrics: true, log: () => {} },
    });
    await app.refresh();
    const readInfo = async () =>
      await (await app.fetch(new Request("http://localhost/v1/info"))).json();
    // A busy machine may be too slow for the first query.
    await until(async () => (await readInfo()).status === "syncing");
    const paths = ["/v1/info", "/v1/health", "/v1/history", "/v1/metrics", "/v1/spec", "/spec.json"]
      .concat("/v1/spec/simple", "/spec.yaml", "/v1/events");
    const texts = paths.map(async (path) => {
      const response = await app.fetch(new Request(`http://localhost${path}`));
      if (path !== "/v1/events") return `${path} ${await response.text()}`;
      const reader = response.body!.getReader();
      await reader.read();
      const { value } = await reader.read();
      await reader.cancel();
      return `${path} ${new TextDecoder().decode(value)}`;
    });
    const served = await Promise.all(texts);
    await app.close();
    await node.close();
    return served;
  };
  const open = await everything([]);
  for (const [key, value] of Object.entries(shown)) {
    assert.ok(
      open.filter((text) => value.test(text)).length >= 2,
      `${key} is not served although it is not hidden`,
    );
    for (const text of await everything([key])) {
      const at = value.exec(text);
      assert.not.ok(
        at,
        `${key}: ${text.slice(0, 20)} … ${
          text.slice((at?.index ?? 0) - 40, (at?.index ?? 0) + 40)
        }`,
      );
    }
  }
});

hiding("a change of chain is logged without hidden values", async () => {
  const { info, pass, state, said } = playState({ chain: 31337 }, { info: { hide: ["chain_id"] } });
  await info();
  state.chain = 31338;
  pass(1000);
  await info();
  assert.equal(said, ["warn: node http://node.example is on another chain now"]);
});

hiding("hidden values appear nowhere, whatever the status of the node is", async () => {
  for (const [name, recording] of RECORDINGS) {
    const { sources: _, fields } = KINDS[recording.kind]!;
    const open = setScene({ fetch: play(recording), node: { kind: recording.kind } });
    open.held.date = Date.parse(recording.now ?? "2026-11-21T10:00:00Z");
    const all = await open.info();
    for (const key of [...Object.keys(fields), "peers", "height", "head_at"]) {
      const value = all[key];
      if (typeof value !== "string" && typeof value !== "number") continue;
      const text = String(value);
      // A short value is skipped, because the same text might occur elsewhere by chance.
      if (text.length < 5) continue;
      const scene = setScene({
        fetch: play(recording),
        node: { kind: recording.kind },
        info: { hide: [key] },
      });
      scene.held.date = open.held.date;
      const said: string[] = [];
      const others = { ...all };
      delete others[key];
      if (JSON.stringify(others).includes(text)) continue;
      said.push(JSON.stringify(await scene.info(), (_, v) => typeof v === "bigint" ? `${v}` : v));
      scene.held.failure = "ECONNREFUSED";
      for (const time of [1000, 61_000, 61_000]) {
        scene.pass(time);
        const shown = await scene.info();
        said.push(JSON.stringify(shown, (_, v) => typeof v === "bigint" ? `${v}` : v));
      }
      said.push(JSON.stringify(await readHistory(scene), (_, v) => String(v)), ...scene.said);
      for (const line of said) assert.not.ok(line.includes(text), `${name} ${key}: ${line}`);
    }
  }
});

hiding("if any value is hidden, the log does not say what identified the kind", async () => {
  const recorded = RECORDINGS.get("geth") ??
    [...RECORDINGS.values()].find(({ kind }) => kind === "ethereum")!;
  const linesWith = async (hide: string[]) => {
    const scene = setScene({ fetch: play(recorded), node: {}, info: { hide } });
    await scene.info();
    return scene.said.filter((line) => line.includes("of the kind ethereum"));
  };
  assert.match((await linesWith([])).join(), /of the kind ethereum: chain# is "0x/);
  assert.match((await linesWith(["chain_id"])).join(), /of the kind ethereum$/);
});

hiding("an error text from the node is not shown if any value is hidden", async () => {
  const error = { code: 1, message: "chain 31337" };
  const reasonWith = async (hide: string[]) => {
    const source = { jsonrpc: "state" };
    const { info } = playState({}, {
      fetch: async (_, init) => {
        const { id } = JSON.parse(String(await new Response(init?.body).text()));
        return Response.json({ jsonrpc: "2.0", id, error });
      },
      kinds: { mine: { ...KIND, sources: { state: source } } },
      info: { hide },
    });
    return String((await info()).status_reason);
  };
  assert.match(await reasonWith([]), "31337");
  assert.is(await reasonWith(["chain_id"]), "responds with something unexpected");
});

hiding("a reason that would contain a hidden value is shown in a general form", async () => {
  const cases: [JsonObject, string, string][] = [
    [{ height: 1, peers: 2 }, "peers", "has too few peers"],
    [{ height: 1, peers: 5, target: 1000 }, "height", "is catching up with its network"],
    [{ height: 1, peers: 5, progress: 0.4 }, "progress", "is catching up with its network"],
    [
      { height: 1, peers: 5, head: "2026-01-01T00:00:00Z" },
      "head_at",
      "has had no new block for too long",
    ],
  ];
  for (const [state, key, reason] of cases) {
    const shown = await playState(state).info();
    assert.match(String(shown.status_reason), /\d/);
    const hidden = await playState(state, { info: { hide: [key] } }).info();
    assert.is(hidden.status_reason, reason);
    assert.is(hidden.status_code, shown.status_code);
  }
});

hiding.run();
