/** JSON-RPC over WebSocket, in each runtime. */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type WebSocket from "ws";
import { besideNode, TOKEN, TOKEN_FILE, WITH_TOKEN } from "../gateway/_beside.ts";
import { until as untilAsync } from "../nodes/_daemon.ts";
import { ANVIL, startAnvil } from "../nodes/_start-ethereum.ts";
import { callsTo } from "../nodes/_calls.ts";
import { testWhere, without } from "../_needs.ts";
import { CHOSEN_COMMANDS, start } from "../_server.ts";
import {
  type Call,
  notification,
  SocketClient,
  SocketNode,
  SocketStage,
  untilStill,
} from "./_socket-node.ts";
import { dial } from "./_socket.ts";

const sockets = suite("JSON-RPC over WebSocket");

const until = (holds: () => boolean) => untilAsync(() => Promise.resolve(holds()), 20_000);

const WITH_CLIENT = {
  open: ["reads"],
  clients: [{ name: "one", token_file: TOKEN_FILE, allow: ["eth_sendRawTransaction"] }],
};
const ENDED_BY_NODE = 'nodeface_socket_ends_total{reason="node"}';
const errorOf = ({ error }: Record<string, unknown>) => error as { code: number; message: string };

sockets(
  "the subscriptions of CometBFT are further responses with the client's own id",
  () =>
    besideNode(
      SocketNode.start({ subscribe: {}, unsubscribe: {}, status: { a: 1 } }),
      "cosmos",
      async ({ url, service }, node) => {
        const client = await SocketClient.open(`${url}/websocket`);
        node.onSubscribe = (connection, _, { id, params }) => {
          for (const at of [1, 2]) {
            connection.send(JSON.stringify({ jsonrpc: "2.0", id, result: { at, ...params } }));
          }
        };
        const query = { query: "tm.event='NewBlock'" };
        const send = (id: string, method: string, params: unknown) =>
          client.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        const results = (id: string) =>
          client.messages.filter((message) => message.id === id).map(({ result }) => result);
        send("mine", "subscribe", query);
        await until(() => results("mine").length === 3);
        assert.equal(results("mine"), [{}, { at: 1, ...query }, { at: 2, ...query }]);
        send("other", "unsubscribe", { query: "tm.event='Tx'" });
        send("own", "unsubscribe", query);
        await until(() => results("own").length === 1 && results("other").length === 1);
        assert.equal(results("other"), [undefined]);
        const { id } = node.calls[0]!;
        node.connections.at(-1)!.send(JSON.stringify({ jsonrpc: "2.0", id, result: "late" }));
        assert.equal((await client.call("status")).result, { a: 1 });
        assert.is(results("mine").length, 3);
        assert.is(node.heads.at(-1)!.url, "/websocket");
        assert.match(service.stderr(), / subscribe 200 \d+ ms 2 bytes$/m);
        client.socket.close(1000, "");
      },
    ),
);

sockets("a client that reads gets responses of any allowed size, one after the other", () => {
  const results = { eth_getLogs: "l".repeat(12_000_000), eth_chainId: "i".repeat(600_000) };
  return besideNode(SocketNode.start(results), "ethereum", async ({ url }) => {
    const client = await SocketClient.open(url);
    assert.is((await client.call("eth_getLogs", [{}])).result, results.eth_getLogs);
    const many = await Promise.all(
      Array.from({ length: 40 }, () => client.call("eth_chainId")),
    );
    assert.ok(many.every(({ result }) => result === results.eth_chainId));
    assert.ok(client.isOpen);
    client.socket.close(1000, "");
  });
});

sockets("a node that describes its methods is subscribed to as any other", () => {
  const method = (name: string) => ({ name, params: [], result: { name: "r", schema: {} } });
  const methods = ["eth_subscribe", "eth_unsubscribe", "eth_chainId"].map(method);
  const described = { openrpc: "1.2.6", info: { title: "Itself", version: "1" }, methods };
  const starting = SocketNode.start({ "rpc.discover": described });
  return besideNode(starting, "ethereum", async ({ url }, node) => {
    const spec = new URL("/spec.json", url.replace(/^ws/, "http"));
    await untilAsync(async () => /"Itself"/.test(await (await fetch(spec)).text()));
    const client = await SocketClient.open(url);
    const { result } = await client.call("eth_subscribe", ["newHeads"]);
    assert.is((await client.call("eth_unsubscribe", [result])).result, true);
    assert.equal(node.calls.map(({ method }) => method), ["eth_subscribe", "eth_unsubscribe"]);
    client.socket.close(1000, "");
  });
});

