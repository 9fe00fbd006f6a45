import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type Operation } from "../../src/index.ts";
import { PATHS } from "../_app.ts";
import { testWhere } from "../_needs.ts";
import { until } from "../nodes/_daemon.ts";
import { HOSTS } from "./_hosts.mjs";

const mounted = suite("mounted in other servers");

const echo: Operation = {
  method: "POST",
  path: "/v1/echo/{id}",
  operation: { responses: { 200: { description: "The content" } } },
  handle: async (request, { id }) => new Response(`${id}: ${await request.text()}`),
};

const MOUNTS: readonly [at: string, prefix: string | undefined][] = [
  ["", undefined],
  ["/deep/node", "/deep/node"],
  ["/deep/node", undefined],
];

for (const [name, { needs, mount, takesOff, goesOn }] of Object.entries(HOSTS)) {
  const absent = await missing(needs);
  for (const [at, prefix] of MOUNTS) {
    // Without the `prefix` option, the service works below a path only if the router strips this
    // path.
    if (at && !prefix && !takesOff) continue;
    const where = at ? `below ${at} ${prefix ? "with" : "without"} a prefix` : "at the root";
    testWhere(mounted, absent, `${name}, ${where}`, async () => {
      const told: string[] = [];
      const log = (message: string) => told.push(message);
      const nodeface = createNodeface({ prefix, operations: [echo], log });
      const server = await mount(nodeface, at);
      const base = server.url + at;
      const ask = (path: string, init?: RequestInit) =>
        fetch(base + path, { redirect: "manual", ...init });
      try {
        for (const [path, type] of PATHS) {
          const response = await ask(path);
          assert.is(response.status, 200, path);
          assert.is(response.headers.get("content-type"), type, path);
          const head = await ask(path, { method: "HEAD" });
          assert.is(head.status, 200, path);
          assert.is(await head.text(), "", path);
        }
        for (const path of ["/v1/spec", "/v1/spec/simple"]) {
          const page = await (await ask(path)).text();
          for (const [, href] of page.matchAll(/(?:href|src)="([^"#:]+)"/g)) {
            assert.is((await fetch(new URL(href!, base + path))).status, 200, href);
          }
        }
        const etag = (await ask("/spec.json")).headers.get("etag")!;
        const again = await ask("/spec.json", { headers: { "if-none-match": etag } });
        assert.is(again.status, 304);
        // If a router strips the mount path and sets no `originalUrl`, the service cannot tell
        // whether the mount path was followed by a slash.
        const isUnknown = takesOff === "silent" && at && !prefix;
        for (const path of [...isUnknown ? [] : ["", "?x=/y"], "/", "/v1", "/v1/"]) {
          const { status, headers } = await ask(path);
          assert.is(status, 307, path);
          const to = new URL(headers.get("location")!, base + path);
          assert.is(to.href, `${base}/v1/spec`, path);
        }
        assert.is((await ask("/v1/info", { method: "OPTIONS" })).status, 204);
        assert.is((await ask("/v1/info", { method: "DELETE" })).status, 405);
        const headers = { "content-type": "application/json" };
        const sent = await ask("/v1/echo/a", { method: "POST", body: '{"a":[1]}', headers });
        assert.is(await sent.text(), 'a: {"a":[1]}');
        const unknown = await ask("/nope");
        assert.is(unknown.status, goesOn ? 418 : 404);
        assert.equal(told, []);
        if (!goesOn) assert.match(unknown.headers.get("content-type")!, "problem+json");
      } finally {
        server.close();
      }
    });
  }
}

for (const [name, { needs, mount }] of Object.entries(HOSTS)) {
  testWhere(
    mounted,
    await missing(needs),
    `${name} forwards events until the client disconnects`,
    async () => {
      let height = 0;
      const info = () => ({ height: ++height });
      const nodeface = createNodeface({ prefix: "/deep/node", metrics: true, info, log: () => {} });
      const server = await mount(nodeface, "/deep/node");
      const base = `${server.url}/deep/node/v1`;
      const listeners = async () => {
        const text = await (await fetch(`${base}/metrics`)).text();
        return Number(/^nodeface_event_listeners (\d+)/m.exec(text)![1]);
      };
      const client = new AbortController();
      try {
        const response = await fetch(`${base}/events`, { signal: client.signal });
        assert.is(response.headers.get("content-type"), "text/event-stream");
        let text = "";
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        // The stream begins with a `snapshot` event, and a `head` event follows.
        while (!/^event: head$/m.test(text)) {
          await fetch(`${base}/info`);
          text += (await reader.read()).value;
        }
        assert.match(text, /^event: snapshot$/m);
        assert.is(await listeners(), 1);
        client.abort();
        await until(async () => await listeners() === 0);
      } finally {
        client.abort();
        server.close();
        await nodeface.close();
      }
    },
  );
}

async function missing(packages: readonly string[]): Promise<string | undefined> {
  for (const name of packages) {
    try {
      await import(import.meta.resolve(name));
    } catch {
      return `needs ${name} in tests/node_modules`;
    }
  }
}

mounted.run();
