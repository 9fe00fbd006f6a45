// The upstream node for the gateway benchmark. It writes prepared responses to raw sockets. Usage: `upstream.mjs PORT`.
import { Buffer } from "node:buffer";
import { createServer } from "node:net";
import process from "node:process";

const small = JSON.stringify({ height: 1234567, hash: "ab".repeat(32), time: 1790000000 });
const bodies = {
  "/small": [small, "application/json"],
  "/large": ["a".repeat(1_000_000), "application/octet-stream"],
  "/": [JSON.stringify({ jsonrpc: "2.0", result: "0x1234567890", id: 1 }), "application/json"],
  "/v1/info": ["{}", "application/json"],
};
const answers = Object.entries(bodies).map(([path, [body, type]]) => [
  path,
  Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  ),
]);
const byPath = new Map(answers);
const none = Buffer.from("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");

createServer((socket) => {
  let text = "";
  socket.setNoDelay().on("error", () => {}).setEncoding("latin1").on("data", (part) => {
    text += part;
    for (;;) {
      const end = text.indexOf("\r\n\r\n") + 4;
      if (end < 4) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
      if (text.length < end + length) return;
      const path = text.slice(text.indexOf(" ") + 1, text.indexOf(" HTTP/1"));
      text = text.slice(end + length);
      socket.write(byPath.get(path.split("?")[0]) ?? none);
    }
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
