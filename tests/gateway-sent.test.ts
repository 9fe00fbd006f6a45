/** Tests that calls reach the node as they were sent, and responses the client as they were given. */
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import { isForwardable, STANDARD } from "../src/gateway/request-headers.ts";
import { nodeOf, type ReceivedRequest, textOf, TOKEN, until } from "./_gateway.ts";
import { playTcp } from "./_sources.ts";

const passing = suite("calls as they were sent");

const node = nodeOf(passing);

const parameter = (name: string, place: string, more = {}) => ({
  ...{ name, in: place, schema: { type: "string" } },
  ...more,
});

const content = { "application/json": { schema: { type: "object", required: ["q"] } } };
const responses = { 200: { description: "" } };
const read = { "x-access": "read", responses };

const DESCRIPTION = {
  openapi: "3.1.1",
  info: { title: "A node", version: "1" },
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer" },
      key: { type: "apiKey", in: "header", name: "X-Node-Key" },
      session: { type: "apiKey", in: "cookie", name: "session" },
    },
  },
  paths: {
    "/things": {
      get: { ...read, parameters: [parameter("limit", "query", { required: true })] },
      post: read,
      put: read,
      patch: read,
      delete: read,
    },
    "/things/{id}": { get: { ...read, parameters: [parameter("id", "path", { required: true })] } },
    "/checked": { post: { ...read, "x-checked": true, requestBody: { content } } },
    "/search": {
      get: { ...read, requestBody: { content } },
      delete: { ...read, requestBody: { required: true, content } },
    },
    "/described": {
      get: {
        ...read,
        parameters: [
          parameter("X-Consistency", "header"),
          parameter("theme", "cookie"),
          parameter("token", "query"),
          parameter("_method", "query"),
        ],
      },
    },
    "/own": { get: { ...read, security: [{ bearer: [] }, { key: [] }, { session: [] }] } },
  },
};

const IS_BUN = "Bun" in globalThis;
const runtime = IS_BUN ? "bun" : "Deno" in globalThis ? "deno" : "node";
const { serve } = await import(
  `../src/adapters/${runtime}.ts`
) as typeof import("../src/adapters/node.ts");

interface Service {
  readonly port: number;
  close(): Promise<void>;
}

async function open(options: NodefaceOptions = {}): Promise<Service> {
  const app = createNodeface({
    node: { url: node.url, kind: "none" },
    description: { name: "a.json", text: JSON.stringify(DESCRIPTION) },
    forward: "reads",
    log: () => {},
    ...options,
  });
  const listening = await serve(app, { port: 0, hostname: "127.0.0.1" });
  const close = async () => {
    await listening.close();
    await app.close();
  };
  return { port: Number(new URL(listening.url).port), close };
}

let service: Service;
passing.before(async () => void (service = await open()));
passing.after(() => service.close());

interface Sent {
  readonly target: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** True if the body is sent as it is, without its length. */
  readonly isFramed?: boolean;
}

/** Sends a request byte for byte, and returns the head and the content of the response. */
function exchange(
  { target, method = "GET", headers = {}, body = "", isFramed = false }: Sent,
  to: Service = service,
): Promise<[head: string, content: string]> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const fields = { host: `localhost:${to.port}`, connection: "close", ...headers };
  const length = bytes.length > 0 && !isFramed ? { "content-length": String(bytes.length) } : {};
  const lines = Object.entries({ ...fields, ...length }).map(([name, value]) =>
    `${name}: ${value}`
  );
  return new Promise((resolve, reject) => {
    const socket = connect(to.port, "127.0.0.1");
    let text = "";
    socket.on("error", reject).on("data", (part) => text += part.toString("latin1"));
    socket.on("close", () => {
      const at = text.indexOf("\r\n\r\n");
      resolve([text.slice(0, at), text.slice(at + 4)]);
    });
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    socket.write(bytes);
  });
}

const hexOf = (letter: string) => letter.charCodeAt(0).toString(16);

const statusOf = ([head]: readonly string[]) => Number(head!.split(" ")[1]);

