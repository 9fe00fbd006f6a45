/**
 * Serves one large content: at once, at `/later` by a promise, and at `/long` after the idle timeout. It
 * rejects at `/broken`.
 */
import { partsOf } from "../../src/bytes.ts";
import type { App } from "../../src/adapters/shared.ts";
import { serveHere } from "./_serve.ts";

/** In milliseconds. */
const LONG = 18_000;

/** Its bytes are shared by all responses. */
const content = new Blob([...partsOf(new Uint8Array(32 * 1024 * 1024))]);
const headers = { "content-length": String(content.size) };
const large = () => new Response(content, { headers });
const app: App = {
  fetch({ url }) {
    if (url.endsWith("/broken")) return Promise.reject(new Error("a secret of the inside"));
    if (url.endsWith("/long")) {
      return new Promise((resolve) => setTimeout(() => resolve(large()), LONG));
    }
    return url.endsWith("/later") ? Promise.resolve(large()) : large();
  },
};

await serveHere(app);