sockets(
  "Substrate's notifications have methods of their own",
  () =>
    besideNode(SocketNode.start(), "substrate", async ({ url }, node) => {
      const client = await SocketClient.open(url);
      node.onSubscribe = (connection, id) => {
        for (const method of ["chain_newHead", "chain_finalizedHead"]) {
          const params = { result: 1, subscription: id };
          connection.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
        }
      };
      const { result } = await client.call("chain_subscribeNewHeads");
      assert.is(errorOf(await client.call("state_subscribeStorage")).code, -32602);
      assert.is(errorOf(await client.call("state_subscribeStorage", [[]])).code, -32602);
      assert.is(errorOf(await client.call("author_submitAndWatchExtrinsic", ["0x"])).code, -32601);
      await until(() => client.messages.some(({ method }) => method === "chain_newHead"));
      const ended = await client.call("chain_unsubscribeNewHeads", [result]);
      assert.not(client.messages.some(({ method }) => method === "chain_finalizedHead"));
      assert.is(ended.error, undefined);
      client.socket.close(1000, "");
    }),
);

sockets(
  "calls that belong to a connection go over the client's own, and their events come after them",
  () =>
    besideNode(
      SocketNode.start({
        chainHead_v1_unfollow: null,
        chainHead_v1_body(call: Call, connection: WebSocket) {
          const [subscription, hash] = call.params ?? [];
          const event = (at: number) => {
            const params = { subscription, result: { operationId: `of ${hash}`, at } };
            return JSON.stringify({ jsonrpc: "2.0", method: "chainHead_v1_followEvent", params });
          };
          queueMicrotask(() => [1, 2].forEach((at) => connection.send(event(at))));
          return { result: "started", operationId: `of ${hash}` };
        },
      }),
      "substrate",
      async ({ url }, node) => {
        const other = await SocketClient.open(url);
        const follow = async (client: SocketClient) =>
          (await client.call("chainHead_v1_follow", [true])).result;
        const client = await SocketClient.open(url);
        const subscription = await follow(client);
        await follow(other);
        client.messages.length = 0;
        const numbers = Array.from({ length: 50 }, (_, at) => at);
        await Promise.all(
          numbers.map((at) => client.call("chainHead_v1_body", [subscription, `0x${at}`])),
        );
        await until(() => client.messages.length === 150);
        const texts = client.messages.map((message) => JSON.stringify(message));
        for (const at of numbers) {
          const own = texts.filter((text) => text.includes(`"of 0x${at}"`));
          assert.match(own[0]!, '"started"');
          assert.equal(own.slice(1).map((text) => JSON.parse(text).params.result.at), [1, 2]);
        }
        assert.is(node.connections.length, 3);
        assert.is(other.messages.filter(({ method }) => method).length, 0);
        const refused = await client.call("chainHead_v1_call", [
          subscription,
          "0x0",
          "Core_x",
          "0x",
        ]);
        assert.is(errorOf(refused).code, -32602);
        await client.call("chainHead_v1_unfollow", [subscription]);
        const headers = { accept: "text/event-stream" };
        const asEvents = `${url}/v1/rpc/chainHead_v1_follow?withRuntime=true`;
        assert.is((await fetch(asEvents, { headers })).status, 406);
        assert.is((await fetch(asEvents, { method: "POST", headers, body: "[true]" })).status, 406);
        for (const { socket } of [client, other]) socket.close(1000, "");
      },
    ),
);

