import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Lease } from "../src/gateway/lease.ts";
import { Sender } from "../src/gateway/sender.ts";
import { Capacity } from "../src/gateway/capacity.ts";
import { refusalOf } from "../src/gateway/refusal.ts";
import { createNodeface } from "../src/index.ts";
import type { NodeOperation } from "../src/openapi/node-operation.ts";
import { testOnNode } from "./_runtime.ts";
import { setScene } from "./_scene.ts";
import { contextFor, failure, get, play as playNode, playTcp } from "./_sources.ts";
import { until } from "./nodes/_daemon.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const identity = suite("the identity of the node");

const ANVIL = RECORDINGS.get("anvil")!;

const onChain = (chain: string | undefined) =>
  play({ ...ANVIL, answers: { ...ANVIL.answers, eth_chainId: chain, eth_gasPrice: "0x1" } });

const scene = (expect: Record<string, string | number>, chain = "0x7a69") =>
  setScene({ fetch: onChain(chain), node: { kind: "ethereum", expect } });

identity("the expected node is ok, whether a text or a number is expected", async () => {
  for (const chain_id of ["31337", 31337]) {
    const { info, monitor } = scene({ chain_id });
    assert.is((await info()).status, "ok");
    assert.is(await monitor.identityCheck.reasonAgainstCalls(), undefined);
  }
});

identity("another node is on the wrong network, and is not called", async () => {
  const { info, held, pass, said, monitor } = scene({ chain_id: "31337" });
  await info();
  held.fetch = onChain("0x1");
  pass(1000);
  const reason = "chain_id is 1, but 31337 is expected";
  assert.is(
    await monitor.identityCheck.reasonAgainstCalls(),
    `The node is not the expected one: ${reason}`,
  );
  const { status, status_code, status_reason } = await info();
  assert.equal([status, status_code, status_reason], ["degraded", "wrong_network", reason]);
  assert.match(
    said.join("\n"),
    /is degraded \(after 1 s of ok\): chain_id is 1, but 31337 is expected; point node\.url at/,
  );
  held.fetch = onChain("0x7a69");
  pass(1000);
  assert.is(await monitor.identityCheck.reasonAgainstCalls(), undefined);
});

identity("a call waits for an identity that is at most ttl old", async () => {
  const { info, held, pass, monitor } = scene({ chain_id: "31337" });
  await info();
  pass(999);
  const { asked } = held;
  assert.is(await monitor.identityCheck.reasonAgainstCalls(), undefined);
  assert.is(held.asked, asked);
  pass(1);
  await Promise.all([1, 2].map(() => monitor.identityCheck.reasonAgainstCalls()));
  assert.is(held.asked, 2 * asked);
});

identity("a node that does not tell its identity is not called", async () => {
  const missing = scene({ genesis: "x" });
  assert.is((await missing.info()).status_reason, "genesis is unknown, but x is expected");
  const { info, held, pass, monitor } = scene({ chain_id: "31337" });
  await info();
  held.failure = "ECONNREFUSED";
  pass(1000);
  assert.is(
    await monitor.identityCheck.reasonAgainstCalls(),
    "The identity of the node is not known: it cannot be reached: connection refused",
  );
});

identity("a failure of another source hides no other chain, and no missing identity", async () => {
  const code = -28;
  let chain: string | undefined = "x";
  let status = 200;
  const { monitor, pass } = setScene({
    fetch: (input) => {
      const { pathname } = new URL(String(input));
      if (pathname === "/genesis") {
        if (chain === undefined) return Promise.resolve(new Response("{}", { status: 404 }));
        return Promise.resolve(new Response(JSON.stringify({ id: chain })));
      }
      const error = JSON.stringify({ code });
      return Promise.resolve(new Response(status === 200 ? '{"height":1}' : error, { status }));
    },
    kinds: {
      mine: {
        title: "A node",
        url: "http://127.0.0.1:1",
        detect: {},
        sources: { state: { get: "/state" }, genesis: { get: "/genesis", optional: true } },
        fields: { height: "state#/height", genesis: "genesis#/id" },
        health: { ok: "it answers", warming_up: [code, 500] },
      },
    },
    node: { kind: "mine", expect: { genesis: "x" } },
  });
  assert.is(await monitor.identityCheck.reasonAgainstCalls(), undefined);
  status = 500;
  for (const other of ["y", undefined]) {
    chain = other;
    pass(1000);
    assert.ok(await monitor.identityCheck.reasonAgainstCalls(), `${other}`);
  }
  chain = "x";
  pass(1000);
  assert.is(await monitor.identityCheck.reasonAgainstCalls(), undefined);
});

