import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Running, start } from "../_server.ts";
import { RELEASES } from "./_servers.ts";
import { dial } from "./_socket.ts";

/** Asks until it is so, for ten seconds at most. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const since = performance.now();
  while (!await isSo()) assert.ok(performance.now() - since < 10_000, "it never was");
}

const SERVER = "tests/raw/_host-server.ts";

for (const [runtime, command] of RELEASES) {
  const operations = suite(`a host's operation on ${runtime}`);
  let server: Running;
  const own = (what: string, init?: RequestInit) => fetch(`${server.url}own/${what}`, init);
  const clients = async () => await (await own("clients")).json();

  operations.before(async () => {
    server = await start(command.map((part) => part === "src/main.ts" ? SERVER : part));
  });
  operations.after(async () => void await server?.stop());

  for (const method of ["GET", "POST", "DELETE"]) {
    operations(`${method} without content has an empty one, and its client is there`, async () => {
      const response = await own("echo", { method });
      assert.equal(await response.json(), { method, content: "", aborted: false });
    });
  }

  operations("a content is given whole", async () => {
    const body = "content ".repeat(20_000);
    const response = await own("echo", { method: "POST", body });
    assert.equal(await response.json(), { method: "POST", content: body, aborted: false });
  });

  for (const method of ["GET", "POST"]) {
    operations(`is told when the client of a ${method} goes away`, async () => {
      const before = await clients();
      const client = await dial(server.url);
      client.write(`${method} /own/wait HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await until(async () => (await clients()).waiting > before.waiting);
      assert.is((await clients()).left, before.left);
      client.destroy();
      await until(async () => (await clients()).left > before.left);
    });
  }

  operations.run();
}
