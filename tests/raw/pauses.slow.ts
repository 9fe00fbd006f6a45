/**
 * Responses that pause for longer than any limit for a connection without bytes. Run with
 * `npm run test:slow -- raw`.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, serving, start, withEach } from "../_server.ts";

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

pauses.run();
