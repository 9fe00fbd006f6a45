// A bare server that uses `node:http`, on Node or Deno. Usage: `node-http.mjs ANSWERS PORT`.
import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import process from "node:process";
import { createChoice } from "./choose.mjs";

const [, , file, port] = process.argv;

const choose = createChoice(file, port, ({ status, headers, body }) => ({
  status,
  fields: headers.flat(),
  // Text is faster than bytes, because Node writes it together with the head.
  content: Buffer.from(body, "base64").toString("latin1"),
}));

createServer(({ method, url, headers }, response) => {
  const { status, fields, content } = choose(
    method,
    url,
    headers.host,
    headers["accept-encoding"],
    headers["if-none-match"],
  );
  // Nodeface also omits this header.
  response.removeHeader("connection");
  response.writeHead(status, fields).end(content, "latin1");
}).listen(Number(port), "127.0.0.1");