sockets("a call whose response waits behind notifications keeps no slot", async () => {
  let respond = () => {};
  const isHeld = new Promise<void>((resolve) => respond = resolve);
  const forward = { open: ["reads"], concurrency: 1 };
  await besideNode(SocketNode.start({ system_name: "a" }), "substrate", async ({ url }, node) => {
    node.hold = ({ method }) => method === "chainHead_v1_body" ? isHeld : undefined;
    const [client, other] = [await SocketClient.open(url), await SocketClient.open(url)];
    const calls = Array.from(
      { length: 4 },
      () => client.call("chainHead_v1_body", ["0x1", "0x0"]),
    );
    await until(() => node.calls.length === 4);
    assert.is((await other.call("system_name")).result, "a");
    const heads = [1, 2].map((id) => ({ id, method: "chainHead_v1_body", params: ["0x1", "0x0"] }));
    client.socket.send(JSON.stringify([...heads, { id: 3, method: "system_name" }]));
    await until(() => node.calls.length === 6);
    assert.is((await other.call("system_name")).result, "a");
    respond();
    await Promise.all(calls);
    for (const { socket } of [client, other]) socket.close(1000, "");
  }, forward);
});

sockets(
  "a subscription that Solana's node ends itself does not count",
  () =>
    besideNode(SocketNode.start(), "solana", async ({ url }, node) => {
      let count = 0;
      node.makeId = () => ++count;
      node.onSubscribe = (connection) => {
        const params = { result: { value: { err: null } }, subscription: count };
        connection.send(
          JSON.stringify({ jsonrpc: "2.0", method: "signatureNotification", params }),
        );
      };
      const client = await SocketClient.open(url);
      for (let at = 1; at <= 100; at++) {
        assert.is((await client.call("signatureSubscribe", ["5eyk"])).result, at);
      }
      await until(() => client.messages.filter(({ method }) => method).length === 100);
      client.socket.close(1000, "");
    }),
);

