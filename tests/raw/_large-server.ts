/**
 * Serves one large content: at once, at `/later` by a promise, and at `/long` after the idle timeout. It
 * rejects at `/broken`.
 */
import { serveHere } from "./_serve.ts";

/** In milliseconds. */
const LONG = 18_000;

const content = new Uint8Array(32 * 1024 * 1024);
const headers = { "content-length": String(content.byteLength) };
const large = { status: 200, headers, body: content } as const;
const app = {
  answer({ url }: { url: string }) {
    if (url.endsWith("/broken")) return Promise.reject(new Error("a secret of the inside"));
    if (url.endsWith("/long")) {
      return new Promise<typeof large>((resolve) => setTimeout(resolve, LONG, large));
    }
    return url.endsWith("/later") ? Promise.resolve(large) : large;
  },
  fetch: async (request: Request) => {
    const { body } = await app.answer(request);
    return new Response(body, { headers });
  },
};

await serveHere(app);
