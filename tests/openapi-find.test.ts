import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Description } from "../src/description/description.ts";
import { renderParts } from "../src/explorer/render-content.ts";
import type { Monitor } from "../src/info/monitor.ts";
import { openNode } from "../src/info/open-node.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { Listeners } from "../src/listeners.ts";
import { prepareOwn } from "../src/openapi/documents.ts";
import {
  createNodeface,
  type Nodeface,
  type NodefaceOptions,
  type NodeOptions,
} from "../src/index.ts";
import { lazy } from "../src/lazy.ts";
import { contentOf } from "./_representation.ts";
import { until } from "./nodes/_daemon.ts";
import { serveFetch } from "./nodes/_played-server.ts";
import { RECORDINGS } from "./nodes/_recorded.ts";

const found = suite("a node that serves its own description");

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
/** The info is asked first, since the description takes examples from it. */
const OF_INFO = ["/versions", "/v2/status", "/v2/ledger/sync"];
const askedBeyondInfo = () => asked.filter((path) => !OF_INFO.includes(path));
let logged: string[];
let diagnostics: string[];
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
  [asked, logged, diagnostics] = [[], [], []];
  answers = { ...RECORDINGS.get("algorand")!.answers, "GET /swagger.json": DESCRIPTION };
});

async function create(node: NodeOptions, more: NodefaceOptions = {}) {
  const app = createNodeface({
    node: { url, ...node },
    log: (message, event) => ("finding" in event ? diagnostics : logged).push(message),
    ...more,
  });
  await app.ready();
  return app;
}

const ask = (app: Nodeface, path: string) => app.fetch(new Request(`http://localhost${path}`));
const read = async (app: Nodeface) => await (await ask(app, "/spec.json")).json();

found("a node's own description is found even if there are no requests", async () => {
  const app = await create({});
  await app.refresh();
  assert.ok((await read(app)).paths["/v2/status"]);
});

found("a document that is not a description causes no notice and no error", async () => {
  answers["GET /swagger.json"] = "<!doctype html><p>Welcome";
  const app = await create({});
  await app.refresh();
  assert.not.match(await (await ask(app, "/v1/spec")).text(), 'class="notice"');
  assert.equal(diagnostics, []);
  assert.equal(logged.filter((line) => line.startsWith("there is no description")), []);
});

found("the node's kind is detected and its description shown without any setting", async () => {
  const app = await create({});
  await until(async () => (await read(app)).info.title === "Algod");
  const { paths } = await read(app);
  assert.ok(paths["/v2/status"] && paths["/v1/info"]);
  assert.match(await (await ask(app, "/v1/spec/simple")).text(), "GetStatus");
  assert.equal(diagnostics, []);
});

found("if the kind is configured, the node's description is found without detection", async () => {
  const app = await create({ kind: "algorand" });
  await app.refresh();
  assert.equal(askedBeyondInfo().filter((path) => path !== "/swagger.json"), []);
  assert.is((await read(app)).info.title, "Algod");
});

found("in the node's description, a server at localhost means the node itself", async () => {
  const app = await create({ kind: "algorand" });
  await app.refresh();
  const text = JSON.stringify(await read(app));
  assert.equal(JSON.parse(text).servers, [{ url: "./v1/node" }]);
  const policy = (await ask(app, "/v1/spec")).headers.get("content-security-policy");
  assert.match(policy!, "connect-src 'self';");
  for (const address of [url, "localhost"]) assert.not.match(text, address);
});

found(
  "if the node has no description, the kind's operations are shown without a warning",
  async () => {
    delete answers["GET /swagger.json"];
    const app = await create({ kind: "algorand" });
    await app.refresh();
    await app.refresh();
    assert.equal(logged.filter((line) => !line.includes(" runs ")), []);
    assert.equal(diagnostics, []);
    assert.is((await read(app)).info.title, "Algorand algod (REST)");
    assert.not.match(await (await ask(app, "/v1/spec")).text(), "cannot be shown");
  },
);

