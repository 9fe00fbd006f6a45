// Fastify, used as in its documentation. Usage: `fastify.mjs ANSWERS PORT`.
import { Buffer } from "node:buffer";
import fastify from "fastify";
import { readFileSync } from "node:fs";
import process from "node:process";

const [, , file, port] = process.argv;

const app = fastify();
for (const { path, identity } of JSON.parse(readFileSync(file, "utf8"))) {
  const content = JSON.parse(Buffer.from(identity.full.body, "base64").toString());
  app.get(path, () => content);
}

await app.listen({ host: "127.0.0.1", port: Number(port) });
