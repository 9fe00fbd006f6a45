/**
 * Tests calls from browser pages. Node runs every case; Deno and Bun skip some cases that cannot
 * differ by runtime.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sampleOf } from "./_runtime.ts";
import { createApp } from "../src/app.ts";
import { isProgram } from "../src/http/browsers.ts";
import { createNodeface } from "../src/index.ts";
import { checkOptions } from "../src/options-schema.ts";
import {
  forwarding,
  type Gateway,
  json,
  nodeOf,
  optionsFor,
  REST,
  result,
  RPC,
  TOKEN,
} from "./_gateway.ts";

const browsers = suite("pages and calls to the node");

const OPEN = {
  open: ["reads"],
  origins: [
    "https://app.example",
    "capacitor://localhost",
    "moz-extension://0F5E1A2C-7D7E-4D6B-9C0B-1B3E1E5A6D7F",
  ],
};
const MOZILLA = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0";

/** Programs whose `User-Agent` begins like that of a browser. */
const PROGRAMS = {
  "Windows PowerShell": "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.2",
  PowerShell: "Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.6",
  "Visual Basic": "Mozilla/4.0 (compatible; Win32; WinHttp.WinHttpRequest.5)",
  "Google Apps Script": "Mozilla/5.0 (compatible; Google-Apps-Script; beanserver; id: x)",
};

const node = nodeOf(browsers);
let rest: Gateway;
let rpc: Gateway;
let asOrigins: Gateway[];
browsers.before(() => {
  rest = forwarding(node.url, REST, OPEN);
  rpc = forwarding(node.url, RPC, OPEN);
  asOrigins = [forwarding(node.url, RPC, { ...OPEN, origins: [] }), rpc];
});
browsers.before.each(() => {
  node.answer = result("1");
});

type Headers = Record<string, string>;

const HOST = { host: "localhost" };

const PASSING: readonly (readonly [why: string, headers: Headers])[] = [
  ["a program", {}],
  ["curl", { "user-agent": "curl/8.14.1", accept: "*/*" }],
  ["our own page", { "sec-fetch-site": "same-origin", "user-agent": MOZILLA }],
  ["our own page, by fetch", {
    "sec-fetch-site": "same-origin",
    "sec-fetch-dest": "empty",
    "sec-fetch-mode": "cors",
    origin: "http://localhost",
    referer: "http://localhost/v1/spec",
  }],
  ["a URL that was typed into a browser", { "sec-fetch-site": "none", "user-agent": MOZILLA }],
  ["a listed app of Capacitor on iOS", {
    ...HOST,
    origin: "capacitor://localhost",
    "user-agent": MOZILLA,
  }],
  ["a listed extension of Firefox", {
    origin: "moz-extension://0f5e1a2c-7d7e-4d6b-9c0b-1b3e1e5a6d7f",
    "sec-fetch-site": "cross-site",
    "sec-fetch-dest": "empty",
  }],
  ...Object.entries(PROGRAMS).map(([why, agent]) => [why, { "user-agent": agent }] as const),
  // nginx sends it with `proxy_set_header Host $host:$server_port`.
  ["an Origin header that matches Host with the default port of HTTPS", {
    host: "node.localhost:443",
    origin: "https://node.localhost",
  }],
  ["an Origin header that matches Host with the default port of HTTP", {
    host: "node.localhost:80",
    origin: "http://node.localhost",
  }],
  ["an Origin header that matches Host, over plain HTTP", { ...HOST, origin: "http://localhost" }],
  ["an Origin header that matches Host, with a port", {
    host: "LOCALHOST:8080",
    origin: "http://localhost:8080",
    "user-agent": MOZILLA,
  }],
  ["an Origin header with the URL's origin, without a Host header", { origin: "http://localhost" }],
  ["a referer with our Host", { ...HOST, referer: "http://localhost/v1/spec", cookie: "a=b" }],
  ["a listed origin", {
    origin: "https://app.example",
    "sec-fetch-site": "cross-site",
    "sec-fetch-dest": "empty",
  }],
];

