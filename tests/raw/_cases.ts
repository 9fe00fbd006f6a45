/**
 * Raw requests, each with the expected status. `_differences.ts` lists the runtimes that respond
 * with a different status.
 */

import { ask } from "../_app.ts";

export interface Case {
  name: string;
  /** The request as a Latin-1 string, in which each character is one byte. */
  bytes: string;
  status: number | "closed";
  /** The number of responses. @default 1 */
  answers?: number;
  /**
   * True if the responses have a content length but no body, like responses to HEAD. @default false
   */
  bodiless?: boolean;
}

const HOST = "Host: localhost\r\n";

/** The ETag of `/v1/health` does not depend on the start time. */
const HEALTH = (await ask("/v1/health")).headers.get("etag");

const get = (path: string, ...lines: string[]) => request("GET", path, ...lines);
const request = (method: string, path: string, ...lines: string[]) =>
  `${method} ${path} HTTP/1.1\r\n${HOST}${lines.map((line) => `${line}\r\n`).join("")}\r\n`;

const hosts = (status: number, ...names: string[]): Case[] =>
  names.map((name) => ({
    name: `Host: ${JSON.stringify(name)}`,
    bytes: `GET /v1/info HTTP/1.1\r\nHost: ${name}\r\n\r\n`,
    status,
  }));

const paths = (status: number, ...targets: string[]): Case[] =>
  targets.map((target) => ({ name: `GET ${target}`, bytes: get(target), status }));

const codings = (status: number, ...values: string[]): Case[] =>
  values.map((value) => ({
    name: `Accept-Encoding: ${value}`,
    bytes: get("/spec.json", `Accept-Encoding: ${value}`),
    status,
  }));

const conditions = (status: number, ...lines: string[]): Case[] =>
  lines.map((line) => ({ name: line, bytes: get("/v1/health", line), status }));

const methods = (status: number | "closed", path: string, ...names: string[]): Case[] =>
  names.map((name) => ({
    name: `${name} ${path}`,
    bytes: request(name, path),
    status,
    bodiless: name === "HEAD",
  }));

const raw = (status: number | "closed", name: string, bytes: string, answers = 1): Case => ({
  name,
  bytes,
  status,
  answers,
});

const chunks = (status: number, name: string, content: string): Case =>
  raw(
    status,
    `${name}, then a request`,
    `${request("POST", "/v1/info", "Transfer-Encoding: chunked")}${content}${get("/v1/health")}`,
    2,
  );

