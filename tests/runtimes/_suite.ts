/** Behaviour that all runtimes must share, tested over a real socket. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { ask, PATHS } from "../_app.ts";
import { send } from "../_http.ts";

export interface Server {
  /** The URL of the server, with a trailing slash. */
  url: string;
  stop(): Promise<unknown>;
}

const OF_THE_CONNECTION = ["connection", "date", "keep-alive", "transfer-encoding"];

const OF_THE_START = ["started_at"];

export function runtimeSuite(name: string, start: () => Promise<Server>): void {
  const runtime = suite(`on ${name}`);
  let server: Server;
  runtime.before(async () => void (server = await start()));
  runtime.after(async () => void await server?.stop());

  const fetchFrom = (path: string, init: Parameters<typeof send>[1] = {}) =>
    send(new URL(path, server.url), init);

  for (const [path, type] of PATHS) {
    runtime(`GET ${path} gets the same response as in this process`, async () => {
      const [response, expected] = [await fetchFrom(path), await ask(path)];
      assert.is(response.status, 200);
      assert.is(response.headers.get("content-type"), type);
      if (path === "/v1/info") return;
      assert.equal(headersOf(response), headersOf(expected));
      assert.is(await response.text(), await expected.text());
    });

    runtime(`HEAD ${path} gets the headers of GET`, async () => {
      const [head, get] = [await fetchFrom(path, { method: "HEAD" }), await fetchFrom(path)];
      assert.is(head.status, 200);
      assert.equal(headersOf(head), headersOf(get));
      assert.is(await head.text(), "");
    });

    runtime(`GET ${path} gets 304 if If-None-Match has its ETag`, async () => {
      const etag = (await fetchFrom(path)).headers.get("etag") ?? "";
      const response = await fetchFrom(path, { headers: { "if-none-match": etag } });
      assert.is(response.status, 304);
      assert.is(response.headers.get("etag"), etag);
    });
  }

  runtime("GET /v1/info gets the same object except for times", async () => {
    const [info, expected] = [
      await (await fetchFrom("/v1/info")).json(),
      await (await ask("/v1/info")).json(),
    ];
    for (const key of OF_THE_START) {
      assert.ok(key in info);
      delete info[key], delete expected[key];
    }
    assert.equal(info, expected);
  });

  runtime("both forms of the description have the same content", async () => {
    const [json, yaml] = [await fetchFrom("/spec.json"), await fetchFrom("/spec.yaml")];
    assert.equal(parse(await yaml.text()), await json.json());
  });

  for (const path of ["/", "/v1", "/v1/"]) {
    runtime(`GET ${path} redirects to the explorer`, async () => {
      const response = await fetchFrom(path);
      assert.is(response.status, 307);
      const { pathname } = new URL(
        response.headers.get("location") ?? "",
        new URL(path, server.url),
      );
      assert.is(pathname, "/v1/spec");
    });
  }

  for (
    const [method, path] of [
      ["GET", "/nope"],
      ["GET", "/v1/info/"],
      ["POST", "/v1/info"],
      ["DELETE", "/nope"],
      ["OPTIONS", "/v1/info"],
      ["OPTIONS", "/nope"],
    ] as const
  ) {
    runtime(`${method} ${path} gets the same response as in this process`, async () => {
      const [response, expected] = [await fetchFrom(path, { method }), await ask(path, { method })];
      assert.is(response.status, expected.status);
      assert.equal(headersOf(response), headersOf(expected));
      assert.is(await response.text(), await expected.text());
    });
  }

  runtime("every file of the explorer is served with and without gzip", async () => {
    const html = await (await fetchFrom("/v1/spec")).text();
    const files = [...html.matchAll(/"(\.\.\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    assert.ok(files.length > 2);
    for (const file of files) {
      for (const coding of ["gzip", "identity"]) {
        const headers = { "accept-encoding": coding };
        const [response, expected] = [
          await fetchFrom(`/v1/${file}`, { headers }),
          await ask(new URL(file, "http://localhost/v1/").pathname, { headers }),
        ];
        assert.equal(headersOf(response), headersOf(expected));
        assert.equal(await response.arrayBuffer(), await expected.arrayBuffer());
      }
    }
  });

  runtime.run();
}

function headersOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !OF_THE_CONNECTION.includes(name)));
}
