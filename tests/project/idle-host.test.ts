import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, run, serving } from "../_server.ts";

const idle = suite("a host that has services and nothing else");

for (const [runtime, command] of Object.entries(COMMANDS)) {
  idle(`ends by itself, on ${runtime}`, async () => {
    const host = serving(command, "tests/project/_idle-host.ts");
    const { code, stdout, stderr } = await run(["timeout", "60", ...host]);
    assert.is(code, 0, stderr);
    assert.is(stdout, "all were asked\n");
  });
}

idle.run();