const BEHIND_PROXY: Headers = {
  "x-nodeface": "1",
  host: "127.0.0.1:1",
  origin: "https://public.example",
  "user-agent": MOZILLA,
};

const REFUSED: readonly (readonly [why: string, headers: Headers])[] = [
  ["the page of another app", { ...HOST, origin: "ionic://localhost" }],
  ["the page of a file", { ...HOST, origin: "file://" }],
  ["another port of our host, with the default port in Host", {
    host: "node.localhost:443",
    origin: "http://node.localhost",
  }],
  ["a browser that is named after a program", { "user-agent": `${MOZILLA} PowerShell` }],
  ["a page of another site", { "sec-fetch-site": "cross-site" }],
  ["a page on another port or subdomain of the site", { "sec-fetch-site": "same-site" }],
  ["an unknown value of Sec-Fetch-Site", { "sec-fetch-site": "odd" }],
  ["a page of another site, with an Origin header", { ...HOST, origin: "https://evil.example" }],
  ["a page on another port, with an Origin header", {
    host: "localhost:8080",
    origin: "http://localhost:3000",
  }],
  ["a page of another site, with a Referer header", { ...HOST, referer: "https://evil.example/" }],
  ["a page with the origin null", { origin: "null" }],
  ["a page of the same origin with Origin: null", {
    origin: "null",
    "sec-fetch-site": "same-origin",
  }],
  ["a page with the origin null and the X-Nodeface header", { origin: "null", "x-nodeface": "1" }],
  ["a page of another site with the X-Nodeface header, which a proxy let through", {
    "sec-fetch-site": "cross-site",
    origin: "https://evil.example",
    "x-nodeface": "1",
  }],
  ["an origin that cannot be parsed", { ...HOST, origin: "localhost" }],
  ["an origin that begins like a listed one", {
    origin: "https://app.example.evil.example",
    "sec-fetch-site": "cross-site",
  }],
  ["a listed origin in another letter case", { ...HOST, origin: "https://APP.example" }],
  ["a URL that was typed into a browser, over plain HTTP", { "user-agent": MOZILLA }],
  ["a browser whose User-Agent is in lower case", { "user-agent": MOZILLA.toLowerCase() }],
  ["a request with only a cookie", { cookie: "a=b" }],
  ["client hints", { "sec-ch-ua": '"Chromium"' }],
  ["client hints of a phone", { "sec-ch-ua-mobile": "?1" }],
  ["the privacy header Sec-GPC", { "sec-gpc": "1" }],
  ["a prefetch", { "sec-purpose": "prefetch" }],
  ...["image", "script", "style", "iframe", "frame", "embed", "object", "font", "audio", "video"]
    .concat("worker", "serviceworker", "manifest", "report", "track", "json", "document")
    .map((destination) =>
      [`our own page, with the fetch destination ${destination}`, {
        "sec-fetch-site": "same-origin",
        "sec-fetch-dest": destination,
        "x-nodeface": "1",
      }] as const
    ),
];

const asked = [
  ["GET of a path", (headers: Headers) => rest.ask("/v1/node/status", { headers })],
  ["POST of a path", (headers: Headers) => post(rest, "/v1/node/any", headers)],
  ["GET of a method", (headers: Headers) => rpc.ask("/v1/rpc/number", { headers })],
  ["POST of a method", (headers: Headers) => post(rpc, "/v1/rpc/number", headers)],
  ["a body of JSON-RPC", (headers: Headers) => rpc.rpc({ id: 1, method: "number" }, { headers })],
] as const;

const post = ({ ask }: Gateway, path: string, headers: Headers) =>
  ask(path, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json", ...headers },
  });

for (const [why, headers] of sampleOf(PASSING)) {
  browsers(`accepted: ${why}`, async () => {
    for (const [what, ask] of asked) {
      const answer = await ask(headers);
      assert.is(answer.status, 200, `${what}: ${await answer.text()}`);
    }
  });
}

