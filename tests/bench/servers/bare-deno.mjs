// The least that a handler of `Deno.serve` does: answers whose bytes and headers are ready.
// `bare-deno.mjs FILE PORT…`: a server for each answer, on the ports in turn.
import { Buffer } from "node:buffer";

const [file, ...ports] = Deno.args;
const { answers } = JSON.parse(Deno.readTextFileSync(file));

ports.forEach((port, index) => {
  const { status, headers, body } = answers[index];
  const init = { status, headers: new Headers(headers) };
  const bytes = body === null ? null : Buffer.from(body, "base64");
  const options = { hostname: "127.0.0.1", port: Number(port), onListen() {} };
  Deno.serve({ ...options, automaticCompression: false }, () => new Response(bytes, init));
});
