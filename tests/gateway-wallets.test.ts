/** Tests JSON-RPC calls at the paths of wallets, as `bitcoin-cli -rpcwallet` makes them. */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { lintNames, rightsIn } from "../src/gateway/lint-settings.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import type { NodeOperation } from "../src/openapi/node-operation.ts";
import { forwarding, nodeOf, result, RPC, TOKEN, until } from "./_gateway.ts";

const wallets = suite("calls of wallets");

const node = nodeOf(wallets);
const OTHER = TOKEN.replace("a-", "b-");
wallets.before.each(() => {
  Object.assign(process.env, { GATEWAY_TOKEN: TOKEN, GATEWAY_OTHER: OTHER });
  node.answer = result("7");
});

const KIND = {
  title: "A node with wallets",
  url: "http://127.0.0.1:1",
  wallets: "/wallet/",
  detect: { "state#": "." },
  sources: { state: { jsonrpc: "number" } },
  fields: { height: "state#" },
  health: { ok: "it responds" },
} as const;

const CLIENTS = [
  { name: "hot", token_env: "GATEWAY_TOKEN", allow: ["/wallet/hot balance", "/wallet/hot send"] },
  { name: "all", token_env: "GATEWAY_OTHER", allow: ["balance", "reads"] },
];

function open() {
  const forward = { open: ["reads"], at_root: true, clients: CLIENTS };
  const { ask } = forwarding(node.url, RPC, forward, {
    node: { url: node.url, kind: "mine" },
    kinds: { mine: KIND },
  });
  return async (path: string, call: unknown, token?: string) => {
    const headers = {
      "content-type": "application/json",
      ...token !== undefined && { authorization: `Bearer ${token}` },
    };
    const response = await ask(path, { method: "POST", headers, body: JSON.stringify(call) });
    return { status: response.status, content: await response.json() };
  };
}

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params });
const urls = () => node.received.map(({ url }) => url);

wallets("a client calls what its list names at the path of a wallet, and reads there", async () => {
  const post = open();
  for (const [method, ...params] of [["balance"], ["send", "a"], ["number"]]) {
    node.received = [];
    const { content } = await post("/wallet/hot", call(method!, ...params), TOKEN);
    assert.equal([content.result, urls()], [7, ["/wallet/hot"]], method);
  }
});

wallets("nobody calls another wallet, and nothing is open at the path of one", async () => {
  const post = open();
  const codeOf = async (path: string, method: string, token?: string) =>
    (await post(path, call(method), token)).content.error.code;
  assert.is(await codeOf("/wallet/cold", "balance", TOKEN), -32601);
  assert.is(await codeOf("/wallet/cold", "number", TOKEN), -32601);
  assert.is(await codeOf("/wallet/", "balance", TOKEN), -32601);
  assert.is(await codeOf("/", "balance", TOKEN), -32601);
  assert.is(await codeOf("/wallet/hot", "balance", OTHER), -32601);
  assert.is(await codeOf("/wallet/hot", "number", OTHER), -32601);
  assert.is(await codeOf("/wallet/hot", "balance"), -32050);
  assert.is(await codeOf("/wallet/hot", "number"), -32050);
  assert.is(await codeOf("/wallet/cold", "number"), -32050, "all wallets look alike");
  assert.equal(node.received, []);
  const { content } = await post("/wallet/cold", call("balance"), TOKEN);
  assert.match(content.error.message, 'forward.clients can allow "/wallet/cold balance"');
});

wallets("a batch goes to its wallet, and each of its calls needs a right there", async () => {
  const post = open();
  const calls = [call("number"), { ...call("balance"), id: 2 }, { ...call("unmarked"), id: 3 }];
  const { content } = await post("/wallet/hot", calls, TOKEN);
  assert.equal(
    content.map(({ result, error }: { result?: 7; error?: { code: number } }) =>
      result ?? error!.code
    ),
    [7, 7, -32601],
  );
  assert.ok(urls().every((url) => url === "/wallet/hot"));
});

wallets(
  "at the path of a wallet, only POST is answered, and a longer path is nothing",
  async () => {
    const forward = { open: ["reads"], at_root: true };
    const options = { node: { url: node.url, kind: "mine" }, kinds: { mine: KIND } };
    const { ask } = forwarding(node.url, RPC, forward, options);
    const got = await ask("/wallet/hot");
    assert.equal([got.status, got.headers.get("allow")], [405, "POST, OPTIONS"]);
    const body = JSON.stringify(call("number"));
    const headers = { "content-type": "application/json" };
    assert.is((await ask("/wallet/hot/more", { method: "POST", headers, body })).status, 404);
  },
);

