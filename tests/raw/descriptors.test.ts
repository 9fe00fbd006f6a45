import { connect, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, start } from "../_server.ts";
import { processorTime } from "../bench/processes.ts";

const descriptors = suite("without free file descriptors");

/**
 * The maximum number of file descriptors. The service can start with this number, but cannot accept
 * all connections of the test.
 */
const LIMIT = 64;
const CONNECTIONS = 120;

descriptors("the service survives a lack of file descriptors, on every runtime", async () => {
  await Promise.all(
    Object.values(COMMANDS).map(async (command) => {
      const server = await start(limitedTo(LIMIT, command));
      const { hostname, port } = new URL(server.url);
      const sockets: Socket[] = [];
      for (let i = 0; i < CONNECTIONS; i++) {
        sockets.push(connect(Number(port), hostname).on("error", () => {}));
      }
      await Promise.all(
        sockets.map((socket) =>
          new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))
        ),
      );
      for (const socket of sockets) {
        socket.destroy();
      }

      assert.ok(await answersWithin(server.url, 20_000));
      assert.is((await server.stop()).code, 0);
    }),
  );
});

// Bun 1.4 tries again without a pause (oven-sh/bun#32705).
const { Bun: _, ...WITHOUT_BUN } = COMMANDS;

descriptors("clients waiting to be accepted cost no processor time on Node and Deno", async () => {
  await Promise.all(
    Object.entries(WITHOUT_BUN).map(async ([runtime, command]) => {
      const server = await start(limitedTo(140, command));
      const { hostname, port } = new URL(server.url);
      const sockets = Array.from(
        { length: 260 },
        () => connect(Number(port), hostname).on("error", () => {}),
      );
      try {
        // Between the first and the tenth second, the server neither accepts nor closes
        // connections.
        await sleep(2000);
        const before = processorTime(server.pid);
        await sleep(3000);
        const used = processorTime(server.pid) - before;
        assert.ok(!(used > 1_000_000), `${runtime} takes ${used / 30_000} % of a processor`);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
      assert.ok(await answersWithin(server.url, 20_000));
      assert.is((await server.stop()).code, 0);
    }),
  );
});

function limitedTo(count: number, command: readonly string[]): string[] {
  return ["sh", "-c", `ulimit -n ${count} && exec "$@"`, "sh", ...command];
}

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function answersWithin(url: string, limit: number): Promise<boolean> {
  const until = performance.now() + limit;
  while (performance.now() < until) {
    try {
      const response = await fetch(`${url}v1/info`, { signal: AbortSignal.timeout(1000) });
      return response.status === 200;
    } catch {
      // The server does not respond yet.
    }
  }
  return false;
}

descriptors.run();