export const CASES: readonly Case[] = [
  ...paths(200, "/v1/spec", "/v1/info", "/v1/health", "/spec.json", "/spec.yaml", "/v1/spec.json"),
  ...paths(200, "/v1/ready", "/v1/spec.yaml", "/.well-known/api-catalog", "/favicon.ico"),
  ...paths(307, "/", "/v1", "/v1/", "/?a=b", "/v1?x=/"),
  ...paths(
    200,
    "/v1/info?",
    "/v1/info?%zz",
    "/v1/info?a=1&a=2",
    "/v1/info?a[b]=c",
    "/v1/../v1/info",
  ),
  ...paths(200, "/./v1/info", "/v1/./info", "/v1/%2e%2e/v1/info", "/x/%2E%2e/v1/info"),
  ...paths(
    404,
    "/nope",
    "/V1/INFO",
    "/v1/info/",
    "/v1//info",
    "//v1/info",
    "//evil.example/v1/info",
  ),
  ...paths(404, "///evil.example", "/%zz", "/v1/info%", "/v1%2finfo", "/%2fv1/info", "/v1/info%00"),
  ...paths(404, "/v1/info;a=b", "/v1/info.json", "/.env", "/package.json", "/../package.json"),
  ...paths(404, "/assets", "/assets/", "/assets/x", "/assets/x/y", "/assets/x/chunks/y"),
  ...paths(404, "/assets/manifest.json", "/assets/../package.json", "/assets/%2e%2e/manifest.json"),
  ...paths(
    404,
    "/assets/..%2fmanifest.json",
    "/assets/..%5cmanifest.json",
    "/assets/x/..%2f..%2fy",
  ),
  ...paths(
    404,
    "/assets/%252e%252e/y",
    "/assets/__proto__/constructor",
    "/assets/x/%00",
    "/assets/~/y",
  ),
  ...paths(404, "/v1/spec/..%2finfo", `/${"a".repeat(4000)}`, "/%E2%82%AC", "/*", "/:folder/:file"),
  ...paths(414, `/${"a".repeat(8500)}`, `/v1/info?${"a".repeat(9000)}`),
  ...methods(200, "/v1/info", "GET", "HEAD"),
  ...methods(204, "/v1/info", "OPTIONS"),
  ...methods(405, "/v1/info", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"),
  ...methods(404, "/nope", "GET", "HEAD", "OPTIONS", "POST", "DELETE", "TRACE"),
  ...methods(404, "/*", "OPTIONS", "POST"),
  ...methods(405, "/", "POST"),
  ...methods(405, "/v1/", "DELETE"),
  ...hosts(200, "localhost", "LOCALHOST", "localhost:1", "a.localhost", "127.0.0.1"),
  ...hosts(
    200,
    "127.1.2.3:8080",
    "localhost:",
    "localhost:00080",
    "localhost.",
    "[::1]",
    "[::1]:80",
    "10.0.0.1",
    "192.168.1.1:8080",
    "[fe80::1]",
  ),
  ...hosts(200, "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"),
  ...hosts(
    200,
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "notlocalhost",
  ),
  ...hosts(
    200,
    "127.0.0.1.evil.example",
    "1.2.3.4.example",
    "xn--nxasmq6b.example",
  ),
  ...hosts(
    400,
    "a b",
    "[::1",
    "h/x?y",
    "localhost/",
    "user@localhost",
    "localhost:99999",
  ),
  ...hosts(
    400,
    "localhost:http",
    "loc%61lhost",
    "a\\b",
    "a<b>",
    "[::1]x",
    "localhost, localhost",
    "%zz",
    "#",
  ),
  ...codings(
    200,
    "gzip",
    "br",
    "br, gzip",
    "GZIP",
    "gzip;q=0.5, br;q=1",
    "*",
    "identity",
    "x-unknown",
  ),
  ...codings(200, "gzip;q=0", "gzip;q=x", ";;;", ",", "br;q=2", "*;q=0.1, identity;q=0"),
  ...codings(200, "identity;q=0", "*;q=0", "br;q=0, gzip;q=0, identity;q=0"),
  ...conditions(200, "If-None-Match: abc", 'If-None-Match: "abc"', 'If-None-Match: W/"abc"'),
  ...conditions(200, "If-None-Match: ", 'If-None-Match: "', "If-Modified-Since: nonsense"),
  ...conditions(200, "If-Modified-Since: Fri, 31 Dec 2100 23:59:59 GMT", "If-Match: abc"),
  ...conditions(
    304,
    "If-None-Match: *",
    `If-None-Match: "x", ${HEALTH}`,
    `If-None-Match: W/${HEALTH}`,
  ),
  ...conditions(
    200,
    "Range: bytes=0-1",
    "Expect: 100-continue",
    "Connection: Upgrade",
    "TE: trailers",
  ),
  ...conditions(200, "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example;proto=https"),
  ...conditions(
    200,
    "Upgrade: websocket\r\nConnection: Upgrade",
    "Origin: null",
    "Origin: https://a.example",
  ),
  ...conditions(
    200,
    "Cookie: a=b",
    "Authorization: Basic eDp5",
    "X: é\xff",
    `X: ${"a".repeat(4000)}`,
  ),
  {
    name: "a preflight of a known path",
    bytes: request(
      "OPTIONS",
      "/v1/info",
      "Origin: https://a.example",
      "Access-Control-Request-Method: GET",
    ),
    status: 204,
  },
  {
    name: "a preflight of an unknown path",
    bytes: request(
      "OPTIONS",
      "/nope",
      "Origin: https://a.example",
      "Access-Control-Request-Method: GET",
    ),
    status: 404,
  },
  raw(200, "HTTP/1.0 with a Host", `GET /v1/info HTTP/1.0\r\n${HOST}\r\n`),
  raw(200, "HTTP/1.0 without a Host", "GET /v1/info HTTP/1.0\r\n\r\n"),
  raw(400, "HTTP/1.1 without a Host", "GET /v1/info HTTP/1.1\r\n\r\n"),
  raw(400, "two Host lines", `GET /v1/info HTTP/1.1\r\n${HOST}Host: evil.example\r\n\r\n`),
  raw(400, "an empty Host", "GET /v1/info HTTP/1.1\r\nHost: \r\n\r\n"),
  raw(200, "absolute form", `GET http://localhost/v1/info HTTP/1.1\r\n${HOST}\r\n`),
  raw(
    200,
    "absolute form with another host",
    `GET http://evil.example/v1/info HTTP/1.1\r\n${HOST}\r\n`,
  ),
  raw(
    200,
    "absolute form, another Host",
    "GET http://localhost/v1/info HTTP/1.1\r\nHost: evil.example\r\n\r\n",
  ),
  raw(
    400,
    "absolute form with another scheme",
    `GET ftp://localhost/v1/info HTTP/1.1\r\n${HOST}\r\n`,
  ),
  raw(400, "absolute form, truncated address", `GET http://[::1/v1/info HTTP/1.1\r\n${HOST}\r\n`),
  raw(
    400,
    "absolute form, excessive port",
    `GET http://localhost:99999/v1/info HTTP/1.1\r\n${HOST}\r\n`,
  ),
  raw(
    404,
    "absolute form without a host",
    `GET http:///v1/info HTTP/1.1\r\n${HOST}\r\n`,
  ),
  raw(400, "a backslash in the path", `GET /v1\\info?a HTTP/1.1\r\n${HOST}\r\n`),
  raw(200, "a backslash in the query", `GET /v1/info?a\\b HTTP/1.1\r\n${HOST}\r\n`),
  raw(200, "an unknown expectation", get("/v1/info", "Expect: 200-ok")),
  raw(
    200,
    "Host after 2000 other header fields",
    `GET /v1/info HTTP/1.1\r\n${"a:\r\n".repeat(2000)}Host: evil.example\r\n\r\n`,
  ),
  raw(400, "a request, then garbage", `${get("/v1/info")}garbage\r\n\r\n`, 2),
  raw(
    400,
    "two requests, then garbage",
    `${get("/v1/info")}${get("/v1/health")}garbage\r\n\r\n`,
    3,
  ),
  raw(
    400,
    "an unknown path, two known paths, then garbage",
    `${get("/none")}${get("/v1/info")}${get("/v1/health")}garbage\r\n\r\n`,
    4,
  ),
  raw(
    200,
    "content of 200 kB, then a request",
    `${request("POST", "/v1/info", "Content-Length: 200000")}${"a".repeat(200_000)}${
      get("/v1/health")
    }`,
    2,
  ),
  raw(400, "a target without a slash", `GET v1/info HTTP/1.1\r\n${HOST}\r\n`),
  raw(400, "no target", `GET  HTTP/1.1\r\n${HOST}\r\n`),
  raw(400, "a space in the target", `GET /v1/in fo HTTP/1.1\r\n${HOST}\r\n`),
  raw(204, "OPTIONS *", `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`),
  raw(400, "CONNECT", `CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`),
  raw(400, "an unknown method", `FOO /v1/info HTTP/1.1\r\n${HOST}\r\n`),
  raw(400, "a method in lower case", `get /v1/info HTTP/1.1\r\n${HOST}\r\n`),
  raw(505, "no version", `GET /v1/info\r\n${HOST}\r\n`),
  raw(505, "HTTP/2.0 in the request line", `GET /v1/info HTTP/2.0\r\n${HOST}\r\n`),
  raw(400, "HTTP/9.9", `GET /v1/info HTTP/9.9\r\n${HOST}\r\n`),
  raw(400, "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  raw(400, "a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
  raw(400, "nonsense", "nonsense\r\n\r\n"),
  raw(400, "a header line without a colon", `GET /v1/info HTTP/1.1\r\n${HOST}nocolon\r\n\r\n`),
  raw(400, "a space before the colon", `GET /v1/info HTTP/1.1\r\n${HOST}X : y\r\n\r\n`),
  raw(400, "a folded header line", `GET /v1/info HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`),
  raw(400, "a NUL in a header", `GET /v1/info HTTP/1.1\r\n${HOST}X: a\x00b\r\n\r\n`),
  raw(400, "a bare CR in a header", `GET /v1/info HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n`),
  raw(
    400,
    "two lengths",
    `POST /v1/info HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
  ),
  raw(400, "a negative length", `POST /v1/info HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`),
  raw(400, "a length in words", `POST /v1/info HTTP/1.1\r\n${HOST}Content-Length: two\r\n\r\n`),
  raw(
    400,
    "a length and chunks",
    `POST /v1/info HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ),
  raw(
    400,
    "chunked is not the last coding",
    `POST /v1/info HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  ),
  raw(431, "a target of 70 kB", `GET /${"a".repeat(70_000)} HTTP/1.1\r\n${HOST}\r\n`),
  raw(431, "a header of 70 kB", `GET /v1/info HTTP/1.1\r\n${HOST}X: ${"a".repeat(70_000)}\r\n\r\n`),
  raw(405, "POST with content", `POST /v1/info HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`),
  raw(
    405,
    "POST in chunks",
    `POST /v1/info HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  ),
  raw(200, "GET with content", `GET /v1/info HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`),
  raw(200, "an empty line before the request", `\r\n${get("/v1/info")}`),
  raw(200, "two requests at once", get("/v1/info") + get("/v1/health"), 2),
  raw(200, "16 requests at once", get("/v1/info").repeat(16), 16),
  raw(429, "1000 requests at once", get("/v1/info").repeat(1000), 17),
  raw(404, "two requests at once, one for an unknown path", get("/v1/info") + get("/nope"), 2),
  raw(
    200,
    "content, then a request",
    `${request("POST", "/v1/info", "Content-Length: 3")}abc${get("/v1/health")}`,
    2,
  ),
  chunks(200, "trailers", "3\r\nabc\r\n0\r\nX: y\r\n\r\n"),
  chunks(200, "a chunk with an extension", "3;a=b\r\nabc\r\n0\r\n\r\n"),
  chunks(400, "a chunk with an extension of 20 kB", `3;${"a".repeat(20_000)}\r\nabc\r\n0\r\n\r\n`),
  chunks(400, "a chunk without a length", "xyz\r\n0\r\n\r\n"),
  chunks(400, "chunks with bare line feeds", "3\nabc\n0\n\n"),
  raw(
    405,
    "chunks in HTTP/1.0",
    `POST /v1/info HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  ),
  raw(
    200,
    "two requests on an HTTP/1.0 connection",
    ["/v1/info", "/v1/health"].map((path) =>
      `GET ${path} HTTP/1.0\r\n${HOST}Connection: keep-alive\r\n\r\n`
    ).join(""),
    2,
  ),
  raw(
    400,
    "two equal lengths",
    `${request("POST", "/v1/info", "Content-Length: 3", "Content-Length: 3")}abc`,
  ),
  raw(400, "a list of equal lengths", `${request("POST", "/v1/info", "Content-Length: 3, 3")}abc`),
  raw(400, "a target in UTF-8", get("/\xc3\xa9")),
  raw(400, "a query in UTF-8", get("/v1/info?\xc3\xa9")),
  raw(400, "a target in Latin-1", get("/\xe9")),
  raw(200, "Connection: close", get("/v1/info", "Connection: close")),
  raw(
    200,
    "an Upgrade, then a request",
    get("/v1/info", "Connection: Upgrade", "Upgrade: websocket") + get("/v1/health"),
    2,
  ),
];
