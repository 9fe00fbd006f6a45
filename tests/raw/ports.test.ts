import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHOSEN_COMMANDS, run, start } from "../_server.ts";

const ports = suite("a port that is in use");

for (const [runtime, command] of Object.entries(CHOSEN_COMMANDS)) {
  ports(`a second process on the same port says so and exits, on ${runtime}`, async () => {
    const server = await start(command);
    const { port } = new URL(server.url);
    // If the second process wrongly listens instead of exiting, the `timeout` command stops it.
    const { code, stderr } = await run(["timeout", "20", ...command, "--port", port]);
    assert.is(code, 1);
    assert.match(stderr, /the port is already in use/);
    assert.is((await server.stop()).code, 0);
  });
}

ports.run();
