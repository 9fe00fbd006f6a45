import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listener } from "../../src/adapters/node.ts";
import { createNodeface, type Operation } from "../../src/index.ts";
import { until } from "../nodes/_daemon.ts";
import { type Running, serving, start } from "../_server.ts";
import { RELEASES } from "./_servers.ts";
import { dial } from "./_socket.ts";

for (const [runtime, command] of RELEASES) {
  const operations = suite(`a host's operation on ${runtime}`);
  let server: Running;
  const own = (what: string, init?: RequestInit) => fetch(`${server.url}own/${what}`, init);
  const clients = async () => await (await own("clients")).json();

  operations.before(async () => {
    server = await start(serving(command, "tests/raw/_host-server.ts"));
  });
  operations.after(async () => void await server?.stop());

  for (const method of ["GET", "POST", "DELETE"]) {
    operations(`${method} without content has an empty body and a connected client`, async () => {
      const response = await own("echo", { method });
      assert.equal(await response.json(), { method, content: "", aborted: false });
    });
  }

  operations("the content of a request is passed completely", async () => {
    const body = "content ".repeat(20_000);
    const response = await own("echo", { method: "POST", body });
    assert.equal(await response.json(), { method: "POST", content: body, aborted: false });
  });

  operations(
    "content in thousands of tiny chunks gets a response, though it is complete",
    async () => {
      const client = await dial(server.url);
      let received = "";
      client.setEncoding("latin1").on("data", (text: string) => received += text);
      const head =
        "POST /own/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
      client.write(`${head}${"1\r\nx\r\n".repeat(3000)}0\r\n\r\n`);
      // deno-lint-ignore require-await -- `until` expects a function that returns a promise
      await until(async () => received.startsWith("HTTP/1.1 "));
      client.destroy();
      // Bun does not show chunks to a server.
      const status = runtime === "Bun" ? 200 : 400;
      assert.match(received, `HTTP/1.1 ${status} `);
    },
  );

  for (const method of ["GET", "POST"]) {
    operations(`a handler is notified when the client of a ${method} disconnects`, async () => {
      const before = await clients();
      const client = await dial(server.url);
      client.write(`${method} /own/wait HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await until(async () => (await clients()).waiting > before.waiting);
      assert.is((await clients()).left, before.left);
      client.destroy();
      await until(async () => (await clients()).left > before.left);
    });
  }

  operations("pipelined requests wait until the handler in front has responded", async () => {
    const before = await clients();
    const client = await dial(server.url);
    client.write("GET /own/wait HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(300));
    await until(async () => (await clients()).waiting > before.waiting);
    client.destroy();
    await until(async () => (await clients()).left > before.left);
    assert.equal(await clients(), { waiting: before.waiting + 1, left: before.left + 1 });
  });

  operations("a connection has at most one stream of events", async () => {
    const client = await dial(server.url);
    let received = "";
    client.setEncoding("latin1").on("data", (text: string) => received += text);
    client.write("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(300));
    // deno-lint-ignore require-await -- `until` expects a function that returns a promise
    await until(async () => received.includes("event: snapshot"));
    const metrics = await (await fetch(`${server.url}v1/metrics`)).text();
    assert.ok(Number(/^nodeface_event_listeners (\d+)/m.exec(metrics)![1]) <= 1);
    assert.is(received.match(/^HTTP\/1\.1 /gm)?.length, 1);
    client.destroy();
  });

  operations.run();
}

const mounted = suite("operations in a server that reads the content itself");

for (
  const [what, rawBody] of [["kept", Buffer.from("what was read")], ["not kept", null]] as const
) {
  mounted(`content that was read and ${what} does not look empty`, async () => {
    const handle: Operation["handle"] = async (request) => new Response(await request.text());
    const operation = { responses: { 200: { description: "The content" } } };
    const answer = listener(createNodeface({
      operations: [{ method: "POST", path: "/own", operation, handle }],
    }));
    const http = createServer(async (message, response) => {
      for await (const _ of message);
      if (rawBody) Object.assign(message, { rawBody });
      answer(message, response);
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/own`;
    const response = await fetch(url, { method: "POST", body: "what was read" });
    const text = await response.text();
    http.close();
    http.closeAllConnections();
    assert.is(response.status, rawBody ? 200 : 500);
    if (rawBody) assert.is(text, "what was read");
    else assert.match(text, /mount Nodeface before body parsers/);
  });
}

mounted.run();
