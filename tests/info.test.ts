import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import { VERSION } from "../src/generated/build-info.js";
import { ask } from "./_app.ts";

const info = suite("info");

info("if nothing is configured, /v1/info describes the service itself", async () => {
  const { started_at, links, ...rest } = await (await ask("/v1/info")).json();
  assert.equal(rest, { name: "nodeface", software: "nodeface", version: VERSION });
  assert.is(new Date(started_at).toISOString(), started_at);
  assert.ok(links);
});

info("without a node, /v1/info has the configured values", async () => {
  const told = {
    static: { network: "home", version: "2" },
    hide: ["software"],
  } as const;
  const { fetch } = createNodeface({ info: told });
  const response = await fetch(new Request("http://localhost/v1/info"));
  const { started_at: _, links: __, ...rest } = await response.json();
  assert.equal(rest, { name: "nodeface", version: "2", network: "home" });
  assert.is(response.headers.get("cache-control"), "public, no-cache");
});

info(
  "an invalid duration is refused, even without a configured node",
  () => {
    for (const broken of [{ info: { stale: "soon" } }, { node: { timeout: "2" } }]) {
      assert.throws(
        () => createNodeface(broken as NodefaceOptions),
        /must be a duration such as "2s"/,
      );
    }
  },
);

info("if a source or a kind is configured, the service's own facts are under api", async () => {
  const disk = { sources: { disk: { file: "/nowhere" } }, fields: { free: "disk#" } } as const;
  for (const options of [{ info: disk }, { node: { kind: "ethereum" } }]) {
    const { fetch } = createNodeface({ ...options, log: () => {} });
    const response = await fetch(new Request("http://localhost/v1/info"));
    const { status, name, api } = await response.json();
    assert.equal({ status, name }, { status: "degraded", name: undefined });
    assert.is(api.software, "nodeface");
  }
  for (const node of [{}, { kind: "none" }] as const) {
    const response = await createNodeface({ node }).fetch(new Request("http://localhost/v1/info"));
    const { status, name, api } = await response.json();
    assert.equal({ status, name, api }, { status: undefined, name: "nodeface", api: undefined });
  }
});

info("without a node, /v1/health is 200, and nothing is said of a node", async () => {
  for (const query of ["", "?accept=ok", "?accept=unreachable"]) {
    const response = await ask(`/v1/health${query}`);
    assert.equal([response.status, await response.json()], [200, { status: null }]);
  }
});

info("every link in /v1/info works, relative to that URL", async () => {
  const { links } = await (await ask("/v1/info")).json() as { links: Record<string, string> };
  for (const link of Object.values(links)) {
    const { pathname } = new URL(link, "http://localhost/v1/info");
    assert.is((await ask(pathname)).status, 200, pathname);
  }
});

info("/v1/info reveals nothing about the machine", async () => {
  const text = await (await ask("/v1/info")).text();
  assert.not.match(text, /hostname|memory|platform|\/home|\/work|127\.0\.0\.1/);
});

info("the links in the API catalog work", async () => {
  const { linkset: [context] } = await (await ask("/.well-known/api-catalog")).json();
  const { anchor, ...relations } = context;
  const references = Object.values(relations).flat() as { href: string; type: string }[];
  for (const { href, type } of [{ href: anchor, type: "application/json" }, ...references]) {
    const { pathname } = new URL(href, "http://localhost/.well-known/api-catalog");
    const response = await ask(pathname);
    assert.is(response.status, 200, pathname);
    assert.match(response.headers.get("content-type") ?? "", type);
  }
});

info.run();
