import { suite } from "uvu";
import * as assert from "uvu/assert";
import { start, withEach } from "../_server.ts";
import { LARGE, LENGTH } from "./_large.ts";
import { closed, dial } from "./_socket.ts";

const drain = suite("the shutdown of a server");

const EACH = Object.entries(LARGE).flatMap(([runtime, large]) =>
  ["/", "/later"].map((path) => [`${runtime} at ${path}`, { large, path }] as const)
);

/** Resolves to true if the end of the grace period has cut the response. */
async function isCutAtShutdown(large: readonly string[], path: string): Promise<boolean> {
  const server = await start(large);
  const [reader, half, idle] = await Promise.all([1, 2, 3].map(() => dial(server.url)));
  half!.resume().write("GET / HTTP/1.1\r\nHost: loc");
  idle!.write("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await new Promise((resolve) => idle!.once("data", resolve));
  let received = 0;
  let head = 0;
  reader!.on("data", (chunk: Buffer) => {
    if (head === 0) head = chunk.indexOf("\r\n\r\n") + 4;
    received += chunk.length;
  });
  reader!.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await new Promise((resolve) => reader!.once("data", resolve));
  reader!.pause();
  assert.ok(received < LENGTH);

  const since = performance.now();
  const stopped = server.stop();
  await closed(idle!);
  assert.ok(received < LENGTH, "the response was already complete");
  reader!.resume();
  await Promise.all([closed(reader!), closed(half!)]);
  const isCut = received - head < LENGTH && performance.now() - since >= 5000;
  if (!isCut) assert.is(received - head, LENGTH);
  assert.is((await stopped).code, 0);
  return isCut;
}

for (const [name, { large, path }] of EACH) {
  // One at a time: a response has five seconds to be completed.
  drain(
    `at shutdown, a response in progress is completed, and idle and half-sent connections are closed, on ${name}`,
    async () => {
      let isCut = true;
      // A machine that stalls may need more than the grace period of five seconds.
      while (isCut) isCut = await isCutAtShutdown(large, path);
    },
  );
}

drain("a response that is not read delays the shutdown only by the grace period", () =>
  withEach(
    EACH,
    async ({ large, path }) => {
      const server = await start(large);
      const reader = await dial(server.url);
      reader.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await new Promise((resolve) => reader.once("data", resolve));
      reader.pause();
      const since = performance.now();
      const { code } = await server.stop();
      const taken = performance.now() - since;
      reader.destroy();
      assert.is(code, 0);
      // The grace period is five seconds. A busy machine may take longer.
      assert.ok(taken > 4000, `${taken} ms`);
    },
  ));

drain.run();
