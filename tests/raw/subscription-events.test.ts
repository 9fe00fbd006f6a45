/** Subscriptions as Server-Sent Events, in each runtime. */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { languagesFor, writeSample } from "../../src/explorer/code-samples.ts";
import { canBeSent, type OperationForm, requestOf } from "../../src/explorer/form-request.ts";
import { renderParts } from "../../src/explorer/render-content.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { annotateCalls } from "../../src/gateway/annotate-operations.ts";
import { resolveForward } from "../../src/gateway/policy.ts";
import { createNodeface } from "../../src/index.ts";
import { withHomes } from "../../src/openapi/home.ts";
import { documentOfKind } from "../../src/openapi/kind-document.ts";
import { besideNode, installed, TOKEN, WITH_TOKEN } from "../gateway/_beside.ts";
import { until as untilAsync } from "../nodes/_daemon.ts";
import { ROOT } from "../_paths.ts";
import { testWhere, without } from "../_needs.ts";
import { CHOSEN_COMMANDS, COMMANDS } from "../_server.ts";
import { dial } from "./_socket.ts";
import {
  leaveLater,
  notification,
  SocketClient,
  SocketNode,
  SocketStage,
  untilStill,
} from "./_socket-node.ts";

const events = suite("subscriptions as events");

const until = (holds: () => boolean) => untilAsync(() => Promise.resolve(holds()), 20_000);

const ACCEPT = { accept: "text/event-stream" };
const NODE_MODULE = [process.execPath, "--input-type=module", "-e"];
const HEADS = "/v1/rpc/eth_subscribe?subscription=newHeads";

/** Reads a stream as `EventSource` does. */
class EventReader {
  readonly response: Response;
  /** The data of all events without a name. */
  readonly data: unknown[] = [];
  /** The data of the events named `end`. */
  readonly ends: { reason: string }[] = [];
  comments = 0;
  retry: number | undefined;
  hasEnded = false;
  readonly #stop: AbortController;

  static async open(
    url: string,
    headers: Record<string, string> = {},
    body?: unknown,
  ): Promise<EventReader> {
    const stop = new AbortController();
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(url, {
      ...init,
      headers: { ...ACCEPT, ...type, ...headers },
      signal: stop.signal,
    });
    leaveLater(() => stop.abort());
    const reader = new EventReader(response, stop);
    if (response.ok) void reader.#read().catch(() => {}).then(() => reader.hasEnded = true);
    return reader;
  }

  private constructor(response: Response, stop: AbortController) {
    this.response = response;
    this.#stop = stop;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #read(): Promise<void> {
    let text = "";
    for await (const part of this.response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + part).split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) this.#take(block.split("\n"));
    }
    assert.is(text, "");
  }

  #take(lines: readonly string[]): void {
    const valueOf = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const [name, data, retry] = ["event", "data", "retry"].map(valueOf);
    assert.is(valueOf("id"), undefined);
    if (retry) this.retry = Number(retry);
    else if (lines[0] === ":") this.comments++;
    else if (name === "end") this.ends.push(JSON.parse(data!));
    else {
      assert.is(lines.length, 1);
      this.data.push(JSON.parse(data!));
    }
  }
}

const stage = new SocketStage(events, COMMANDS.Node);

const detailOf = async ({ response }: EventReader) => (await response.json()).detail as string;

events(
  "further responses of CometBFT are events, until one is an error",
  () =>
    besideNode(SocketNode.start({ subscribe: {} }), "cosmos", async ({ url }, node) => {
      node.onSubscribe = (connection, _, { id, params }) => {
        connection.send(JSON.stringify({ jsonrpc: "2.0", id, result: { at: 1, ...params } }));
        connection.send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: 1, message: "x" } }));
      };
      const reader = await EventReader.open(
        `${url}/v1/rpc/subscribe?query=${encodeURIComponent("tm.event='NewBlock'")}`,
      );
      await until(() => reader.hasEnded);
      assert.equal(reader.data, [{ at: 1, query: "tm.event='NewBlock'" }]);
      assert.equal(reader.ends, [{ reason: "The connection to the node has ended" }]);
    }),
);

