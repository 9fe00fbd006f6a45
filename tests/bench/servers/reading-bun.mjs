// As `bare-bun.mjs`, but it reads of each request what an answer depends on (RFC 9110): its method,
// its address and four fields. Bun makes each of them when it is asked for.
// `reading-bun.mjs FILE PORT…`: a server for each answer, on the ports in turn.
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
    fetch({ method, url, headers }) {
      const isOdd = method === "" || url === "" || headers.get("host") === "" ||
        headers.get("accept-encoding") === "" || headers.get("if-match") === "" ||
        headers.get("if-none-match") === "";
      return isOdd ? new Response() : new Response(bytes, init);
    },
  });
});
