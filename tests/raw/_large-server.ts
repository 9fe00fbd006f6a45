/**
 * Serves one content that no connection takes up without being read, at once or, at `/later`, as a
 * promise, and fails at `/broken`.
 */
import { serveHere } from "./_serve.ts";

const content = new Uint8Array(32 * 1024 * 1024);
const headers = { "content-length": String(content.byteLength) };
const large = { status: 200, headers, body: content } as const;
const app = {
  answer({ url }: { url: string }) {
    if (url.endsWith("/broken")) return Promise.reject(new Error("a secret of the inside"));
    return url.endsWith("/later") ? Promise.resolve(large) : large;
  },
  fetch: async (request: Request) => {
    const { body } = await app.answer(request);
    return new Response(body, { headers });
  },
};

await serveHere(app);
