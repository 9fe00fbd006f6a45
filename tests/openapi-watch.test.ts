import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Description, type DescriptionReport } from "../src/description/description.ts";
import { knowKind, type KnownKind } from "../src/description/known-interface.ts";
import { NodeOffer } from "../src/description/node-offer.ts";
import { renderParts } from "../src/explorer/render-content.ts";
import { represent } from "../src/http/representation.ts";
import { lazy } from "../src/lazy.ts";
import { SourceError } from "../src/node/failures.ts";
import type { Node } from "../src/node/node.ts";
import { formatDiagnostic } from "../src/openapi/diagnostics.ts";
import { createApp } from "../src/app.ts";
import type { Nodeface } from "../src/nodeface.ts";
import { Monitor } from "../src/info/monitor.ts";
import { openNode } from "../src/info/open-node.ts";
import { until } from "./nodes/_daemon.ts";

const fresh = suite("a description that changes");

const PATHS = ["/v1/spec", "/spec.json", "/spec.yaml"];
const describe = (title: string, server = "http://a.example") =>
  `openapi: 3.1.1
info: { title: ${title}, version: "1" }
servers: [{ url: "${server}" }]
paths: {}
`;

let folder: string;
let file: string;
let reports: DescriptionReport[];
let time = 1_700_000_000;

fresh.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  file = join(folder, "openapi.yaml");
  reports = [];
});
fresh.after.each(() => rmSync(folder, { recursive: true }));

/** Each write sets a new modification time, even if the last write was a moment ago. */
function write(path: string, text: string) {
  writeFileSync(path, text);
  utimesSync(path, ++time, time);
}

const diagnostics = () => reports.flatMap(({ diagnostics }) => diagnostics.map(formatDiagnostic));

async function create(description: string | URL): Promise<Nodeface> {
  const app = createApp({
    description,
    onDescription: (report) => reports.push(report),
    log: () => {},
  });
  await app.ready();
  return app;
}

const ask = (app: Nodeface, path: string) => app.fetch(new Request(`http://localhost${path}`));
const title = async (app: Nodeface) => (await (await ask(app, "/spec.json")).json()).info.title;
const etags = (app: Nodeface) =>
  Promise.all(PATHS.map(async (path) => (await ask(app, path)).headers.get("etag")));

fresh("a changed file is reloaded after requests, without a call to refresh", async () => {
  write(file, describe("One"));
  const [app, closed] = [await create(file), await create(file)];
  await closed.close();
  assert.is(await title(app), "One");
  write(file, describe("Two"));
  await until(async () => await title(app) === "Two");
  assert.is(await title(closed), "One");
});

fresh("if a file has changed, refresh updates everything that was made from it", async () => {
  write(file, describe("One"));
  const app = await create(file);
  const before = await etags(app);
  await app.refresh();
  assert.equal(await etags(app), before);
  assert.is(reports.length, 1);
  write(file, describe("Two", "http://b.example"));
  await app.refresh();
  assert.is(await title(app), "Two");
  const after = await etags(app);
  for (const i of [1, 2]) assert.is.not(after[i], before[i], PATHS[i]);
  const policy = (await ask(app, "/v1/spec")).headers.get("content-security-policy") ?? "";
  assert.match(policy, "connect-src 'self' http://b.example;");
  assert.not.match(policy, "a.example");
});

fresh("an invalid version is reported once, and the previous version is shown", async () => {
  write(file, describe("One"));
  const app = await create(file);
  write(file, "openapi: [\n");
  await app.refresh();
  await app.refresh();
  assert.is(await title(app), "One");
  assert.equal(reports.map(({ shown }) => shown), ["current", "older"]);
  rmSync(file);
  await app.refresh();
  await app.refresh();
  assert.is(await title(app), "One");
  assert.equal(reports.length, 3);
  write(file, describe("Two"));
  await app.refresh();
  assert.is(await title(app), "Two");
});

fresh("instead of an unusable description, the service's own is shown with a notice", async () => {
  write(file, "openapi: [\n");
  const app = await create(file);
  assert.is(await title(app), "Nodeface");
  assert.match(await (await ask(app, "/v1/spec")).text(), "own description cannot be shown");
  assert.is(reports[0]?.shown, "own");
  write(file, describe("One"));
  await app.refresh();
  assert.is(await title(app), "One");
  assert.not.match(await (await ask(app, "/v1/spec")).text(), "cannot be shown");
});

fresh("the service's own description is shown until a slow description is ready", async () => {
  write(file, describe("Late"));
  const representation = await represent("", { type: "text/plain", cache: "no-cache" });
  const resource = { get: () => representation };
  const node = openNode({}, {});
  const onError = (error: unknown) => assert.unreachable(String(error));
  const service = { software: "nodeface", version: "1", started_at: "" };
  const monitor = new Monitor(node, { service, log: () => {}, onError });
  const description = new Description(node, monitor, {
    place: file,
    own: { paths: {} },
    operations: [],
    fallback: {
      json: representation,
      version: "",
      documents: {
        "/spec.json": resource,
        "/v1/spec.json": resource,
        "/spec.yaml": resource,
        "/v1/spec.yaml": resource,
      },
      page: lazy(() => renderParts({})),
      origins: [],
      elsewhere: [],
      methods: [],
      hint: "",
      isBuiltIn: false,
    },
    asksMethods: false,
    log: () => {},
    onError,
  });
  description.onReport.add((report) => reports.push(report));
  const title = async () => (await description.current.page.get()).title;
  const refreshed = description.refresh();
  assert.match(description.current.notice ?? "", "is being read");
  await refreshed;
  assert.is(await title(), "Late");
  assert.equal(reports.map(({ shown }) => shown), ["current"]);
});

