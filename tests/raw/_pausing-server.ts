/** A host's service with an operation whose response pauses for `PAUSE_MS`. */
import { createNodeface } from "../../src/index.ts";
import { serveHere } from "./_serve.ts";
import { PAUSE_MS } from "./_pause.ts";

const parts = ["data: a\n\n", "data: b\n\n"].map((text) => new TextEncoder().encode(text));

const handle = () =>
  new Response(
    new ReadableStream({
      async start(controller) {
        controller.enqueue(parts[0]);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        controller.enqueue(parts[1]);
        controller.close();
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );

const operation = { responses: { 200: { description: "Events" } } };
await serveHere(createNodeface({
  operations: [{ method: "GET", path: "/own/events", operation, handle }],
}));
