import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, run, serving, withEach } from "../_server.ts";

const idle = suite("a host that has services and nothing else");

idle(
  "ends by itself, on every runtime",
  () =>
    withEach(Object.entries(COMMANDS), async (command) => {
      const host = serving(command, "tests/project/_idle-host.ts");
      const { code, stdout, stderr } = await run(["timeout", "60", ...host]);
      assert.is(code, 0, stderr);
      assert.is(stdout, "all were asked\n");
    }),
);

idle.run();