fresh("two searches at once find the same kind, so that its description is read once", async () => {
  const node = openNode({ url: "http://127.0.0.1:1", kind: "etcd" }, {});
  const service = { software: "nodeface", version: "1", started_at: "" };
  await using monitor = new Monitor(node, { service, log: () => {}, onError: () => {} });
  const offer = new NodeOffer(node, monitor, {
    asksMethods: false,
    onMissing: () => {},
    log: () => {},
    onError: () => {},
    now: () => 0,
  });
  const [first, second] = await Promise.all([offer.findKind(), offer.findKind()]);
  assert.is(first?.name, "etcd");
  assert.is(first, second);
  assert.is(await offer.findKind(), first);
});

fresh(
  "what a node of another kind has told is not said of the node that took its place",
  async () => {
    const { kinds } = openNode({ url: "http://127.0.0.1:1" }, {});
    const [etcd, nats] = await Promise.all(
      ["etcd", "nats"].map((kind) => knowKind({ kind, kinds } as Node)),
    );
    const tellOf = (software: string) => ({
      info: { software, version: "3.5.0", status: "ok" },
      examples: { software },
      software,
    });
    const monitor = {
      latest: tellOf("etcd"),
      snapshotNow: () => Promise.reject(new Error("away")),
    };
    const offer = new NodeOffer({ kind: "etcd", kinds } as Node, monitor as unknown as Monitor, {
      ...{ asksMethods: false, now: () => 0 },
      ...{ onMissing() {}, log() {}, onError() {} },
    });
    const learnt = async (kind: KnownKind) => {
      await offer.update(kind);
      return [offer.current.software, offer.takeExamples(), offer.examples];
    };
    assert.equal(await learnt(etcd!), ["etcd", true, { software: "etcd" }]);
    assert.equal(await learnt(nats!), [undefined, false, undefined]);
    monitor.latest = tellOf("nats-server");
    assert.equal(await learnt(nats!), ["nats-server", true, { software: "nats-server" }]);
  },
);

fresh("a well node that refuses to list its methods is not asked again at once", async () => {
  let [time, asked] = [0, 0];
  const monitor = { latest: { info: { status: "starting" } } };
  const offer = new NodeOffer({} as Node, monitor as unknown as Monitor, {
    ...{ asksMethods: false, now: () => time },
    ...{ onMissing() {}, log() {}, onError() {} },
  });
  const known = {
    askOffer() {
      asked++;
      throw new SourceError("forbidden", "forbids the request");
    },
  } as unknown as KnownKind;
  const askedIn = async (seconds: number) => {
    asked = 0;
    for (let second = 0; second < seconds; second += 2) {
      time += 2000;
      await offer.update(known);
    }
    return asked;
  };
  assert.is(await askedIn(10), 5, "a node that starts");
  monitor.latest.info.status = "syncing";
  assert.is(await askedIn(60), 2);
});

fresh.run();

const remote = suite("a description at a URL");

/** A response is sent only when its promise `after` has resolved. */
let answers: Record<
  string,
  {
    status?: number;
    headers?: Record<string, string>;
    body?: string | Uint8Array;
    after?: Promise<void>;
  }
>;
let asked: { path: string; noneMatch: string | undefined; coding: unknown }[];
let server: Server;
let origin: string;

