// The least that a handler of `Bun.serve` does: answers whose bytes and headers are ready.
// `bare-bun.mjs FILE PORT…`: a server for each answer, on the ports in turn.
import { readFileSync } from "node:fs";
import process from "node:process";

const [, , file, ...ports] = process.argv;
const { answers } = JSON.parse(readFileSync(file, "utf8"));

ports.forEach((port, index) => {
  const { status, headers, body } = answers[index];
  const init = { status, headers: new Headers(headers) };
  const bytes = body === null ? null : Buffer.from(body, "base64");
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(port),
    development: false,
    fetch: () => new Response(bytes, init),
  });
});
