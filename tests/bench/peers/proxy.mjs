// @fastify/http-proxy, used as in its documentation. Usage: `proxy.mjs UPSTREAM PORT`.
import proxy from "@fastify/http-proxy";
import fastify from "fastify";
import process from "node:process";

const [, , upstream, port] = process.argv;

const app = fastify();
app.get("/v1/info", () => ({}));
app.register(proxy, { upstream, prefix: "/v1/node", rewritePrefix: "/" });

await app.listen({ host: "127.0.0.1", port: Number(port) });