events(
  "a stream ends when the node has ended its subscription, and keeps no connection to the node",
  () =>
    besideNode(SocketNode.start(), "solana", async ({ url }, node) => {
      node.makeId = () => 7;
      node.onSubscribe = (connection) => {
        for (const value of ["receivedSignature", { err: null }]) {
          const params = { result: { context: { slot: 1 }, value }, subscription: 7 };
          connection.send(
            JSON.stringify({ jsonrpc: "2.0", method: "signatureNotification", params }),
          );
        }
      };
      const reader = await EventReader.open(`${url}/v1/rpc/signatureSubscribe?signature=5eyk`);
      await until(() => reader.hasEnded);
      assert.equal(reader.data.map((data) => (data as { value: unknown }).value), [
        "receivedSignature",
        { err: null },
      ]);
      assert.equal(reader.ends, [{ reason: "The node has ended the subscription" }]);
      await until(() => node.connections[0]!.readyState === 3);
    }),
);

events(
  "Substrate's and Solana's parameters are taken from the query, as JSON where they are lists",
  async () => {
    await besideNode(SocketNode.start(), "substrate", async ({ url }, node) => {
      const keys = encodeURIComponent('["0x26aa394eea5630e07c48ae0c9558cef7"]');
      const reader = await EventReader.open(`${url}/v1/rpc/state_subscribeStorage?keys=${keys}`);
      const heads = await EventReader.open(`${url}/v1/rpc/chain_subscribeNewHeads`);
      assert.is(reader.response.status, 200);
      assert.equal(node.calls.map(({ params }) => params), [[[
        "0x26aa394eea5630e07c48ae0c9558cef7",
      ]], undefined]);
      const params = { subscription: "0x2", result: { number: "0x1" } };
      for (const method of ["chain_newHead", "chain_finalizedHead"]) {
        node.connections[1]!.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
      }
      await until(() => heads.data.length > 0);
      assert.equal(heads.data, [{ number: "0x1" }]);
      const none = await EventReader.open(`${url}/v1/rpc/state_subscribeStorage?keys=[]`);
      assert.is(none.response.status, 400);
      for (const one of [reader, heads]) one.stop();
    });
    await besideNode(SocketNode.start(), "solana", async ({ url }, node) => {
      node.makeId = () => 7;
      const filter = encodeURIComponent('{"mentions":["11111111111111111111111111111111"]}');
      const all = await EventReader.open(`${url}/v1/rpc/logsSubscribe?filter=all`);
      const some = await EventReader.open(`${url}/v1/rpc/logsSubscribe?filter=${filter}`);
      assert.equal(node.calls.map(({ params }) => params), [
        ["all"],
        [{ mentions: ["11111111111111111111111111111111"] }],
      ]);
      for (const one of [all, some]) one.stop();
    });
  },
);

events(
  "the page's form of a subscription sends a list as the service takes it",
  () =>
    besideNode(SocketNode.start(), "substrate", async ({ url }, node) => {
      const kind = await documentOfKind(await loadInterface("substrate"), { title: "A" });
      const path = "/v1/rpc/state_subscribeStorage";
      const { document: annotated } = await annotateCalls(
        await withHomes(kind),
        resolveForward("reads"),
        "kind",
      );
      const { form } = (await renderParts(annotated, "kind")).notes.get(`GET ${path}`)!;
      assert.is(canBeSent(form!, ["0x26aa394eea5630e07c48ae0c9558cef7"]), false);
      const texts = [
        '["0x26aa394eea5630e07c48ae0c9558cef7", "0x3a65787472696e7369635f696e646578"]',
      ];
      assert.is(canBeSent(form!, texts), true);
      const reader = await EventReader.open(requestOf(form!, texts, url).url);
      assert.is(reader.response.status, 200);
      assert.equal(node.calls.map(({ params }) => params), [[[
        "0x26aa394eea5630e07c48ae0c9558cef7",
        "0x3a65787472696e7369635f696e646578",
      ]]]);
      reader.stop();
    }),
);

events(
  "pending transactions are subscribed one client at a time, and delay no others",
  stage.test(async (url, node) => {
    const releases: (() => void)[] = [];
    node.hold = ({ params: [name] = [] }) =>
      name === "newPendingTransactions"
        ? new Promise<void>((resolve) => releases.push(resolve))
        : undefined;
    const open = (name: string) =>
      EventReader.open(`${url}/v1/rpc/eth_subscribe?subscription=${name}`);
    const [first, second] = [open("newPendingTransactions"), open("newPendingTransactions")];
    await until(() => releases.length > 0);
    const heads = await open("newHeads");
    assert.is(heads.response.status, 200);
    assert.is(releases.length, 1);
    releases[0]!();
    await until(() => releases.length === 2);
    releases[1]!();
    const readers = [heads, await first, await second];
    for (const reader of readers) assert.is(reader.response.status, 200);
    for (const reader of readers) reader.stop();
  }),
);

