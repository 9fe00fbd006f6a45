import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Agent, createServer, request } from "node:http";
import { writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { COMMANDS, start } from "../_server.ts";
import { makeFolder } from "../release/_folder.ts";
import { play, RECORDINGS } from "./_recorded.ts";

const load = suite("load");

load("200 clients cause at most one query to the node per second", async () => {
  const anvil = play(RECORDINGS.get("anvil")!);
  let refreshes = 0;
  const node = createServer(async (asked, response) => {
    let body = "";
    for await (const chunk of asked) body += chunk;
    if (body.includes("eth_blockNumber")) refreshes++;
    response.end(await (await anvil("http://node.example/", { method: "POST", body })).text());
  });
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  const { port } = node.address() as AddressInfo;
  const config = join(makeFolder(), "nodeface.json");
  // The questions about its methods would count as queries.
  const settings = { url: `http://127.0.0.1:${port}`, kind: "ethereum", ask_methods: false };
  writeFileSync(config, JSON.stringify({ node: settings }));
  const service = await start([...COMMANDS.Node, "--config", config]);
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      request(new URL("v1/info", service.url), { agent }, (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
      }).on("error", reject).end();
    });
  await ask();
  refreshes = 0;
  const started = performance.now();
  const end = started + 1500;
  const counts = new Map<number, number>();
  const client = async () => {
    while (performance.now() < end || refreshes === 0) {
      const status = await ask();
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 200 }, client));
  const seconds = (performance.now() - started) / 1000;
  agent.destroy();
  await service.stop();
  node.close();
  node.closeAllConnections();
  assert.equal([...counts.keys()], [200]);
  assert.ok(refreshes >= 1 && refreshes <= seconds + 1, `${refreshes} refreshes in ${seconds} s`);
});

load.run();