identity("the operator's own values do not count", async () => {
  const { info } = setScene({
    fetch: onChain("0x1"),
    node: { kind: "ethereum", expect: { chain_id: "31337" } },
    info: { static: { chain_id: "31337" } },
  });
  assert.is((await info()).status_code, "wrong_network");
});

identity("a label for the network is no other chain", async () => {
  let error: object | undefined = { code: -28, message: "Loading block index..." };
  const result = { chain: "main", blocks: 9, headers: 9, initialblockdownload: false };
  const { info, pass, said, changes } = setScene({
    fetch: async (_, init) => {
      const answer = (id: unknown) => ({ id, ...error ? { error } : { result } });
      const calls = JSON.parse(await new Response(init!.body as BodyInit).text());
      const answers = Array.isArray(calls) ? calls.map(({ id }) => answer(id)) : answer(calls.id);
      return new Response(JSON.stringify(answers));
    },
    node: { kind: "bitcoin" },
    info: { static: { network: "Bitcoin at home" } },
  });
  for (let restart = 0; restart < 2; restart++) {
    assert.is((await info()).status, "starting");
    pass(90_000);
    assert.is((await info()).status, "starting");
    error = undefined;
    pass(1000);
    assert.is((await info()).network, "Bitcoin at home");
    error = { code: -28, message: "Loading block index..." };
    pass(1000);
  }
  assert.is(said.filter((line) => /another chain/.test(line)).length, 0, said.join("\n"));
  assert.is(changes(), 0);
});

identity("the last values of a node stay while it says nothing but errors", async () => {
  const syncthing = play(RECORDINGS.get("syncthing")!);
  let fetch: typeof syncthing = syncthing;
  const { info, pass } = setScene({
    fetch: (...args) => fetch(...args),
    node: { kind: "syncthing" },
  });
  const { version } = await info();
  fetch = () => Promise.resolve(new Response("", { status: 500 }));
  pass(90_000);
  assert.is((await info()).status, "degraded");
  fetch = () => Promise.reject(new TypeError("fetch failed"));
  pass(90_000);
  assert.is((await info()).status, "unreachable");
  assert.is(((await info()).last_seen as { version?: unknown }).version, version);
});

for (const status of [502, 504, 521, 522, 523, 530]) {
  identity(`a node behind a gateway that responds with ${status} is unreachable`, async () => {
    for (const kind of ["none", "ethereum", undefined]) {
      const { info } = setScene({
        fetch: () => Promise.resolve(new Response(`error code: ${status}`, { status })),
        node: { kind },
      });
      const { status: word, status_code } = await info();
      assert.equal([word, status_code], ["unreachable", "bad_gateway"], String(kind));
    }
  });
}

for (const kind of ["syncthing", undefined]) {
  identity(`a Syncthing that converts its database is starting (kind: ${kind})`, async () => {
    const text = "*** Database migration in progress ***\n\n10:00:00 INF Analyzing the database\n";
    const { info } = setScene({
      fetch: () => Promise.resolve(new Response(text)),
      node: { kind },
    });
    const { status, status_code } = await info();
    assert.equal([status, status_code], ["starting", "warming_up"]);
  });
}

for (const kind of ["ethereum", undefined]) {
  identity(`an Avalanche node that has not bootstrapped is starting (kind: ${kind})`, async () => {
    const text = "API call rejected because chain is not done bootstrapping\n";
    const { info } = setScene({
      fetch: (_, init) =>
        Promise.resolve(new Response(text, { status: init?.method === "POST" ? 503 : 404 })),
      node: { kind },
    });
    const { status, status_code } = await info();
    assert.equal([status, status_code], ["starting", "warming_up"]);
  });
}

identity("a busy node of no known kind is asked for its kind every ten seconds", async () => {
  let asked = 0;
  const { info, pass } = setScene({
    fetch: () => {
      asked++;
      return Promise.resolve(new Response("slow down", { status: 429 }));
    },
    node: {},
  });
  await info();
  const once = asked;
  for (let second = 0; second < 9; second++) {
    pass(1000);
    assert.is((await info()).status, "degraded");
  }
  assert.is(asked, once);
  pass(2000);
  await info();
  assert.ok(asked > once);
});

