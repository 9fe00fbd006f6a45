/** Nodeface in polka. Run: node --import tsx examples/polka.ts */
import { listener } from "nodeface/node";
import polka from "polka";
import { mayAsk, nodeface, port } from "./nodeface.ts";

const app = polka({ onNoMatch: (_request, response) => response.end("The host's own page\n") });
app.use((request, response, next) => {
  if (mayAsk(request.method, request.headers.authorization)) next();
  else response.writeHead(401).end();
});
app.use(listener(nodeface));

app.listen(port, "127.0.0.1");
console.error(`nodeface example on http://127.0.0.1:${port}/`);
