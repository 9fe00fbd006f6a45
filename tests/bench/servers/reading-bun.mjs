// As `bare-bun.mjs`, but it first reads what Nodeface reads of each request: its method, its address
// and the header fields that a host, a coding and conditions depend on (RFC 9110, sections 7.2, 12.5.3,
// 13.1.1 and 13.1.2). Bun makes each of them when it is asked for.
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
