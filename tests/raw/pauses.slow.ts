/**
 * Responses and clients that pause for longer than the limits for a silent connection. Run with
 * `npm run test:slow -- raw`.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../_gateway.ts";
import { COMMANDS, serving, start, withEach } from "../_server.ts";
import { closed, dial } from "./_socket.ts";

const pauses = suite("responses that pause");

pauses("a host's stream may pause for 40 s on every runtime", async () => {
  await withEach(Object.entries(COMMANDS), async (command) => {
    const server = await start(serving(command, "tests/raw/_pausing-server.ts"));
    try {
      const response = await fetch(`${server.url}own/events`);
      assert.is(await response.text(), "data: a\n\ndata: b\n\n");
    } finally {
      await server.stop();
    }
  });
});

pauses("a connection is kept for two minutes after a response, on every runtime", async () => {
  const request = "GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n";
  await withEach(Object.entries(COMMANDS), async (command, runtime) => {
    const server = await start(serving(command, "tests/raw/_pausing-server.ts"));
    const socket = await dial(server.url);
    let responses = 0;
    socket.on("data", () => responses++).write(request);
    await until(() => responses > 0);
    await new Promise((resolve) => setTimeout(resolve, 120_000));
    const before = responses;
    socket.write(request);
    await until(() => responses > before);
    const began = performance.now();
    await closed(socket);
    const took = performance.now() - began;
    assert.ok(took > 115_000 && took < 140_000, `${runtime}: ${took} ms`);
    await server.stop();
  });
});

pauses.run();