for (const [why, headers] of sampleOf(REFUSED)) {
  browsers(`refused: ${why}`, async () => {
    for (const [what, ask] of asked) {
      const answer = await ask(headers);
      assert.is(answer.status, 403, `${what}: ${await answer.text()}`);
      assert.is(answer.headers.get("access-control-allow-origin"), null);
    }
    assert.equal(node.received, []);
  });
}

browsers("X-Nodeface counts behind a proxy that changes Host, but not in a host", async () => {
  const options = { ...optionsFor(node.url, REST), forward: "reads", log() {} } as const;
  // CORS middleware of the host could let any page send the header.
  const inHost = createNodeface(options);
  const service = createApp({ ...checkOptions(options), isStandalone: true });
  for (const [app, status] of [[inHost, 403], [service, 200]] as const) {
    for (const path of ["/v1/node/status", "/v1/history", "/v1/events"]) {
      const request = new Request(`http://localhost${path}`, { headers: BEHIND_PROXY });
      const response = await app.fetch(request);
      await response.body?.cancel();
      assert.is(response.status, status, path);
    }
    await app.close();
  }
});

browsers("only links to read-only operations may navigate to a response", async () => {
  const headers = {
    "sec-fetch-site": "none",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
  };
  assert.is((await rest.ask("/v1/node/status", { headers })).status, 200);
  assert.is((await post(rest, "/v1/node/any", headers)).status, 403);
  const inFrame = { ...headers, "sec-fetch-dest": "iframe" };
  assert.is((await rest.ask("/v1/node/status", { headers: inFrame })).status, 403);
});

browsers("the text of a refusal gives the reason and points to the explorer", async () => {
  const answer = await rest.ask("/v1/node/status", { headers: { "sec-fetch-site": "cross-site" } });
  assert.match((await answer.json()).detail, "/v1/spec");
  assert.is(answer.headers.get("content-type"), "application/json");
});

browsers("a page of a listed origin may read the headers of the node's response", async () => {
  node.answer = json({}, 200, { "x-aptos-cursor": "0x1" });
  const headers = { origin: "https://app.example" };
  const answer = await rest.ask("/v1/node/status", { headers });
  assert.is(answer.headers.get("x-aptos-cursor"), "0x1");
  assert.is(answer.headers.get("access-control-expose-headers"), "*");
  const other = await rest.ask("/v1/node/status", { headers: { origin: "https://evil.example" } });
  assert.is(other.headers.get("access-control-expose-headers"), null);
});

browsers("only listed origins may read responses, and never with credentials", async () => {
  for (const origin of ["https://app.example", "https://evil.example"]) {
    const answer = await rest.ask("/v1/node/status", { headers: { origin } });
    const isNamed = origin === "https://app.example";
    assert.is(answer.headers.get("access-control-allow-origin"), isNamed ? origin : null);
    assert.is(answer.headers.get("access-control-allow-credentials"), null);
    assert.is(answer.headers.get("cross-origin-resource-policy"), "same-origin");
    assert.match(answer.headers.get("vary")!, "Origin");
  }
  const own = await rest.ask("/v1/info", { headers: { origin: "https://evil.example" } });
  assert.is(own.headers.get("access-control-allow-origin"), "*");
});

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "PROPFIND", "get", ""];

for (const path of ["/v1/node/status", "/v1/node/nope", "/v1/rpc", "/v1/rpc/number"]) {
  for (const method of sampleOf(METHODS)) {
    browsers(
      `a preflight for ${method || "no method"} ${path} fails from an unlisted origin`,
      async () => {
        for (const { ask } of asOrigins) {
          for (const origin of ["https://evil.example", "null", "http://localhost:3000"]) {
            const answer = await ask(path, {
              method: "OPTIONS",
              headers: {
                origin,
                "access-control-request-method": method,
                "access-control-request-headers": "x-nodeface, content-type",
              },
            });
            for (const name of ["allow-origin", "allow-headers", "allow-methods", "max-age"]) {
              assert.is(answer.headers.get(`access-control-${name}`), null, name);
            }
          }
        }
        assert.equal(node.received, []);
      },
    );
  }
}

