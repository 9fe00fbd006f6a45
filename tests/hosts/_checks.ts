/** The checks that the service must pass with every host, every bundler and every mount path. */
import * as assert from "uvu/assert";
import { PATHS } from "../_app.ts";
import { send } from "../_http.ts";

export interface Served {
  /** A URL without a trailing slash, such as `http://127.0.0.1:8080/deep/node`. */
  readonly base: string;
  /**
   * The host's response to unknown paths, or `undefined` if the service sends its own 404 response.
   */
  readonly own: string | undefined;
}

export interface Check {
  readonly name: string;
  check(served: Served): Promise<void>;
}

export const OWN_PAGE = "The host's own page\n";

const PASSWORD = { authorization: "Bearer secret" };

const ask = ({ base }: Served, path: string, init: Parameters<typeof send>[1] = {}) =>
  send(new URL(base + path), init);

const put = (
  { base }: Served,
  path: string,
  height: number,
  headers: Record<string, string> = {},
) =>
  fetch(base + path, {
    method: "PUT",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ height }),
  });

interface Said {
  readonly software?: string;
  readonly height: number;
}

interface Description extends HasServers {
  readonly paths: Readonly<Record<string, HasServers & { get?: Described; put?: Described }>>;
}
interface HasServers {
  readonly servers?: readonly { readonly url: string }[];
}
interface Described extends HasServers {
  readonly operationId: string;
}

async function readJson<T>(url: string | URL): Promise<T> {
  const answer = await send(new URL(url));
  assert.is(answer.status, 200, `${url}`);
  return await answer.json();
}

/** The servers of an operation take precedence over those of its path item and of the document. */
function serversOf(document: Description, path: string): string[] {
  const item = document.paths[path];
  const { servers = [] } = [item?.get, item, document].find((place) => place?.servers) ?? {};
  return servers.map(({ url }) => url);
}

const askBoth = async (served: Served, path: string) =>
  [await ask(served, path, { method: "HEAD" }), await ask(served, path)] as const;

const etagOf = ({ headers }: Awaited<ReturnType<typeof ask>>) => headers.get("etag");

