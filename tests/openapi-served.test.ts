import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { ASSETS } from "../src/generated/assets.js";
import { FILES } from "../src/generated/page.js";
import { EVENTS } from "../src/info/events.ts";
import { ask, PATHS } from "./_app.ts";

const description = suite("description");

type Operation = { operationId: string; responses: Record<string, unknown> };
type Description = { paths: Record<string, { get: Operation }> };

const json = async (path: string) => await (await ask(path)).json() as Description;

description("both forms have the same content", async () => {
  assert.equal(parse(await (await ask("/spec.yaml")).text()), await json("/spec.json"));
});

description("the description below /v1 differs only in the URL of the service", async () => {
  for (const form of ["spec.json", "spec.yaml"]) {
    const [plain, versioned] = await Promise.all(
      [`/${form}`, `/v1/${form}`].map(async (path) => parse(await (await ask(path)).text())),
    );
    assert.is(plain.servers[0].url, ".", form);
    plain.servers[0].url = "..";
    assert.equal(plain, versioned, form);
  }
});

description("browsers show the YAML form instead of downloading it", async () => {
  const { headers } = await ask("/spec.yaml");
  assert.is(headers.get("content-disposition"), 'inline; filename="spec.yaml"');
});

const NOT_DESCRIBED: Readonly<Record<string, string>> = {
  "/": "redirects people to the page",
  "/v1": "redirects people to the page",
  "/favicon.ico": "requested only by browsers",
  [`/assets/${FILES.explorer}/reference.js`]: "a file that only the page refers to",
  [`/assets/${Object.keys(ASSETS).find((file) => file.includes("/chunks/"))}`]: "like the other",
};

description(
  "every path is described, except paths for people and browsers",
  async () => {
    const { paths } = await json("/spec.json");
    const served = ["/", "/v1", ...PATHS.map(([path]) => path)];
    const missing = served.filter((path) => !paths[path]?.get && !NOT_DESCRIBED[path]);
    assert.equal(missing, []);
  },
);

description("paths for people and browsers are served, but not described", async () => {
  const { paths } = await json("/spec.json");
  for (const path of Object.keys(NOT_DESCRIBED)) {
    assert.ok((await ask(path)).status < 400, path);
    assert.not(Object.hasOwn(paths, path), path);
  }
  assert.equal(Object.keys(paths).filter((path) => path.startsWith("/assets")), []);
});

description("every path in the description is served with a described status", async () => {
  const { paths } = await json("/spec.json");
  for (const [path, { get }] of Object.entries(paths)) {
    const { status, body } = await ask(path);
    await body?.cancel();
    assert.ok(status < 400 && get.responses[status], `GET ${path} responds with ${status}`);
  }
});

const responsesOf = async (path: string, status: number) => {
  const { [status]: response } = (await json("/spec.json")).paths[path]!.get.responses;
  return response as { headers?: Record<string, unknown>; $ref?: string } | undefined;
};

description("/v1/events and /v1/history refuse requests only with described statuses", async () => {
  const foreign = { "sec-fetch-site": "cross-site", "user-agent": "Mozilla/5.0" };
  for (const path of ["/v1/events", "/v1/history"]) {
    const all = await Promise.all([
      ask(path, { headers: foreign }),
      ask(`${path}?token=x`),
      ask(path, { method: "HEAD" }),
    ]);
    assert.equal(all.map(({ status }) => status), [403, 400, 200]);
    for (const { status } of all) assert.ok(await responsesOf(path, status), `${path} ${status}`);
    const headers = Object.keys((await responsesOf(path, 200))!.headers!);
    for (const name of headers) assert.ok(all[2]!.headers.has(name), `${path} ${name}`);
  }
  const { status, headers } = await ask("/v1/history", {
    headers: { "if-none-match": (await ask("/v1/history")).headers.get("etag")! },
  });
  assert.equal([status, headers.has("etag")], [304, true]);
  assert.is((await ask("/v1/events?events=heads")).status, 400);
});

description("the description lists exactly the events that a client can request", async () => {
  const { paths } = await (await ask("/spec.json")).json();
  const [{ schema }] = paths["/v1/events"].get.parameters;
  assert.equal(schema.items.enum, EVENTS);
  assert.equal(schema.default, EVENTS);
});

description("the response of /v1/history has the columns that its schema requires", async () => {
  const { components } = await (await ask("/spec.json")).json();
  const found = await (await ask("/v1/history")).json();
  for (const key of components.schemas.History.required) assert.ok(key in found, key);
});

description("the link set has exactly the relations that its schema lists", async () => {
  const document = await (await ask("/spec.json")).json();
  const { linkset: [links] } = await (await ask("/.well-known/api-catalog")).json();
  const { properties, additionalProperties } =
    document.components.schemas.LinkSet.properties.linkset.items;
  assert.equal(Object.keys(links).sort(), Object.keys(properties).sort());
  assert.is(additionalProperties, undefined);
});

description("every operation has a unique name and a summary", async () => {
  const operations = Object.values((await json("/spec.json")).paths).map(({ get }) => get);
  assert.is(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
});

description.run();
