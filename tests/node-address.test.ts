/**
 * Every part of the service asks the same paths of a node, and understands its errors in the same
 * way.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { check } from "../src/cli/check.ts";
import { init } from "../src/cli/init.ts";
import { files } from "../src/cli/read-config.ts";
import { readConfig } from "./_config.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import { createNodeface, type Nodeface } from "../src/index.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { serveFetch } from "./nodes/_played-server.ts";

const address = suite("the address of the node");

const responses = { 200: { description: "It" } };
const operation = { operationId: "getStatus", "x-access": "read", summary: "It", responses };
const openapi = { paths: { "/status": { get: operation } } } as NonNullable<Kind["openapi"]>;
const DESCRIPTION = { openapi: "3.1.1", info: { title: "Mine", version: "1" }, ...openapi };
const methods = ["number", "gone"].map((name) => ({
  name,
  summary: name,
  params: [],
  result: { name: "result", schema: {} },
  "x-access": "read" as const,
}));
const MINE: Kind = {
  title: "Mine",
  url: "http://127.0.0.1:1",
  detect: { "number#": "." },
  sources: {
    number: { jsonrpc: "number" },
    gone: { jsonrpc: "gone", optional: true },
    status: { get: "/status?a=b" },
  },
  fields: { height: "number#", peers: "gone#", version: "status#/version" },
  health: { ok: "it answers" },
  description: "/openapi.json",
  openrpc: { methods },
  openapi,
};

/** Starts a node that notes each request. `gone` is the error of the method of this name. */
async function playNode(gone: object = { code: -32601, message: "Method not found" }) {
  const asked = new Set<string>();
  const node = await serveFetch((input, init) => {
    const { pathname, search } = new URL(String(input));
    asked.add(`${init?.method} ${pathname}${search}`);
    if (init?.method !== "POST") {
      const isDescription = pathname.endsWith("/openapi.json");
      return Promise.resolve(Response.json(isDescription ? DESCRIPTION : { version: "1.0" }));
    }
    const calls = JSON.parse(String(init.body ?? "{}"));
    const answer = ({ id, method }: { id: unknown; method: string }) => ({
      jsonrpc: "2.0",
      id,
      ...method === "gone" ? { error: gone } : { result: 7 },
    });
    return Promise.resolve(
      Response.json(Array.isArray(calls) ? calls.map(answer) : answer(calls)),
    );
  });
  return { node, asked };
}

const serve = (url: string): Nodeface =>
  createNodeface({
    node: { url, kind: "mine" },
    kinds: { mine: MINE },
    forward: "reads",
    log: () => {},
  });

const ask = (app: Nodeface, path: string, body?: object) => {
  const headers = { "content-type": "application/json" };
  const init = body && { method: "POST", headers, body: JSON.stringify(body) };
  return app.fetch(new Request(`http://localhost${path}`, init));
};

const config = async (url: string) => ({
  ...await readConfig(["check", url], {}, files),
  node: { url, kind: "mine" },
  kinds: { mine: MINE },
  forward: resolveForward("reads"),
});

const callOf = (method: string, id = 1) => ({ jsonrpc: "2.0", id, method, params: [] });

/** What each part of the service does, and which of the node's requests it makes. */
const USES: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  async info(url) {
    const app = serve(url);
    assert.is((await (await ask(app, "/v1/info")).json()).status, "ok");
    await app.close();
  },
  async check(url) {
    assert.match((await check(await config(url))).report, "All is well");
  },
  async init(url) {
    const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
    const file = join(folder, "nodeface.yaml");
    assert.match(await init({ ...await config(url), file }, { url }, files), "mine");
    rmSync(folder, { recursive: true });
  },
  async description(url) {
    const app = serve(url);
    await app.refresh();
    assert.ok((await (await ask(app, "/spec.json")).json()).paths["/v1/node/status"] !== null);
    await app.close();
  },
  async calls(url) {
    const app = serve(url);
    await app.refresh();
    for (const path of ["/v1/rpc/number", "/v1/node/status"]) {
      assert.is((await ask(app, path)).status, 200, path);
    }
    const batch = [callOf("number"), callOf("number", 2)];
    const answers = await (await ask(app, "/v1/rpc", batch)).json();
    assert.equal(answers.map(({ result }: { result: unknown }) => result), [7, 7]);
    await app.close();
  },
};

/** The path of the node's address, and the beginning of all other paths. */
const ADDRESSES: readonly (readonly [path: string, base: string])[] = [
  ["", ""],
  ["/", ""],
  ["/rpc", "/rpc"],
  ["/rpc/", "/rpc"],
  ["/a//", "/a"],
];

