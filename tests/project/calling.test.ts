import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";
import { PROGRAMS } from "../nodes/_asked-nodes.ts";
import { type Daemon, freePort, startDaemon } from "../nodes/_daemon.ts";
import { follow } from "./_manual.ts";

const PAGES = ["docs/calling.md", "README.md"];
const calling = suite("what the pages say of calling the node");

/** The nodes that the pages have, and where they are here. */
let anvil: Daemon;
let exampled: Server;
let places: Record<string, string>;

calling.before.each(async () => {
  const port = await freePort();
  anvil = await startDaemon([PROGRAMS.ethereum!.path, "--port", String(port)], port);
  const answers: Record<string, unknown> = {
    "/blocks/7": { height: 7 },
    "/stats": { blocks: 8 },
  };
  exampled = createServer(({ url = "" }, response) => {
    response.writeHead(url in answers ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answers[url] ?? {}));
  });
  await new Promise<void>((resolve) => exampled.listen(0, "127.0.0.1", resolve));
  const { port: other } = exampled.address() as { port: number };
  places = { "127.0.0.1:8545": `127.0.0.1:${port}`, "127.0.0.1:9000": `127.0.0.1:${other}` };
});

calling.after.each(async () => {
  exampled?.close();
  await anvil?.stop();
});

for (const page of PAGES) {
  calling(`every command of ${page} does what it says there`, async () => {
    await follow(await callingPart(page), { places });
  });
}

/** The whole of the page about it, and of another one the part that is. */
async function callingPart(page: string): Promise<string> {
  const text = await readFile(join(ROOT, page), "utf8");
  if (page !== "README.md") return text;
  const [, part] = /^## Calling the node\n([^]*?)^## /m.exec(text) ?? [];
  assert.ok(part, "README.md has a part about it");
  return part;
}

calling.run();
