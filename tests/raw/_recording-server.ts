/**
 * Serves a large response, a response that has its body even for HEAD, and an operation that responds with streams. `/own/told` returns what
 * has been recorded so far: the access records, the errors, the number of cancelled streams, and
 * the number of requests that still wait.
 */
import type { ResponseRecord } from "../../src/adapters/shared.ts";
import type { Operation } from "../../src/host-operations/operation.ts";
import { represent } from "../../src/http/representation.ts";
import { createNodeface } from "../../src/index.ts";
import { serveHere } from "./_serve.ts";

const records: ResponseRecord[] = [];
const errors: string[] = [];
let cancelled = 0;
let waiting = 0;

const chunk = new Uint8Array(1000);
const cancel = () => void cancelled++;
const STREAMS: Readonly<Record<string, () => UnderlyingSource<Uint8Array>>> = {
  endless: () => ({ pull: (controller) => controller.enqueue(chunk), cancel }),
  silent: () => ({
    start: (controller) => controller.enqueue(chunk),
    pull: () => new Promise(() => {}),
    cancel,
  }),
  failing() {
    let sent = 0;
    return {
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve));
        if (sent++ === 3) throw new Error("failed midway");
        controller.enqueue(chunk);
      },
    };
  },
};

const handle: Operation["handle"] = async (request, { what = "" }) => {
  if (what === "told") return Response.json({ records, errors, cancelled, waiting });
  if (what === "waiting") {
    waiting++;
    await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
  }
  const source = STREAMS[what];
  return source ? new Response(new ReadableStream(source())) : new Response("short");
};
const operation = { operationId: "own", responses: { 200: { description: "What was given" } } };
const nodeface = createNodeface({
  operations: [{ method: "GET", path: "/own/{what}", operation, handle }],
});

/** The response exceeds all buffers of a connection. */
const large = await represent(new Uint8Array(32 * 1024 * 1024), {
  ...{ type: "application/octet-stream", cache: "no-store", tag: "large", encoded: {} },
});
const app = {
  fetch(request: Request) {
    if (request.url.endsWith("/large")) {
      return large.respond(request, { headers: {}, vary: undefined });
    }
    return request.url.endsWith("/bare") ? new Response("a body") : nodeface.fetch(request);
  },
};

await serveHere(app, {
  onResponse(record) {
    records.push(record);
    throw new Error("a log that fails");
  },
  onError(error) {
    errors.push((error as Error).message);
    throw new Error("a log that fails");
  },
});