browsers("no preflight at a path of the node lets a page send X-Nodeface there", async () => {
  const { ask } = forwarding(node.url, RPC, { open: ["reads"], at_root: true });
  for (const path of ["/", "/v1", "/v1/"]) {
    for (const method of ["GET", "HEAD", "POST"]) {
      const answer = await ask(path, {
        method: "OPTIONS",
        headers: {
          origin: "https://evil.example",
          "access-control-request-method": method,
          "access-control-request-headers": "x-nodeface",
        },
      });
      assert.is(answer.headers.get("access-control-allow-headers"), null, `${method} ${path}`);
    }
  }
});

browsers("a page of a listed origin may call at the root, whatever cors says", async () => {
  const origin = "https://app.example";
  const forward = { open: ["reads"], origins: [origin], at_root: true };
  const { ask } = forwarding(node.url, RPC, forward, { cors: [] });
  const answer = await ask("/", {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    },
  });
  assert.match(answer.headers.get("access-control-allow-headers")!, /\*/);
});

browsers("a preflight request from a listed origin succeeds", async () => {
  const headers = {
    origin: "https://app.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type",
  };
  const answer = await rpc.ask("/v1/rpc", { method: "OPTIONS", headers });
  assert.is(answer.status, 204);
  assert.is(answer.headers.get("access-control-allow-origin"), "https://app.example");
  assert.match(answer.headers.get("access-control-allow-headers")!, "authorization");
});

browsers(
  "the origin * applies to public operations, but not to operations that need the token",
  async () => {
    process.env.GATEWAY_TOKEN = TOKEN;
    const settings = {
      open: ["reads"],
      clients: [{ name: "app", allow: ["send", "POST /send"], token_env: "GATEWAY_TOKEN" }],
      origins: "*" as const,
    };
    const headers = {
      origin: "https://evil.example",
      "sec-fetch-site": "cross-site",
      authorization: `Bearer ${TOKEN}`,
    };
    const [paths, methods] = [
      forwarding(node.url, REST, settings, { hosts: ["node.example"] }),
      forwarding(node.url, RPC, settings, { hosts: ["node.example"] }),
    ];
    const read = await paths.ask("/v1/node/status", { headers });
    assert.is(read.status, 200);
    assert.is(read.headers.get("access-control-allow-origin"), "*");
    assert.is(read.headers.get("cross-origin-resource-policy"), "same-origin");
    node.forget();
    assert.is((await post(paths, "/v1/node/send", headers)).status, 403);
    // Browsers send no `Sec-Fetch-Site` over plain HTTP, and the page may send any header.
    const { "sec-fetch-site": _, ...others } = headers;
    const plain = { ...others, "x-nodeface": "1" };
    assert.is((await post(paths, "/v1/node/send", plain)).status, 403);
    // Of our own page, a browser says nothing but this header.
    const own = {
      "user-agent": "Mozilla/5.0",
      "x-nodeface": "1",
      "authorization": `Bearer ${TOKEN}`,
    };
    assert.is((await paths.ask("/v1/clients/self", { headers: own })).status, 200);
    assert.is((await post(methods, "/v1/rpc/send", headers)).status, 403);
    const call = await methods.rpc({ id: 1, method: "send", params: ["a"] }, { headers });
    assert.equal([call.status, (await call.json()).error.code], [403, -32051]);
    // The service tells even pages of other origins that no client may call `balance`.
    const refused = await post(methods, "/v1/rpc/balance", headers);
    assert.is(refused.status, 403);
    assert.match((await refused.json()).detail, /^balance is not forwarded for the client app: /);
    const alone = await methods.rpc({ id: 1, method: "balance", params: ["a"] }, { headers });
    const { error } = await alone.json();
    assert.match(
      error.message,
      /^the method balance does not exist\/is not available for the client app: /,
    );
    assert.equal(node.received, []);
  },
);

