import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, type Running, start } from "../_server.ts";
import { exchange } from "./_exchange.ts";
import { closed, dial } from "./_socket.ts";

const GET = "GET /v1/info HTTP/1.1\r\nHost: localhost\r\n";

const persistence = suite("a connection");

let servers: Map<string, Running>;
persistence.before(async () => {
  const starts = Object.entries(COMMANDS).map(async ([runtime, command]) =>
    [runtime, await start(command)] as const
  );
  servers = new Map(await Promise.all(starts));
});
persistence.after(async () => {
  await Promise.all([...servers.values()].map((server) => server.stop()));
});

for (const runtime of Object.keys(COMMANDS)) {
  persistence(`of HTTP/1.1 persists, and nothing is said of it, on ${runtime}`, async () => {
    const { url } = servers.get(runtime)!;
    const { answers, headers } = await exchange(url, `${GET}\r\n`.repeat(3), {
      answers: 3,
      bodiless: false,
    });
    assert.is(answers, 3);
    assert.is(headers.connection, undefined);
    assert.is(headers["keep-alive"], undefined);
  });

  for (
    const [kind, request] of [
      ["that is to be closed", `${GET}Connection: close\r\n\r\n`],
      ["of HTTP/1.0", "GET /v1/info HTTP/1.0\r\nHost: localhost\r\n\r\n"],
    ] as const
  ) {
    persistence(`${kind} ends with its answer, on ${runtime}`, async () => {
      const socket = await dial(servers.get(runtime)!.url);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => answer += text);
      socket.write(request);
      await closed(socket);
      assert.match(answer, /^HTTP\/1\.[01] 200 OK\r\n/);
      // Bun closes without a word.
      if (runtime !== "Bun") assert.match(answer, /^connection: close\r$/im);
    });
  }
}

persistence.run();