remote.before(async () => {
  server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const { "if-none-match": noneMatch, "accept-encoding": coding } = request.headers;
    asked.push({ path, noneMatch, coding });
    const { status = 200, headers = {}, body = "", after } = answers[path] ?? { status: 404 };
    await after;
    const isKnown = headers.etag !== undefined && headers.etag === request.headers["if-none-match"];
    response.writeHead(isKnown ? 304 : status, headers).end(isKnown ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
remote.after(() => void server.close());
remote.before.each(() => {
  [answers, asked, reports] = [{}, [], []];
});

remote("the description is requested with its ETag; servers are relative to its URL", async () => {
  answers["/api/spec.json"] = {
    headers: { etag: '"1"' },
    body:
      '{"openapi":"3.0.3","info":{"title":"One","version":"1"},"servers":[{"url":"/v1"}],"paths":{}}',
  };
  const app = await create(`${origin}/api/spec.json`);
  const { servers } = await (await ask(app, "/spec.json")).json();
  assert.equal(servers, [{ url: `${origin}/v1` }]);
  await app.refresh();
  assert.equal(asked.map(({ noneMatch }) => noneMatch), [undefined, '"1"']);
  assert.is(reports.length, 1);
  answers["/api/spec.json"] = { headers: { etag: '"2"' }, body: describe("Two") };
  await app.refresh();
  assert.is(await title(app), "Two");
});

remote("while a new version is being read, all forms still show the old version", async () => {
  answers["/spec.yaml"] = { body: describe("One") };
  const app = await create(`${origin}/spec.yaml`);
  const old = await etags(app);
  let release = () => {};
  const after = new Promise<void>((resolve) => release = resolve);
  // The refresh sends a conditional request, and then a request without conditions. The server
  // delays the second response.
  asked = [];
  answers = {
    get "/spec.yaml"() {
      return { body: describe("Two", "http://b.example"), ...asked.length > 1 && { after } };
    },
  };
  const refreshed = app.refresh();
  while (asked.length < 2) {
    assert.equal(await etags(app), old);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(await etags(app), old);
  assert.is(await title(app), "One");
  release();
  await refreshed;
  assert.is(await title(app), "Two");
  for (const [i, etag] of (await etags(app)).entries()) assert.is.not(etag, old[i], PATHS[i]);
});

remote("a change that happens during a refresh is noticed by the next refresh", async () => {
  answers["/spec.yaml"] = { body: describe("One") };
  const app = await create(`${origin}/spec.yaml`);
  let release = () => {};
  const after = new Promise<void>((resolve) => release = resolve);
  // The refresh sends a conditional request, and then a request without conditions. The server
  // delays the second response.
  asked = [];
  answers = {
    get "/spec.yaml"() {
      return { body: describe("Two"), ...asked.length > 1 && { after } };
    },
  };
  const first = app.refresh();
  while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  answers = { "/spec.yaml": { body: describe("Three") } };
  const second = app.refresh();
  release();
  await first;
  await second;
  assert.is(await title(app), "Three");
});

remote("a document without servers gets the server from which it was loaded", async () => {
  answers["/api/spec.yaml"] = {
    body: `openapi: 3.1.1
info: { title: One, version: "1" }
paths: { /a: { servers: [{ url: v2 }] } }
`,
  };
  const app = await create(`${origin}/api/spec.yaml`);
  const { servers, paths } = await (await ask(app, "/spec.json")).json();
  assert.equal(servers, [{ url: origin }]);
  assert.equal(paths["/a"].servers, [{ url: `${origin}/api/v2` }]);
});

remote("if the server fails, the previous version is still shown", async () => {
  answers["/spec"] = { body: describe("One") };
  const app = await create(`${origin}/spec`);
  answers["/spec"] = { status: 500 };
  await app.refresh();
  assert.is(await title(app), "One");
  assert.equal(diagnostics(), ["spec:1:1 cannot be read: the server responded with 500"]);
  answers["/spec"] = { body: describe("Two") };
  await app.refresh();
  assert.is(await title(app), "Two");
});

remote("a change is noticed even if the weak ETag stays the same", async () => {
  const headers = { etag: 'W/"1"' };
  answers["/spec"] = { headers, body: describe("One") };
  const app = await create(`${origin}/spec`);
  answers["/spec"] = { headers, body: describe("Two") };
  await app.refresh();
  assert.is(await title(app), "Two");
  await app.refresh();
  assert.is(reports.length, 2);
});

remote("a redirect is followed only within the same origin", async () => {
  answers["/a"] = { status: 302, headers: { location: "/b" } };
  answers["/b"] = { body: describe("One") };
  assert.is(await title(await create(`${origin}/a`)), "One");
  answers["/c"] = { status: 302, headers: { location: "http://localhost:1/x" } };
  assert.is(await title(await create(`${origin}/c`)), "Nodeface");
  assert.equal(diagnostics(), [
    "c:1:1 cannot be read: redirects to another origin are not followed: http://localhost:1",
  ]);
});

remote(
  "a description is asked for uncompressed, and refused unread if it is compressed",
  async () => {
    const bomb = gzipSync(new Uint8Array(64 * 1024 * 1024));
    answers["/spec"] = { headers: { "content-encoding": "gzip" }, body: bomb };
    const app = await create(`${origin}/spec`);
    assert.is(await title(app), "Nodeface");
    assert.equal(asked.map(({ coding }) => coding), ["identity"]);
    assert.equal(diagnostics(), [
      "spec:1:1 cannot be read: the server compressed it (gzip) without being asked to; " +
      "serve it uncompressed",
    ]);
    answers["/spec"] = { headers: { "content-encoding": "identity" }, body: describe("One") };
    await app.refresh();
    assert.is(await title(app), "One");
  },
);

remote("files that are too large or cannot be reached are reported", async () => {
  answers["/large"] = { body: " ".repeat(5 * 1024 * 1024) };
  await create(`${origin}/large`);
  await create("http://127.0.0.1:1/x.yaml");
  assert.equal(diagnostics(), [
    "large:1:1 cannot be read: it has more than 4 MiB, the limit for a description from the network; " +
    "a file may have 32 MiB",
    "x.yaml:1:1 cannot be read: http://127.0.0.1:1 cannot be reached",
  ]);
});

remote.run();
