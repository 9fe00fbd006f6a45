import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createApp } from "../src/app.ts";
import { createNodeface } from "../src/index.ts";
import type { CheckedOptions } from "../src/options.ts";
import { app, ask, askWith } from "./_app.ts";
import { passTime } from "./_clock.ts";
import { play } from "./_sources.ts";

const guard = suite("the host guard");

type Options = Pick<CheckedOptions, "hosts" | "cors" | "isInNetwork">;

async function askFor(
  path: string,
  headers: Record<string, string>,
  options: Options = {},
  url = `http://127.0.0.1${path}`,
): Promise<Response> {
  // According to the Fetch standard, a `Request` drops the `Host` header.
  const { signal } = new AbortController();
  const request = {
    url,
    method: "GET",
    headers: new Headers(headers),
    signal,
  } as Request;
  const { hosts, isInNetwork, ...others } = options;
  const app = isInNetwork
    ? createApp({ metrics: true, isInNetwork, ...others })
    : createNodeface({ metrics: true, hosts, ...others });
  const response = await app.fetch(request);
  await response.body?.cancel();
  await app.close();
  return response;
}

const GUARDED = ["/v1/metrics", "/v1/events", "/v1/history"];
const READABLE = [
  "/v1/info",
  "/v1/health",
  "/v1/ready",
  "/spec.json",
  "/spec.yaml",
  "/v1/spec",
];

const askAs = async (
  host: string,
  hosts: string[] | "*",
  isInNetwork = false,
) => await askFor("/v1/metrics", { host }, { hosts, isInNetwork });

guard(
  "an unlisted host name is refused, and the response names the setting",
  async () => {
    const request = { url: "http://127.0.0.1/v1/metrics", method: "GET" };
    const headers = new Headers({ host: "node.example" });
    const app = createNodeface({ metrics: true });
    const response = await app.fetch({ ...request, headers } as Request);
    assert.is(response.status, 421);
    assert.match((await response.json()).detail, 'the setting "hosts"');
    for (const path of GUARDED) {
      assert.is(
        (await askFor(path, { host: "node.example" })).status,
        421,
        path,
      );
    }
  },
);

guard("what every page may read is served under any host name", async () => {
  for (const path of READABLE) {
    for (const host of ["nodeface:8080", "evil.example", "nas.local"]) {
      assert.is((await askFor(path, { host })).status, 200, `${path} ${host}`);
    }
  }
});

guard(
  "if cors lists origins, nothing is served under an unlisted host name",
  async () => {
    for (const cors of [[], ["https://app.example"]]) {
      for (const path of [...READABLE, ...GUARDED]) {
        assert.is(
          (await askFor(path, { host: "evil.example" }, { cors })).status,
          421,
          path,
        );
        assert.is(
          (await askFor(path, { host: "localhost" }, { cors })).status,
          200,
          path,
        );
      }
    }
  },
);

guard(
  "the page under an unlisted host name has no script and no form",
  async () => {
    const page = async (host: string, path: string) => {
      const request = { url: `http://127.0.0.1${path}`, method: "GET" };
      const app = createNodeface();
      return await app.fetch(
        { ...request, headers: new Headers({ host }) } as Request,
      );
    };
    for (const path of ["/v1/spec", "/v1/spec/simple", "/v1/spec/reference"]) {
      const plain = await page("evil.example", path);
      assert.match(
        plain.headers.get("content-security-policy")!,
        "script-src 'none'",
      );
      const html = await plain.text();
      assert.not.match(html, "<script");
      assert.match(html, "only for reading");
      if (html.includes("$BASE_URL/")) {
        assert.match(html, ">In the commands below, <code>$BASE_URL</code>");
        assert.not.match(html, "<noscript><p>");
      }
      assert.match(await (await page("localhost", path)).text(), "<script");
    }
  },
);

const PRIVATE = [
  "nodeface:8080",
  "nas.local",
  "node.internal",
  "box.home.arpa",
  "a.test",
  "nas.",
];
/** The headers of each program's HTTP client, as seen on the wire. */
const PROGRAMS: Record<string, Record<string, string>> = {
  curl: { "user-agent": "curl/8.5.0", accept: "*/*" },
  python: { "user-agent": "python-requests/2.31", connection: "keep-alive" },
  node: {
    connection: "keep-alive",
    accept: "*/*",
    "accept-language": "*",
    "sec-fetch-mode": "cors",
    "user-agent": "node",
  },
  deno: { accept: "*/*", "accept-language": "*", "user-agent": "Deno/2.9.5" },
  bun: { connection: "keep-alive", "user-agent": "Bun/1.4", accept: "*/*" },
};
/** What pages under a hostile name can make a browser send over plain HTTP. */
const BROWSERS: Record<string, Record<string, string>> = {
  chromium: {
    connection: "keep-alive",
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64)",
    "accept-language": "en-US",
  },
  "a page that hides": {
    connection: "keep-alive",
    "user-agent": "Deno/2.9.5",
    accept: "*/*",
    "accept-language": "*",
    "x-nodeface": "1",
  },
  "a page with its own origin": {
    connection: "keep-alive",
    origin: "http://nodeface:8080",
    referer: "http://nodeface:8080/v1/spec",
    "user-agent": "x",
    "accept-language": "*",
    "x-nodeface": "1",
  },
};

