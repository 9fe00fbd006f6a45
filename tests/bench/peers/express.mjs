// Express with Swagger UI. `express.mjs CONTENT PORT`.
import express from "express";
import { readFileSync } from "node:fs";
import process from "node:process";
import swaggerUi from "swagger-ui-express";

const [, , file, port] = process.argv;
const { info, description } = JSON.parse(readFileSync(file, "utf8"));

const app = express();
app.get("/v1/info", (_, response) => void response.type("json").send(info));
app.get("/spec.json", (_, response) => void response.json(description));
app.use("/v1/spec", swaggerUi.serve, swaggerUi.setup(description));

app.listen(Number(port), "127.0.0.1");