identity("a CometBFT node that lists more peers than are read is ok without them", async () => {
  const results: Record<string, unknown> = {
    status: {
      node_info: { network: "chain-1", id: "a", version: "1" },
      sync_info: {
        latest_block_height: "7",
        latest_block_time: new Date().toISOString(),
        catching_up: false,
      },
    },
    net_info: { n_peers: "900", peers: Array(60_000).fill(0) },
    abci_info: { response: { data: "app", version: "1" } },
  };
  const { info } = setScene({
    fetch: async (input, init) => {
      if (init?.method !== "POST") {
        return Response.json({ result: results[new URL(String(input)).pathname.slice(1)] });
      }
      const respond = ({ id, method }: { id: number; method: string }) => ({
        jsonrpc: "2.0",
        id,
        result: results[method],
      });
      const content = await new Response(init?.body).json();
      return Response.json(Array.isArray(content) ? content.map(respond) : respond(content));
    },
    node: { kind: "cosmos" },
  });
  const { status, status_reason, height, peers } = await info();
  assert.equal([status, status_reason, height, peers], ["ok", undefined, 7, undefined]);
});

identity("the values that a kind always has count as the node's", async () => {
  const { info } = setScene({
    fetch: play(RECORDINGS.get("etcd")!),
    node: { kind: "etcd", expect: { software: "etcd" } },
  });
  assert.is((await info()).status, "ok");
});

identity("a hidden identity is compared, and not shown", async () => {
  const { info, monitor } = setScene({
    fetch: onChain("0x1"),
    node: { kind: "ethereum", expect: { chain_id: "31337" } },
    info: { hide: ["chain_id"] },
  });
  const { chain_id, status_code, status_reason } = await info();
  const reason = "is on another network than expected";
  assert.equal([chain_id, status_code, status_reason], [undefined, "wrong_network", reason]);
  assert.is(
    await monitor.identityCheck.reasonAgainstCalls(),
    `The node is not the expected one: ${reason}`,
  );
});

identity("an identity from a source with a ttl of its own is asked with every query", async () => {
  let id = "x";
  const { info, pass, monitor } = setScene({
    fetch: (input) => {
      const { pathname } = new URL(String(input));
      const answer = pathname === "/genesis" ? { id } : { height: 1 };
      return Promise.resolve(new Response(JSON.stringify(answer)));
    },
    kinds: {
      mine: {
        title: "A node",
        url: "http://127.0.0.1:1",
        detect: {},
        sources: { state: { get: "/state" }, genesis: { get: "/genesis", ttl: "1h" } },
        fields: { height: "state#/height", genesis: "genesis#/id" },
        health: { ok: "it answers" },
      },
    },
    node: { kind: "mine", expect: { genesis: "x" } },
  });
  assert.is((await info()).status, "ok");
  id = "y";
  pass(1000);
  assert.ok(await monitor.identityCheck.reasonAgainstCalls());
});

identity(
  "calls in every form are refused with both values, and none reaches the node",
  async () => {
    let chain = "0x7a69";
    const sent: string[] = [];
    const node = await playNode((request, response) => {
      let text = "";
      request.on("data", (part) => text += part).on("end", async () => {
        sent.push(...text.match(/eth_gasPrice/g) ?? []);
        const body = text === "" ? {} : { body: text };
        const init = { method: request.method!, ...body };
        const answer = await onChain(chain)(`http://node${request.url}`, init);
        response.writeHead(answer.status).end(await answer.text());
      });
    });
    const app = createNodeface({
      node: {
        url: node.url,
        kind: "ethereum",
        expect: { chain_id: "31337" },
        ask_methods: false,
      },
      info: { ttl: "1ms" },
      forward: { open: ["eth_gasPrice"], at_root: true },
      log: () => {},
    });
    const rpc = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}',
    };
    const forms: [path: string, init?: RequestInit][] = [
      ["/v1/rpc", rpc],
      ["/", rpc],
      ["/v1/rpc/eth_gasPrice"],
    ];
    const call = async ([path, init]: (typeof forms)[number]) => {
      const response = await app.fetch(new Request(`http://localhost${path}`, init));
      return [response.status, await response.text()] as const;
    };
    await until(async () => {
      const description = await app.fetch(new Request("http://localhost/spec.json"));
      return (await description.text()).includes('"x-access"');
    });
    for (const form of forms) assert.is((await call(form))[0], 200, form[0]);
    assert.is(sent.length, forms.length);
    chain = "0x1";
    for (const form of forms) {
      const [status, text] = await call(form);
      assert.is(status, 503, form[0]);
      assert.match(text, "The node is not the expected one: chain_id is 1, but 31337 is expected");
    }
    assert.is(sent.length, forms.length);
    const health = await app.fetch(new Request("http://localhost/v1/health"));
    assert.equal([health.status, (await health.json()).status_code], [503, "wrong_network"]);
    await app.close();
    await node.close();
  },
);

