import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Beside, startBeside, TOKEN_FILE, WITH_TOKEN } from "../gateway/_beside.ts";
import { PROGRAMS } from "./_start-chains.ts";
import { resultOf } from "./_calls.ts";
import { until } from "./_daemon.ts";
import type { AskedNode } from "./_interface.ts";

const calls = suite("calls to anvil through the service");

let node: AskedNode;
let beside: Beside;
let address: string;
let to: string;

calls.before(async () => {
  node = await PROGRAMS.ethereum!.start();
  beside = await startBeside(node, "ethereum", "reads");
  [address, to] = await ask<[string, string]>("eth_accounts");
});

calls.after(async () => {
  await beside?.service.stop();
  await node?.stop();
});

const ask = <T = string>(method: string, ...params: unknown[]) =>
  resultOf<T>(node.call!, method, params);

const post = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

const state = async () =>
  await Promise.all([
    ask("eth_blockNumber"),
    ask("eth_getBalance", address, "latest"),
    ask("eth_getTransactionCount", address, "pending"),
  ]);

calls("a GET with the described parameters returns a balance", async () => {
  const { get } = beside.paths["/v1/rpc/eth_getBalance"] as {
    get: { parameters: { name: string }[] };
  };
  const values = [address, "latest"];
  const query = new URLSearchParams(get.parameters.map(({ name }, at) => [name, values[at]!]));
  const response = await beside.ask(`/v1/rpc/eth_getBalance?${query}`, { method: "GET" });
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "application/json");
  assert.is(await response.json(), await ask("eth_getBalance", address, "latest"));
});

calls("the responses in a batch have the ids of the calls, in the order of the calls", async () => {
  const response = await beside.ask(
    "/v1/rpc",
    post([
      { jsonrpc: "2.0", id: "a", method: "eth_chainId" },
      { jsonrpc: "2.0", id: 7, method: "eth_getBlockByNumber", params: ["0x1", false] },
      { jsonrpc: "2.0", id: 8, method: "eth_sendTransaction", params: [{ from: address, to }] },
      { jsonrpc: "2.0", method: "eth_chainId" },
    ]),
  );
  const answers = await response.json();
  assert.equal(answers.map(({ id }: { id: unknown }) => id), ["a", 7, 8]);
  assert.is(answers[0].result, await ask("eth_chainId"));
  assert.equal(answers[1].result, await ask("eth_getBlockByNumber", "0x1", false));
  assert.is(answers[2].error.code, -32601);
  assert.is(answers[2].error.data.setting, "forward");
});

calls(
  "older clients get responses in their JSON-RPC version, even without a content type",
  async () => {
    const body = new TextEncoder().encode('{"version":"1.1","id":1,"method":"eth_chainId"}');
    const send = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(beside.url + path, { method: "POST", headers, body });
      return [response.status, await response.text()] as const;
    };
    const answer = `{"result":"${await ask("eth_chainId")}","error":null,"id":1}`;
    for (const path of ["/v1/rpc", "/v1/rpc/"]) assert.equal(await send(path), [200, answer]);
    const [status, text] = await send("/v1/rpc", { "content-type": "application/json" });
    assert.equal([status, text], [200, answer]);
    // A browser may send requests of any page without a content type.
    for (const header of ["origin", "referer", "cookie"]) {
      const [status] = await send("/v1/rpc", { [header]: "http://other.example" });
      assert.is(status, 403, header);
    }
    const refused = JSON.stringify({ id: 2, method: "eth_accounts" });
    const { result, error } = await (await beside.ask("/v1/rpc", {
      ...post({}),
      body: refused,
    })).json();
    assert.equal([result, error.code], [null, -32601]);
  },
);

calls("methods that sign, send, mine or inspect are refused and change nothing", async () => {
  const before = await state();
  const names: readonly (readonly [name: string, status: number])[] = [
    ...["eth_sendTransaction", "eth_sendRawTransaction", "eth_sign", "eth_signTransaction"],
    ...["eth_accounts", "eth_newFilter", "debug_traceTransaction", "debug_getRawTransaction"],
  ].map((name) => [name, 403] as const);
  const unknown = [
    ...["evm_mine", "anvil_mine", "anvil_setBalance", "evm_increaseTime", "hardhat_mine"],
    ...["personal_sign", "admin_peers", "__proto__", "ETH_CHAINID", "%20eth_chainId"],
  ].map((name) => [name, 404] as const);
  const transaction = { from: address, to, value: "0x1" };
  for (const [name, status] of [...names, ...unknown]) {
    const response = await beside.ask(`/v1/rpc/${name}`, post({ transaction }));
    assert.is(response.status, status, name);
    const body = { jsonrpc: "2.0", id: 1, method: decodeURIComponent(name), params: [transaction] };
    const { error } = await (await beside.ask("/v1/rpc", post(body))).json();
    assert.is(error?.code, -32601, name);
  }
  assert.equal(await state(), before);
});

calls("if forward is off, nothing is called, and the response names the setting", async () => {
  const off = await startBeside(node, "ethereum", "off");
  try {
    const response = await off.ask("/v1/rpc/eth_chainId", { method: "GET" });
    assert.is(response.status, 403);
    assert.match((await response.json()).detail, /"?forward"?/);
  } finally {
    await off.service.stop();
  }
});

calls("a write is sent once with the token, and refused without it", async () => {
  const opened = await startBeside(node, "ethereum", {
    open: ["reads"],
    clients: [{ name: "app", allow: ["eth_sendTransaction"], token_file: TOKEN_FILE }],
  });
  try {
    const before = await state();
    const write = { transaction: { from: address, to, value: "0x1" } };
    const send = async (headers: Record<string, string>) =>
      await opened.ask("/v1/rpc/eth_sendTransaction", post(write, headers));
    for (const authorization of ["Bearer wrong", `Basic ${btoa("a:b")}`, ""]) {
      const refused = await send(authorization ? { authorization } : {});
      assert.is(refused.status, 401, authorization);
      assert.match(refused.headers.get("www-authenticate")!, /^Bearer/);
    }
    assert.equal(await state(), before);
    const sent = await send(WITH_TOKEN);
    assert.is(sent.status, 200);
    const hash = await sent.json();
    const receipt = () => ask<{ status: string } | null>("eth_getTransactionReceipt", hash);
    await until(async () => await receipt() !== null);
    assert.is((await receipt())!.status, "0x1");
    assert.is(Number((await state())[2]), Number(before[2]) + 1);
    assert.is((await opened.ask("/v1/rpc/eth_chainId", { method: "GET" })).status, 200);
  } finally {
    const { stderr } = await opened.service.stop();
    assert.not.match(stderr, new RegExp(WITH_TOKEN.authorization.slice("Bearer ".length)));
    assert.match(stderr, /eth_sendTransaction 200 \w+ \d+ ms \d+ bytes/);
  }
});

calls.run();
