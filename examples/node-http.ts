/** Nodeface in a `node:http` server. Run: node --import tsx examples/node-http.ts */
import { createServer } from "node:http";
import { listener } from "nodeface/node";
import { mayAsk, nodeface, port } from "./nodeface.ts";

const answer = listener(nodeface);

const server = createServer((request, response) => {
  const { method, headers } = request;
  if (!mayAsk(method, headers.authorization)) return response.writeHead(401).end();
  answer(request, response, () => response.end("The host's own page\n"));
});

server.listen(port, "127.0.0.1");
console.error(`nodeface example on http://127.0.0.1:${port}/`);
