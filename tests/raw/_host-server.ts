/**
 * A service with operations that the host application defines. `/own/clients` returns how many
 * clients have requested `/own/wait`, and how many of these clients have disconnected. Other paths
 * return the received request.
 */
import { createNodeface, type Operation } from "../../src/index.ts";
import { serveHere } from "./_serve.ts";

let waiting = 0;
let left = 0;
const handle: Operation["handle"] = async (request, { what }) => {
  const { method, signal } = request;
  if (what === "clients") return Response.json({ waiting, left });
  if (what === "wait") {
    waiting++;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    left++;
  }
  return Response.json({ method, content: await request.text(), aborted: signal.aborted });
};
const operation = { responses: { 200: { description: "What was given" } } };
const operations = (["GET", "POST", "DELETE"] as const).map((method): Operation => ({
  method,
  path: "/own/{what}",
  operation: { ...operation, operationId: `own${method}` },
  handle,
}));
const app = createNodeface({ operations, metrics: true });

await serveHere(app);