const HEADERS: Readonly<Record<string, string>> = {
  "accept": "text/event-stream;q=0.5, application/cbor , nonsense",
  "accept-language": "de, en;q=0.5",
  "cache-control": "max-age=0",
  "content-language": "de",
  "idempotency-key": '"8e03978e"',
  "if-match": '"v0", W/"v1"',
  "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT",
  "if-none-match": "*",
  "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT",
  "prefer": "return=minimal; a=b",
  "range": "bytes=0-499",
  "if-range": '"v0"',
  "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  "tracestate": "congo=t61rcWkgMzE",
  "user-agent": "a-program/1.0 (+https://program.example)",
};

/** The queries that a node must get byte for byte. */
const QUERIES: readonly string[] = [
  ...["", "?", "?pretty", "?pretty=", "?pretty&limit=1", "?limit=a&limit=b&limit=", "?&&=&a=b=c"],
  ...["?filter[state]=x&filter%5Bname%5D=y", "?tag=a|b", "?tag=a%7Cb", "?ids=1,2%2C3", "?id=1%202"],
  ...["?filter=%7B%22color%22:%22red%22%7D", "?a={b}|^`", "?$filter=name%20eq%20%27x%27"],
  // On Bun, the URL parser encodes quotes, which means the same.
  ...IS_BUN ? [] : ['?filter={"color":"red"}', "?$filter=name%20eq%20'x'", "?a=<b>"],
  ...["?q=a+b%2B", "?latin=%FC%ff", "?bad=%zz%", "?beta=true/../x", "?a;b;c=d", "?x=%00%0d%0a"],
  ...["?unknown=1&Limit=2", "?__proto__=1", `?long=${"x".repeat(3000)}`],
];

for (const query of QUERIES) {
  passing(`the query ${query.slice(0, 40) || "(none)"} arrives byte for byte`, async () => {
    const response = await exchange({ target: `/v1/node/things${query}` });
    assert.is(statusOf(response), 200, response.join("\n"));
    assert.equal(node.received.map(({ url }) => url), [`/things${query}`]);
  });
}

const TYPES: readonly (readonly [type: string, body: string | Uint8Array, coding?: string])[] = [
  ["application/json", '{ "a" : 18446744073709551615, "a": null, }'],
  ["application/json; charset=utf-16", new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0])],
  ["application/merge-patch+json", "nonsense"],
  ["application/x-www-form-urlencoded", "a=b+c&a=%ff&&d"],
  [
    "Multipart/Form-Data; boundary=x",
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
  ],
  ["application/x-ndjson", '{"index":{}}\n{"a":1}\n'],
  ["application/octet-stream", new Uint8Array(70_000).map((_, at) => at & 0xff)],
  ["application/json", gzipSync("{}"), "gzip"],
  ["*/*", "anything"],
  ["text/html", "<b>"],
  ["", "without a type"],
];

for (const [type, body, coding] of TYPES) {
  for (const method of ["POST", "PUT", "PATCH"]) {
    passing(
      `${method} with ${type || "no type"} ${coding ?? ""} arrives byte for byte`,
      async () => {
        const headers = {
          ...type && { "content-type": type },
          ...coding && { "content-encoding": coding },
        };
        const response = await exchange({ target: "/v1/node/things", method, headers, body });
        assert.is(statusOf(response), 200, response.join("\n"));
        const [request] = node.received as [ReceivedRequest];
        assert.is(Buffer.compare(request.body, Buffer.from(body as string)), 0);
        assert.equal([request.method, request.headers["content-type"]], [
          method,
          type || undefined,
        ]);
        assert.is(request.headers["content-encoding"], coding);
      },
    );
  }
}

passing("standard headers arrive as they were sent, and no others", async () => {
  const others = { "x-other": "1", "x-consistency": "1", "authorization": "Basic dTpw", "te": "a" };
  await exchange({ target: "/v1/node/things", headers: { ...HEADERS, ...others } });
  const { host: _, connection, "accept-encoding": coding, ...received } = node.received[0]!.headers;
  assert.equal([connection, coding], ["keep-alive", "identity"]);
  assert.equal(received, HEADERS);
});

passing("every header of the IANA registry is decided", () => {
  assert.equal(STANDARD.filter((name) => !(name in HEADERS)), ["content-encoding", "content-type"]);
  for (
    const name of [
      ...["Connection", "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Host"],
      ...["Expect", "HTTP2-Settings", "Max-Forwards", "Keep-Alive", "Via", "Forwarded", "Origin"],
      ...["Referer", "Proxy-Authorization", "Sec-Fetch-Site", "Service-Worker", "Early-Data"],
      ...["Authorization", "Cookie", "Accept-Encoding", "Access-Control-Request-Method"],
      ...["X-Forwarded-For", "X_Forwarded_For", "Cf-Access-Jwt-Assertion", "X-Nodeface"],
    ]
  ) assert.not.ok(isForwardable(name), name);
  for (const name of ["X-Vault-Token", "Accept-Version", "Date", "X-Api-Key", "If"]) {
    assert.ok(isForwardable(name), name);
  }
});