guard(
  "in a network, programs may use names that no public name server gives",
  async () => {
    for (const host of PRIVATE) {
      for (const [who, headers] of Object.entries(PROGRAMS)) {
        const response = await askFor("/v1/metrics", { ...headers, host }, {
          isInNetwork: true,
        });
        assert.is(response.status, 200, `${who} ${host}`);
        assert.is(
          (await askFor("/v1/metrics", { ...headers, host })).status,
          421,
          "on loopback",
        );
      }
      for (const [who, headers] of Object.entries(BROWSERS)) {
        for (const path of GUARDED) {
          const response = await askFor(path, { ...headers, host }, {
            isInNetwork: true,
          });
          assert.is(response.status, 421, `${who} ${host} ${path}`);
        }
      }
    }
    for (
      const host of [
        "evil.example",
        "local.example",
        "a.locals",
        "internal.example",
      ]
    ) {
      assert.is((await askAs(host, [], true)).status, 421, host);
    }
  },
);

guard("the stricter of Host and an absolute target counts", async () => {
  const ask = async (host: string, name: string, isInNetwork = true) =>
    (await askFor("", { host }, { isInNetwork }, `http://${name}/v1/metrics`))
      .status;
  assert.is(await ask("localhost", "evil.example"), 421);
  assert.is(await ask("evil.example", "localhost"), 421);
  assert.is(await ask("nas.local", "evil.example"), 421);
  assert.is(await ask("localhost", "nas.local"), 200);
  assert.is(await ask("localhost", "nas.local", false), 421);
});

guard(
  "a listed host name is accepted in any letter case and on any port",
  async () => {
    for (
      const host of [
        "node.example",
        "node.example.",
        "NODE.example:8080",
        "localhost",
        "a.localhost.",
        "10.1.2.3",
        "0x7f.1",
        "[::1]:80",
      ]
    ) {
      assert.is(
        (await askAs(host, ["Node.Example", "other.example"])).status,
        200,
        host,
      );
    }
    assert.is((await askAs("sub.node.example", ["node.example"])).status, 421);
  },
);

guard("an invalid name in the setting is refused when the service is created", () => {
  for (const host of ["Example.org:80", "http://a", "a/", "", "*", "a b"]) {
    assert.throws(
      () => createNodeface({ hosts: ["a.example", host] }),
      (error: unknown) =>
        error instanceof TypeError &&
        error.message === 'hosts[1] must be a host name without a port, or "*" in place of the ' +
            `list, not ${JSON.stringify(host)}`,
    );
  }
  const hosts = "a.example" as "*";
  assert.throws(
    () => createNodeface({ hosts }),
    'hosts must be a list of host names, or "*" for any, not "a.e',
  );
});

guard("a listed host name may contain letters of any script", async () => {
  assert.is((await askAs("xn--bcher-kva.example", ["bücher.example"])).status, 200);
});

guard("if hosts is *, any valid host name is accepted", async () => {
  assert.is((await askAs("evil.example", "*")).status, 200);
  assert.is((await askAs("a b", "*")).status, 400);
});

guard("headers such as X-Forwarded-Host are neither trusted nor repeated", async () => {
  const response = await askWith({
    "x-forwarded-host": "relayed.example",
    "x-forwarded-proto": "https",
    "x-forwarded-prefix": "/relayed",
    forwarded: "host=relayed.example;proto=https",
  }, "/v1/spec");
  assert.is(response.status, 200);
  assert.not.match(JSON.stringify([...response.headers]) + await response.text(), "relayed");
});

guard("a request target of more than 8192 characters gets 414", async () => {
  const response = await ask(`/v1/info?${"a".repeat(8192)}`);
  assert.is(response.status, 414);
  assert.is((await response.json()).title, "URI Too Long");
  const longest = new URL(`http://localhost/v1/info?${"a".repeat(8192)}`).href.slice(0, 8192);
  assert.is((await app.fetch(new Request(longest))).status, 200);
});

guard("a page without scripts shows the state of the node, since nothing replaces it", async () => {
  const node = await play((_, response) => response.end());
  const app = createNodeface({ node: { url: node.url, kind: "none" }, log() {} });
  await (await app.fetch(new Request("http://localhost/v1/info"))).body?.cancel();
  passTime(60_000);
  const headers = new Headers({ host: "evil.example" });
  const request = { url: "http://127.0.0.1/v1/spec/simple", method: "GET", headers };
  const html = await (await app.fetch(request as Request)).text();
  assert.match(html, "responds to HTTP");
  assert.not.match(html, "Checking");
  await app.close();
  await node.close();
});

guard.run();
