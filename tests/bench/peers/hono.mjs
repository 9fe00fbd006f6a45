// Hono on its server for Node, with Scalar's page. `hono.mjs CONTENT PORT`.
import { serve } from "@hono/node-server";
import { Scalar } from "@scalar/hono-api-reference";
import { Hono } from "hono";
import { readFileSync } from "node:fs";
import process from "node:process";

const [, , file, port] = process.argv;
const { info, description } = JSON.parse(readFileSync(file, "utf8"));

const app = new Hono();
app.get("/v1/info", (c) => c.body(info, 200, { "content-type": "application/json" }));
app.get("/spec.json", (c) => c.json(description));
app.get("/v1/spec", Scalar({ url: "../spec.json" }));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(port) });
