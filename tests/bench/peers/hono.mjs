// Hono as in its documentation, on Bun or with its own server for Node. Usage: `hono.mjs ANSWERS PORT`.
import { Buffer } from "node:buffer";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { readFileSync } from "node:fs";
import process from "node:process";

const [, , file, port] = process.argv;

const app = new Hono();
for (const { path, identity } of JSON.parse(readFileSync(file, "utf8"))) {
  const content = JSON.parse(Buffer.from(identity.full.body, "base64").toString());
  app.get(path, (c) => c.json(content));
}

const options = { fetch: app.fetch, hostname: "127.0.0.1", port: Number(port) };
if ("Bun" in globalThis) Bun.serve({ ...options, development: false });
else serve(options);