found("a configured description takes precedence, and `none` means no description", async () => {
  const text = 'openapi: 3.1.1\ninfo: { title: Named, version: "1" }\npaths: {}\n';
  for (const [description, title] of [[{ text }, "Named"], ["none", "Nodeface"]] as const) {
    const app = await create({ kind: "algorand" }, { description });
    await app.refresh();
    assert.is((await read(app)).info.title, title);
  }
  assert.equal([askedBeyondInfo(), diagnostics], [[], []]);
});

const MINE: Kind = {
  title: "Mine",
  url: "http://127.0.0.1:1",
  detect: {},
  sources: {},
  fields: {},
  health: { ok: "it answers" },
};

/**
 * A description whose clock and info the test controls. `page` resolves to the title that is shown.
 */
async function keepDescription(kind: Kind) {
  const own = { openapi: "3.1.1", info: { title: "Own", version: "1" }, paths: {} };
  const { served } = await prepareOwn(own, []);
  const node = openNode({ url }, { mine: kind });
  const onInfo = new Listeners<[object]>();
  const monitor = {
    latest: { info: {}, version: undefined as string | undefined },
    onInfo,
    findKind: () => Promise.resolve(node.kind),
    snapshotNow: () => ({ info: {} }),
  };
  const clock = { now: 0 };
  const description = new Description(node, monitor as unknown as Monitor, {
    own,
    operations: [],
    node: url,
    fallback: {
      ...served,
      page: lazy(() => renderParts(own)),
      origins: [],
      elsewhere: [],
      methods: [],
      hint: "",
      isBuiltIn: false,
    },
    asksMethods: false,
    log: (message) => logged.push(message),
    onError: (error) => assert.unreachable(String(error)),
    now: () => clock.now,
  });
  const look = async () => {
    await description.refresh();
    return (await description.current.page.get()).title;
  };
  const tell = (info: { version?: string }) => {
    monitor.latest = { info, version: info.version };
    onInfo.emit(info);
  };
  return { node, tell, clock, description, look };
}

found("operations of newer versions stay hidden while the node is unreachable", async () => {
  const responses = { 200: { description: "It" } };
  const get = (more: object) => ({ get: { summary: "Get it", responses, ...more } });
  const paths = { "/old": get({}), "/new": get({ "x-since": "2.0.0" }) };
  const openapi = { paths } as unknown as NonNullable<Kind["openapi"]>;
  const { node, tell, clock, description, look } = await keepDescription({ ...MINE, openapi });
  const shown = async () => {
    await look();
    return Object.keys(JSON.parse(await contentOf(description.current.json)).paths);
  };
  node.useKind("mine");
  tell({ version: "1.0.0" });
  assert.equal(await shown(), ["/old"]);
  tell({});
  clock.now += 60_000;
  assert.equal(await shown(), ["/old"]);
});

found("a description is shown once the node serves it, and later changes are noticed", async () => {
  delete answers["GET /swagger.json"];
  const { node, clock, look } = await keepDescription({ ...MINE, description: "/swagger.json" });
  assert.is(await look(), "Own");
  node.useKind("mine");
  assert.is(await look(), "Own");
  clock.now += 60_000;
  assert.is(await look(), "Own");
  answers["GET /swagger.json"] = DESCRIPTION;
  assert.is(await look(), "Own");
  clock.now += 60_000;
  assert.is(await look(), "Algod");
  answers["GET /swagger.json"] = { ...DESCRIPTION, info: { title: "Next", version: "2" } };
  assert.is(await look(), "Algod");
  clock.now += 60_000;
  assert.is(await look(), "Next");
  answers["GET /swagger.json"] = "{";
  clock.now += 60_000;
  assert.is(await look(), "Next");
  assert.is(logged.length, 1);
});

const SECRET = "a-secret-of-the-node";

/**
 * Starts a node that requires a secret, and a second server. `came` lists the requests to both
 * servers.
 */
