// The least that a server of `node:http` does: answers that are ready, written as they are. On Node
// and on Deno. `bare-http.mjs FILE PORT…`: a server for each answer, on the ports in turn.
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import process from "node:process";

const [, , file, ...ports] = process.argv;
const { answers } = JSON.parse(readFileSync(file, "utf8"));

ports.forEach((port, index) => {
  const { status, headers, body } = answers[index];
  const fields = headers.flat();
  const bytes = body === null ? null : Buffer.from(body, "base64");
  createServer((_request, response) => {
    // As what it is beside: HTTP/1.1 persists without a word of it.
    response.removeHeader("connection");
    response.writeHead(status, fields).end(bytes);
  }).listen(Number(port), "127.0.0.1");
});