events(
  "the command in docs/subscriptions.md prints the notifications",
  stage.test(async (url, node) => {
    const page = await readFile(`${ROOT}docs/subscriptions.md`, "utf8");
    const [, command] = /^```sh\n([^]*?)\n```/m.exec(page)!;
    const curl = spawn("sh", ["-c", `exec ${command!.replace("http://127.0.0.1:8080", url)}`]);
    let printed = "";
    curl.stdout.setEncoding("utf8").on("data", (part: string) => printed += part);
    await until(() => node.calls.length > 0);
    node.connections[0]!.send(notification("0x1", { number: "0x7" }));
    await until(() => printed.includes('data: {"number":"0x7"}\n\n'));
    curl.kill();
    await until(() => node.connections[0]!.readyState === 3);
  }),
);

events(
  "a subscription is one call of the limit for each minute",
  () =>
    besideNode(SocketNode.start(), "ethereum", async ({ url }) => {
      const reader = await EventReader.open(url + HEADS);
      assert.is(reader.response.status, 200);
      const refused = await EventReader.open(url + HEADS);
      assert.is(refused.response.status, 429);
      assert.ok(Number(refused.response.headers.get("retry-after")) > 0);
      reader.stop();
    }, { open: ["reads"], per_minute: 1 }),
);

events(
  "streams count as clients and subscriptions, and share their bounds",
  stage.test(async (url) => {
    const readers = await Promise.all(
      Array.from({ length: 40 }, () => EventReader.open(url + HEADS)),
    );
    assert.ok(readers.every(({ response }) => response.status === 200));
    assert.is(await stage.metric("nodeface_sockets"), 40);
    assert.is(await stage.metric("nodeface_socket_subscriptions"), 40);
    const sockets = await Promise.all(
      Array.from({ length: 216 }, () => SocketClient.open(url)),
    );
    assert.ok(sockets.every(({ isOpen }) => isOpen));
    const refused = await EventReader.open(url + HEADS);
    assert.is(refused.response.status, 503);
    assert.is(refused.response.headers.get("retry-after"), "5");
    for (const reader of readers) reader.stop();
    await untilAsync(async () => await stage.metric("nodeface_socket_subscriptions") === 0);
  }),
);

const FORM: OperationForm = {
  method: "GET",
  address: "/v1/rpc/eth_subscribe",
  isEndless: true,
  fields: [{ name: "subscription", in: "query" }, { name: "filter", in: "query" }],
};

for (
  const [language, api, program, path] of [
    ["curl", "", ["sh", "-c", 'eval "exec $0"'], "/"],
    ["JavaScript", "", NODE_MODULE, "/"],
    ["Python", "", ["python3", "-u", "-c"], "/"],
    ["WebSocket", "Solana", [COMMANDS.Bun![0]!, "-e"], COMMANDS.Bun![0]!],
    ["viem", "Ethereum execution", NODE_MODULE, installed("viem")],
  ] as const
) {
  testWhere(
    events,
    without(path),
    `the page's code for ${language} prints the notifications`,
    stage.test(async (url, node) => {
      const texts = ["logs", '{"topics":[]}'];
      const code = writeSample(languagesFor(api, true)[language]!, FORM, texts, url);
      const [command, ...words] = program;
      const child = spawn(command!, [...words, code], { cwd: `${ROOT}tests/gateway` });
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (part: string) => printed += part);
      }
      await until(() => node.calls.length > 0);
      assert.equal(node.calls[0]!.params, ["logs", { topics: [] }]);
      node.connections.at(-1)!.send(notification("0x1", { number: "0x7" }));
      await until(() => printed.includes("0x7"));
      child.kill();
      await until(() => node.connections.at(-1)!.readyState === 3);
    }),
  );
}

