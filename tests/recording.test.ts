/**
 * Requests of every shape, which a node must get as they were sent, and responses of every shape,
 * which a client must get as the node sent them: below `/v1/node`, and at the root.
 */
import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { type Played, playTcp } from "./_sources.ts";

const recording = suite("calls are recorded at the node");

const IS_BUN = "Bun" in globalThis;
const runtime = IS_BUN ? "bun" : "Deno" in globalThis ? "deno" : "node";
const { serve } = await import(
  `../src/adapters/${runtime}.ts`
) as typeof import("../src/adapters/node.ts");

const parameter = (name: string, place: string) => ({
  ...{ name, in: place, required: place === "path", schema: { type: "string" } },
});
const operation = {
  "x-access": "read",
  parameters: [
    parameter("X-Consistency", "header"),
    parameter("If", "header"),
    parameter("theme", "cookie"),
  ],
  responses: { 200: { description: "" } },
};
const any = { requestBody: { content: { "*/*": {} } } };

const DESCRIPTION = {
  openapi: "3.1.1",
  info: { title: "A node", version: "1" },
  paths: {
    "/things": {
      get: operation,
      post: operation,
      put: operation,
      patch: operation,
      delete: operation,
    },
    "/search": { get: { ...operation, ...any }, delete: { ...operation, ...any } },
    "/things/{id}": { get: { ...operation, parameters: [parameter("id", "path")] } },
  },
};

/** A message as it was on the wire. */
interface Recorded {
  readonly line: string;
  /** `name: value`, with the name in lower case, in order. */
  readonly fields: readonly string[];
  readonly body: string;
}

function parse(bytes: Buffer): Recorded {
  const text = bytes.toString("latin1");
  const at = text.indexOf("\r\n\r\n");
  const [line = "", ...lines] = text.slice(0, at).split("\r\n");
  const fields = lines.map((field) => field.replace(/^[^:]*/, (name) => name.toLowerCase())).sort();
  const isChunked = fields.includes("transfer-encoding: chunked");
  const body = text.slice(at + 4);
  return { line, fields, body: isChunked ? unchunk(body) : body };
}

function unchunk(text: string): string {
  const [start, size] = /^([\da-f]+)\r\n/i.exec(text) ?? ["", "0"];
  const length = parseInt(size!, 16);
  if (length === 0) return "";
  const end = start.length + length;
  return text.slice(start.length, end) + unchunk(text.slice(end + 2));
}

const isWhole = (bytes: Buffer): boolean => {
  const text = bytes.toString("latin1");
  const at = text.indexOf("\r\n\r\n");
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, at))?.[1] ?? 0);
  return at >= 0 && text.length - at - 4 >= length;
};

let received: Recorded[] = [];
/** The bytes that the node sends, after which it closes the connection. */
let answer: string | Buffer = "";
let node: Played;
let port: number;
let close: () => Promise<void>;

recording.before(async () => {
  node = await playTcp((socket) => {
    let bytes = Buffer.alloc(0);
    socket.on("data", (part) => {
      bytes = Buffer.concat([bytes, part as Buffer]);
      if (!isWhole(bytes)) return;
      const request = parse(bytes);
      bytes = Buffer.alloc(0);
      // The service asks whether the node responds.
      if (!request.line.includes("GET / ")) received.push(request);
      socket.end(answer);
    });
  });
  const app = createNodeface({
    node: { url: node.url, kind: "none" },
    description: { name: "a.json", text: JSON.stringify(DESCRIPTION) },
    forward: { open: ["reads"], at_root: true },
    log: () => {},
  });
  const listening = await serve(app, { port: 0, hostname: "127.0.0.1" });
  port = Number(new URL(listening.url).port);
  close = async () => {
    await listening.close();
    await app.close();
  };
});
recording.after(async () => {
  await close();
  await node.close();
});
recording.before.each(() => {
  received = [];
  answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}";
});

function exchange(
  line: string,
  fields: readonly string[],
  body: string | Buffer,
): Promise<Recorded> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const parts: Buffer[] = [];
    socket.on("error", reject).on("data", (part) => parts.push(part as Buffer));
    socket.on("close", () => resolve(parse(Buffer.concat(parts))));
    const head = [line, `Host: localhost:${port}`, "Connection: close", ...fields];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    socket.write(body);
  });
}

const ROOTS = ["/v1/node", ""] as const;

interface Sent {
  readonly issue?: string;
  readonly line: string;
  readonly fields?: readonly string[];
  readonly body?: string | Buffer;
  /** The fields that do not go on, and the reason. */
  readonly dropped?: readonly string[];
  readonly why?: string;
}