for (const [path, base] of ADDRESSES) {
  for (const [name, use] of Object.entries(USES)) {
    address(
      `with "${path}", ${name} asks for the same paths as the info, check, calls and init`,
      async () => {
        const { node, asked } = await playNode();
        await use(node.url + path);
        const expected = [
          `POST ${path || "/"}`,
          `GET ${base}/openapi.json`,
          ...["", "?a=b"].map((query) => `GET ${base}/status${query}`),
        ];
        assert.ok(asked.has(expected[name === "description" ? 1 : 0]!));
        assert.equal([...asked].filter((one) => !expected.includes(one)), []);
        await node.stop();
      },
    );
  }
}

address("an address with a query is refused wherever it is written", async () => {
  const url = "http://127.0.0.1:1/rpc?key=1";
  assert.throws(() => serve(url), /must have no query/);
  for (const command of ["check", "init"]) {
    try {
      await readConfig([command, url], {}, files);
      assert.unreachable();
    } catch (error) {
      assert.match(String((error as Error).message), "must have no query");
    }
  }
});

address.run();

const wordings = suite("a method that the node lacks");

const WORDINGS: readonly (readonly [code: number, message: string])[] = [
  [-32601, "Method not found"],
  [-32000, "unknown method gone"],
  [-32600, "Unsupported method: gone"],
  [-32000, "the method gone does not exist/is not available"],
  [-32604, "Method not enabled"],
  [-32004, "Method gone is not supported"],
];

for (const [code, message] of WORDINGS) {
  wordings(`a query, a call and a batch understand: ${message} (${code})`, async () => {
    const { node } = await playNode({ code, message });
    const app = serve(node.url);
    const { status, height, peers } = await (await ask(app, "/v1/info")).json();
    assert.equal([status, height, peers], ["ok", 7, undefined]);
    await app.refresh();
    assert.is((await ask(app, "/v1/rpc/gone")).status, 404);
    const [, answer] = await (await ask(app, "/v1/rpc", [callOf("number"), callOf("gone", 2)]))
      .json();
    assert.equal(answer, { jsonrpc: "2.0", error: { code, message }, id: 2 });
    assert.match((await check(await config(node.url))).report, "not available (optional)");
    await app.close();
    await node.stop();
  });
}

wordings.run();

const kinds = suite("a kind that becomes known");

kinds("a page that listens gets the new description without asking for it", async () => {
  const { node } = await playNode();
  const kind = { ...MINE, detect: { "number#": "^7$" }, description: undefined };
  const app = createNodeface({ node: { url: node.url }, kinds: { mine: kind }, log: () => {} });
  const started = node.fetch;
  node.fetch = () => Promise.resolve(new Response("", { status: 503 }));
  const before = await (await ask(app, "/spec.json")).json();
  assert.is(before.paths["/status"], undefined);
  const reader = (await ask(app, "/v1/events?events=description")).body!.getReader();
  node.fetch = started;
  let told = "";
  while (!told.includes("event: description")) {
    const { value } = await reader.read();
    told += new TextDecoder().decode(value);
  }
  await reader.cancel();
  const served = await ask(app, "/spec.json");
  const [, data] = /event: description\n(?:id: .*\n)?data: (.*)\n/.exec(told)!;
  assert.equal(JSON.parse(data!), {
    etag: served.headers.get("etag"),
    version: served.headers.get("x-description-version"),
  });
  assert.ok((await served.json()).paths["/status"]);
  await app.close();
  await node.stop();
});

kinds("a page that listens is told that a node of another kind has no operations", async () => {
  const { node } = await playNode();
  const mine = { ...MINE, detect: { "number#": "^7$" }, description: undefined };
  const other: Kind = {
    title: "Other",
    url: "http://127.0.0.1:2",
    detect: { "version#/version": "^2" },
    sources: { version: { get: "/version" } },
    fields: { version: "version#/version" },
    health: { ok: "it answers" },
  };
  const app = createNodeface({ node: { url: node.url }, kinds: { mine, other }, log: () => {} });
  assert.ok((await (await ask(app, "/spec.json")).json()).paths["/status"]);
  const reader = (await ask(app, "/v1/events?events=description")).body!.getReader();
  node.fetch = (input) =>
    Promise.resolve(
      String(input).endsWith("/version")
        ? Response.json({ version: "2.0" })
        : new Response("", { status: 404 }),
    );
  let told = "";
  while (!told.includes("event: description")) {
    const { value } = await reader.read();
    told += new TextDecoder().decode(value);
  }
  await reader.cancel();
  assert.is((await (await ask(app, "/spec.json")).json()).paths["/status"], undefined);
  await app.close();
  await node.stop();
});

kinds.run();
