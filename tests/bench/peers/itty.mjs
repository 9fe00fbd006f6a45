// itty-router, with srvx on Node or on Bun, to measure the cost of routing alone. Usage: `itty.mjs ANSWERS PORT`.
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import process from "node:process";
import { Router } from "itty-router";
import { FastResponse, serve } from "srvx";

const [, , file, port] = process.argv;

const router = Router();
for (const { path, identity } of JSON.parse(readFileSync(file, "utf8"))) {
  const { headers, body } = identity.full;
  const content = Buffer.from(body, "base64");
  const init = { headers: "Bun" in globalThis ? new Headers(headers) : headers };
  router.get(path, () => new FastResponse(content, init));
}

// The router modifies the object that it gets, so it gets a new object instead of the request.
const fetch = (request) => router.fetch({ method: request.method, url: request.url });

const options = { fetch, hostname: "127.0.0.1", port: Number(port) };
if ("Bun" in globalThis) Bun.serve({ ...options, development: false });
else serve({ ...options, silent: true });
