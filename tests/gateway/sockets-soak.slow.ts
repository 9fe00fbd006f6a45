/**
 * Two hundred clients that stay connected, with a light load: memory and descriptors return to what
 * they were. The word `MINUTES` of the environment makes it longer.
 */
import { readdirSync } from "node:fs";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { memory } from "../bench/processes.ts";
import { until } from "../nodes/_daemon.ts";
import { notification, SocketClient, SocketNode } from "../raw/_socket-node.ts";
import { besideNode, EXECUTABLE } from "./_beside.ts";

const soak = suite("many clients for a while");

const CLIENTS = 200;
const MINUTES = Number(process.env.MINUTES ?? 2);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Use {
  readonly megabytes: number;
  readonly descriptors: number;
}

function useOf(pid: number): Use {
  return {
    megabytes: Math.round(memory(pid, "VmRSS")),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

testWhere(
  soak,
  without(EXECUTABLE),
  `${CLIENTS} clients of the executable for ${MINUTES} minutes`,
  () =>
    besideNode(
      SocketNode.start(),
      "ethereum",
      async ({ url, service }, node) => {
        const connect = async () => {
          const clients = await Promise.all(
            Array.from({ length: CLIENTS }, () => SocketClient.open(url)),
          );
          const subscribe = (client: SocketClient) => client.call("eth_subscribe", ["newHeads"]);
          await Promise.all(clients.map(subscribe));
          return clients;
        };
        const leave = async (clients: readonly SocketClient[]) => {
          for (const { socket } of clients) socket.close(1000, "");
          await until(() => Promise.resolve(clients.every(({ ended }) => ended !== undefined)));
          node.connections.length = 0;
          node.calls.length = 0;
          node.heads.length = 0;
          await pause(3000);
        };
        const ids = new Map<unknown, string>();
        node.onSubscribe = (connection, id) => ids.set(connection, id);
        let sent = 0;
        let seen = 0;
        const load = async (milliseconds: number) => {
          const clients = await connect();
          for (const { socket } of clients) socket.on("message", () => seen++);
          const end = performance.now() + milliseconds;
          let nextReport = performance.now();
          for (let second = 0; performance.now() < end; second++) {
            for (const connection of node.connections) {
              const id = ids.get(connection);
              if (id === undefined || connection.readyState !== 1) continue;
              connection.send(
                notification(id, { second, text: "x".repeat(500) }),
              );
              sent++;
            }
            const asking = clients.filter((_, at) => at % 10 === second % 10);
            await Promise.all(
              asking.map((client) => client.call("eth_chainId")),
            );
            for (const { messages } of clients) messages.length = 0;
            if (performance.now() > nextReport) {
              nextReport += 60_000;
              console.log(
                JSON.stringify({ second, ...useOf(service.pid), sent, seen }),
              );
            }
            await pause(1000);
          }
          const lost = clients.filter(({ ended }) => ended !== undefined);
          assert.equal(lost.map(({ ended }) => ended), []);
          await leave(clients);
        };
        const start = useOf(service.pid);
        await load(20_000);
        const before = useOf(service.pid);
        await load(MINUTES * 60_000);
        const after = useOf(service.pid);
        console.log(JSON.stringify({ start, before, after, sent, seen }));
        assert.ok(after.descriptors <= before.descriptors + 2);
        assert.ok(after.megabytes <= before.megabytes * 1.2 + 10);
      },
      "reads",
      [EXECUTABLE],
    ),
);

soak.run();