wallets("a client is told its calls of wallets, and so is the operator", async () => {
  const forward = { open: ["reads"], clients: CLIENTS };
  const { ask } = forwarding(node.url, RPC, forward);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { operations } = await (await ask("/v1/clients/self", { headers })).json();
  assert.equal(operations, ["/wallet/hot balance", "/wallet/hot send"]);
  const known = ["balance", "send", "number"].map((name) =>
    ({ name, isMethod: true, method: "POST", path: "/" }) as unknown as NodeOperation
  );
  const [hot] = rightsIn(known, resolveForward({ clients: CLIENTS } as never)!);
  assert.equal(hot!.operations.map(({ name }) => name), [
    "/wallet/hot balance",
    "/wallet/hot send",
  ]);
});

wallets("a name of a call of a wallet names no operation that a description calls so", () => {
  const [operationId, method] = ["/wallet/hot balance", "POST"];
  const posed = { name: "POST /", operationId, method, path: "/" } as unknown as NodeOperation;
  const [hot] = rightsIn([posed], resolveForward({ clients: CLIENTS } as never)!);
  assert.equal(hot!.operations, []);
});

wallets("a wrong name of a call of a wallet is an error", () => {
  const known = [{ name: "balance", isMethod: true } as unknown as NodeOperation];
  const lint = (list: object, kind: object | undefined = KIND) =>
    lintNames(known, resolveForward({ at_root: true, ...list } as never)!, kind)
      .map(({ message }) => message);
  const wrong = [{ name: "a", token_env: "T", allow: ["/wallet/hot balanse"] }];
  assert.match(lint({ clients: wrong })[0]!, "no such method; did you mean balance?");
  const starred = [{ name: "a", token_env: "T", allow: ["/wallet/* balance"] }];
  assert.match(lint({ clients: starred })[0]!, "need full names");
  assert.match(lint({ open: ["/wallet/hot balance"] })[0]!, "move it to forward.clients");
  const right = [{ name: "a", token_env: "T", allow: ["/wallet/hot balance"] }];
  assert.equal(lint({ clients: right }), []);
  const misspelt = [{ name: "a", token_env: "T", allow: ["/wallets/hot balance"] }];
  assert.match(lint({ clients: misspelt })[0]!, "has the form /wallet/NAME");
  assert.match(lint({ clients: right, at_root: false })[0]!, "own paths are closed");
  assert.match(lint({ clients: right }, {})[0]!, "nodes of this kind have no paths of wallets");
});

wallets("the service finds no fault in a right to a wallet that the node's kind has", async () => {
  const said: string[] = [];
  const forward = { open: ["reads"], at_root: true, clients: CLIENTS };
  const { app } = forwarding(node.url, RPC, forward, {
    node: { url: node.url, kind: "mine" },
    kinds: { mine: KIND },
    log: (message) => said.push(message),
  });
  await app.ready();
  await until(() => said.some((line) => line.startsWith("the client hot may call")));
  assert.equal(said.filter((line) => line.includes("forward.clients hot names")), []);
});

wallets("a right to a wallet is no error while the kind of the node is unknown", async () => {
  const said: string[] = [];
  const right = [{ name: "hot", token_env: "GATEWAY_TOKEN", allow: ["/wallet/hot balance"] }];
  const options = (kind: typeof KIND | Omit<typeof KIND, "wallets">) => ({
    node: { url: node.url },
    kinds: { mine: kind },
    log: (message: string) => said.push(message),
  });
  const { wallets: _, ...without } = KIND;
  for (const kind of [KIND, without]) {
    said.length = 0;
    node.answer = (_, response) => void response.destroy();
    const forward = { open: ["reads"], at_root: true, clients: right };
    const { app, ask } = forwarding(node.url, RPC, forward, options(kind));
    await app.ready();
    await ask("/v1/info");
    node.answer = result("7");
    await until(async () => (await (await ask("/v1/info")).json()).height === 7);
    const isWrong = () => said.some((line) => line.includes("have no paths of wallets"));
    if (kind === KIND) assert.not(isWrong());
    else await until(isWrong);
  }
});

wallets("the log and the metrics name the wallet of a call", async () => {
  const options = {
    node: { url: node.url, kind: "mine" },
    kinds: { mine: KIND },
    metrics: true,
  };
  const forward = { open: ["reads"], at_root: true, clients: CLIENTS };
  const { ask, calls } = forwarding(node.url, RPC, forward, options);
  const headers = { "content-type": "application/json", authorization: `Bearer ${TOKEN}` };
  for (const path of ["/wallet/hot", "/"]) {
    await ask(path, { method: "POST", headers, body: JSON.stringify(call("number")) });
  }
  assert.equal(calls.map(({ operation }) => operation), ["/wallet/hot number", "number"]);
  const metrics = await (await ask("/v1/metrics")).text();
  for (const name of ["/wallet/hot number", "number"]) {
    assert.match(metrics, new RegExp(`nodeface_calls_total\\{operation="${name}",.*\\} 1`));
  }
});

wallets.run();
