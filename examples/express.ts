/** Nodeface in Express. Run: node --import tsx examples/express.ts */
import express from "express";
import { listener } from "nodeface/node";
import { mayAsk, nodeface, port, prefix } from "./nodeface.ts";

const app = express();
app.use(prefix || "/", (request, response, next) => {
  if (mayAsk(request.method, request.headers.authorization)) next();
  else response.sendStatus(401);
});
app.use(prefix || "/", listener(nodeface));
app.use((_request, response) => void response.send("The host's own page\n"));

app.listen(port, "127.0.0.1");
console.error(`nodeface example on http://127.0.0.1:${port}/`);
