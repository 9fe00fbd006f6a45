/** If a call shows that the node lacks a method, the description marks this method as missing for a limited time. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LackingMethods } from "../src/description/lacking.ts";
import { isNoMethod } from "../src/node/json-rpc.ts";
import { createNodeface } from "../src/index.ts";
import { nextTurn } from "../src/slices.ts";
import { play } from "./_sources.ts";

const lacking = suite("methods that the node does not have");

const GETH = { software: "Geth", version: "1.16.0", status: "ok" };

lacking(
  "a healthy node's missing method is remembered for one day and for one version of the node",
  () => {
    let now = 0;
    const methods = new LackingMethods(() => now);
    methods.add("a", { ...GETH, status: "starting" });
    methods.add("b", { ...GETH, status: "unreachable" });
    assert.equal(methods.names(GETH), []);
    methods.add("c", GETH);
    now = 3_600_000;
    methods.add("a", GETH);
    assert.equal(methods.names(GETH), ["a", "c"]);
    assert.equal(methods.names({ status: "unreachable" }), ["a", "c"], "this is the same node");
    now = 24 * 3_600_000;
    assert.equal(methods.names(GETH), ["a"], "after a day, the node may have the method");
    assert.equal(methods.names({ ...GETH, version: "1.17.0" }), []);
    assert.equal(methods.names(GETH), [], "the node that came back may be a different one");
  },
);

const ERRORS: readonly (readonly [code: string | undefined, message: string, isNone: boolean])[] = [
  ["-32601", "anything", true],
  ["-32601.0", "anything", true],
  ["-32004", "Method txpool_status is not supported", true],
  ["-32700", "The method eth_blobBaseFee does not exist/is not available", true],
  ["-32000", "method eth_x not found", true],
  // -32004 is Solana's code for a missing block.
  ["-32004", "Block not available for slot 5", false],
  ["3", "execution reverted: method not found", false],
  ["-32000", "header not found", false],
  ["-32602", "invalid params of the method", false],
  [undefined, "Method", false],
];

for (const [code, message, isNone] of ERRORS) {
  lacking(
    `the error ${code} ${message} ${
      isNone ? "says" : "does not say"
    } that the node lacks the method`,
    () => {
      assert.is(isNoMethod({ code, message, data: undefined }), isNone);
    },
  );
}

/** Calls of unknown methods fail with hardhat's error for a missing method. */
async function playEthereum() {
  const results: Record<string, unknown> = {
    eth_chainId: "0x7a69",
    eth_blockNumber: "0x1",
    eth_syncing: false,
    web3_clientVersion: "HardhatNetwork/3.18.0",
  };
  const called: string[] = [];
  const node = await play((request, response) => {
    let body = "";
    request.on("data", (part) => body += part).on("end", () => {
      const answer = ({ id, method }: { id: unknown; method: string }) => {
        called.push(method);
        return method in results ? { jsonrpc: "2.0", id, result: results[method] } : {
          jsonrpc: "2.0",
          id,
          error: { code: -32004, message: `Method ${method} is not supported` },
        };
      };
      const calls = JSON.parse(body || "{}");
      const text = JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls));
      response.setHeader("content-type", "application/json").end(text);
    });
  });
  return { node, called, results };
}

