// A bare server with `Bun.serve` (also as an executable) or `Deno.serve`. Usage: `fetch.mjs ANSWERS PORT`.
import { Buffer } from "node:buffer";
import process from "node:process";
import { createChoice } from "./choose.mjs";

const [, , file, port] = process.argv;

const choose = createChoice(file, port, ({ status, headers, body }) => {
  const content = body === "" ? null : Buffer.from(body, "base64");
  return { content, init: { status, headers: new Headers(headers) } };
});

function respond({ method, url, headers }) {
  const { content, init } = choose(
    method,
    url.slice(url.indexOf("/", 8)),
    headers.get("host"),
    headers.get("accept-encoding"),
    headers.get("if-none-match"),
  );
  return new Response(content, init);
}

const address = { hostname: "127.0.0.1", port: Number(port) };
if ("Bun" in globalThis) Bun.serve({ ...address, development: false, fetch: respond });
else Deno.serve({ ...address, onListen() {} }, respond);
