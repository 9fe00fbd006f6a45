/** A node that takes its time, and counts what it is asked. */
import { createServer } from "node:http";

/** A slow node. */
export interface SlowNode {
  url: string;
  /** How often it has been asked since it was asked for this number last. */
  calls(): number;
  close(): void;
}

/**
 * Starts a node.
 *
 * @param delay how long each answer takes, in milliseconds
 */
export async function startSlowNode(delay: number): Promise<SlowNode> {
  let calls = 0, height = 0;
  const server = createServer((_, response) => {
    calls++;
    const body = JSON.stringify({ version: "1.2.3", height: ++height });
    setTimeout(() => response.setHeader("content-type", "application/json").end(body), delay);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    calls() {
      const since = calls;
      calls = 0;
      return since;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
