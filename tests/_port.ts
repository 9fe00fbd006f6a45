/** Ports for programs that cannot say which one they took. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below those that systems give to connections and to whoever asks for any port, so that nothing but another
 * program of the tests takes one before it is listened on.
 */
const [FIRST, END] = [20_000, 32_000];

const given = new Set<number>();

/** Resolves to a port that nothing listens on, each time to another. */
export async function freePort(): Promise<number> {
  while (given.size < END - FIRST) {
    const port = randomInt(FIRST, END);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error("No port is free");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
