// As `bare-bun.mjs`, but it looks at the address and at two fields of each request, as whatever
// chooses an answer has to: the least that is possible there.
// `looking-bun.mjs FILE PORT…`: a server for each answer, on the ports in turn.
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
    fetch({ url, headers }) {
      const isOdd = url === "" || headers.get("host") === "" || headers.get("if-none-match") === "";
      return isOdd ? new Response() : new Response(bytes, init);
    },
  });
});
