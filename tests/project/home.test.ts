import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { createNodeface } from "../../src/index.ts";
import { ROOT } from "../_paths.ts";

const home = suite("docs/home.md");

const page = readFileSync(`${ROOT}docs/home.md`, "utf8");
const [homepage, gatus, assistant] = [...page.matchAll(/^```yml\n([^]*?)^```/gm)]
  .map(([, yaml]) => parse(yaml!));

const values = { version: "1.2", height: 7, peers: 3 };
const service = (info: Readonly<Record<string, unknown>> = values) =>
  createNodeface({
    hosts: ["192.168.1.10"],
    info: () => info,
    log: () => {},
  });
const get = (url: string, info?: Readonly<Record<string, unknown>>) =>
  service(info).fetch(new Request(url));

home("Homepage finds each field in /v1/info", async () => {
  const [{ Ethereum: { href, widget } }] = homepage[0].Nodes;
  assert.is(widget.type, "customapi");
  assert.ok((await get(href)).status < 400);
  const info = await (await get(widget.url)).json();
  for (const { field } of widget.mappings) assert.ok(Object.hasOwn(info, field), field);
});

home("the conditions of Gatus hold while the node is ok, and not while it syncs", async () => {
  const [{ url, conditions }] = gatus.endpoints;
  assert.equal(conditions, ["[STATUS] == 200", "[BODY].status == ok"]);
  for (const [info, isOk] of [[values, true], [{ ...values, synced: false }, false]] as const) {
    const response = await get(url, info);
    assert.is(response.status === 200, isOk);
    assert.is((await response.json()).status === "ok", isOk);
  }
});

home("Home Assistant finds the status and each attribute in /v1/info", async () => {
  const [{ resource, sensor: [{ value_template, json_attributes }] }] = assistant.rest;
  const response = await get(resource, { ...values, synced: false });
  assert.is(response.status, 200, "also while the node is not ok");
  const info = await response.json();
  const [, key = ""] = /^\{\{ value_json\.(\w+) \}\}$/.exec(value_template) ?? [];
  for (const name of [key, ...json_attributes]) assert.ok(Object.hasOwn(info, name), name);
});

home("Uptime Kuma gets 200 while the node is ok, and 503 while it syncs", async () => {
  const [, url = ""] = /Uptime Kuma[^]*`(http:\S+)`/.exec(page) ?? [];
  assert.is((await get(url)).status, 200);
  assert.is((await get(url, { synced: false })).status, 503);
});

home.run();
