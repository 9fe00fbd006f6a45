// Hono without middleware, with the same header fields, bytes and 304 responses as Nodeface. Usage:
// `hono-same.mjs ANSWERS PORT`.
import { Buffer } from "node:buffer";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { readFileSync } from "node:fs";
import process from "node:process";

const [, , file, port] = process.argv;

const app = new Hono();
for (
  const { path, identity: { etag, full, notModified } } of JSON.parse(readFileSync(file, "utf8"))
) {
  const content = Buffer.from(full.body, "base64").toString();
  const [headers, fewer] = [full, notModified].map((answer) => Object.fromEntries(answer.headers));
  app.get(
    path,
    (c) =>
      c.req.header("if-none-match") === etag
        ? c.body(null, 304, fewer)
        : c.body(content, 200, headers),
  );
}

const options = { fetch: app.fetch, hostname: "127.0.0.1", port: Number(port) };
if ("Bun" in globalThis) Bun.serve({ ...options, development: false });
else serve(options);
