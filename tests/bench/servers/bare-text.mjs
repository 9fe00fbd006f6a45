// As `bare-http.mjs`, but with the content as text, which Node writes in one piece with the head.
// `bare-text.mjs FILE PORT…`: a server for each answer, on the ports in turn.
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import process from "node:process";

const [, , file, ...ports] = process.argv;
const { answers } = JSON.parse(readFileSync(file, "utf8"));

ports.forEach((port, index) => {
  const { status, headers, body } = answers[index];
  const fields = headers.flat();
  const text = body === null ? "" : Buffer.from(body, "base64").toString("latin1");
  createServer((_request, response) => {
    // As what it is beside: HTTP/1.1 persists without a word of it.
    response.removeHeader("connection");
    response.writeHead(status, fields).end(text, "latin1");
  }).listen(Number(port), "127.0.0.1");
});
