import { suite } from "uvu";
import * as assert from "uvu/assert";
import { start } from "../_server.ts";
import { exchange } from "./_exchange.ts";
import { LARGE } from "./_large.ts";

const failure = suite("an app that fails");

for (const [runtime, command] of Object.entries(LARGE)) {
  failure(`the error is not shown on ${runtime}, and other requests are served`, async () => {
    const server = await start(command);
    const ask = (method: string, path: string) =>
      exchange(server.url, `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, {
        answers: 1,
        bodiless: method === "HEAD",
      });
    const { status, headers, body } = await ask("GET", "/broken");
    assert.ok(status === 500 || status === "closed", String(status));
    assert.not.match(headers["content-type"] ?? "", "html");
    assert.not.match(body, /secret|fail|\.ts/);
    assert.is((await ask("HEAD", "/")).status, 200);
    assert.is((await server.stop()).code, 0);
  });
}

failure.run();