for (
  const type of [
    "",
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=a",
    "application/json, text/plain",
    "text/plain; a=application/json",
    "application/jsonp",
    "application/octet-stream",
    "text/json",
  ]
) {
  browsers(
    `a request body of ${type || "no type"} gets 415, but as JSON-RPC only from a browser 403`,
    async () => {
      const init = {
        method: "POST",
        body: new TextEncoder().encode('{"id":1,"method":"number"}'),
        headers: { ...type && { "content-type": type } },
      };
      assert.is((await rest.ask("/v1/node/checked", init)).status, 415);
      assert.is((await rpc.ask("/v1/rpc/number", init)).status, 415);
      assert.equal(node.received, []);
      // Nodes take what their clients send: plain text, forms by curl, no content type.
      assert.is((await rpc.ask("/v1/rpc", init)).status, 200);
      const agent = { "user-agent": "Mozilla/5.0" };
      const ofBrowser = { ...init, headers: { ...init.headers, ...agent } };
      assert.is((await rpc.ask("/v1/rpc", ofBrowser)).status, 403);
      assert.is(node.received.length, 1);
    },
  );
}

for (const coding of ["gzip", "identity", "br", ""]) {
  browsers(`a body with the content coding ${coding || "(none)"} is refused with 415`, async () => {
    const headers = { "content-encoding": coding };
    assert.is((await post(rest, "/v1/node/checked", headers)).status, 415);
    assert.is((await post(rpc, "/v1/rpc/number", headers)).status, 415);
    assert.is((await rpc.rpc({ id: 1, method: "number" }, { headers })).status, 415);
    assert.equal(node.received, []);
  });
}

browsers("a content type may have parameters, and may be in any letter case", async () => {
  const headers = { "content-type": "Application/JSON ; charset=utf-8" };
  assert.is((await post(rest, "/v1/node/any", headers)).status, 200);
  assert.is((await post(rpc, "/v1/rpc/number", headers)).status, 200);
  assert.is((await rpc.rpc({ id: 1, method: "number" }, { headers })).status, 200);
});

browsers("a call with an unlisted Host is refused as well", async () => {
  for (const path of ["/v1/node/status", "/v1/rpc/number", "/v1/rpc"]) {
    const headers = { host: "rebound.example" };
    const method = path === "/v1/rpc" ? "POST" : "GET";
    const response = await rpc.ask(path, { method, headers });
    assert.is(response.status, 421);
    // As other refusals of a call, since some clients of nodes read nothing else.
    assert.is(response.headers.get("content-type"), "application/json");
  }
  assert.equal(node.received, []);
});

browsers("a response of the node cannot run as a script or as a page", async () => {
  const answer = await rest.ask("/v1/node/status");
  assert.is(
    answer.headers.get("content-security-policy"),
    "default-src 'none'; frame-ancestors 'none'; sandbox",
  );
  assert.is(answer.headers.get("x-content-type-options"), "nosniff");
  assert.is(answer.headers.get("cache-control"), "no-store");
});

browsers("a handshake with the origin of its own address may be of a program", () => {
  const isOfProgram = (origin: string, host: string) =>
    isProgram(new Headers({ origin, host, upgrade: "websocket", "sec-websocket-key": "x" }));
  for (const [origin, host] of [["wss://a.b", "a.b:443"], ["ws://a.b:8080", "a.b:8080"]] as const) {
    assert.ok(isOfProgram(origin, host), origin);
  }
  for (const origin of ["wss://a.b/x", "wss://u@a.b", "wss://c.d", "app://a.b", "wss://a.b:80"]) {
    assert.not(isOfProgram(origin, "a.b:443"), origin);
  }
});

browsers.run();
