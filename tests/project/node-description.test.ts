import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHOSEN_COMMANDS, COMMANDS, run, start, withEach } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";

const described = suite("a node's description");

const right = (title: string) =>
  `openapi: 3.1.1\ninfo: { title: ${title}, version: "1" }\npaths: {}\n`;

function everywhere(
  name: string,
  check: (command: readonly string[], file: string) => Promise<void>,
): void {
  described(
    `${name}, on every runtime`,
    () => withEach(Object.entries(CHOSEN_COMMANDS), (command) => withFile(check, command)),
  );
}

async function withFile(
  check: (command: readonly string[], file: string) => Promise<void>,
  command: readonly string[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  await check(command, join(folder, "openapi.yaml")).finally(() =>
    rmSync(folder, { recursive: true })
  );
}

everywhere(
  "the description named by --spec is shown and reloaded, and its errors are reported",
  async (command, file) => {
    writeFileSync(file, right("One"));
    const server = await start([...command, "--spec", file]);
    const title = async () => (await (await fetch(`${server.url}spec.json`)).json()).info.title;
    assert.is(await title(), "One");
    writeFileSync(file, right("Number two"));
    await until(async () => await title() === "Number two");
    writeFileSync(file, "openapi: [\n");
    // The service may also have read a file that was being written.
    const told = /Z error openapi\.yaml:2:1 is not YAML[^]*is still shown$/m;
    await until(() => Promise.resolve(told.test(server.stderr())));
    assert.is(await title(), "Number two");
    const { code } = await server.stop();
    assert.is(code, 0);
  },
);

/** For what does not depend on the runtime. */
function onBun(name: string, check: (file: string) => Promise<void>): void {
  described(name, () => withFile((_, file) => check(file), COMMANDS.Bun));
}

onBun(
  "the log contains the first twenty diagnostics, and the number of the others",
  async (file) => {
    // The description has 57 diagnostics: 56 errors, and a note that the URL of the node is
    // unknown.
    const wrong = Array.from({ length: 56 }, (_, i) => `    S${i}: text\n`).join("");
    writeFileSync(file, `${right("One")}components:\n  schemas:\n${wrong}`);
    const server = await start([...COMMANDS.Bun, "--spec", file]);
    const isTold = () =>
      Promise.resolve(/ and 37 more diagnostics of the description/.test(server.stderr()));
    await until(isTold);
    assert.is(server.stderr().match(/Z error openapi\.yaml:/g)?.length, 20);
    await server.stop();
  },
);

onBun(
  "check exits with 1 if the description cannot be shown",
  async (file) => {
    writeFileSync(file, right("One"));
    const shown = await run([...COMMANDS.Bun, "check", "--spec", file]);
    assert.match(shown.stdout, /^The description can be shown$/m);
    assert.is(shown.code, 0);
    writeFileSync(file, "openapi: 4.0.0\n");
    const broken = await run([...COMMANDS.Bun, "check", "--spec", file]);
    assert.match(broken.stdout, /^error openapi\.yaml:1:10 unknown version "4\.0\.0"/m);
    assert.is(broken.code, 1);
  },
);

described.run();
