// The least that a handler of `Bun.serve` does: answers whose bytes and headers are ready.
// `bare-bun.mjs [--reading] FILE PORT…`: a server for each answer, on the ports in turn.
import { readFileSync } from "node:fs";
import process from "node:process";

const isReading = process.argv[2] === "--reading";
const [file, ...ports] = process.argv.slice(isReading ? 3 : 2);
const { answers } = JSON.parse(readFileSync(file, "utf8"));

ports.forEach((port, index) => {
  const { status, headers, body } = answers[index];
  const init = { status, headers: new Headers(headers) };
  const bytes = body === null ? null : Buffer.from(body, "base64");
  const answer = () => new Response(bytes, init);
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(port),
    development: false,
    fetch: isReading ? (request) => isOdd(request) ? new Response() : answer() : answer,
  });
});

// Reads what Nodeface reads of each request: its method, its address and the header fields that a
// host, a coding and conditions depend on (RFC 9110, sections 7.2, 12.5.3, 13.1.1 and 13.1.2). Bun
// makes each of them when it is asked for.
function isOdd({ method, url, headers }) {
  return method === "" || url === "" || headers.get("host") === "" ||
    headers.get("accept-encoding") === "" || headers.get("if-match") === "" ||
    headers.get("if-none-match") === "";
}