async function playLogin(start: (ours: URL) => Response) {
  const came: string[] = [];
  const answer =
    (at: string, make: (url: URL) => Response): typeof fetch => async (input, init) => {
      const asked = new URL(String(input));
      const secret = new Headers(init?.headers).get("x-algo-api-token");
      came.push(`${at} ${asked.pathname} ${secret ?? "nothing"}`);
      if (at === "node" && secret !== SECRET) {
        return await Promise.resolve(new Response("", { status: 401 }));
      }
      return make(asked);
    };
  const node = await serveFetch(answer("node", start));
  const elsewhere = await serveFetch(answer("elsewhere", () => Response.json(DESCRIPTION)));
  return { node, elsewhere, came };
}

const withSecret = async (work: (auth: NodeOptions["auth"]) => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  try {
    const path = join(folder, "token");
    writeFileSync(path, `${SECRET}\n`, { mode: 0o600 });
    await work({ header_file: path, header: "x-algo-api-token" });
  } finally {
    rmSync(folder, { recursive: true });
  }
};

found(
  "the node's secret is used to read the description if necessary, and never sent elsewhere",
  () =>
    withSecret(async (auth) => {
      const { node, elsewhere, came } = await playLogin(() => Response.json(DESCRIPTION));
      for (const description of [undefined, `${node.url}/swagger.json`]) {
        came.length = 0;
        const app = await create({ url: node.url, kind: "algorand", auth }, { description });
        await app.refresh();
        assert.is((await read(app)).info.title, "Algod");
        assert.ok(came.includes(`node /swagger.json ${SECRET}`), came.join("\n"));
        assert.not.match(JSON.stringify([diagnostics, logged, await read(app)]), SECRET);
      }
      const app = await create({ url: node.url, kind: "none", auth }, {
        description: `${elsewhere.url}/swagger.json`,
      });
      assert.is((await read(app)).info.title, "Algod");
      assert.equal(came.filter((line) => line.startsWith("elsewhere")), [
        "elsewhere /swagger.json nothing",
      ]);
      await Promise.all([node.stop(), elsewhere.stop()]);
    }),
);

found(
  "the description is read even if the node requires HTTP Digest",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
    const path = join(folder, "login");
    writeFileSync(path, "op:secret\n", { mode: 0o600 });
    const node = await serveFetch((_, init) => {
      const isIn = new Headers(init?.headers).get("authorization")?.startsWith(
        "Digest ",
      );
      const challenge = {
        "www-authenticate": 'Digest realm="r", nonce="n", qop="auth"',
      };
      return Promise.resolve(
        isIn ? Response.json(DESCRIPTION) : new Response("", { status: 401, headers: challenge }),
      );
    });
    const settings = {
      url: node.url,
      kind: "none",
      auth: { digest_file: path },
    };
    const app = await create(settings, {
      description: `${node.url}/swagger.json`,
    });
    assert.is((await read(app)).info.title, "Algod");
    await node.stop();
    rmSync(folder, { recursive: true });
  },
);

found(
  "the node's secret is not sent to a redirect target, and the log explains why there is no description",
  () =>
    withSecret(async (auth) => {
      for (const to of ["/other.json", "ELSEWHERE/swagger.json"]) {
        const { node, elsewhere, came } = await playLogin(({ pathname }) =>
          pathname === "/swagger.json"
            ? new Response("", {
              status: 302,
              headers: { location: to.replace("ELSEWHERE", elsewhere.url) },
            })
            : Response.json(DESCRIPTION)
        );
        diagnostics = [];
        const app = await create({ url: node.url, kind: "none", auth }, {
          description: `${node.url}/swagger.json`,
        });
        await read(app);
        assert.equal(
          came.filter((request) => !request.startsWith("node / ")),
          [`node /swagger.json ${SECRET}`],
        );
        assert.match(
          diagnostics.join(),
          "the node redirects a request that contains a secret; the redirect is not followed",
        );
        await Promise.all([node.stop(), elsewhere.stop()]);
      }
      const { node, elsewhere } = await playLogin(() => Response.json(DESCRIPTION));
      await create({ url: node.url, kind: "none" }, { description: `${node.url}/swagger.json` });
      assert.match(diagnostics.join(), "cannot be read: the node requires credentials (401)");
      await Promise.all([node.stop(), elsewhere.stop()]);
    }),
);

found.run();