sockets("nothing of it is loaded before the first handshake, and a failure keeps no place", () => {
  const command = ["--import", "tsx", "--import", "./tests/raw/_report-sockets.mjs"];
  return besideNode(
    SocketNode.start({ gas_price: { gas_price: "1" } }),
    // Without subscriptions, a handshake does not connect to the node.
    "near",
    async ({ url, service }) => {
      for (const path of ["info", "spec.json", "health?accept=degraded", "rpc/gas_price"]) {
        assert.is((await fetch(`${url}/v1/${path}`)).status, 200, path);
      }
      const loaded = () => service.stderr().match(/^loaded .*$/gm) ?? [];
      assert.equal(loaded(), []);
      for (let failures = 0; failures < 257; failures++) {
        assert.is((await SocketClient.open(url)).refused?.status, 500);
      }
      const client = await SocketClient.open(url);
      assert.ok(client.isOpen);
      await until(() => loaded().length > 0);
      assert.match(loaded().join("\n"), /\/src\/sockets\/sockets\.ts/);
      assert.match(loaded().join("\n"), /\/node_modules\/ws\//);
      client.socket.close(1000, "");
    },
    "reads",
    [process.execPath, ...command, "src/main.ts"],
  );
});

sockets(
  "at most 256 clients are connected, half of them without a token",
  () =>
    besideNode(SocketNode.start(), "ethereum", async ({ url }) => {
      const open = (count: number, headers = {}) =>
        Promise.all(Array.from({ length: count }, () => SocketClient.open(url, headers)));
      const clients = [...await open(140), ...await open(140, WITH_TOKEN)];
      assert.is(clients.filter(({ isOpen }) => isOpen).length, 256);
      assert.is(clients.slice(0, 140).filter(({ isOpen }) => isOpen).length, 128);
      const { refused } = clients.find(({ isOpen }) => !isOpen)!;
      assert.is(refused?.status, 503);
      assert.is(refused?.headers["retry-after"], "5");
      for (const client of clients) client.socket.terminate();
      await untilAsync(async () => {
        const client = await SocketClient.open(url);
        client.socket.terminate();
        return client.isOpen;
      });
    }, WITH_CLIENT),
);

testWhere(
  sockets,
  without(ANVIL),
  "blocks of a real anvil arrive as at the node itself",
  () =>
    besideNode(startAnvil(), "ethereum", async ({ url }, { url: nodeUrl }) => {
      const clients = await Promise.all([SocketClient.open(url), SocketClient.open(nodeUrl)]);
      for (const client of clients) await client.call("eth_subscribe", ["newHeads"]);
      const call = callsTo(nodeUrl);
      for (let block = 0; block < 50; block++) await call("evm_mine", []);
      await until(() => clients.every(({ notifications }) => notifications.length === 50));
      const [ours, own] = clients.map(({ notifications }) =>
        notifications.map(({ result }) => result)
      );
      assert.equal(ours, own);
      for (const client of clients) client.socket.close(1000, "");
    }),
);

sockets.run();

for (const [runtime, command] of Object.entries(CHOSEN_COMMANDS)) {
  const sockets = suite(`JSON-RPC over WebSocket, on ${runtime}`);
  const stage = new SocketStage(sockets, command, WITH_CLIENT);

  sockets(
    "a thousand notifications arrive in order, none twice",
    stage.test(async (url, node) => {
      const client = await SocketClient.open(`${url}/v1/rpc`);
      node.onSubscribe = (connection, id) => {
        for (let at = 0; at < 1000; at++) {
          connection.send(notification(id, at));
        }
      };
      const [chain, subscribed] = await Promise.all([
        client.call("eth_chainId"),
        client.call("eth_subscribe", ["newHeads"]),
      ]);
      assert.is(chain.result, "0x1");
      await until(() => client.notifications.length >= 1000);
      assert.equal(client.notifications.map(({ result }) => result), [
        ...Array(1000).keys(),
      ]);
      const first = client.messages.findIndex(({ method }) => method !== undefined);
      assert.ok(client.messages.indexOf(subscribed) < first);
      assert.is(
        (await client.call("eth_unsubscribe", [subscribed.result])).result,
        true,
      );
      node.connections.at(-1)!.send(
        notification(String(subscribed.result), "late"),
      );
      await client.call("eth_chainId");
      assert.is(client.notifications.length, 1000);
    }),
  );

  sockets(
    "a notification reaches only the client that subscribed",
    stage.test(async (url, node) => {
      const [one, two] = await Promise.all([
        SocketClient.open(url),
        SocketClient.open(url),
      ]);
      const { result: first } = await one.call("eth_subscribe", ["newHeads"]);
      const { result: second } = await two.call("eth_subscribe", ["logs", {
        topics: [],
      }]);
      for (const connection of node.connections) {
        for (const id of [first, second, "0x99", 5]) {
          connection.send(notification(id as string, id));
        }
        connection.send(
          '{"jsonrpc":"2.0","method":"other","params":{"subscription":"0x1"}}',
        );
        connection.send('{"jsonrpc":"2.0","id":77,"result":1}');
      }
      await until(() => one.notifications.length > 0 && two.notifications.length > 0);
      await Promise.all([one.call("eth_chainId"), two.call("eth_chainId")]);
      assert.equal(one.notifications.map(({ result }) => result), [first]);
      assert.equal(two.notifications.map(({ result }) => result), [second]);
      // The responses to the two calls, and one notification.
      assert.equal([one.messages.length, two.messages.length], [3, 3]);
      for (const client of [one, two]) client.socket.close(1000, "");
    }),
  );

  sockets(
    "each message has the rights of a call over HTTP",
    stage.test(async (url, node) => {
      const client = await SocketClient.open(`${url}/v1/rpc`);
      for (
        const [method, params, code] of [
          ["eth_sendTransaction", ["0x"], -32601],
          ["nothing", [], -32601],
          ["parity_subscribe", ["newHeads"], -32601],
          ["eth_subscribe", ["other"], -32602],
          ["eth_subscribe", [], -32602],
          ["eth_unsubscribe", ["0x1"], -32602],
        ] as const
      ) {
        assert.is(
          errorOf(await client.call(method, params)).code,
          code,
          `${method} ${params}`,
        );
      }
      assert.equal(node.calls, []);
      client.socket.send('{"method":"ping"}');
      client.socket.send(
        '{"jsonrpc":"2.0","id":null,"method":"net_version"}',
      );
      client.socket.send("no JSON");
      await until(() =>
        client.messages.some(({ error }) => (error as { code?: number })?.code === -32700)
      );
      for (let at = 0; at < 100; at++) {
        assert.type(
          (await client.call("eth_subscribe", ["newHeads"])).result,
          "string",
        );
      }
      assert.match(
        errorOf(await client.call("eth_subscribe", ["newHeads"])).message,
        "at most 100",
      );
      const call = {
        jsonrpc: "2.0",
        id: 1,
        method: "eth_subscribe",
        params: ["newHeads"],
      };
      const response = await fetch(`${url}/v1/rpc`, {
        method: "POST",
        body: JSON.stringify(call),
      });
      assert.match(errorOf(await response.json()).message, "over WebSocket");
      client.socket.send(`"${"x".repeat(1_100_000)}"`);
      await until(() => client.ended !== undefined);
      assert.ok(
        [1009, 1006].includes(client.ended![0]),
        String(client.ended),
      );
    }),
  );

  sockets(
    "a handshake must be well-formed and of an allowed origin",
    stage.test(async (url) => {
      const { host } = new URL(url);
      const statusFor = async (
        headers: Record<string, string>,
        path = "/v1/rpc",
      ) => {
        const client = await SocketClient.open(url + path, headers);
        client.socket.terminate();
        return client.isOpen ? 101 : client.refused?.status;
      };
      assert.is(await statusFor({}), 101);
      assert.is(await statusFor({ origin: `http://${host}` }), 101);
      assert.is(await statusFor({ origin: "null" }), 403);
      const webkit = { "sec-fetch-dest": "websocket", "sec-fetch-mode": "websocket" };
      const own = { origin: `http://${host}`, "sec-fetch-site": "same-origin", ...webkit };
      assert.is(await statusFor(own), 101);
      const foreign = { origin: "http://evil.example", "sec-fetch-site": "cross-site", ...webkit };
      assert.is(await statusFor(foreign), 403);
      assert.is(await statusFor({ origin: "http://evil.example" }), 403);
      assert.is(await statusFor({ origin: `http://127.0.0.1:1` }), 403);
      assert.is(await statusFor({ cookie: "a=b" }), 403);
      assert.is(
        await statusFor({
          host: "evil.example",
          origin: "http://evil.example",
        }),
        421,
      );
      assert.is(await statusFor({}, `/v1/rpc?token=${TOKEN}`), 400);
      assert.is(await statusFor({}, "/v1/info"), 200);
      assert.is(await statusFor({}, "/"), 101);
      const metrics = await (await fetch(`${url}/v1/metrics`)).text();
      assert.match(metrics, 'nodeface_requests_total{route="/v1/rpc",status="403"}');
    }),
  );

  sockets(
    "a token comes in Authorization or as a protocol",
    stage.test(async (url, node) => {
      const encoded = btoa(TOKEN).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
      const page = await SocketClient.open(`${url}/v1/rpc`, {}, ["bearer", encoded]);
      const plain = await SocketClient.open(`${url}/v1/rpc`, {}, ["bearer", TOKEN]);
      for (const { socket } of [page, plain]) {
        assert.is((socket as unknown as { protocol: string }).protocol, "bearer");
      }
      const program = await SocketClient.open(`${url}/v1/rpc`, WITH_TOKEN);
      for (const client of [page, plain, program]) {
        assert.is((await client.call("eth_sendRawTransaction", ["0x"])).error, undefined);
      }
      const wrong = await SocketClient.open(`${url}/v1/rpc`, { authorization: `Bearer ${TOKEN}x` });
      assert.is(errorOf(await wrong.call("eth_sendRawTransaction", ["0x"])).code, -32050);
      assert.equal(node.heads.filter(({ authorization }) => authorization), []);
    }),
  );

  sockets(
    "clients that send the origin of the address to which they connect count as programs",
    stage.test(async (url) => {
      const { host } = new URL(url);
      const authorization = `Basic ${btoa(`any:${TOKEN}`)}`;
      for (const scheme of ["http", "ws"]) {
        const headers = { origin: `${scheme}://${host}`, authorization };
        const client = await SocketClient.open(`${url}/v1/rpc`, headers);
        assert.is(client.refused, undefined, scheme);
        assert.is((await client.call("eth_sendRawTransaction", ["0x"])).error, undefined, scheme);
        const browser = { ...headers, "user-agent": "Mozilla/5.0 (X11)" };
        const page = await SocketClient.open(`${url}/v1/rpc`, browser);
        assert.is(errorOf(await page.call("eth_sendRawTransaction", ["0x"])).code, -32050);
      }
    }),
  );

  sockets(
    "if the node closes its connection, the client's ends, and new ones get 503 until it is back",
    stage.test(async (url, node) => {
      const client = await SocketClient.open(`${url}/v1/rpc`);
      await client.call("eth_subscribe", ["newHeads"]);
      node.takesSockets = false;
      for (const connection of node.connections) connection.terminate();
      await until(() => client.ended !== undefined);
      assert.is(client.ended![0], 1012);
      const refused = await SocketClient.open(`${url}/v1/rpc`);
      assert.is(refused.refused?.status, 503);
      assert.is(refused.refused?.headers["retry-after"], "5");
      node.takesSockets = true;
      let again = await SocketClient.open(`${url}/v1/rpc`);
      // The node is tried again a moment later.
      while (again.refused) again = await SocketClient.open(`${url}/v1/rpc`);
      assert.type(
        (await again.call("eth_subscribe", ["newHeads"])).result,
        "string",
      );
    }),
  );

  sockets(
    "a client that floods is ended, and others are not",
    stage.test(async (url) => {
      const quiet = await SocketClient.open(`${url}/v1/rpc`);
      const flood = await SocketClient.open(`${url}/v1/rpc`);
      for (let at = 0; at < 100; at++) flood.socket.ping();
      await until(() => flood.ended !== undefined);
      assert.is(flood.ended![0], 1008);
      assert.is((await quiet.call("eth_chainId")).result, "0x1");
    }),
  );

  sockets(
    "while a client does not read, its notifications wait at the node, and others are served",
    stage.test(async (url, node) => {
      const slow = await SocketClient.open(`${url}/v1/rpc`);
      const quiet = await SocketClient.open(`${url}/v1/rpc`);
      const { result: id } = await slow.call("eth_subscribe", ["newHeads"]);
      const upstream = node.connections.at(-1)!;
      slow.socket.pause();
      const text = notification(String(id), "x".repeat(100_000));
      // More than the buffers of both connections hold.
      for (let at = 0; at < 400; at++) upstream.send(text);
      await untilStill(upstream, () => quiet.call("eth_chainId"));
      assert.is((await quiet.call("eth_chainId")).result, "0x1");
      assert.ok(upstream.bufferedAmount > 0);
      slow.socket.resume();
      // A busy machine may take long for all, but not for one.
      for (let count = 1; count <= 400; count++) {
        await until(() => slow.notifications.length >= count);
      }
      assert.is(slow.notifications.length, 400);
      assert.is(slow.ended, undefined);
    }),
  );

  sockets(
    "nothing after a refused handshake is read",
    stage.test(async (url) => {
      const start = "Host: localhost\r\nConnection: Upgrade\r\n";
      const key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
      const websocket = `${start}Upgrade: websocket\r\n${key}`;
      const next = "GET /v1/ready HTTP/1.1\r\nHost: localhost\r\n\r\n";
      for (
        const [headers, status] of [
          [`${websocket}Origin: null\r\nSec-WebSocket-Version: 13\r\n`, 403],
          [`${websocket}Sec-WebSocket-Version: 12\r\n`, 426],
          [
            `${start}Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`,
            400,
          ],
        ] as const
      ) {
        const socket = await dial(`${url}/`);
        let text = "";
        socket.setEncoding("latin1").on(
          "data",
          (part: string) => text += part,
        );
        // Bun 1.4 may read on, but handles requests in order.
        socket.write(
          `GET /v1/rpc HTTP/1.1\r\n${headers}\r\n${runtime === "Bun" ? "" : next}`,
        );
        await until(() => socket.destroyed || socket.readableEnded);
        assert.ok(text.startsWith(`HTTP/1.1 ${status} `), text);
        assert.match(text, /^connection: close\r$/im);
        assert.is(text.match(/^HTTP/gm)!.length, 1);
      }
      const socket = await dial(`${url}/`);
      let text = "";
      socket.setEncoding("latin1").on("data", (part: string) => text += part);
      const call = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
      // Java's HTTP client asks for HTTP/2 with its first request.
      socket.write(
        `POST /v1/rpc HTTP/1.1\r\n${start}Upgrade: h2c\r\nContent-Length: ${call.length}` +
          `\r\n\r\n${call}`,
      );
      await until(() => text.includes('"result":"0x1"'));
      assert.ok(text.startsWith("HTTP/1.1 200 "), text);
      socket.destroy();
    }),
  );

  sockets(
    "an invalid id of a subscription, or a message that is not JSON, ends the connection",
    stage.test(
      async (url, node) => {
        const before = await stage.metric(ENDED_BY_NODE);
        for (const id of [{}, null, "x".repeat(300), -1.5]) {
          node.makeId = () => id;
          const client = await SocketClient.open(`${url}/v1/rpc`);
          await client.call("eth_subscribe", ["newHeads"]).catch(() => {});
          await until(() => client.ended !== undefined);
          assert.is(client.ended![0], 1012);
        }
        node.makeId = undefined;
        node.onSubscribe = (connection) => connection.send("no JSON");
        const client = await SocketClient.open(`${url}/v1/rpc`);
        await client.call("eth_subscribe", ["newHeads"]).catch(() => {});
        await until(() => client.ended !== undefined);
        assert.is(client.ended![0], 1012);
        assert.is(await stage.metric(ENDED_BY_NODE), before + 5);
      },
    ),
  );

  sockets(
    "a call that runs gets its response before its connection ends with the service",
    () =>
      besideNode(
        SocketNode.start({ eth_sendRawTransaction: "0x7" }),
        "ethereum",
        async ({ url, service }, node) => {
          const hasStopped = () => dial(url).then((socket) => void socket.destroy(), () => true);
          const ends: readonly (readonly [string, () => unknown, () => Promise<unknown>])[] = [
            [
              "The connection to the node has ended",
              () => node.connections.at(-1)!.terminate(),
              () => Promise.resolve(node.connections.at(-1)!.readyState === 3),
            ],
            [
              "The service is restarting",
              () => process.kill(service.pid, "SIGHUP"),
              () => Promise.resolve(service.stderr().includes("has been read again")),
            ],
            ["The service is restarting", () => void service.stop(), hasStopped],
          ];
          for (const [reason, end, hasEnded] of ends) {
            const held: (() => void)[] = [];
            node.hold = ({ method }) =>
              method === "eth_sendRawTransaction"
                ? new Promise<void>((resolve) => held.push(resolve))
                : undefined;
            const client = await SocketClient.open(url, WITH_TOKEN);
            await client.call("eth_subscribe", ["newHeads"]);
            const endMeanwhile = async () => {
              await until(() => held.length === 1);
              end();
              await untilAsync(async () => await hasEnded() === true);
              held[0]!();
            };
            const sending = client.call("eth_sendRawTransaction", ["0x"]);
            const [{ result }] = await Promise.all([sending, endMeanwhile()]);
            assert.is(result, "0x7", reason);
            await until(() => client.ended !== undefined);
            assert.equal(client.ended, [1012, reason]);
          }
          assert.is((await service.ended).code, 0);
        },
        WITH_CLIENT,
        command,
      ),
  );

  sockets(
    "clients are told that the service stops, and delay its end by less than two seconds",
    stage.test(async (url) => {
      const client = await SocketClient.open(url);
      await client.call("eth_subscribe", ["newHeads"]);
      const idle = await start(command);
      const begun = performance.now();
      const timed = async (stopping: Promise<unknown>) => {
        await stopping;
        return performance.now() - begun;
      };
      // The last test, since it stops the service. A busy machine delays both services.
      const [own, least] = await Promise.all([timed(stage.stopService()), timed(idle.stop())]);
      await until(() => client.ended !== undefined);
      assert.is(client.ended![0], 1012);
      assert.ok(own - least < 2000, `${own} ms, and ${least} ms without clients`);
    }),
  );

  sockets.run();
}
