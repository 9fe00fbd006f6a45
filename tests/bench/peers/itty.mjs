// itty-router on Bun, or on Node with srvx, to measure only the cost of routing. Usage: `itty.mjs ANSWERS PORT`.
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

// The router modifies its argument, so the request itself is not passed.
const fetch = (request) => router.fetch({ method: request.method, url: request.url });

const options = { fetch, hostname: "127.0.0.1", port: Number(port) };
if ("Bun" in globalThis) Bun.serve({ ...options, development: false });
else serve({ ...options, silent: true });
