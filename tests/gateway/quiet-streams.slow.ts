/**
 * Streams and WebSocket connections that are quiet for longer than the time limits of proxies, on
 * every runtime, and through nginx and Caddy as in `deploy/`.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { without } from "../_needs.ts";
import { COMMANDS } from "../_server.ts";
import { until as untilAsync } from "../nodes/_daemon.ts";
import { notification, SocketClient, SocketNode } from "../raw/_socket-node.ts";
import { type Beside, SERVICES, startBeside } from "./_beside.ts";
import { DeployProxy, PROXIES } from "./_deploy-proxies.ts";

const QUIET_MS = 200_000;

const quiet = suite("quiet streams");

const until = (holds: () => boolean, ms: number) => untilAsync(() => Promise.resolve(holds()), ms);

const HEADERS = { accept: "text/event-stream" };

/** A response that is read as it comes. */
class Stream {
  text = "";
  end: unknown;
  readonly #stop = new AbortController();

  static async open(url: string): Promise<Stream> {
    const stream = new Stream();
    const response = await fetch(url, { headers: HEADERS, signal: stream.#stop.signal });
    assert.is(response.status, 200, url);
    void stream.#read(response).then(() => stream.end = "ended", (error) => stream.end = error);
    return stream;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #read(response: Response): Promise<void> {
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) this.text += part;
  }
}

/** The connections of a client by one way to a service. */
interface Way {
  readonly name: string;
  readonly heads: Stream;
  readonly info: Stream;
  readonly socket: SocketClient;
}

async function openWay(name: string, url: string): Promise<Way> {
  const socket = await SocketClient.open(`${url}/v1/rpc`);
  assert.ok(socket.isOpen, name);
  await socket.call("eth_subscribe", ["newHeads"]);
  return {
    name,
    heads: await Stream.open(`${url}/v1/rpc/eth_subscribe?subscription=newHeads`),
    info: await Stream.open(`${url}/v1/events?events=status`),
    socket,
  };
}

quiet("streams that are quiet for 200 s stay open", async () => {
  const all = [
    ...SERVICES,
    { name: "Deno", command: COMMANDS.Deno, files: [] },
    { name: "Bun", command: COMMANDS.Bun, files: [] },
  ].filter(({ files }) => !without(...files));
  const node = await SocketNode.start();
  const services: Beside[] = [];
  for (const { command } of all) {
    services.push(await startBeside(node, "ethereum", "reads", command));
  }
  const urls = services.map(({ url }) => url);
  const names = Object.keys(PROXIES) as (keyof typeof PROXIES)[];
  const proxies: DeployProxy[] = [];
  const ways: Way[] = [];
  try {
    for (const [at, { name }] of all.entries()) ways.push(await openWay(name, urls[at]!));
    for (const proxy of names.filter((name) => !without(PROXIES[name].path))) {
      const started = await DeployProxy.start(proxy, urls);
      proxies.push(started);
      for (const [at, { name }] of all.entries()) {
        ways.push(await openWay(`${name} through ${proxy}`, started.urls[at]!));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    for (const { name, heads, info, socket } of ways) {
      assert.equal([heads.end, info.end, socket.ended], [undefined, undefined, undefined], name);
      const comments = heads.text.match(/^:$/gm)?.length ?? 0;
      console.log(`${name}: ${comments} comments in ${QUIET_MS / 1000} s`);
    }
    for (const connection of node.connections.filter(({ readyState }) => readyState === 1)) {
      for (let id = 1; id <= node.calls.length; id++) {
        connection.send(notification(`0x${id.toString(16)}`, "late"));
      }
    }
    for (const { name, heads, socket } of ways) {
      await until(() => heads.text.includes('data: "late"'), 10_000)
        .catch(() => assert.unreachable(`${name}: no event`));
      await until(() => socket.notifications.length > 0, 10_000)
        .catch(() => assert.unreachable(`${name}: no notification`));
    }
  } finally {
    // Caddy waits for its clients.
    for (const { heads, info, socket: { socket } } of ways) {
      socket.terminate();
      for (const stream of [heads, info]) stream.stop();
    }
    for (const proxy of proxies) await proxy.stop();
    for (const { service } of services) await service.stop();
    await node.close();
  }
});

quiet.run();
