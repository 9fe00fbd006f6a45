/**
 * Hono with what Nodeface sends with every response: CORS and security headers by Hono's own middleware, and an ETag
 * with 304 by hand. Usage: `hono-middleware.mjs ANSWERS PORT`.
 */
import { Buffer } from "node:buffer";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import { readFileSync } from "node:fs";
import process from "node:process";

const [, , file, port] = process.argv;

const app = new Hono();
app.use(
  secureHeaders({ crossOriginResourcePolicy: "cross-origin" }),
  cors({ origin: "*", exposeHeaders: ["etag", "allow", "link"] }),
);
for (const { path, identity } of JSON.parse(readFileSync(file, "utf8"))) {
  const content = JSON.parse(Buffer.from(identity.full.body, "base64").toString());
  // Hono's own middleware would hash every response, which takes four times as long.
  const headers = { etag: identity.etag, "cache-control": "public, max-age=1" };
  app.get(
    path,
    (c) =>
      c.req.header("if-none-match") === identity.etag
        ? c.body(null, 304, headers)
        : c.json(content, 200, headers),
  );
}

const options = { fetch: app.fetch, hostname: "127.0.0.1", port: Number(port) };
if ("Bun" in globalThis) Bun.serve({ ...options, development: false });
else serve(options);
