import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { keepFound } from "../src/description/unnamed-description.ts";
import { prepare } from "../src/description/prepare.ts";
import { prepareOwn } from "../src/openapi/serve-description.ts";
import {
  createNodeface,
  type Nodeface,
  type NodefaceOptions,
  type NodeOptions,
} from "../src/index.ts";
import { lazy } from "../src/lazy.ts";
import { until } from "./nodes/_daemon.ts";
import { RECORDINGS } from "./nodes/_recorded.ts";

const found = suite("a node that describes itself");

const DESCRIPTION = {
  swagger: "2.0",
  info: { title: "Algod", version: "1" },
  host: "localhost",
  schemes: ["http", "https"],
  basePath: "/",
  paths: {
    "/v2/status": { get: { operationId: "GetStatus", responses: { 200: { description: "OK" } } } },
  },
};

let answers: Record<string, unknown>;
let asked: string[];
let logged: string[];
let findings: string[];
let server: Server;
let url: string;

found.before(async () => {
  server = createServer(({ url: path = "" }, response) => {
    asked.push(path);
    const answer = answers[`GET ${path}`];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
found.after(() => void server.close());
found.before.each(() => {
  [asked, logged, findings] = [[], [], []];
  answers = { ...RECORDINGS.get("algorand")!.answers, "GET /swagger.json": DESCRIPTION };
});

async function create(node: NodeOptions, more: NodefaceOptions = {}) {
  const app = createNodeface({
    node: { url, ...node },
    log: (message, event) => ("finding" in event ? findings : logged).push(message),
    ...more,
  });
  await app.ready();
  return app;
}

const ask = (app: Nodeface, path: string) => app.fetch(new Request(`http://localhost${path}`));
const read = async (app: Nodeface) => await (await ask(app, "/spec.json")).json();

found("it is taken up though nobody has asked for anything", async () => {
  const app = await create({});
  await app.refresh();
  assert.ok((await read(app)).paths["/v2/status"]);
});

found("what is there and is no description is no alarm for readers", async () => {
  answers["GET /swagger.json"] = "<!doctype html><p>Welcome";
  const app = await create({});
  await app.refresh();
  assert.not.match(await (await ask(app, "/v1/spec")).text(), 'class="notice"');
  assert.equal(findings, []);
  assert.equal(logged.filter((line) => line.startsWith("there is no description")), []);
});

found("its kind is found by asking, and its whole interface shown with no word said", async () => {
  const app = await create({});
  await until(async () => (await read(app)).info.title === "Algod", 20_000);
  const { paths } = await read(app);
  assert.ok(paths["/v2/status"] && paths["/v1/info"]);
  assert.match(await (await ask(app, "/v1/spec")).text(), "GetStatus");
  assert.equal(findings, []);
});

found("a kind that is named needs no asking", async () => {
  const app = await create({ kind: "algorand" });
  await app.refresh();
  assert.equal(asked.filter((path) => path !== "/swagger.json"), []);
  assert.is((await read(app)).info.title, "Algod");
});

found("the node it calls localhost is the node that was asked", async () => {
  const app = await create({ kind: "algorand" });
  await app.refresh();
  const text = JSON.stringify(await read(app));
  assert.equal(JSON.parse(text).servers, [{ url: "./v1/node" }]);
  const policy = (await ask(app, "/v1/spec")).headers.get("content-security-policy");
  assert.match(policy!, "connect-src 'self';");
  for (const address of [url, "localhost"]) assert.not.match(text, address);
});

found(
  "where there is nothing, what nodes of its kind offer is shown, and nobody is alarmed",
  async () => {
    delete answers["GET /swagger.json"];
    const app = await create({ kind: "algorand" });
    await app.refresh();
    await app.refresh();
    assert.equal(logged, []);
    assert.equal(findings, []);
    assert.is((await read(app)).info.title, "Algorand algod (REST)");
    assert.not.match(await (await ask(app, "/v1/spec")).text(), "cannot be shown");
  },
);

found("a description that is named wins, and none means none", async () => {
  const text = 'openapi: 3.1.1\ninfo: { title: Named, version: "1" }\npaths: {}\n';
  for (const [description, title] of [[{ text }, "Named"], ["none", "Nodeface"]] as const) {
    const app = await create({ kind: "algorand" }, { description });
    await app.refresh();
    assert.is((await read(app)).info.title, title);
  }
  assert.equal([asked, findings], [[], []]);
});

found("it is taken up when it is there, and looked at again later", async () => {
  delete answers["GET /swagger.json"];
  let now = 0;
  let path: `/${string}` | undefined = undefined;
  const own = { openapi: "3.1.1", info: { title: "Own", version: "1" }, paths: {} };
  const identity = new TextEncoder().encode(JSON.stringify(own));
  const form = { codings: { identity }, size: identity.byteLength, dots: [] };
  const alone = await prepareOwn({ json: form, yaml: form }, []);
  const live = keepFound(
    {
      url,
      version: "1",
      find: () =>
        Promise.resolve(
          path && {
            kind: "algorand",
            title: "Algorand",
            description: path,
            listing: undefined,
            software: undefined,
            version: undefined,
            ask: undefined,
            hasInterface: false,
            loadInterface: () => Promise.resolve(new TextEncoder().encode("{}")),
            isBySoftware: lazy(() => Promise.resolve(false)),
          },
        ),
      log: (message) => logged.push(message),
      now: () => now,
      prepare,
      makePage: ({ page }) => Promise.resolve(page.title),
      alone: () => ({ ...alone, page: "Own" }),
      own,
      report: () => {},
    },
    { ...alone, page: "Own" },
  );
  const look = async () => {
    await live.refresh();
    return live.current.page;
  };
  assert.is(await look(), "Own");
  path = "/swagger.json";
  assert.is(await look(), "Own");
  now += 60_000;
  assert.is(await look(), "Own");
  answers["GET /swagger.json"] = DESCRIPTION;
  assert.is(await look(), "Own");
  now += 60_000;
  assert.is(await look(), "Algod");
  answers["GET /swagger.json"] = { ...DESCRIPTION, info: { title: "Next", version: "2" } };
  assert.is(await look(), "Algod");
  now += 60_000;
  assert.is(await look(), "Next");
  answers["GET /swagger.json"] = "{";
  now += 60_000;
  assert.is(await look(), "Next");
  assert.is(logged.length, 1);
});

found.run();
