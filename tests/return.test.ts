/** Tests that a node which is well again is `ok` soon, although no client sends a request. */
import type { RequestListener } from "node:http";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { play } from "./_sources.ts";

const back = suite("the return of a node");

/** Twice the slowest interval, and what a busy machine adds. */
const BACK_MAX = 3000 + 2000;

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  unreachable: (request) => request.socket.destroy(),
  degraded: (_, response) => response.writeHead(503).end(),
};

for (const [status, fail] of Object.entries(ANSWERS)) {
  back(
    `without requests, and long before the next query of the watch, a node that was ${status} is ok`,
    async () => {
      let answer: RequestListener = (_, response) => response.end();
      const node = await play((request, response) => answer(request, response));
      const words: string[] = [];
      let tell = () => {};
      const app = createNodeface({
        node: { url: node.url, kind: "none" },
        info: { watch: "1h", ttl: "0ms", stale: "0s" },
        log: (_, event) => {
          if (event.code === "status") words.push(event.status);
          tell();
        },
      });
      const ask = () => app.fetch(new Request("http://localhost/v1/health"));
      assert.is((await ask()).status, 200);
      answer = fail;
      while ((await ask()).status === 200) await new Promise((resolve) => setTimeout(resolve, 100));
      assert.is(words.at(-1), status);
      answer = (_, response) => response.end();
      const begun = performance.now();
      await new Promise<void>((resolve) => tell = resolve);
      assert.is(words.at(-1), "ok");
      assert.ok(performance.now() - begun < BACK_MAX);
      await app.close();
      await node.close();
    },
  );
}

back.run();
