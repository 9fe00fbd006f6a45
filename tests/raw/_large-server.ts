/** Serves one content that no connection takes up without being read, and fails at `/broken`. */
import { serveHere } from "./_serve.ts";

const content = new Uint8Array(32 * 1024 * 1024);
const headers = { "content-length": String(content.byteLength) };
const app = {
  answer: (request: Request) =>
    request.url.endsWith("/broken")
      ? Promise.reject(new Error("a secret of the inside"))
      : Promise.resolve({ status: 200, headers, body: content } as const),
  fetch: async (request: Request) => {
    const { body } = await app.answer(request);
    return new Response(body, { headers });
  },
};

await serveHere(app);