lacking(
  "if a call shows that a method is missing, the description says so without further queries",
  async () => {
    const { node, called, results } = await playEthereum();
    const app = createNodeface({
      node: node.url,
      info: { ttl: "0ms" },
      forward: "reads",
      log: () => {},
    });
    const read = async (path: string, body?: object) => {
      const headers = { "content-type": "application/json" };
      const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : {};
      return await app.fetch(new Request(`http://localhost${path}`, init));
    };
    const marked = async () => {
      await app.refresh();
      const { info, paths } = await (await read("/spec.json")).json();
      const names = Object.entries<Record<string, { description?: string }>>(paths)
        .filter(([, item]) =>
          item.post?.description?.startsWith("This node does not have this method")
        )
        .map(([path]) => path.replace("/v1/rpc/", ""));
      return [names, /may lack some of the methods/.test(info.description)];
    };
    assert.equal(await marked(), [[], true]);
    const before = called.filter((method) => method === "txpool_status").length;
    assert.is(before, 0, "no query to the node tests this method");
    const call = { jsonrpc: "2.0", id: 1, method: "txpool_status", params: [] };
    assert.is((await (await read("/v1/rpc", call)).json()).error.code, -32004);
    await read("/v1/rpc/eth_blobBaseFee", {});
    // The service remembers a missing method only after it knows the node's status.
    await read("/v1/info");
    assert.equal(await marked(), [["eth_blobBaseFee", "txpool_status"], true]);
    const page = await (await read("/v1/spec/simple")).text();
    assert.match(page, "This node does not have this method: a call to it failed.");
    // A method that is marked as missing can still be called.
    assert.is((await (await read("/v1/rpc", call)).json()).error.code, -32004);
    await read("/v1/info");
    results.web3_clientVersion = "HardhatNetwork/3.19.0";
    results.txpool_status = {};
    while (!(await (await read("/v1/info")).text()).includes("3.19.0")) await nextTurn();
    assert.equal(await marked(), [[], true], "another version may have the method");
    await app.close();
    await node.close();
  },
);

lacking(
  "listeners are notified once that the description has changed, and get its new ETag",
  async () => {
    const { node } = await playEthereum();
    const app = createNodeface({
      ...{ node: node.url, info: { ttl: "0ms" }, forward: "reads", log: () => {} },
    });
    const read = (path: string, init: RequestInit = {}) =>
      app.fetch(new Request(`http://localhost${path}`, init));
    const etag = async () => (await read("/spec.json")).headers.get("etag");
    const { now } = performance;
    let passed = 0;
    performance.now = () => now.call(performance) + passed;
    try {
      await app.refresh();
      const before = await etag();
      const reader = (await read("/v1/events?events=description")).body!.getReader();
      for (const method of ["txpool_status", "eth_blobBaseFee", "eth_getProof"]) {
        const headers = { "content-type": "application/json" };
        await read(`/v1/rpc/${method}`, { method: "POST", headers, body: "{}" });
      }
      await read("/v1/info");
      await app.refresh();
      let after = before;
      while (after === before) {
        await nextTurn();
        after = await etag();
      }
      passed = 10_000;
      let told = "";
      while (!told.includes("event: description")) {
        const { value } = await reader.read();
        told += new TextDecoder().decode(value);
      }
      assert.match(told, `data: ${JSON.stringify({ etag: after })}`);
      assert.is(told.split("event: description").length, 2);
      await reader.cancel();
    } finally {
      performance.now = now;
      await app.close();
      await node.close();
    }
  },
);

lacking("an operator's own description also says that a method is missing", async () => {
  const { node } = await playEthereum();
  const methods = ["eth_chainId", "txpool_status"].map((name) => ({
    name,
    params: [],
    result: { name: "result", schema: {} },
  }));
  const text = JSON.stringify({ openrpc: "1.3.2", info: { title: "Mine", version: "1" }, methods });
  const app = createNodeface({
    node: { url: node.url, kind: "ethereum" },
    description: { text, name: "mine.json" },
    info: { ttl: "0ms" },
    forward: { open: methods.map(({ name }) => name) },
    log: () => {},
  });
  const read = async (path: string, init = {}) =>
    await (await app.fetch(new Request(`http://localhost${path}`, init))).json();
  const described = async () => {
    await read("/v1/info");
    await app.refresh();
    const { paths } = await read("/spec.json");
    return methods.map(({ name }) => String(paths[`/v1/rpc/${name}`].post.description));
  };
  const LACKING = /^This node does not have this method/;
  assert.equal((await described()).map((text) => LACKING.test(text)), [false, false]);
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  for (const { name } of methods) await read(`/v1/rpc/${name}`, init);
  let found: boolean[] = [];
  // The service responds to the call before it records that the method is missing.
  for (let tries = 0; tries < 100 && !found[1]; tries++) {
    await nextTurn();
    found = (await described()).map((text) => LACKING.test(text));
  }
  assert.equal(found, [false, true]);
  await app.close();
  await node.close();
});

lacking.run();
