/** Tests that a node which is well again is `ok` soon, although no client sends a request. */
import type { RequestListener } from "node:http";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type Kind } from "../src/index.ts";
import { until } from "./_gateway.ts";
import { play } from "./_sources.ts";

const back = suite("the return of a node");

const KIND: Kind = {
  title: "A node",
  url: "http://127.0.0.1:1",
  detect: { "state#/x": "." },
  sources: { state: { get: "/" } },
  fields: { name: "state#/name" },
  health: { ok: "it responds" },
};

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  unreachable: (request) => request.socket.destroy(),
  degraded: (_, response) => response.writeHead(500).end(),
};

for (const [status, fail] of Object.entries(ANSWERS)) {
  back(
    `without requests, and long before the next query of the watch, a node that was ${status} is ok`,
    async () => {
      let answer: RequestListener = (_, response) => response.end('{ "name": "a" }');
      const node = await play((request, response) => answer(request, response));
      const words: string[] = [];
      const app = createNodeface({
        node: { url: node.url, kind: "mine" },
        kinds: { mine: KIND },
        info: { watch: "1h", ttl: "0ms", stale: "0s" },
        log: (_, event) => {
          if (event.code === "status") words.push(event.status);
        },
      });
      const ask = () => app.fetch(new Request("http://localhost/v1/health"));
      assert.is((await ask()).status, 200);
      answer = fail;
      await until(async () => (await ask()).status !== 200);
      assert.is(words.at(-1), status);
      answer = (_, response) => response.end('{ "name": "a" }');
      // The next query of the watch would come only after an hour. `monitor.test.ts` tests how
      // soon the node is ok.
      await until(() => words.at(-1) === "ok");
      await app.close();
      await node.close();
    },
  );
}

back.run();
