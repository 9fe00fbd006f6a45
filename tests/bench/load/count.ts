/** A number of requests, no more and no less; slower than a tool that makes load. */
import { connect } from "node:net";

/** How many are under way at a time. */
const CONNECTIONS = 32;

/**
 * Asks a server whose answers are all of one size.
 *
 * @param size of one answer, head and content, in bytes
 */
export async function ask(port: number, path: string, size: number, count: number): Promise<void> {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  let left = count;
  const client = () =>
    new Promise<void>((resolve, reject) => {
      let received = 0;
      const socket = connect(port, "127.0.0.1").on("error", reject);
      const next = () => {
        if (left-- > 0) return void socket.write(request);
        socket.destroy();
        resolve();
      };
      socket.on("connect", next).on("data", ({ length }) => {
        received += length;
        if (received < size) return;
        received -= size;
        next();
      });
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
}