identity("a poll during which a connection is lost is repeated", async () => {
  const { info, held, node, monitor } = scene({ chain_id: "31337" });
  await info();
  node.noteLoss();
  const expected = onChain("0x7a69");
  held.fetch = async (...request) => {
    const response = await expected(...request);
    // The node that has just responded is lost, and another takes over its address.
    held.fetch = onChain("0x1");
    node.noteLoss();
    return response;
  };
  assert.match(
    String(await monitor.identityCheck.reasonAgainstCalls()),
    "chain_id is 1, but 31337 is expected",
  );
});

identity("a connection that another server has lost does not count", async () => {
  const [own, other] = await Promise.all([
    playTcp((socket) => void socket.destroy()),
    playTcp((socket) => void socket.destroy()),
  ]);
  const node = contextFor(own.url);
  await failure(get(other.url, node));
  assert.is(node.losses, 0);
  await failure(get(own.url, node));
  assert.ok(node.losses > 0);
  await Promise.all([own.close(), other.close()]);
});

identity("a write that could not be sent is not said to be carried out perhaps", async () => {
  let asked = 0;
  const played = await playNode((_, response) => {
    asked++;
    response.end("{}");
  });
  const node = contextFor(played.url);
  let losses = 0, verified = 0;
  // Each connection is lost right after the node has been verified.
  Object.defineProperty(node, "losses", { get: () => losses++ });
  const capacity = new Capacity(node, { timeout: 10_000, limit: 1000 }, () => {
    verified++;
    return Promise.resolve(undefined);
  });
  const lease = new Lease(capacity, { disconnectSignal: new AbortController().signal });
  const operation = { access: "write" } as NodeOperation;
  const request = { method: "GET", url: new URL(played.url), headers: {}, body: undefined };
  await lease.begin({ isHeavy: false });
  try {
    await new Sender(capacity, lease).send(request, operation, { collect: 1000 });
    assert.unreachable("it was sent");
  } catch (error) {
    const { status, message } = refusalOf(error, false);
    assert.is(status, 503);
    assert.is(message, "The node loses its connections before a call can be sent; try again later");
  } finally {
    lease.dispose();
  }
  assert.equal([verified, asked], [4, 0]);
  await played.close();
});

testOnNode(identity, "no call reaches another node that takes over its address", async () => {
  let chain = "0x7a69";
  let isSwapped = false;
  const sent: string[] = [];
  const answer: RequestListener = async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    if (text.includes("eth_gasPrice")) {
      sent.push(chain);
      if (isSwapped) return swap("0x1");
    }
    const body = text === "" ? {} : { body: text };
    const init = { method: request.method!, ...body };
    const played = await onChain(chain)(`http://node${request.url}`, init);
    response.writeHead(played.status).end(await played.text());
  };
  const listen = async (port: number) => {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return server;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const swap = async (another: string) => {
    chain = another;
    isSwapped = false;
    const before = server;
    before.close();
    before.closeAllConnections();
    server = await listen(port);
  };
  const app = createNodeface({
    node: {
      url: `http://127.0.0.1:${port}`,
      kind: "ethereum",
      expect: { chain_id: "31337" },
      ask_methods: false,
    },
    info: { ttl: "10s" },
    forward: { open: ["eth_gasPrice"] },
    log: () => {},
  });
  const call = () => app.fetch(new Request("http://localhost/v1/rpc/eth_gasPrice"));
  try {
    // On a busy machine, the first query of the node may be late.
    await until(async () => (await call()).status === 200);
    await swap("0x1");
    for (const refused of await Promise.all([call(), call(), call()])) {
      assert.is(refused.status, 503, "between two calls");
      assert.match(await refused.text(), "chain_id is 1, but 31337 is expected");
    }
    await swap("0x7a69");
    await until(async () => (await call()).status === 200);
    isSwapped = true;
    assert.is((await call()).status, 503, "during a call");
    assert.equal([...new Set(sent)], ["0x7a69"]);
  } finally {
    await app.close();
    server.close();
    server.closeAllConnections();
  }
});

identity.run();
