/** TCP connections for tests in which the server closes the connection. */
import { connect, type Socket } from "node:net";

/**
 * Ignores errors after the connection is established, because the server may reset the connection.
 */
export function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket)).once("error", reject);
    socket.on("error", () => {});
  });
}

/**
 * Waits until the server has closed a connection. To make the promise reject, destroy the socket
 * with an error whose message contains "not cut".
 */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) return resolve();
    socket.on("close", () => {
      const { errored } = socket;
      if (errored && /not cut/.test(errored.message)) reject(errored);
      else resolve();
    });
    socket.on("end", () => socket.destroy());
  });
}