const MULTIPART = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n' +
  "Content-Type: application/octet-stream\r\n\r\n\x00\xff\r\n--x--\r\n";
const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, at) => at));

const REQUESTS: readonly Sent[] = [
  // Targets
  { line: "GET /things" },
  { line: "GET /things?" },
  { line: "GET /things?pretty" },
  { line: "GET /things?pretty=&empty" },
  { line: "GET /things?a=1&a=2&a=" },
  { line: "GET /things?filter[state]=open&filter%5Bname%5D=x" },
  { line: "GET /things?ids=1|2|3" },
  { line: "GET /things?ids=1,2%2C3&tags=a%20b" },
  { line: "GET /things?where=%7B%22a%22:[1,2]%7D" },
  { line: "GET /things?q=a+b%2Bc&latin=%FC%ff&bad=%zz%" },
  { line: "GET /things?&&=&a=b=c;d" },
  { line: "GET /things?unknown=1&Limit=-5&limit=many" },
  { line: "GET /things/a%20b%C3%A9" },
  { line: "GET /things/0x1::coin::Coin%3C0x1::a::B%3E" },
  { line: "GET /things/a,b=c:d@e!$&'()*+~._-" },
  { line: "HEAD /things?a=1" },
  { line: "DELETE /things?force" },
  // Fields
  { line: "GET /things", fields: ["accept: application/vnd.b+json;q=0.5, */*"] },
  { line: "GET /things", fields: ["accept-language: de-AT, de;q=0.8"] },
  { line: "PUT /things", fields: ['if-match: "a", W/"b"', "content-length: 0"] },
  { line: "GET /things", fields: ["if-none-match: *", "cache-control: no-cache"] },
  {
    line: "GET /things",
    fields: [
      "if-modified-since: Thu, 01 Jan 1970 00:00:00 GMT",
      "if-unmodified-since: Thu, 01 Jan 1970 00:00:00 GMT",
    ],
  },
  { line: "GET /things", fields: ["range: bytes=0-9", 'if-range: "a"'] },
  {
    line: "GET /things",
    fields: ["range: bytes=0-1,4-5"],
    dropped: ["range: bytes=0-1,4-5"],
    why: "the parts would come back as a type that browsers must not see",
  },
  { line: "POST /things", fields: ["prefer: respond-async", "content-length: 0"] },
  { line: "POST /things", fields: ['idempotency-key: "8e03"', "content-length: 0"] },
  { line: "GET /things", fields: ["x-consistency: strong", "if: (<urn:a>)"] },
  {
    line: "GET /things",
    fields: ["cookie: other=1; theme=dark", "x-nodeface: 1"],
    dropped: ["cookie: other=1; theme=dark", "x-nodeface: 1"],
    why: "only described cookies go on",
  },
  {
    line: "GET /things",
    fields: ["traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
  },
  {
    line: "GET /things",
    fields: ["x-forwarded-for: 10.0.0.1", "authorization: Basic dTpw", "te: trailers"],
    dropped: ["x-forwarded-for: 10.0.0.1", "authorization: Basic dTpw", "te: trailers"],
    why: "they claim an identity, or belong to the connection",
  },
  { line: "GET /things", fields: ["user-agent: curl/8.0", "accept: */*"] },
  // Bodies
  {
    line: "POST /things",
    fields: ["content-type: application/json"],
    body: '{ "a":18446744073709551615, "a":null, }',
  },
  { line: "POST /things", fields: ["content-type: application/json; charset=UTF-8"], body: "é" },
  { line: "PATCH /things", fields: ["content-type: application/merge-patch+json"], body: "{}" },
  {
    line: "POST /things",
    fields: ["content-type: application/x-www-form-urlencoded"],
    body: "a=b+c&a=%ff&&d",
  },
  {
    line: "POST /things",
    fields: ["content-type: multipart/form-data; boundary=x"],
    body: MULTIPART,
  },
  {
    line: "POST /things",
    fields: ["content-type: application/x-ndjson"],
    body: '{"index":{}}\n{"a":1}\n',
  },
  { line: "PUT /things", fields: ["content-type: application/octet-stream"], body: ALL_BYTES },
  { line: "PUT /things", body: "a body without a type" },
  { line: "POST /things", fields: ["content-type: */*"], body: "anything" },
  {
    line: "POST /things",
    fields: ["content-type: application/json", "content-encoding: gzip", "content-language: de"],
    body: gzipSync('{"a":1}'),
  },
  { line: "DELETE /search", fields: ["content-type: application/json"], body: '{"ids":[1]}' },
  // Bun drops the body of a GET, so such a call gets 501.
  ...IS_BUN
    ? []
    : [{ line: "GET /search?q", fields: ["content-type: application/json"], body: '{"q":1}' }],
];

/** Requests that proxies and validators broke, by the public issue that says so. */
const PUBLIC: readonly (Sent & { readonly issue: string })[] = [
  ...IS_BUN ? [] : [{
    issue: "Azure/api-management-developer-portal#1731",
    line: "GET /search",
    fields: ["content-type: application/json"],
    body: '{"query":{"match_all":{}}}',
  }],
  {
    issue: "wiremock/wiremock#627",
    line: "DELETE /search",
    fields: ["content-type: application/json"],
    body: '{"reason":"gone"}',
  },
  {
    issue: "twitchax/AspNetCore.Proxy#112",
    line: "DELETE /search?id=1",
    fields: ["content-type: application/vnd.api+json"],
    body: '{"data":[]}',
  },
  { issue: "cdimascio/express-openapi-validator#133", line: "GET /things?legacy=1&limit=10" },
  {
    issue: "cdimascio/express-openapi-validator#111",
    line: "GET /things?APIKey=test&param1=anotherTest",
  },
  { issue: "PayU/openapi-validator-middleware#140", line: "GET /things?user_id=123456" },
  { issue: "membrane/api-gateway#2224", line: "GET /things?name=0123" },
  { issue: "zaproxy/zaproxy#1284", line: "GET /things", fields: ['if-none-match: "33a64df5"'] },
  {
    issue: "lindenlab/caddy-s3-proxy#10",
    line: "GET /things",
    fields: [
      'if-match: "a"',
      "if-modified-since: Wed, 21 Oct 2015 07:28:00 GMT",
      'if-none-match: "b"',
      "if-unmodified-since: Wed, 21 Oct 2015 07:28:00 GMT",
    ],
  },
  {
    issue: "opensandbox-group/OpenSandbox#1901",
    line: "GET /things?b=2&a=1&b=3&uploads&sig=%E9%FF&s=1;2&q=hello%20world",
  },
  { issue: "fpco/http-reverse-proxy#33", line: "GET /things?program=%2B%2B%2B.&input=" },
  {
    issue: "ProxymanApp/Proxyman#269",
    line: "GET /things?data=123%2Bn&email=a%2Balias%40gmail.com&search[category]=all",
  },
  { issue: "Kong/kong#2040", line: "GET /things?discount=25%&text=100%25%20off" },
  { issue: "rackerlabs/repose#1300", line: "GET /things?q=a%20b+c" },
  {
    issue: "Zibri/cloudflare-cors-anywhere#30",
    line: "GET /things?where=Number!%3Dnull%26%26Name.StartsWith(%22TX%20-%20%22)",
  },
  {
    issue: "elastic/elasticsearch#146526",
    line: "POST /things",
    fields: ["content-type: application/x-ndjson", "content-encoding: zstd"],
    body: Buffer.from("28b52ffd0458110000", "hex"),
  },
  {
    issue: "searchbox-io/Jest#555",
    line: "POST /things",
    fields: ["content-type: application/json", "content-encoding: gzip"],
    body: gzipSync('{"index":{}}\n{"a":1}\n'),
  },
  {
    issue: "logstash-plugins/logstash-output-elasticsearch#552",
    line: "POST /things",
    fields: ["content-type: text/plain; charset=ISO-8859-1"],
    body: '{"index":{}}\n{"a":1}\n',
  },
  {
    issue: "10up/ElasticPress#1187",
    line: "POST /things",
    fields: ["content-type: application/json"],
    body: '{"index":{}}\n{"a":1}\n',
  },
  { issue: "Esri/resource-proxy#174", line: "GET /things", fields: ["range: bytes=32768-862445"] },
  { issue: "oxyno-zeta/s3-proxy#740", line: "GET /things", fields: ["range: bytes=0-"] },
  {
    issue: "Austinb/nginx-upload-module#3",
    line: "POST /things",
    fields: ['content-type: multipart/form-data; boundary="x"'],
    body: MULTIPART,
  },
  {
    issue: "http4k/http4k#749",
    line: "POST /things",
    fields: ["content-type: multipart/form-data; charset=utf-8; boundary=x"],
    body: MULTIPART,
  },
  { issue: "minio/minio-go#2102", line: "PUT /things?partNumber=2&uploadId=a", body: ALL_BYTES },
  { issue: "gaul/s3proxy#461", line: "PUT /things", body: Buffer.alloc(2_100_000, "a") },
];

for (const { issue = "", line, fields = [], body = "", dropped = [] } of [...REQUESTS, ...PUBLIC]) {
  recording(`${issue} ${line} ${fields.join(", ")} arrives as it was sent`, async () => {
    const [method, target] = line.split(/ (.*)/) as [string, string];
    const bytes = Buffer.from(body as string);
    const length = bytes.length > 0 ? [`content-length: ${bytes.length}`] : [];
    for (const root of ROOTS) {
      received = [];
      const sent = [...fields, ...length];
      const { line: status } = await exchange(`${method} ${root}${target} HTTP/1.1`, sent, bytes);
      assert.match(status, /^HTTP\/1\.1 200 /, root);
      assert.is(received.length, 1);
      const [request] = received as [Recorded];
      assert.is(request.line, `${line} HTTP/1.1`);
      const isLast = length.length > 0 && /^(?:GET|DELETE)/.test(line);
      const cookie = dropped.some((field) => field.startsWith("cookie:"))
        ? "cookie: theme=dark"
        : [];
      assert.equal(
        request.fields,
        [
          ...sent.filter((field) => !dropped.includes(field)),
          ...[cookie].flat(),
          "accept-encoding: identity",
          `connection: ${isLast ? "close" : "keep-alive"}`,
          `host: ${new URL(node.url).host}`,
        ].sort(),
      );
      assert.is(request.body, bytes.toString("latin1"));
    }
  });
}

recording("a chunked body arrives whole, with its length", async () => {
  for (const root of ROOTS) {
    received = [];
    const fields = ["transfer-encoding: chunked", "content-type: text/plain"];
    const body = "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n";
    await exchange(`POST ${root}/things HTTP/1.1`, fields, body);
    assert.equal(received.map(({ body }) => body), ["abcde"]);
    assert.ok(received[0]!.fields.includes("content-length: 5"));
    assert.not.match(received[0]!.fields.join("\n"), /transfer-encoding|trailer/);
  }
});

interface Given {
  readonly status: string;
  readonly fields?: readonly string[];
  /** The fields that do not come back. */
  readonly dropped?: readonly string[];
  /** The fields that come back in place of some of `dropped`. */
  readonly added?: readonly string[];
  readonly body?: string;
  /** The body as it is on the wire, if it is not sent with its length. */
  readonly raw?: string;
  readonly method?: string;
}

const JSON_FIELD = "content-type: application/json";
const DOWNLOADED = [
  "content-type: application/octet-stream",
  'content-disposition: attachment; filename="response"',
];

/** A type that browsers could run is sent as a download. */
const downloaded = (type: string, body: string): Given => {
  const field = `content-type: ${type}`;
  return { status: "200 OK", fields: [field], dropped: [field], added: DOWNLOADED, body };
};

const RESPONSES: readonly Given[] = [
  { status: "200 OK", fields: [JSON_FIELD], body: '{ "a":18446744073709551615 }' },
  { status: "200 OK", fields: ["content-type: application/vnd.api+json; version=1"], body: "{}" },
  { status: "200 OK", fields: ["content-type: application/x-ndjson"], body: "{}\n{}\n" },
  { status: "200 OK", fields: ["content-type: text/csv; charset=utf-8"], body: "a,b\n" },
  {
    status: "200 OK",
    fields: ["content-type: text/plain"],
    dropped: ["content-type: text/plain"],
    added: ["content-type: text/plain; charset=utf-8"],
    body: "words",
  },
  { status: "200 OK", fields: ["content-type: image/png"], body: "\x89PNG\r\n\x1a\n\x00" },
  {
    status: "200 OK",
    fields: ["content-type: application/octet-stream"],
    body: "\x00\xff\r\n\r\n",
  },
  downloaded("text/html", "<script>"),
  downloaded("text/event-stream", "data: 1\n\n"),
  downloaded("multipart/mixed; boundary=x", "--x\r\n\r\na\r\n--x--"),
  downloaded("image/svg+xml", "<svg/>"),
  { status: "200 OK", fields: [JSON_FIELD], raw: "2\r\n{}\r\n0\r\n\r\n", body: "{}" },
  {
    status: "200 OK",
    fields: [JSON_FIELD],
    raw: "1;a=b\r\n{\r\n1\r\n}\r\n0\r\nX-Trailer: 1\r\nSet-Cookie: a=b\r\n\r\n",
    body: "{}",
  },
  { status: "201 Created", fields: [JSON_FIELD, "location: things/7?a=b"], body: "{}" },
  {
    status: "201 Created",
    fields: [JSON_FIELD, "location: https://evil.example/"],
    dropped: ["location: https://evil.example/"],
    body: "{}",
  },
  { status: "202 Accepted", fields: [JSON_FIELD, "retry-after: 3"], body: "{}" },
  { status: "204 No Content", fields: ["x-request-id: 7"] },
  { status: "304 Not Modified", fields: ['etag: "a"', "cache-control: max-age=9"] },
  {
    status: "206 Partial Content",
    fields: ["content-type: image/png", "content-range: bytes 0-2/9", "accept-ranges: bytes"],
    body: "abc",
  },
  {
    status: "416 Range Not Satisfiable",
    fields: [JSON_FIELD, "content-range: bytes */9"],
    body: "{}",
  },
  { status: "200 OK", fields: [JSON_FIELD, 'etag: W/"a"', "vary: Accept"], body: "[]" },
  {
    status: "200 OK",
    fields: [JSON_FIELD, "last-modified: Thu, 01 Jan 1970 00:00:00 GMT"],
    body: "[]",
  },
  {
    status: "200 OK",
    fields: [JSON_FIELD, "link: </things?page=2>; rel=next", "x-total-count: 9", "server: n/1"],
    body: "[]",
  },
  { status: "200 OK", fields: ["content-length: 5", JSON_FIELD], method: "HEAD" },
  { status: "400 Bad Request", fields: ["content-type: application/problem+json"], body: "{}" },
  { status: "404 Not Found", fields: [JSON_FIELD, "x-error-code: 7"], body: '{"code":7}' },
  { status: "409 Conflict", fields: [JSON_FIELD], body: "{}" },
  { status: "412 Precondition Failed", fields: [JSON_FIELD], body: "{}" },
  { status: "429 Too Many Requests", fields: [JSON_FIELD, "retry-after: 7"], body: "{}" },
  { status: "503 Service Unavailable", fields: [JSON_FIELD, "retry-after: 9"], body: "{}" },
  { status: "599 Odd", fields: [JSON_FIELD], body: "{}" },
  {
    status: "200 OK",
    fields: [JSON_FIELD, "set-cookie: a=b", "set-cookie: c=d; Domain=example", "refresh: 0"],
    dropped: ["set-cookie: a=b", "set-cookie: c=d; Domain=example", "refresh: 0"],
    body: "{}",
  },
];

/** Fields of this service, or of the connection. */
const OURS =
  /^(?:connection|date|keep-alive|transfer-encoding|content-length|vary|content-security-policy|cross-origin-.*|x-content-type-options|x-frame-options|referrer-policy|permissions-policy|x-dns-prefetch-control|cache-control: (?:private, )?no-store):?/;

for (const given of RESPONSES) {
  const { status, fields = [], dropped = [], added = [], body = "", raw, method = "GET" } = given;
  recording(`${method} ${status} ${fields.join(", ")} comes back as it was sent`, async () => {
    const framing = raw === undefined
      ? body === "" ? [] : [`content-length: ${body.length}`]
      : ["transfer-encoding: chunked"];
    const lines = [`HTTP/1.1 ${status}`, "connection: close", ...fields, ...framing, ""];
    answer = Buffer.from(`${lines.join("\r\n")}\r\n${raw ?? body}`, "latin1");
    for (const root of ROOTS) {
      received = [];
      const response = await exchange(`${method} ${root}/things HTTP/1.1`, [], "");
      assert.is(response.line.split(" ")[1], status.split(" ")[0]);
      assert.is(response.body, body);
      const wanted = [...fields.filter((field) => !dropped.includes(field)), ...added];
      for (const field of wanted) assert.ok(response.fields.includes(field), field);
      const others = response.fields.filter((field) =>
        !wanted.includes(field) && !OURS.test(field)
      );
      assert.equal(others, []);
    }
  });
}

for (const status of ["301 Moved", "307 Temporary", "401 No", "407 No", "421 No", "425 Early"]) {
  recording(`${status} of the node becomes 502`, async () => {
    answer = `HTTP/1.1 ${status}\r\nlocation: /send\r\ncontent-length: 0\r\n\r\n`;
    for (const root of ROOTS) {
      const { line, fields } = await exchange(`GET ${root}/things HTTP/1.1`, [], "");
      assert.match(line, /^HTTP\/1\.1 502 /);
      assert.not.match(fields.join("\n"), /\blocation:/);
    }
  });
}

recording.run();
