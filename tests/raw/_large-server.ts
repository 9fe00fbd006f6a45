/**
 * Serves the same large content at every path except `/broken`, which throws an error. The response
 * at `/later` waits for a promise, and the response at `/long` waits longer than the idle timeout.
 */
import { represent } from "../../src/http/representation.ts";
import { serveHere } from "./_serve.ts";

/** A delay that exceeds the server's idle timeout, in milliseconds. */
const LONG = 18_000;

const large = await represent(new Uint8Array(32 * 1024 * 1024), {
  ...{ type: "application/octet-stream", cache: "no-store", tag: "large", encoded: {} },
});
const app = {
  async fetch(request: Request) {
    const { url } = request;
    if (url.endsWith("/broken")) throw new Error("a secret");
    if (url.endsWith("/long")) await new Promise((resolve) => setTimeout(resolve, LONG));
    if (url.endsWith("/later")) await Promise.resolve();
    return await large.respond(request, { headers: {}, vary: undefined });
  },
};

await serveHere(app);
