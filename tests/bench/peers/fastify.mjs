// Fastify with its description plugin and Scalar's page. `fastify.mjs CONTENT PORT`.
import swagger from "@fastify/swagger";
import scalar from "@scalar/fastify-api-reference";
import fastify from "fastify";
import { readFileSync } from "node:fs";
import process from "node:process";

const [, , file, port] = process.argv;
const { info, description } = JSON.parse(readFileSync(file, "utf8"));

const app = fastify();
await app.register(swagger, { mode: "static", specification: { document: description } });
app.get("/v1/info", (_, reply) => reply.type("application/json").send(info));
app.get("/spec.json", () => app.swagger());
await app.register(scalar, { routePrefix: "/v1/spec", configuration: { url: "../../spec.json" } });

await app.listen({ host: "127.0.0.1", port: Number(port) });