passing("described headers and cookies arrive, others and a browser's cookies do not", async () => {
  const headers = {
    ...{ "x-nodeface": "1", "x-consistency": "strong", "cookie": "a=1; theme=dark; theme2=b" },
  };
  await exchange({ target: "/v1/node/described", headers });
  assert.is(node.received[0]!.headers["x-consistency"], "strong");
  assert.is(node.received[0]!.headers.cookie, "theme=dark");
  for (const sign of [{ "user-agent": "Mozilla/5.0" }, { "accept-language": "de" }]) {
    node.received = [];
    await exchange({ target: "/v1/node/described", headers: { ...headers, ...sign } });
    assert.is(node.received[0]!.headers.cookie, undefined);
  }
});

passing(
  "a program's name that begins like a browser's does not arrive: Kubo refuses it",
  async () => {
    const agent =
      "Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.6";
    const response = await exchange({
      target: "/v1/node/things",
      headers: { "user-agent": agent },
    });
    assert.is(statusOf(response), 200, response.join("\n"));
    assert.match(node.received[0]!.headers["user-agent"]!, /^nodeface\//);
  },
);

passing("a client's own credentials for the node arrive if nobody here has any", async () => {
  const headers = {
    ...{ "authorization": "Bearer own", "x-node-key": "own", "cookie": "session=own" },
    "x-nodeface": "1",
  };
  node.answer = (_, response) => response.writeHead(401, { "x-reason": "no" }).end("words");
  const [head, text] = await exchange({ target: "/v1/node/own", headers });
  assert.match(head, /^HTTP\/1.1 401 /);
  assert.match(head, /cache-control: private, no-store/i);
  assert.is(text, "words");
  const { authorization, "x-node-key": key, cookie } = node.received[0]!.headers;
  assert.equal([authorization, key, cookie], ["Bearer own", "own", "session=own"]);
  assert.is(statusOf(await exchange({ target: "/v1/node/own" })), 502);
  process.env.GATEWAY_SENT_TOKEN = TOKEN;
  const forward = {
    open: ["reads"],
    clients: [{ name: "app", allow: ["POST /things"], token_env: "GATEWAY_SENT_TOKEN" }],
  };
  const withToken = await open({ forward });
  const withSecret = await open({
    node: { url: node.url, kind: "none", auth: { bearer_env: "GATEWAY_SENT_TOKEN" } },
  });
  for (
    const [other, status, expected, session] of [
      [withToken, 401, undefined, "session=own"],
      [withSecret, 502, `Bearer ${TOKEN}`, undefined],
    ] as const
  ) {
    node.received = [];
    assert.is(statusOf(await exchange({ target: "/v1/node/own", headers }, other)), status);
    assert.is(node.received[0]!.headers.authorization, expected);
    assert.is(node.received[0]!.headers.cookie, session);
    await other.close();
  }
});

passing("a header, path or query that holds a client's token is refused", async () => {
  process.env.GATEWAY_SENT_TOKEN = TOKEN;
  const forward = {
    open: ["reads"],
    clients: [{ name: "app", allow: ["POST /things"], token_env: "GATEWAY_SENT_TOKEN" }],
  };
  const other = await open({ forward });
  for (
    const word of [
      TOKEN,
      encodeURIComponent(btoa(`u:${TOKEN}`)),
      `%${hexOf(TOKEN[0]!)}${TOKEN.slice(1)}`,
    ]
  ) {
    for (const target of [`/v1/node/things?api_key=${word}`, `/v1/node/things/${word}`]) {
      assert.is(statusOf(await exchange({ target }, other)), 400, target);
    }
  }
  for (const name of ["prefer", "user-agent", "if-none-match"]) {
    const headers = { [name]: `"${TOKEN}"` };
    assert.is(statusOf(await exchange({ target: "/v1/node/things", headers }, other)), 400, name);
  }
  for (const value of [TOKEN, `Bearer ${TOKEN}`, `Basic ${btoa(`u:${TOKEN}`)}`]) {
    const headers = { "x-consistency": value };
    assert.is(statusOf(await exchange({ target: "/v1/node/described", headers }, other)), 400);
  }
  assert.equal(node.received, []);
  await other.close();
});

/** Calls that are refused because servers read them in different ways. */
const REFUSED: readonly (readonly [status: number, sent: Sent])[] = [
  [415, { target: "/things", body: "GET /stop HTTP/1.1\r\n\r\n" }],
  [415, { target: "/things", method: "DELETE", body: "{}" }],
  [400, { target: "/things", headers: { connection: "close, If-Match", "if-match": '"a"' } }],
  [431, { target: "/things", headers: { prefer: "x".repeat(5000), tracestate: "y".repeat(4000) } }],
  [400, { target: "/things?token=x" }],
  [400, { target: "/things?%74oken=x" }],
  [400, { target: "/things?access_token=x" }],
  [400, { target: "/things?_method=DELETE", method: "POST" }],
  [400, { target: "/things?a=b&_Metho%64=DELETE" }],
  [400, { target: "/things?.method=DELETE" }],
  [400, { target: "/things?X-HTTP-Method-Override[]=DELETE" }],
  [400, { target: "/things?_method%00=DELETE" }],
  ...["X-HTTP-Method", "x-http-method-override", "X-Method-Override"].map((name) =>
    [400, { target: "/things", headers: { [name]: "DELETE" } }] as const
  ),
  ...["application/x-www-form-urlencoded", "application/x-www-form-urlencoded,x", ""].map((type) =>
    [400, {
      ...{ target: "/things", method: "POST", body: "a=b&_method=DELETE" },
      headers: { ...type && { "content-type": type } },
    }] as const
  ),
  ...[
    'name="_method"',
    "name='_method'",
    "x\r\nContent-ID: <_method>",
    "name=_method",
    "name*=utf-8''%5Fmethod",
    'x=y;\r\n\tname="_\\method"',
  ].map(
    (name) =>
      [400, {
        ...{ target: "/things", method: "POST" },
        headers: { "content-type": "multipart/form-data; boundary=x" },
        body: `--x\r\nContent-Disposition: form-data; ${name}\r\n\r\nDELETE\r\n--x--`,
      }] as const,
  ),
  ...[
    ["application/x-www-form-urlencoded", `a=${"b".repeat(65_530)}&_method=DELETE`],
    ["application/x-www-form-urlencoded", `${"+".repeat(70_000)}_method=DELETE`],
    [
      "multipart/form-data",
      `${"x\r\n".repeat(30_000)}Content-Disposition: form-data; name=_method`,
    ],
    ["multipart/form-data", `Content-Disposition: a="${"x".repeat(70_000)}"; name=_method`],
    ["application/json", '{"a":1,"_method":"DELETE"}'],
    ["application/vnd.a+json", '{"\\u005fm\\u0065thod" :"DELETE"}'],
    ["text/plain; x=/json", '{"_method":"DELETE"}'],
    ["application/x-www-form-urlencoded; x=/json", '{"_method":"DELETE"}'],
    ["text/json; charset=utf-8", `${" ".repeat(65_530)}{"_method":"DELETE"}`],
  ].map(([type, body]) =>
    [400, {
      target: "/things",
      method: "POST",
      headers: { "content-type": type! },
      body: body!,
    }] as const
  ),
  ...["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"].map((type) =>
    [415, {
      target: "/things",
      method: "POST",
      headers: { "content-type": type, "content-encoding": "gzip" },
      body: "\x1f\x8b",
    }] as const
  ),
];

for (const [status, sent] of REFUSED) {
  const { target, method = "GET", headers, body = "" } = sent;
  const what = `${method} ${target} ${JSON.stringify(headers ?? "")} ${body}`.slice(0, 120);
  passing(`${what} is refused with ${status}`, async () => {
    const response = await exchange({ ...sent, target: `/v1/node${target}` });
    assert.is(statusOf(response), status, response.join("\n"));
    assert.equal(node.received, []);
  });
}

const chunked = (body: string, method = "DELETE", more = {}): Sent => ({
  ...{ target: "/v1/node/things", method, body, isFramed: true },
  headers: { ...more, "transfer-encoding": "chunked" },
});

passing("empty content without a length is no content, and other content is refused", async () => {
  // On Bun, nobody knows the content of a GET.
  for (const method of IS_BUN ? ["DELETE"] : ["DELETE", "GET"]) {
    for (const more of [{}, { "content-type": "text/plain" }]) {
      node.forget();
      const response = await exchange(chunked("0\r\n\r\n", method, more));
      assert.is(statusOf(response), 200, response.join("\n"));
      const { "transfer-encoding": coding, "content-length": length } = node.received[0]!.headers;
      assert.equal([coding, length], [undefined, undefined]);
      assert.is(statusOf(await exchange(chunked("1\r\n{\r\n0\r\n\r\n", method, more))), 415);
      assert.is(node.received.length, 1);
    }
  }
});

passing("a client that does not say whether its content is empty takes no slot", async () => {
  const other = await open({ forward: { open: ["reads"], concurrency: 1 } });
  const late = connect(other.port, "127.0.0.1").on("error", () => {});
  late.write("DELETE /v1/node/things HTTP/1.1\r\nhost: localhost\r\n");
  late.write("transfer-encoding: chunked\r\n\r\n");
  assert.is(statusOf(await exchange({ target: "/v1/node/things/1" }, other)), 200);
  assert.is(node.received.length, 1);
  late.destroy();
  await other.close();
});

passing("a long content, and a method that is a value, are sent as they came", async () => {
  const contents = [
    ["application/json", `{"a":"_method","b":["_method"],"c":"${"x".repeat(2_000_000)}"}`],
    ["application/x-www-form-urlencoded", `a=_method&${"b".repeat(2_000_000)}=x_method`],
    ["multipart/form-data; boundary=x", `--x\r\n\r\n_method=a${"\r\n".repeat(1_000_000)}--x--`],
    ["application/octet-stream", "&_method=DELETE".repeat(100_000)],
  ] as const;
  for (const [type, body] of contents) {
    node.forget();
    const headers = { "content-type": type };
    const sent = { target: "/v1/node/things", method: "POST", headers, body };
    assert.is(statusOf(await exchange(sent)), 200, type);
    assert.ok(textOf(node.received[0]!) === body, type);
  }
});

passing("the operator's file may describe a token and another method", async () => {
  const target = "/v1/node/described?token=x&_method=PUT";
  assert.is(statusOf(await exchange({ target })), 200);
  assert.is(node.received[0]!.url, "/described?token=x&_method=PUT");
});

passing("a description from the network describes neither a token nor another method", async () => {
  const text = JSON.stringify(DESCRIPTION);
  node.answer = ({ url }, response) =>
    response.writeHead(200, { "content-type": "application/json" })
      .end(url === "/d.json" ? text : "{}");
  const other = await open({
    description: new URL("/d.json", node.url).href,
    forward: { open: ["GET /described"] },
  });
  const target = "/v1/node/described";
  assert.is(statusOf(await exchange({ target }, other)), 200);
  for (const query of ["token=x", "_method=PUT"]) {
    assert.is(statusOf(await exchange({ target: `${target}?${query}` }, other)), 400, query);
  }
  await other.close();
});

passing("calls that ask for a stream run one at a time", async () => {
  const held: ServerResponse[] = [];
  node.answer = (_, response) => void held.push(response);
  const headers = { accept: "application/json, text/event-stream" };
  const stream = { target: "/v1/node/things", headers };
  const calls = [stream, stream, { target: "/v1/node/things?plain" }].map((one) => exchange(one));
  await until(() => held.length === 2);
  assert.equal(node.received.map(({ url }) => url).sort(), ["/things", "/things?plain"]);
  for (const response of held) response.end("{}");
  await until(() => held.length === 3);
  held[2]!.end("{}");
  assert.equal((await Promise.all(calls)).map(statusOf), [200, 200, 200]);
});

passing("a described body of GET or DELETE has a connection of its own", async () => {
  const requests: string[] = [];
  // This server reads the body of a GET as the next request, as Python's http.server does.
  const naive = await playTcp((socket) => {
    let isFirst = true;
    socket.on("error", () => {}).on("data", (bytes) => {
      for (const line of String(bytes).match(/^[A-Z]+ \/\S* HTTP\/1\.1/gm) ?? []) {
        requests.push(line);
      }
      const isClosing = /connection: close/i.test(String(bytes));
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`);
      if (isClosing && isFirst) socket.end();
      isFirst = false;
    });
  });
  const other = await open({ node: { url: naive.url, kind: "none" } });
  const body = '{"q":1}';
  const methods = IS_BUN ? ["DELETE", "DELETE"] : ["GET", "DELETE", "GET"];
  for (const method of methods) {
    const headers = { "content-type": "application/json" };
    const response = await exchange({ target: "/v1/node/search", method, headers, body }, other);
    assert.is(statusOf(response), 200, response.join("\n"));
    assert.is(statusOf(await exchange({ target: "/v1/node/things" }, other)), 200);
  }
  await other.close();
  await naive.close();
  const called = requests.filter((line) => !line.startsWith("GET / "));
  const lines = methods.flatMap((method) => [`${method} /search`, "GET /things"]);
  assert.equal(called, lines.map((line) => `${line} HTTP/1.1`));
});

passing("a described body of GET arrives byte for byte", async () => {
  for (const method of ["GET", "DELETE"]) {
    node.received = [];
    const headers = { "content-type": "application/json" };
    const response = await exchange({
      ...{ target: "/v1/node/search", method, headers, body: '{"q":"é"}' },
    });
    if (IS_BUN && method === "GET") {
      assert.is(statusOf(response), 501);
      continue;
    }
    const [request] = node.received as [ReceivedRequest];
    assert.equal([request.method, new TextDecoder().decode(request.body)], [method, '{"q":"é"}']);
    assert.is(request.headers.connection, "close");
  }
});

passing("a length without content may be longer than a response may be", async () => {
  const length = String(40 * 1024 * 1024);
  node.answer = (request, response: ServerResponse) =>
    response.writeHead(request.headers["if-none-match"] ? 304 : 200, { "content-length": length })
      .end();
  for (const [method, headers, status] of [["HEAD", {}, 200], ["GET", NONE_MATCH, 304]] as const) {
    const [head] = await exchange({ method, target: "/v1/node/things", headers });
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `), method);
  }
});

const NONE_MATCH = { "if-none-match": '"v0"' };

type Given = readonly [status: number, headers: Readonly<Record<string, string>>, body: string];

/** Responses of the node that reach the client as they are. */
const GIVEN: readonly Given[] = [
  ...[200, 201, 202, 203, 400, 402, 403, 404, 405, 406, 409, 410, 412, 413, 415, 418, 422, 423, 428]
    .map((status): Given => [status, { "content-type": "application/json" }, '{ "of":"the node"}']),
  ...[429, 500, 501, 502, 503, 504, 507, 599].map((status): Given => [
    status,
    { "content-type": "text/plain; charset=utf-8", "retry-after": "7", "x-ratelimit-reset": "8" },
    "words of the node",
  ]),
  [200, { "content-type": "application/json", etag: 'W/"v1"', vary: "Accept, Prefer" }, "[]"],
  [200, { "content-type": "application/vnd.api+json; version=1", link: "</b>; rel=next" }, "{}"],
  [200, { "content-type": "image/png", "cache-control": "public, max-age=60" }, "\x89PNG"],
  [206, { "content-type": "text/plain; charset=utf-8", "content-range": "bytes 0-2/9" }, "abc"],
  [416, { "content-type": "application/json", "content-range": "bytes */9" }, "{}"],
  [201, { "content-type": "application/json", location: "things/7?a=b" }, "{}"],
  [202, { "content-type": "application/json", location: "../node/jobs/7" }, "{}"],
  [304, { etag: '"v0"', "last-modified": "Thu, 01 Jan 1970 00:00:00 GMT" }, ""],
  [204, { "x-request-id": "7" }, ""],
  [
    200,
    { "content-type": "text/csv; charset=utf-8", "x-next-cursor": "abc", server: "n/1" },
    "a,b",
  ],
];

for (
  const [status, headers, body] of GIVEN.filter(([, { location }]) => !location?.startsWith(".."))
) {
  passing(`${status} with ${JSON.stringify(headers).slice(0, 70)} comes back alike`, async () => {
    node.answer = (_, response: ServerResponse) =>
      response.writeHead(status, headers).end(body, "latin1");
    const [head, text] = await exchange({ target: "/v1/node/things" });
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `));
    for (const [name, value] of Object.entries(headers)) {
      assert.ok(
        head.toLowerCase().includes(`\r\n${name}: ${value}`.toLowerCase()),
        `${name}\n${head}`,
      );
    }
    const isChunked = /transfer-encoding: chunked/i.test(head);
    if (!isChunked) assert.is(text, body);
  });
}

/** Headers that would steer browsers, proxies or caches. */
const STEERING: readonly string[] = [
  ...["Set-Cookie", "Set-Login", "IDP-SignIn-Status", "Refresh", "SourceMap", "WWW-Authenticate"],
  ...["Clear-Site-Data", "Service-Worker-Allowed", "Strict-Transport-Security", "Accept-CH", "NEL"],
  ...["Access-Control-Allow-Origin", "Cross-Origin-Opener-Policy", "Timing-Allow-Origin"],
  ...["Attribution-Reporting-Register-Source", "Use-As-Dictionary", "No-Vary-Search", "Alt-Svc"],
  ...["Proxy-Authenticate", "X-Accel-Redirect", "X-Sendfile", "X-Sendfile-Type", "X-Reproxy-File"],
  ...["X-LiteSpeed-Location", "Surrogate-Control", "CDN-Cache-Control", "Expires", "Age"],
  ...["Cloudflare-CDN-Cache-Control", "X-Nodeface", "X-DNS-Prefetch-Control", "Location"],
];

passing("headers that steer browsers, proxies and caches are not passed on", async () => {
  node.answer = (_, response) =>
    response.writeHead(200, Object.fromEntries(STEERING.map((name) => [name, "nodes"]))).end("{}");
  const [head] = await exchange({ target: "/v1/node/things" });
  assert.not.match(head, "nodes");
});

passing("the type of a checked body is sent without parameters", async () => {
  const headers = { "content-type": "Application/JSON; charset=utf-16" };
  const sent = { target: "/v1/node/checked", method: "POST", headers, body: '{"q":1}' };
  assert.is(statusOf(await exchange(sent)), 200);
  assert.is(node.received[0]!.headers["content-type"], "application/json");
  const coded = { ...sent, headers: { ...headers, "content-encoding": "gzip" } };
  assert.is(statusOf(await exchange(coded)), 415);
});

passing("a location that leaves the node is not passed on", async () => {
  for (
    const location of [
      "/v1/rpc",
      "//evil.example",
      "https://evil.example/",
      "../../rpc",
      "%2e%2e/../..",
    ]
  ) {
    node.answer = (_, response) => response.writeHead(201, { location }).end();
    const [head] = await exchange({ target: "/v1/node/things" });
    assert.not.match(head, /\r\nlocation:/i);
  }
});

passing("headers that the node's Connection names are not passed on", async () => {
  const headers = { connection: "X-Hop, keep-alive", "x-hop": "1", "x-end": "2" };
  node.answer = (_, response) => response.writeHead(200, headers).end();
  const [head] = await exchange({ target: "/v1/node/things" });
  assert.match(head, /\r\nx-end: 2/i);
  assert.not.match(head, /\r\nx-hop:/i);
});

passing("HEAD has the headers of GET, with the length of its content", async () => {
  node.answer = (_, response) => response.writeHead(200, { "content-length": "5" }).end();
  const [head, text] = await exchange({ target: "/v1/node/things?a", method: "HEAD" });
  assert.match(head, /^HTTP\/1.1 200 /);
  assert.match(head, /\r\ncontent-length: 5\b/i);
  assert.is(text, "");
  assert.equal(node.received.map(({ method, url }) => `${method} ${url}`), ["HEAD /things?a"]);
});

passing(
  "refusals are application/json for a client that does not ask for problem details by name",
  async () => {
    const typeFor = async (accept?: string) => {
      const headers: Record<string, string> = accept === undefined ? {} : { accept };
      const [head, text] = await exchange({ target: "/v1/node/none", headers });
      const { detail, message } = JSON.parse(
        text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1),
      );
      assert.is(message, detail);
      return /content-type: (\S+)/i.exec(head)![1];
    };
    assert.is(await typeFor(), "application/json");
    assert.is(await typeFor("*/*"), "application/json");
    assert.is(await typeFor("application/problem+json"), "application/problem+json");
    assert.is(await typeFor("application/json, */*;q=0.1"), "application/json");
    assert.is(
      await typeFor("application/json, application/problem+json"),
      "application/problem+json",
    );
  },
);

passing.run();
