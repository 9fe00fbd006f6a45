import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import { VERSION } from "../src/generated/build-info.js";
import { ask } from "./_app.ts";

const info = suite("info");

info("with nothing configured it describes the service itself", async () => {
  const { started_at, links, ...rest } = await (await ask("/v1/info")).json();
  assert.equal(rest, { name: "nodeface", software: "nodeface", version: VERSION, status: "ok" });
  assert.is(new Date(started_at).toISOString(), started_at);
  assert.ok(links);
});

info("without a node, it shows the configured values for the configured time", async () => {
  const told = {
    static: { network: "home", version: "2" },
    hide: ["software"],
    ttl: "5s",
  } as const;
  const { fetch } = createNodeface({ info: told });
  const response = await fetch(new Request("http://localhost/v1/info"));
  const { started_at: _, links: __, ...rest } = await response.json();
  assert.equal(rest, { name: "nodeface", version: "2", network: "home", status: "ok" });
  assert.is(response.headers.get("cache-control"), "public, max-age=5");
});

info(
  "a time that cannot be understood is refused, though alone nothing depends on it",
  () => {
    for (const broken of [{ info: { stale: "soon" } }, { node: { timeout: "2" } }]) {
      assert.throws(
        () => createNodeface(broken as NodefaceOptions),
        /must be a duration such as "2s"/,
      );
    }
  },
);

info("with a source or a kind of node, it shows its own facts separately", async () => {
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
    assert.equal({ status, name, api }, { status: "ok", name: "nodeface", api: undefined });
  }
});

info("every link works, relative to the info's own URL", async () => {
  const { links } = await (await ask("/v1/info")).json() as { links: Record<string, string> };
  for (const link of Object.values(links)) {
    const { pathname } = new URL(link, "http://localhost/v1/info");
    assert.is((await ask(pathname)).status, 200, pathname);
  }
});

info("it reveals nothing about the machine", async () => {
  const text = await (await ask("/v1/info")).text();
  assert.not.match(text, /hostname|memory|platform|\/home|\/work|127\.0\.0\.1/);
});

info("the catalogue's references work", async () => {
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
