/** Plain connections to a server, for clients that are to be cut. */
import { connect, type Socket } from "node:net";

/** Connects. To be cut may come as a reset, or as the end of what the other side sends. */
export function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket)).once("error", reject);
    socket.on("error", () => {});
  });
}

/** Waits until a connection is closed; rejects where a test gave it up for not having been cut. */
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
