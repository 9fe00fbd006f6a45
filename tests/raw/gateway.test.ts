import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  json,
  optionsFor,
  type PlayedNode,
  playNode,
  REST,
  result,
  RPC,
  textOf,
  TOKEN,
  until,
} from "../_gateway.ts";
import { serving, start } from "../_server.ts";
import type { Server } from "../runtimes/_suite.ts";
import { RELEASES } from "./_servers.ts";
import { closed, dial } from "./_socket.ts";

const FORWARD = { open: ["reads"], at_root: true };

async function talk(url: string, bytes: string): Promise<string> {
  const socket = await dial(url);
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => received += text);
  socket.write(bytes, "latin1");
  await closed(socket);
  return received;
}

function isWhole(answer: string): boolean {
  const [head = "", ...rest] = answer.split("\r\n\r\n");
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (/^HTTP\/1\.1 204/.test(head)) return true;
  return length !== undefined && rest.join("\r\n\r\n").length >= Number(length);
}

const request = (line: string, ...lines: string[]) =>
  [`${line} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines, "", ""]
    .join("\r\n");

const withBody = (line: string, body: string, ...lines: string[]) =>
  request(
    line,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...lines,
  ) + body;

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);

/**
 * Request targets that a server or its parser may misread. None of these targets may reach an
 * operation that is not public. `sent` is the path that the node receives.
 */
const TARGETS: readonly (readonly [target: string, sent?: string])[] = [
  ["/v1/node/status", "/status"],
  ["/v1/node/peers/../balance"],
  ["/v1/node/peers/%2e%2e/balance"],
  ["/v1/node/peers/.%2E/balance"],
  ["/v1/node/./balance"],
  ["/v1/node/peers/..%2fbalance"],
  ["/v1/node/peers/..%5cbalance"],
  ["/v1/node/peers\\..\\balance"],
  ["/v1/node/peers/..\\balance"],
  ["/v1/node/peers/x/..;/balance"],
  ["/v1/node/peers/..;a=b/balance"],
  ["/v1/node/balance;a"],
  ["/v1/node//balance"],
  ["//v1/node/balance"],
  ["/v1//node/balance"],
  ["/V1/NODE/status"],
  ["/v1/node/peers/%00"],
  ["/v1/node/peers/a%0d%0aX:%20y"],
  ["/v1/node/peers/c%6fnnect"],
  ["/v1/node/files/all%2fsecret"],
  ["/v1/node/files/x%2f..%2fall%2fsecret"],
  ["/v1/node/peers/a%252fb", "/peers/a%252fb"],
  ["/v1/node/peers/%252e%252e", "/peers/%252e%252e"],
  ["/v1/node/find?key=a#?key=b", "/find?key=a"],
  ["/v1/node/status#?_method=DELETE", "/status"],
  ["/v1/node/status%3Fx=1"],
  ["/v1/node/status%23"],
  ["/v1/node/peers/\u00ff"],
  ["/v1/node/@127.0.0.1:1/balance", "/@127.0.0.1:1/balance"],
  ["v1/node/status"],
  ["http://127.0.0.1:1/v1/node/status", "/status"],
  ["http://localhost/v1/node/balance"],
  ["http://evil.example/v1/node/status"],
  ["http://user:pass@localhost/v1/node/balance"],
  ["file:///v1/node/status"],
  ["*"],
];

/** The same targets at the drop-in address. */
const AT_ROOT = TARGETS.filter(([target]) => target.includes("/v1/node"))
  .map(([target, sent]) => [target.replace("/v1/node", ""), sent] as const);

/** Host names that a hostile page may have. */
const HOSTS = [
  "evil.example",
  "localhost.evil.example:8080",
  "notlocalhost",
  "127.0.0.1.evil.example",
  "nas.local",
];

for (const [runtime, command] of RELEASES) {
  const calls = suite(`raw calls to the node, on ${runtime}`);
  const serve = (options: object) =>
    start([...serving(command, "tests/raw/_gateway-server.ts"), JSON.stringify(options)]);
  let node: PlayedNode;
  let paths: Server;
  let methods: Server;
  let folder: string;
  calls.before(async () => {
    node = await playNode();
    folder = mkdtempSync(join(tmpdir(), "gateway-"));
    const token_file = join(folder, "token");
    const forward = { ...FORWARD, clients: [{ name: "app", allow: ["send"], token_file }] };
    writeFileSync(token_file, TOKEN);
    [paths, methods] = await Promise.all([
      serve({ ...optionsFor(node.url, REST), forward }),
      serve({ ...optionsFor(node.url, RPC), forward }),
    ]);
  });
  calls.after(async () => {
    await Promise.all([paths?.stop(), methods?.stop(), node?.close()]);
    rmSync(folder, { recursive: true });
  });
  calls.before.each(() => node.forget());

  const sent = () => node.received.map(({ method, url }) => `${method} ${url}`);

  for (const [target, url] of [...TARGETS, ...AT_ROOT]) {
    calls(
      `GET ${JSON.stringify(target)} reaches ${url ?? "nothing"}`,
      async () => {
        const answer = await talk(paths.url, request(`GET ${target}`));
        // A runtime may refuse requests that its parser cannot read.
        if (sent().length > 0 || statusOf(answer) < 400) {
          // Bun ignores the host in the request target and uses the `Host` header, so the service
          // accepts this request.
          const isTold = !(runtime === "Bun" && target.startsWith("http://evil"));
          if (isTold) {
            assert.equal(sent(), url === undefined ? [] : [`GET ${url}`]);
          } else assert.equal(sent(), ["GET /status"]);
          return;
        }
        if (url === undefined) {
          assert.ok(statusOf(answer) >= 400 || answer === "", answer);
        }
      },
    );
  }

  for (const host of HOSTS) {
    calls(
      `a call under the host name ${host} is refused with 421`,
      async () => {
        for (const path of ["/v1/node/status", "/v1/history"]) {
          const bytes = request(`GET ${path}`).replace("localhost", host);
          assert.is(statusOf(await talk(paths.url, bytes)), 421, path);
        }
        assert.equal(sent(), []);
      },
    );
  }

  for (const method of ["TRACE", "OPTIONS", "CONNECT", "PROPFIND", "get"]) {
    calls(`${method} does not reach the node`, async () => {
      await talk(paths.url, request(`${method} /v1/node/status`));
      await talk(paths.url, request(`${method} /v1/rpc/number`));
      assert.equal(sent(), []);
    });
  }

  for (
    const [why, lines, body] of [
      ["a length and chunks", [
        "Content-Length: 2",
        "Transfer-Encoding: chunked",
      ], "2\r\n{}\r\n0\r\n\r\n"],
      ["two lengths", ["Content-Length: 2", "Content-Length: 3"], "{} "],
      ["a length with a sign", ["Content-Length: +2"], "{}"],
      [
        "two codings",
        ["Transfer-Encoding: gzip, chunked"],
        "2\r\n{}\r\n0\r\n\r\n",
      ],
      [
        "an unknown coding",
        ["Transfer-Encoding: xchunked"],
        "2\r\n{}\r\n0\r\n\r\n",
      ],
    ] as const
  ) {
    // Chunked coding overrides Content-Length (RFC 9112, section 6.3). Bytes after the content are
    // a new request.
    calls(`content with ${why} smuggles no request`, async () => {
      const inner = request("GET /v1/node/status");
      const lineUp = ["Content-Type: application/json", ...lines];
      await talk(
        paths.url,
        request("POST /v1/node/any", ...lineUp) + body + inner,
      );
      assert.equal(sent().filter((line) => line.startsWith("GET")), []);
      for (const { headers } of node.received) {
        assert.is(headers["transfer-encoding"], undefined);
      }
    });
  }

  calls(
    "refused content is never parsed as a request, and the connection is closed",
    async () => {
      const inner = "GET /v1/node/status HTTP/1.1\r\nHost: localhost\r\n\r\n";
      for (
        const [line, status, ...lines] of [
          ["GET /v1/node/status", 415, "Content-Type: text/plain"],
          ["POST /v1/node/send", 401, "Content-Type: application/json"],
          ["POST /v1/node/nope/x/y", 404, "Content-Type: application/json"],
        ] as const
      ) {
        const head = [`${line} HTTP/1.1`, "Host: localhost", ...lines];
        // The content is shorter than announced, so the request does not end before the connection
        // is closed.
        const bytes = [...head, "Content-Length: 100000", "", inner].join(
          "\r\n",
        );
        const answer = await talk(paths.url, bytes);
        assert.is(statusOf(answer), status);
        assert.is(answer.match(/^HTTP\/1\.1/gm)!.length, 1);
      }
      assert.equal(sent(), []);
    },
  );

  calls(
    "content that is too long is refused before it has arrived completely",
    async () => {
      const head = [
        "POST /v1/node/any HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
      ];
      const answer = await talk(
        paths.url,
        [...head, `Content-Length: ${32 * 1024 * 1024 + 1}`, "", '{"a":'].join("\r\n"),
      );
      assert.is(statusOf(answer), 413);
      const rpcAnswer = await talk(
        methods.url,
        [
          "POST /v1/rpc HTTP/1.1",
          ...head.slice(1),
          "Content-Length: 1048577",
          "",
          "[",
        ].join("\r\n"),
      );
      assert.is(statusOf(rpcAnswer), 413);
      assert.equal(sent(), []);
    },
  );

  calls("a client that sends all of a refused content reads the response", async () => {
    const content = "x".repeat(5_000_000);
    const chunked = request("POST /v1/rpc", "Transfer-Encoding: chunked") +
      `4C4B40\r\n${content}\r\n0\r\n\r\n`;
    const cases = [
      [paths.url, withBody("POST /v1/node/none", content)],
      [methods.url, withBody("POST /v1/rpc", content)],
      [methods.url, chunked],
    ] as const;
    const short = withBody("POST /v1/node/none", "x".repeat(10_000));
    const end = short.length - 10_000;
    for (
      const [at, [url, ...parts]] of [...cases, [paths.url, short.slice(0, end), short.slice(end)]]
        .entries()
    ) {
      const socket = await dial(url!);
      for (const part of parts) {
        await new Promise((sent) => socket.write(part, "latin1", sent));
        await new Promise((passed) => setTimeout(passed, 20));
      }
      const answer = await text(socket);
      assert.match(answer, /^HTTP\/1\.1 4\d\d/, String(at));
      assert.ok(isWhole(answer), String(at));
    }
  });

  calls("chunked content is sent to the node with its length", async () => {
    const chunks = '1\r\n{\r\n7\r\n"b":1.0\r\n1\r\n}\r\n0\r\n\r\n';
    const lines = [
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ];
    const answer = await talk(
      paths.url,
      request("POST /v1/node/any", ...lines) + chunks,
    );
    assert.is(statusOf(answer), 200);
    assert.is(textOf(node.received[0]!), '{"b":1.0}');
    assert.not.match(
      JSON.stringify(node.received[0]!.rawHeaders),
      /visitors|trailer/i,
    );
  });

  // Some clients of Bitcoin Core read no chunked responses (apoelstra/rust-jsonrpc#112).
  calls("a long response to JSON-RPC has its length, as the node's", async () => {
    const text = `"${"x".repeat(900_000)}"`;
    node.answer = result(text);
    const answer = await talk(methods.url, withBody("POST /", '{"id":1,"method":"number"}'));
    assert.ok(answer.length > text.length);
    assert.ok(isWhole(answer), answer.slice(0, 800));
    assert.not.match(answer.slice(0, 2000), /transfer-encoding/i);
  });

  calls("malformed content is refused before the rest of it arrives", async () => {
    for (const connection of ["keep-alive", "close"]) {
      const head = request(
        "POST /v1/node/any",
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
      ).replace("Connection: close", `Connection: ${connection}`);
      const answer = await talk(paths.url, `${head}1\r\n{\r\nno size\r\n`);
      assert.is(statusOf(answer), 400);
      assert.is(answer.match(/^HTTP\/1\.1/gm)!.length, 1);
    }
    assert.equal(sent(), []);
  });

  calls("content in very many chunks is refused, and the next call succeeds", async () => {
    const lines = ["Content-Type: application/json", "Transfer-Encoding: chunked"];
    const chunks = "1\r\n \r\n".repeat(200_000);
    for (let sent = 0; sent < 3; sent++) {
      await talk(paths.url, `${request("POST /v1/node/any", ...lines)}${chunks}`).catch(() => "");
      assert.is(statusOf(await talk(paths.url, request("GET /v1/node/status"))), 200);
    }
    assert.equal(new Set(sent()), new Set(["GET /status"]));
  });

  calls("headers that concern only the connection are not forwarded", async () => {
    const lines = [
      "Connection: close, X-Size",
      "X-Size: 5",
      "Keep-Alive: visitors",
      "TE: trailers",
    ];
    const answer = await talk(
      paths.url,
      ["GET /v1/node/status HTTP/1.1", "Host: localhost", ...lines, "", ""]
        .join("\r\n"),
    );
    assert.is(statusOf(answer), 200);
    const { headers } = node.received[0]!;
    assert.is(headers.host, `127.0.0.1:${node.port}`);
    assert.is(headers["x-size"], undefined);
    assert.is(headers.te, undefined);
    assert.not.match(JSON.stringify(headers), "visitors");
  });

  calls("an upgrade is refused", async () => {
    const lines = [
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: YQ==",
    ];
    for (const target of ["/v1/node/status", "/v1/rpc/number"]) {
      const server = target.includes("rpc") ? methods : paths;
      const head = [
        `GET ${target} HTTP/1.1`,
        "Host: localhost",
        "X-Nodeface: 1",
      ];
      const connection = "Connection: Upgrade, close";
      const answer = await talk(
        server.url,
        [...head, connection, ...lines, "", ""].join("\r\n"),
      );
      assert.is(statusOf(answer), 400, answer);
    }
    assert.equal(sent(), []);
  });

  calls("two Authorization headers count as no token", async () => {
    const lines = Array(2).fill(`Authorization: Bearer ${TOKEN}`);
    const answer = await talk(
      paths.url,
      withBody("POST /v1/node/send", "{}", ...lines),
    );
    const other = [`Authorization: Bearer ${"b".repeat(32)}`, lines[0]];
    const mixed = await talk(
      paths.url,
      withBody("POST /v1/node/send", "{}", ...other),
    );
    assert.equal([statusOf(answer), statusOf(mixed)], [401, 401]);
    assert.equal(sent(), []);
  });

  calls("numbers and bytes stay unchanged in both directions", async () => {
    const body = '{ "a":18446744073709551615, "b":[1.00000000,1e-8]}';
    node.answer = json(body);
    const answer = await talk(paths.url, withBody("POST /v1/node/any", body));
    assert.is(textOf(node.received[0]!), body);
    assert.ok(answer.endsWith(body), answer);
    node.answer = result("18446744073709551615");
    const call = '{"jsonrpc":"2.0","id":1.50,"method":"number"}';
    const wrapped = await talk(methods.url, withBody("POST /v1/rpc", call));
    assert.match(wrapped, '"result":18446744073709551615,"id":1.50}');
  });

  calls("if the node's response is truncated, the client can detect this", async () => {
    for (const isChunked of [true, false]) {
      node.answer = (_, response) => {
        response.writeHead(200, {
          "content-type": "application/json",
          ...!isChunked && { "content-length": "9000000" },
        });
        response.write(" ".repeat(3_000_000), () => response.destroy());
      };
      const answer = await talk(paths.url, request("GET /v1/node/status"));
      const [head, ...rest] = answer.split("\r\n\r\n");
      const seemsWhole = /^transfer-encoding: chunked/im.test(head!)
        ? rest.join("\r\n\r\n").endsWith("0\r\n\r\n") ||
          answer.endsWith("\r\n0\r\n\r\n")
        : isWhole(answer);
      assert.not(
        statusOf(answer) === 200 && seemsWhole,
        `${head} ${isChunked}`,
      );
    }
  });

  calls("a long response has its length, if the runtime can send one with a stream", async () => {
    const length = 3_000_000;
    node.answer = (_, response) =>
      response.writeHead(200, { "content-type": "text/plain", "content-length": String(length) })
        .end(" ".repeat(length));
    for (const version of ["1.1", "1.0"]) {
      const line = request("GET /v1/node/status").replace("1.1", version);
      const [head = "", ...rest] = (await talk(paths.url, line)).split("\r\n\r\n");
      const told = /^content-length: (\d+)/im.exec(head)?.[1];
      assert.is(told, runtime === "Bun" ? undefined : String(length), head);
      assert.ok(rest.join("").length >= length);
    }
  });

  calls(
    "a response has each header once, without headers that concern the node's connection",
    async () => {
      node.answer = (_, response) =>
        response.writeHead(200, {
          "content-type": "text/html",
          "set-cookie": "a=nodes",
          "keep-alive": "timeout=99",
          "x-other": "other",
        }).end("<p>");
      const answer = await talk(paths.url, request("GET /v1/node/status"));
      const head = answer.split("\r\n\r\n")[0]!;
      assert.not.match(head, /nodes|timeout=99|text\/html/);
      for (
        const name of [
          "content-type",
          "content-security-policy",
          "x-content-type-options",
          "x-other",
        ]
      ) {
        assert.is(head.match(new RegExp(`^${name}:`, "gim"))?.length, 1, name);
      }
    },
  );

  calls("a request from a page of another origin is refused, like its preflight", async () => {
    const origin = "Origin: https://evil.example";
    const answer = await talk(
      paths.url,
      request("GET /v1/node/status", origin),
    );
    assert.is(statusOf(answer), 403);
    for (const method of ["GET", "POST", "PUT"]) {
      const asks = [`Access-Control-Request-Method: ${method}`, origin];
      const preflight = await talk(
        methods.url,
        request(
          "OPTIONS /v1/rpc",
          ...asks,
          "Access-Control-Request-Headers: x-nodeface",
        ),
      );
      assert.not.match(preflight, /access-control-allow/i);
    }
    assert.equal(sent(), []);
  });

  // Bun closes the connection as soon as it has refused a request.
  if (runtime !== "Bun") {
    calls(
      "a client that still sends what is refused gets the refusal, and is not reset",
      async () => {
        const { port, hostname } = new URL(paths.url);
        const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
        let failure: Error | undefined;
        let answer = "";
        socket.on("error", (error) => failure = error);
        socket.setEncoding("latin1").on("data", (text: string) => answer += text);
        const length = 20 * 262_144;
        socket.write(
          `POST /v1/node/send HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`,
        );
        await once(socket, "data");
        for (let at = 0; at < 20 && !failure; at++) {
          await new Promise((resolve) => socket.write(" ".repeat(262_144), resolve));
        }
        assert.is(failure, undefined);
        assert.is(statusOf(answer), 401);
        assert.match(answer, /^connection: close\r$/im);
        await until(() => socket.readableEnded);
        socket.end();
      },
    );

    calls("a request behind refused content is not carried out", async () => {
      const socket = await dial(paths.url);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => answer += text);
      socket.write("POST /v1/node/send HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab");
      await until(() => answer.includes("\r\n\r\n"));
      socket.write("cdeGET /v1/node/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await closed(socket);
      assert.is(statusOf(answer), 401);
      assert.is(answer.match(/HTTP\/1\.1 /g)?.length, 1);
      await talk(paths.url, request("GET /v1/node/find?key=a"));
      assert.equal(sent(), ["GET /find?key=a"]);
    });

    calls("a connection ends with its last response, whatever was refused before", async () => {
      const socket = await dial(paths.url);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => answer += text);
      for (let at = 1; at <= 3; at++) {
        socket.write("POST /v1/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n");
        await until(() => answer.match(/^HTTP/gm)?.length === at && answer.endsWith("}\n"));
        socket.write(" ");
      }
      socket.write(request("GET /v1/node/status"));
      await closed(socket);
      assert.equal(answer.match(/(?<=^HTTP\/1\.1 )\d+/gm), ["405", "405", "405", "200"]);
    });

    calls("while the service stops, each response ends its connection", async () => {
      const server = await serve({ ...optionsFor(node.url, REST), forward: FORWARD });
      let finish: (() => void) | undefined;
      node.answer = (_, response) => void (finish = () => response.end("{}"));
      const socket = await dial(server.url);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => answer += text);
      socket.write("GET /v1/node/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await until(() => finish !== undefined);
      const stopped = server.stop();
      const refused = async () => {
        const other = await dial(server.url).catch(() => undefined);
        other?.destroy();
        return other === undefined;
      };
      await until(refused);
      finish!();
      await closed(socket);
      assert.is(statusOf(answer), 200);
      assert.match(answer, /^connection: close\r$/im);
      await stopped;
    });
  }

  calls.run();
}
