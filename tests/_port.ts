/** Chooses ports for programs that cannot report which port they listen on. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** The range is below the ephemeral ports, so that only other test programs can take a port before it is used. */
const [FIRST, END] = [20_000, 32_000];

const given = new Set<number>();

/** Resolves to a free port. No port is returned twice. */
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
