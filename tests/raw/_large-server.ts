/**
 * Serves one content that no connection takes up without being read, and fails at `/broken`, by the
 * adapter of the runtime this is, until it is told to stop.
 */
import process from "node:process";

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

const name = "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node";
const { serve } = await import(`../../src/adapters/${name}.ts`);
const server = await serve(app, { host: "127.0.0.1", port: 0 });
process.on("SIGTERM", async () => {
  await server.close();
  process.exit(0);
});
console.error(`nodeface 0 on ${server.url}`);