events("a service in a host program says that it has no subscriptions", async () => {
  const node = await SocketNode.start();
  await using nodeface = createNodeface({
    node: { url: node.url, kind: "ethereum" },
    forward: { open: ["reads"] },
  });
  const ask = (path: string, headers = {}) =>
    nodeface.fetch(new Request(`http://localhost${path}`, { headers }));
  await untilAsync(async () => (await (await ask("/spec.json")).text()).includes('"x-access"'));
  const response = await ask(HEADS, ACCEPT);
  assert.is(response.status, 501);
  assert.match((await response.json()).detail, "a service that is started has them");
  assert.equal(node.heads, []);
  await node.close();
});

events.run();

for (const [runtime, command] of Object.entries(CHOSEN_COMMANDS)) {
  const events = suite(`subscriptions as events, on ${runtime}`);
  const stage = new SocketStage(events, command);

  events(
    "each notification's result is an event, in order, none twice",
    stage.test(async (url, node) => {
      node.onSubscribe = (connection, id) => {
        for (let at = 0; at < 1000; at++) connection.send(notification(id, at));
        const odd = notification(id, "a\u2028b").replaceAll(",", ",\r\n\n");
        connection.send(odd);
        connection.send(notification("0x77", "of another"));
      };
      const reader = await EventReader.open(url + HEADS);
      const { headers } = reader.response;
      assert.is(reader.response.status, 200);
      assert.match(headers.get("content-type")!, /^text\/event-stream/);
      assert.is(headers.get("cache-control"), "no-store, no-transform");
      assert.is(headers.get("x-accel-buffering"), "no");
      await until(() => reader.data.length >= 1001);
      assert.equal(reader.data, [...Array(1000).keys(), "a\u2028b"]);
      assert.ok(reader.retry! >= 2000);
      assert.equal(node.calls[0]!.params, ["newHeads"]);
      reader.stop();
      // The service leaves the node with its client.
      await until(() => node.connections[0]!.readyState === 3);
    }),
  );

  events(
    "parameters come in the query or as content, and are those of the method",
    stage.test(async (url, node) => {
      const filter = { address: "0x00", topics: [null] };
      const readers = await Promise.all([
        EventReader.open(
          `${url}/v1/rpc/eth_subscribe?subscription=logs&filter=${
            encodeURIComponent(JSON.stringify(filter))
          }`,
        ),
        EventReader.open(`${url}/v1/rpc/eth_subscribe`, {}, { subscription: "logs", filter }),
      ]);
      assert.equal(node.calls.map(({ params }) => params), [["logs", filter], ["logs", filter]]);
      for (const query of ["", "?subscription=other", "?subscription=newHeads&x=1"]) {
        const refused = await EventReader.open(`${url}/v1/rpc/eth_subscribe${query}`);
        assert.is(refused.response.status, 400, query);
      }
      const injected = `?subscription=logs&filter=${encodeURIComponent('{},"subscription":"x"')}`;
      assert.is(
        (await EventReader.open(`${url}/v1/rpc/eth_subscribe${injected}`)).response.status,
        400,
      );
      assert.is(node.connections.length, 2);
      for (const reader of readers) reader.stop();
    }),
  );

  events(
    "a request that asks for no events is told what to do",
    stage.test(async (url, node) => {
      for (const method of ["GET", "POST", "HEAD"]) {
        const accept = "application/json, text/plain, */*";
        const response = await fetch(url + HEADS, { method, headers: { accept } });
        assert.is(response.status, 406);
        if (method === "HEAD") continue;
        assert.match((await response.json()).detail, "Accept: text/event-stream");
      }
      const head = await fetch(url + HEADS, { method: "HEAD", headers: ACCEPT });
      assert.is(head.status, 406);
      assert.equal(node.calls, []);
      // As curl does.
      const any = await EventReader.open(url + HEADS, { accept: "*/*" });
      assert.is(any.response.headers.get("content-type"), "text/event-stream");
      any.stop();
    }),
  );

  events(
    "if the node's side ends, so does the stream, until the node is back",
    stage.test(async (url, node) => {
      const reader = await EventReader.open(url + HEADS);
      node.takesSockets = false;
      node.connections[0]!.send(notification("0x1", "last"));
      node.connections[0]!.close(1000, "");
      await until(() => reader.hasEnded);
      assert.equal(reader.data, ["last"]);
      assert.equal(reader.ends, [{ reason: "The connection to the node has ended" }]);
      const refused = await EventReader.open(url + HEADS);
      assert.is(refused.response.status, 503);
      assert.is(refused.response.headers.get("retry-after"), "5");
      assert.match(await detailOf(refused), "node.ws");
      node.takesSockets = true;
      // The node is tried again a moment later.
      let again = await EventReader.open(url + HEADS);
      while (again.response.status === 503) again = await EventReader.open(url + HEADS);
      assert.is(again.response.status, 200);
    }),
  );

  events(
    "an error of the node is the response, and takes no place",
    stage.test(
      async (url, node) => {
        node.makeId = () => null;
        const reader = await EventReader.open(url + HEADS);
        assert.is(reader.response.status, 502);
        assert.is(await stage.metric("nodeface_sockets"), 0);
        assert.is(node.connections.length, 1);
        await until(() => node.connections[0]!.readyState === 3);
      },
    ),
  );

  events(
    "while a client does not read, its notifications wait at the node, and others are served",
    stage.test(async (url, node) => {
      const slow = await dial(`${url}/`);
      let received = 0;
      slow.on("data", (part) => received += part.length);
      slow.write(`GET ${HEADS} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
      await until(() => node.calls.length === 1 && received > 0);
      slow.pause();
      const quiet = await EventReader.open(url + HEADS);
      const text = "x".repeat(100_000);
      for (let at = 0; at < 400; at++) node.connections[0]!.send(notification("0x1", text));
      node.connections[1]!.send(notification("0x2", "here"));
      await until(() => quiet.data.length === 1);
      await untilStill(node.connections[0]!, () => fetch(`${url}/v1/ready`));
      assert.ok(node.connections[0]!.bufferedAmount > 0);
      slow.resume();
      // A busy machine may take long for all, but not for a part.
      for (let bytes = 0; bytes <= 40_000_000; bytes += 100_000) {
        await until(() => received > bytes);
      }
      slow.destroy();
    }),
  );

  events(
    "clients are told that the service stops",
    stage.test(async (url) => {
      const reader = await EventReader.open(url + HEADS);
      await stage.stopService();
      await until(() => reader.hasEnded);
      assert.equal(reader.ends, [{ reason: "The service is restarting" }]);
    }),
  );

  events.run();

  const rights = suite(`rights to subscriptions as events, on ${runtime}`);
  const file = join(mkdtempSync(join(tmpdir(), "nodeface-")), "token");
  writeFileSync(file, TOKEN);
  const guarded = new SocketStage(rights, command, {
    clients: [{ name: "one", token_file: file, allow: ["reads"] }],
  });

  rights(
    "only who may call may subscribe",
    guarded.test(async (url, node) => {
      const { host } = new URL(url);
      const statusFor = async (headers: Record<string, string>, path = HEADS) => {
        const reader = await EventReader.open(url + path, headers);
        reader.stop();
        return reader.response.status;
      };
      assert.is(await statusFor({}), 401);
      assert.is(await statusFor({ authorization: `Bearer ${TOKEN}x` }), 401);
      assert.is(await statusFor({}, `${HEADS}&token=${TOKEN}`), 400);
      assert.is(await statusFor({ ...WITH_TOKEN, "sec-fetch-site": "cross-site" }), 403);
      assert.is(await statusFor({ ...WITH_TOKEN, referer: "http://evil.example/" }), 403);
      assert.equal(node.calls, []);
      assert.is(await statusFor(WITH_TOKEN), 200);
      assert.is(await statusFor({ ...WITH_TOKEN, referer: `http://${host}/` }), 200);
      const socket = await dial(`${url}/`);
      let text = "";
      socket.setEncoding("latin1").on("data", (part: string) => text += part);
      socket.write(
        `GET ${HEADS} HTTP/1.1\r\nHost: evil.example\r\nAccept: text/event-stream\r\n\r\n`,
      );
      await until(() => text.includes("\r\n\r\n"));
      assert.ok(text.startsWith("HTTP/1.1 421 "), text);
      socket.destroy();
    }),
  );

  rights(
    "a stream ends with the right to it",
    guarded.test(async (url) => {
      const reader = await EventReader.open(url + HEADS, WITH_TOKEN);
      assert.is(reader.response.status, 200);
      await writeFile(`${file}.new`, TOKEN.toLowerCase());
      await rename(`${file}.new`, file);
      await until(() => reader.hasEnded);
      assert.equal(reader.ends, [{ reason: "The client's token is not valid any more" }]);
    }),
  );

  rights.run();
}
