/**
 * Tests the page for each kind of node. The nodes are simulated, and send recorded or made-up
 * responses.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gzipSync } from "node:zlib";
import { KINDS } from "../../src/generated/kinds.js";
import { createNodeface } from "../../src/index.ts";
import { operationsOf } from "../../src/openapi/operations.ts";
import { until } from "./_daemon.ts";
import { serveFetch } from "./_played-server.ts";
import { play, RECORDINGS } from "./_recorded.ts";

const pages = suite("the page for each kind of node");

/** The size limit of the page, in gzipped bytes. */
const BUDGET = 60_000;

const recordingOf = (kind: string) =>
  RECORDINGS.get(kind) ?? [...RECORDINGS.values()].find((recording) => recording.kind === kind)!;

const own = Object.keys((await read(createNodeface({ log() {} }))).paths);

for (const kind of Object.keys(KINDS)) {
  pages(`${kind}: without scripts, the page names every operation, and is small`, async () => {
    await using node = await serveFetch(play(recordingOf(kind)));
    const app = createNodeface({ node: { url: node.url }, log() {} });
    const isNew = (path: string) => !own.includes(path);
    await until(async () => Object.keys((await read(app)).paths).some(isNew));
    const { paths } = await read(app);
    const html = await (await ask(app, "/v1/spec/simple")).text();
    for (const [path, item] of Object.entries(paths)) {
      const methods = operationsOf(item).map(({ method }) => method);
      // If a JSON-RPC method can be called by GET and by POST, the page shows one operation.
      const isTwice = path.startsWith("/v1/rpc/") && methods.includes("GET");
      for (const method of isTwice ? ["GET"] : methods) {
        assert.ok(html.includes(`/${method}${path}">`), `${method} ${path}`);
      }
    }
    assert.ok(html.includes(KINDS[kind]!.title));
    assert.ok(gzipSync(html).length < BUDGET, String(gzipSync(html).length));
  });
}

pages.run();

type App = ReturnType<typeof createNodeface>;

function ask(app: App, path: string): Promise<Response> {
  return Promise.resolve(app.fetch(new Request(`http://localhost${path}`)));
}

async function read(app: App): Promise<{ paths: Record<string, unknown> }> {
  return await (await ask(app, "/spec.json")).json();
}
