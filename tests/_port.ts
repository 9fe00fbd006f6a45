/** Chooses ports for programs that cannot report which port they listen on. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * These ports are below the ephemeral range, so the system does not assign them to other programs.
 */
const [FIRST, END] = [20_000, 32_000];

const given = new Set<number>();

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