export const CHECKS: readonly Check[] = [
  {
    name: "every path responds 200 with its media type",
    async check(served) {
      for (const [path, type] of PATHS) {
        const answer = await ask(served, path);
        assert.is(answer.status, 200, path);
        assert.is(answer.headers.get("content-type"), type, path);
        assert.ok((await answer.arrayBuffer()).byteLength > 0, path);
      }
    },
  },
  {
    name: "every file that the page loads responds 200, in every coding",
    async check(served) {
      const namesIn = async (path: string) => {
        const page = await (await ask(served, path)).text();
        const names = [...page.matchAll(/(?:href|src|data-scalar)="([^"#:]+)"/g)];
        return names.map(([, name]) => new URL(name!, served.base + path));
      };
      const urls = [...await namesIn("/v1/spec/reference"), ...await namesIn("/v1/spec/simple")];
      assert.ok(urls.filter(({ href }) => href.includes("/assets/")).length > 2, `${urls}`);
      for (const url of urls) {
        assert.ok(url.href.startsWith(`${served.base}/`), url.href);
        for (const coding of ["gzip", "identity"]) {
          const answer = await send(url, { headers: { "accept-encoding": coding } });
          assert.is(answer.status, 200, url.href);
          assert.ok((await answer.arrayBuffer()).byteLength > 0, url.href);
        }
      }
    },
  },
  {
    name: "the info comes from the host and is live",
    async check({ base }) {
      const url = `${base}/v1/info`;
      const first = await readJson<Said>(url);
      assert.is(first.software, "exampled");
      const end = performance.now() + 10_000;
      while ((await readJson<Said>(url)).height === first.height) {
        assert.ok(performance.now() < end, "the height does not change");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  },
  {
    name: "the description's servers are URLs below which /v1/info responds 200",
    async check({ base }) {
      for (const path of ["/spec.json", "/v1/spec.json"]) {
        const url = new URL(base + path);
        const servers = serversOf(await readJson<Description>(url), "/v1/info");
        assert.ok(servers.length > 0, "there are no servers");
        for (const server of servers) {
          // Clients concatenate the server's URL and the operation's path as strings.
          const info = new URL(new URL(server, url).href.replace(/\/$/, "") + "/v1/info");
          const answer = await send(info);
          const leads = `${path}: ${server} leads to ${info}`;
          assert.is(answer.status, 200, leads);
          // A page of the host might also have the status 200, but has a different content type.
          assert.is(answer.headers.get("content-type"), "application/json", leads);
        }
      }
    },
  },
  {
    name: "redirects end at the page",
    async check(served) {
      const { base } = served;
      for (const path of ["", "?x=/y", "/", "/v1", "/v1/"]) {
        let url = new URL(base + path);
        // Some hosts first redirect to another path. Next.js, for example, removes a trailing
        // slash.
        for (let hops = 0; hops < 3 && url.href !== `${base}/v1/spec`; hops++) {
          const { status, headers } = await send(url);
          assert.ok([307, 308].includes(status), `${url} is ${status}`);
          url = new URL(headers.get("location")!, url);
        }
        assert.is(url.href, `${base}/v1/spec`, path);
      }
    },
  },
  {
    name: "HEAD has the headers of GET, and no content",
    async check(served) {
      for (const path of ["/v1/spec", "/spec.json", "/v1/peers/a1"]) {
        // The page changes with the node's height, which may be between two requests.
        let [head, get] = await askBoth(served, path);
        for (let tries = 0; tries < 5 && etagOf(head) !== etagOf(get); tries++) {
          [head, get] = await askBoth(served, path);
        }
        assert.is(head.status, 200, path);
        assert.is(etagOf(head), etagOf(get), path);
        assert.is(head.headers.get("content-type"), get.headers.get("content-type"), path);
        assert.is(await head.text(), "");
      }
    },
  },
  {
    name: "a validator gives 304",
    async check(served) {
      for (const path of ["/v1/spec", "/spec.json", "/favicon.ico"]) {
        // The page changes with the node's height, which may be between two requests.
        let status = 200;
        for (let tries = 0; tries < 5 && status !== 304; tries++) {
          const etag = (await ask(served, path)).headers.get("etag")!;
          assert.match(etag, /^".+"$/);
          ({ status } = await ask(served, path, { headers: { "if-none-match": etag } }));
        }
        assert.is(status, 304, path);
      }
    },
  },
  {
    name: "an unknown path gets the host's own page or a 404 problem+json response",
    async check(served) {
      for (const path of ["/nope", "/v1/nope", "/assets/nope.js"]) {
        const answer = await ask(served, path);
        if (served.own !== undefined) {
          assert.is(await answer.text(), served.own, path);
        } else {
          assert.is(answer.status, 404, path);
          assert.is(answer.headers.get("content-type"), "application/problem+json", path);
        }
      }
    },
  },
  {
    name: "OPTIONS lists the methods of a path, and other methods get 405",
    async check(served) {
      assert.is((await ask(served, "/v1/info", { method: "OPTIONS" })).status, 204);
      const answer = await ask(served, "/v1/info", { method: "DELETE", headers: PASSWORD });
      assert.is(answer.status, 405);
      assert.is(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
    },
  },
  {
    name: "an operation of the host receives its parameters and its content",
    async check(served) {
      assert.is((await ask(served, "/v1/peers/a2")).status, 404);
      const height = 1 + (await readJson<Said>(`${served.base}/v1/peers/a1`)).height;
      const answer = await put(served, "/v1/peers/a1", height, PASSWORD);
      assert.equal([answer.status, await answer.json()], [200, { id: "a1", height }]);
      assert.is((await readJson<Said>(`${served.base}/v1/peers/a1`)).height, height);
      const { paths } = await readJson<Description>(`${served.base}/spec.json`);
      assert.is(paths["/v1/peers/{id}"]?.put?.operationId, "putPeer");
    },
  },
  {
    name: "the host's authentication protects an operation, however its path is written",
    async check(served) {
      const before = (await readJson<Said>(`${served.base}/v1/peers/a1`)).height;
      const { pathname } = new URL(served.base);
      const doubled = `${pathname === "/" ? "" : pathname}/v1/peers/a1`;
      for (const path of ["/v1/peers/a1", "/v1/%70eers/a1", "//v1/peers/a1", doubled]) {
        const { status } = await put(served, path, 0);
        assert.ok(status >= 400 || served.own !== undefined, `${path} is ${status}`);
      }
      assert.is((await put(served, "/v1/peers/a1", 0)).status, 401);
      assert.is((await readJson<Said>(`${served.base}/v1/peers/a1`)).height, before);
    },
  },
];

/** A description of more than 256 KiB is prepared in several slices. */
export const LARGE_CHECKS: readonly Check[] = [{
  name: "a description of more than 256 KiB is shown",
  async check(served) {
    const end = performance.now() + 30_000;
    const url = `${served.base}/spec.json`;
    while (!("/large/0" in (await readJson<Description>(url)).paths)) {
      assert.ok(performance.now() < end, "it is not shown");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { paths } = await readJson<Description>(url);
    assert.is(Object.keys(paths).filter((path) => path.startsWith("/large/")).length, LARGE_COUNT);
    assert.ok("/v1/peers/{id}" in paths);
    assert.match(await (await ask(served, "/v1/spec/simple")).text(), "/large/0");
  },
}, CHECKS.find(({ name }) => name.startsWith("the description's servers"))!];

const LARGE_COUNT = 400;

/** Returns JSON of more than 256 KiB. */
export function largeDescription(): string {
  const paths = Array.from({ length: LARGE_COUNT }, (_, i) => {
    const responses = { 200: { description: `Value ${i}. ${"It is so. ".repeat(80)}` } };
    return [`/large/${i}`, { get: { operationId: `large${i}`, summary: `Get ${i}`, responses } }];
  });
  const document = {
    openapi: "3.1.0",
    info: { title: "Large", version: "1" },
    servers: [{ url: "http://127.0.0.1:9/" }],
    paths: Object.fromEntries(paths),
  };
  return JSON.stringify(document);
}
