import { once } from "node:events";
import { connect } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHOSEN_COMMANDS, type Running, start, startEach } from "../_server.ts";
import { exchange } from "./_exchange.ts";
import { LARGE, LENGTH } from "./_large.ts";
import { closed, dial } from "./_socket.ts";

const GET = "GET /v1/info HTTP/1.1\r\nHost: localhost\r\n";

const persistence = suite("persistent connections");

let servers: Map<string, Running>;
persistence.before(async () => {
  servers = await startEach();
});
persistence.after(async () => {
  await Promise.all([...servers.values()].map((server) => server.stop()));
});

for (const runtime of Object.keys(CHOSEN_COMMANDS)) {
  persistence(`an HTTP/1.1 connection persists, on ${runtime}`, async () => {
    const { url } = servers.get(runtime)!;
    const { answers, headers } = await exchange(url, `${GET}\r\n`.repeat(3), {
      answers: 3,
      bodiless: false,
    });
    assert.is(answers, 3);
    assert.is.not(headers.connection, "close");
  });

  persistence(`a closing connection ignores later requests, on ${runtime}`, async () => {
    const socket = await dial(servers.get(runtime)!.url);
    let answer = "";
    socket.setEncoding("latin1").on("data", (text: string) => answer += text);
    socket.write(`${GET}Connection: close\r\n\r\n${GET}\r\ngarbage\r\n\r\n`);
    await closed(socket);
    assert.equal(answer.match(/^HTTP\/1\.1 \d+/gm), ["HTTP/1.1 200"]);
  });

  // Bun closes the connection as soon as it has refused a request.
  if (runtime !== "Bun") {
    persistence(`a refused connection is not reset during a request, on ${runtime}`, async () => {
      const { port, hostname } = new URL(servers.get(runtime)!.url);
      const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
      let failure: Error | undefined;
      socket.on("error", (error) => failure = error);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => answer += text);
      socket.write("no request\r\n\r\n");
      await once(socket, "end");
      assert.match(answer, /^HTTP\/1\.1 400 /);
      for (let i = 0; i < 20 && !failure; i++) {
        await new Promise((resolve) => socket.write("more of it\r\n".repeat(10_000), resolve));
      }
      assert.is(failure, undefined);
      socket.end();
    });
  }

  persistence(
    `an Upgrade header does not change the connection, and no request is lost, on ${runtime}`,
    async () => {
      const socket = await dial(servers.get(runtime)!.url);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => answer += text);
      const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
      socket.write(`${GET}${upgrade}${GET}Connection: close\r\n\r\n`);
      await closed(socket);
      const statuses = answer.match(/^HTTP\/1\.1 \d+/gm);
      assert.is(statuses?.[0], "HTTP/1.1 200");
      // The parser of `node:http` drops bytes that follow an upgrade in the same packet.
      // `Connection: close` in the response tells the client to repeat the dropped requests.
      if (statuses?.length === 1) assert.match(answer, /^connection: close\r$/im);
      else assert.equal(statuses, ["HTTP/1.1 200", "HTTP/1.1 200"]);
      assert.is(statuses?.length, runtime === "Bun" ? 2 : 1);
    },
  );

  for (
    const [kind, request] of [
      ["with Connection: close", `${GET}Connection: close\r\n\r\n`],
      ["with HTTP/1.0", "GET /v1/info HTTP/1.0\r\nHost: localhost\r\n\r\n"],
    ] as const
  ) {
    persistence(`a connection ${kind} ends with its response, on ${runtime}`, async () => {
      const socket = await dial(servers.get(runtime)!.url);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => answer += text);
      socket.write(request);
      await closed(socket);
      assert.match(answer, /^HTTP\/1\.[01] 200 OK\r\n/);
      // Bun closes the connection without a `Connection: close` header.
      if (runtime !== "Bun") assert.match(answer, /^connection: close\r$/im);
    });
  }
}

for (const [runtime, large] of Object.entries(LARGE)) {
  // Bun is skipped, because it closes the connection as soon as it receives garbage.
  if (runtime === "Bun") continue;
  persistence(
    `before garbage, all requests get complete responses, on ${runtime}`,
    async () => {
      const server = await start(large);
      const socket = await dial(server.url);
      let received = 0;
      let end = "";
      socket.on("data", (chunk: Buffer) => {
        received += chunk.length;
        end = (end + chunk.toString("latin1")).slice(-2000);
      });
      socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await new Promise((resolve) => socket.once("data", resolve));
      socket.pause();
      // The parser fails twice before the first error response can be sent.
      for (let i = 0; i < 2; i++) {
        socket.write("garbage\r\n\r\n");
        await fetch(`${server.url}broken`, { method: "HEAD" }).catch(() => {});
      }
      socket.resume();
      await closed(socket);
      await server.stop();
      assert.ok(received > LENGTH, `${received} bytes`);
      assert.match(end, /HTTP\/1\.1 400 Bad Request\r\n/);
    },
  );
}

persistence.run();
