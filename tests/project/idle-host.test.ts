import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHOSEN_COMMANDS, run, serving, withEach } from "../_server.ts";

const idle = suite("a host that creates services and then does nothing");

idle(
  "the host's process ends without a signal, on every runtime",
  () =>
    withEach(Object.entries(CHOSEN_COMMANDS), async (command) => {
      const host = serving(command, "tests/project/_idle-host.ts");
      const { code, stdout, stderr } = await run(["timeout", "60", ...host]);
      assert.is(code, 0, stderr);
      assert.is(stdout, "all were asked\n");
    }),
);

idle.run();
