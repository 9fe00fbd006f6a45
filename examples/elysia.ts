/** Nodeface in Elysia. Run: bun examples/elysia.ts */
import { Elysia } from "elysia";
import { mayAsk, nodeface, port } from "./nodeface.ts";

const app = new Elysia();
app.onRequest(({ request }) => {
  if (!nodeface.matches(request)) return;
  const isAllowed = mayAsk(request.method, request.headers.get("authorization"));
  return isAllowed ? nodeface.fetch(request) : new Response("Who are you?", { status: 401 });
});
app.all("*", () => "The host's own page\n");

app.listen({ port, hostname: "127.0.0.1" });
console.error(`nodeface example on http://127.0.0.1:${port}/`);
