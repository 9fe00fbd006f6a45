import { connect, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, start } from "../_server.ts";

const descriptors = suite("out of descriptors");

/** Fewer than the connections made, more than the runtime needs for itself. */
const LIMIT = 100;
const CONNECTIONS = 150;

descriptors("the service survives and recovers, on every runtime", async () => {
  await Promise.all(
    Object.values(COMMANDS).map(async (command) => {
      const limited = ["sh", "-c", `ulimit -n ${LIMIT} && exec "$@"`, "sh", ...command];
      const server = await start(limited);
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

/** Asks until there is an answer. */
async function answersWithin(url: string, limit: number): Promise<boolean> {
  const until = performance.now() + limit;
  while (performance.now() < until) {
    try {
      const response = await fetch(`${url}v1/info`, { signal: AbortSignal.timeout(1000) });
      return response.status === 200;
    } catch {
      // Not yet.
    }
  }
  return false;
}

descriptors.run();
