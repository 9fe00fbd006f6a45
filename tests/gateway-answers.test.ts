/**
 * Tests the handling of the node's responses. Node runs every case; Deno and Bun skip some cases
 * that cannot differ by runtime.
 */
import type { Socket } from "node:net";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { nextTurn } from "../src/slices.ts";
import { passTime } from "./_clock.ts";
import { responseHeaders } from "../src/gateway/response-headers.ts";
import { sampleOf } from "./_runtime.ts";
import { gzipSync } from "node:zlib";
import {
  forwarding,
  type Gateway,
  json,
  nodeOf,
  playNode,
  REST,
  result,
  RPC,
  textOf,
  TOKEN,
  until,
} from "./_gateway.ts";
import { type Played, playTcp } from "./_sources.ts";

const answers = suite("responses from the node");

const node = nodeOf(answers);
let rest: Gateway;
answers.before(() => {
  rest = forwarding(node.url, REST);
});

/** Every response has these headers, whatever the node sends. */
const OWN = [
  ...["cache-control", "content-length", "content-security-policy", "content-type"],
  ...["cross-origin-resource-policy", "referrer-policy", "x-content-type-options"],
];

const NODES: Record<string, string | string[]> = {
  "set-cookie": ["a=nodes", "b=nodes"],
  location: "/nodes",
  "content-location": "/nodes",
  refresh: "0;url=/nodes",
  "www-authenticate": "Basic realm=nodes",
  "content-security-policy": "default-src nodes",
  "access-control-allow-origin": "*",
  "access-control-allow-credentials": "true",
  "x-accel-redirect": "/nodes",
  "x-sendfile": "/nodes",
  "cache-control": "public, max-age=9",
  etag: '"nodes"',
  "last-modified": "Thu, 01 Jan 1970 00:00:00 GMT",
  vary: "nodes",
  server: "nodes",
  "x-powered-by": "nodes",
  "strict-transport-security": "max-age=9",
  "x-frame-options": "ALLOWALL",
  "content-disposition": "inline",
  "cross-origin-resource-policy": "cross-origin",
  "x-other": "nodes",
  "x-cursor": "nodes-1",
  link: "</b>; rel=next",
  "retry-after": "7",
};

answers("a header with an empty value is passed on, and one with control characters is not", () => {
  const values = new Map([["x-empty", ""], ["x-bell", "a\x07"]]);
  const headers = {
    get: (name: string) => values.get(name) ?? null,
    values: () => values.values(),
    entries: () => values.entries(),
  };
  const passed = responseHeaders({ status: 200, headers }, { path: "/", isPublic: true });
  assert.equal([passed["x-empty"], passed["x-bell"]], ["", undefined]);
});

answers("headers pass unless they steer browsers, proxies or caches", async () => {
  node.answer = (_, response) =>
    response.writeHead(200, { "content-type": "application/json", ...NODES }).end("{}");
  const { headers } = await rest.ask("/v1/node/status");
  const all = Object.fromEntries(headers);
  assert.equal(
    Object.keys(all).filter((name) => ![...OWN, "date"].includes(name)).sort(),
    ["etag", "last-modified", "link", "retry-after", "server", "vary", "x-cursor", "x-other"]
      .concat("x-powered-by").sort(),
  );
  assert.is(all["x-cursor"], "nodes-1");
  assert.is(all["retry-after"], "7");
  assert.is(all["cache-control"], "public, max-age=9");
  assert.is(all["cross-origin-resource-policy"], "same-origin");
  assert.match(all["content-security-policy"]!, /^default-src 'none'; .*sandbox$/);
  const credentials = { authorization: "Bearer of-somebody" };
  const other = await rest.ask("/v1/node/status", { headers: credentials });
  assert.is(other.headers.get("cache-control"), "private, no-store");
  assert.equal([other.headers.get("etag"), other.headers.get("vary")], [null, null]);
});

const TYPES: readonly (readonly [type: string, passed: string | undefined])[] = [
  ["application/json", "application/json"],
  ["Application/JSON; charset=utf-8", "application/json; charset=utf-8"],
  ["application/json; charset=utf-16; x=<script>", "application/json"],
  ["application/problem+json", "application/problem+json"],
  ["application/vnd.a.b+json", "application/vnd.a.b+json"],
  ["application/cbor", "application/cbor"],
  ["application/x-ndjson", "application/x-ndjson"],
  ["text/csv", "text/csv; charset=utf-8"],
  ["text/plain", "text/plain; charset=utf-8"],
  ["text/plain; charset=iso-8859-1", "text/plain; charset=iso-8859-1"],
  ["text/plain; charset=<a>", "text/plain; charset=utf-8"],
  ["application/octet-stream", "application/octet-stream"],
  ["application/x-protobuf", "application/x-protobuf"],
  ["text/html", undefined],
  ["TEXT/HTML; charset=utf-8", undefined],
  ["text/html, application/json", undefined],
  ["application/json, text/html", undefined],
  ["application/xhtml+xml", undefined],
  ["image/svg+xml", undefined],
  ["application/xml", undefined],
  ["text/xml", undefined],
  ["text/javascript", undefined],
  ["application/javascript", undefined],
  ["text/css", undefined],
  ["application/pdf", undefined],
  ["application/wasm", undefined],
  ["multipart/x-mixed-replace; boundary=a", undefined],
  ["image/png", "image/png"],
  ["image/webp", "image/webp"],
  ['application/vnd.api+json; ext="a b"', 'application/vnd.api+json; ext="a b"'],
  ["nonsense", undefined],
  ["", undefined],
];

answers("a client that waits for a node that pauses is no slow reader", async () => {
  const { setInterval: plain } = globalThis;
  const ticks: (() => void)[] = [];
  globalThis.setInterval = ((run: () => void, ms: number) => {
    if (ms === 1000) ticks.push(run);
    return plain(run, ms);
  }) as typeof setInterval;
  try {
    const { ask } = forwarding(node.url, REST, { open: ["reads"], concurrency: 1 });
    let end = () => {};
    node.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("a".repeat(3_000_000));
      end = () => void response.end("b");
    };
    const reader = (await ask("/v1/node/status")).body!.getReader();
    let length = 0;
    while (length < 3_000_000) length += (await reader.read()).value!.byteLength;
    const last = reader.read();
    const other = ask("/v1/node/status");
    await nextTurn();
    passTime(11_000);
    for (const tick of ticks) tick();
    end();
    assert.is((await last).value?.byteLength, 1);
    node.answer = json("{}");
    await reader.cancel();
    await (await other).body?.cancel();
  } finally {
    globalThis.setInterval = plain;
  }
});

answers("a plain name of a file is passed on, and another one is not", async () => {
  for (
    const [type, given, passed] of [
      ["text/plain", 'inline; filename="notes 1.txt"', 'inline; filename="notes 1.txt"'],
      ["application/json", "attachment; filename=a.json", 'attachment; filename="a.json"'],
      ["application/pdf", 'inline; filename="a.pdf"', 'attachment; filename="a.pdf"'],
      ["image/png", 'inline; filename="../a,b@2x.png"', 'inline; filename="_a_b_2x.png"'],
      ["text/plain", 'inline; filename="a\\"b"', 'inline; filename="a_"'],
      ["text/plain", "inline; filename*=UTF-8''%C3%BC.txt", 'inline; filename="_C3_BC.txt"'],
      ["text/plain", "form-data; filename=a", null],
      ["text/plain", "inline", null],
      ["text/html", 'inline; filename=".bashrc"', 'attachment; filename="bashrc"'],
      ["text/html", 'inline; filename=".."', 'attachment; filename="response"'],
    ] as const
  ) {
    node.answer = (_, response) =>
      response.writeHead(200, { "content-type": type, "content-disposition": given }).end("a");
    const { headers } = await rest.ask("/v1/node/status");
    assert.is(headers.get("content-disposition"), passed, given);
  }
});

for (const [type, passed] of sampleOf(TYPES)) {
  answers(`the response type ${type || "(none)"} becomes ${passed ?? "a download"}`, async () => {
    const content = "<script>alert(1)</script>";
    node.answer = (_, response) =>
      response.writeHead(200, type === "" ? {} : { "content-type": type }).end(content);
    const answer = await rest.ask("/v1/node/status");
    assert.is(answer.headers.get("content-type"), passed ?? "application/octet-stream");
    const disposition = answer.headers.get("content-disposition");
    assert.is(disposition, passed === undefined ? 'attachment; filename="response"' : null);
    assert.is(answer.headers.get("x-content-type-options"), "nosniff");
    assert.is(await answer.text(), content);
  });
}

answers("a stream of events is refused at once, and does not keep its slot", async () => {
  const { ask } = forwarding(node.url, REST, { open: ["reads"], timeout: "5s" });
  const headers = { accept: "text/event-stream" };
  let closed = 0;
  for (const type of ["text/event-stream", "Text/Event-Stream;charset=utf-8"]) {
    node.answer = (_, response) => {
      response.writeHead(200, { "content-type": type }).write("event: open\n\n");
      response.on("close", () => closed++);
    };
    const answer = await ask("/v1/node/status", { headers });
    assert.is(answer.status, 403);
    assert.match((await answer.json()).detail, "The response is a stream");
  }
  await until(() => closed === 2);
  node.answer = (_, response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end();
  assert.is((await ask("/v1/node/status", { method: "HEAD", headers })).status, 200);
  node.answer = json("{}");
  assert.is((await ask("/v1/node/status", { headers })).status, 200);
});

answers("a client learns that a write was sent although its response is a stream", async () => {
  process.env.GATEWAY_TOKEN = TOKEN;
  const { ask } = forwarding(node.url, REST, {
    clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
  });
  node.answer = (_, response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const answer = await ask("/v1/node/send", { method: "POST", body: "{}", headers });
  assert.is(answer.status, 403);
  assert.match((await answer.json()).detail, "the call may have been carried out");
});

const EXACT = '{ "a" : 18446744073709551615,"b":1.00000000 , "c":[1e-8],"\\u0061b":"\\ud800" }';

for (const size of [0, 1, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1, 3 * 1024 * 1024]) {
  answers(`a response of ${size} bytes arrives byte for byte`, async () => {
    const bytes = new Uint8Array(size).map((_, at) => (at * 7 + (at >> 8)) & 0xff);
    node.answer = (_, response) =>
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(bytes);
    const answer = await rest.ask("/v1/node/status");
    const got = new Uint8Array(await answer.arrayBuffer());
    assert.is(got.length, size);
    assert.ok(got.every((byte, at) => byte === bytes[at]));
    assert.is(rest.calls.at(-1)!.bytes, size);
  });
}

answers("JSON reaches the client exactly as the node wrote it", async () => {
  node.answer = json(EXACT);
  assert.is(await (await rest.ask("/v1/node/status")).text(), EXACT);
});

const STATUSES: readonly (readonly [status: number, passed: number])[] = [
  ...[200, 201, 202, 203].map((status) => [status, status] as const),
  ...[400, 402, 403, 404, 405, 409, 410, 413, 422, 429, 418, 451]
    .map((status) => [status, status] as const),
  ...[500, 501, 502, 503, 504, 507, 599].map((status) => [status, status] as const),
  ...[401, 407, 408, 421, 425, 426].map((status) => [status, 502] as const),
  ...[300, 301, 302, 303, 305, 307, 308, 399].map((status) => [status, 502] as const),
];

for (const [status, passed] of sampleOf(STATUSES)) {
  answers(`the status ${status} from the node becomes ${passed}`, async () => {
    node.answer = json({ words: "of the node" }, status, { location: "http://127.0.0.1:9/" });
    const answer = await rest.ask("/v1/node/status");
    assert.is(answer.status, passed);
    const text = await answer.text();
    if (passed === status) assert.match(text, "of the node");
    else assert.not.match(text, "of the node");
    assert.is(answer.headers.get("location"), null);
    assert.is(node.received.length, 1);
  });
}

answers(
  "the node's 429 and 503 come back as the node sent them, with Retry-After",
  async () => {
    for (const [status, later] of [[503, "7"], [429, "Thu, 01 Jan 2099 00:00:00 GMT"]] as const) {
      node.answer = json("of the node", status, { "retry-after": later });
      const answer = await rest.ask("/v1/node/status");
      assert.equal([answer.status, answer.headers.get("retry-after")], [status, later]);
      assert.is(await answer.text(), "of the node");
    }
  },
);

for (const status of [204, 205, 304]) {
  answers(`a response with status ${status} has no content`, async () => {
    node.answer = (_, response) => response.writeHead(status).end();
    const answer = await rest.ask("/v1/node/status");
    assert.equal([answer.status, await answer.text()], [status, ""]);
  });
}

answers("a response with status 205 has no content, even if the node sends some", async () => {
  const content = " ".repeat(2 * 1024 * 1024);
  const start = `HTTP/1.1 205 Reset Content\r\nContent-Length: ${content.length}\r\n\r\n`;
  await raw((socket) => socket.write(start + content), async (url) => {
    const answer = await forwarding(url, REST).ask("/v1/node/status");
    assert.equal([answer.status, await answer.text()], [205, ""]);
  });
});

for (const [size, status] of [[15_000, 200], [60_000, 502]] as const) {
  answers(`${size} chunks of one byte result in ${status} if the limit is 100 KiB`, async () => {
    const content = `"${"x".repeat(size - 2)}"`;
    const chunks = [...content].map((byte) => `1\r\n${byte}\r\n`).join("");
    await raw((socket) => {
      socket.write(`${head("Transfer-Encoding: chunked")}${chunks}0\r\n\r\n`);
    }, async (url) => {
      const { ask } = forwarding(url, REST, { open: ["reads"], limit: "100KiB" });
      const answer = await ask("/v1/node/status");
      assert.is(answer.status, status);
      if (status === 200) return assert.is(await answer.text(), content);
      assert.match(
        (await answer.json()).detail,
        'longer than 100 KiB, the maximum; see "forward.limit"',
      );
    });
  });
}

for (const coding of ["gzip", "br", "deflate", "GZIP", "x-odd", "identity, gzip"]) {
  answers(`a response with the content coding ${coding} becomes 502, and is not read`, async () => {
    const bomb = gzipSync(new Uint8Array(5_000_000));
    node.answer = json(bomb.toString("latin1"), 200, { "content-encoding": coding });
    const answer = await rest.ask("/v1/node/status");
    assert.is(answer.status, 502, await answer.text());
    assert.is(answer.headers.get("content-encoding"), null);
  });
}

answers("a response with the content coding identity is passed on", async () => {
  node.answer = json("{}", 200, { "content-encoding": "identity" });
  const answer = await rest.ask("/v1/node/status");
  assert.equal([answer.status, answer.headers.get("content-encoding")], [200, null]);
});

const raw = async (
  answer: (socket: Socket, count: number) => void,
  use: (url: string, count: () => number) => Promise<void>,
) => {
  let requests = 0;
  const node: Played = await playTcp((socket) => {
    let buffered = "";
    socket.setEncoding("latin1").on("data", (text) => {
      buffered += text;
      const [head, ...rest] = buffered.split("\r\n\r\n");
      const length = Number(/content-length: *(\d+)/i.exec(head!)?.[1] ?? 0);
      const isChunked = /transfer-encoding/i.test(head!);
      const body = rest.join("\r\n\r\n");
      if (rest.length === 0 || (isChunked ? !/0\r\n\r\n$/.test(buffered) : body.length < length)) {
        return;
      }
      buffered = "";
      // Asks whether the node responds at all, after a call that failed.
      if (head!.startsWith("HEAD / ")) return void socket.end("HTTP/1.1 200 OK\r\n\r\n");
      requests++;
      answer(socket, requests);
    });
  });
  try {
    await use(node.url, () => requests);
  } finally {
    await node.close();
  }
};

const head = (...lines: string[]) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${lines.join("\r\n")}\r\n\r\n`;

const BROKEN: readonly (readonly [why: string, answer: (socket: Socket) => void])[] = [
  ["nothing", (socket) => socket.destroy()],
  ["a reset", (socket) => socket.resetAndDestroy?.() ?? socket.destroy()],
  ["text that is not HTTP", (socket) => socket.end("words of the node\r\n\r\n")],
  ["half of a response head", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Ty")],
  ["less than its Content-Length", (socket) => socket.end(`${head("Content-Length: 9")}{"a"`)],
  [
    "chunks without the last one",
    (socket) => socket.end(`${head("Transfer-Encoding: chunked")}2\r\n{}\r\n`),
  ],
  ["half of a chunk", (socket) => socket.end(`${head("Transfer-Encoding: chunked")}9\r\n{}`)],
];

for (
  const [why, status, content, mayHaveRun] of [
    ["a page of a proxy", 504, "<html>", true],
    ["an object without a result", 200, '{"jsonrpc":"2.0","id":1}', true],
    ["a refusal that is not JSON-RPC", 403, "", false],
  ] as const
) {
  answers(
    `if a write gets ${why}, the client is ${
      mayHaveRun ? "told" : "not told"
    } that it may have been carried out`,
    async () => {
      process.env.GATEWAY_TOKEN = TOKEN;
      node.answer = (_, response) => response.writeHead(status).end(content);
      const { ask, rpc } = forwarding(node.url, RPC, {
        open: ["reads"],
        clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
      });
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const bare = await ask("/v1/rpc/send", { method: "POST", headers, body: '{"tx":"a"}' });
      assert.is(/ may have been carried out/.test((await bare.json()).detail), mayHaveRun);
      const { error } = await (await rpc({ id: 1, method: "send", params: ["a"] }, { headers }))
        .json();
      assert.is(/ may have been carried out/.test(error.message), mayHaveRun);
      const read = await (await ask("/v1/rpc/block?hash=a")).json();
      assert.not.match(read.detail, "carried out");
    },
  );
}

for (const [why, answer] of BROKEN) {
  answers(`if the node sends ${why}, the client gets 502, and a write is sent once`, async () => {
    await raw(answer, async (url, count) => {
      process.env.GATEWAY_TOKEN = TOKEN;
      const settings = {
        open: ["reads"],
        clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
      };
      const { ask } = forwarding(url, REST, settings);
      const read = await ask("/v1/node/status");
      const text = await read.text();
      assert.is(read.status, 502, text);
      assert.not.match(text, /words of the node|carried out/);
      const before = count();
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const write = await ask("/v1/node/send", { method: "POST", headers, body: "{}" });
      assert.is(write.status, 502);
      assert.match((await write.json()).detail, "the call may have been carried out");
      assert.is(count() - before, 1);

      const methods = forwarding(url, RPC, settings);
      const bare = await methods.ask("/v1/rpc/send", {
        method: "POST",
        headers,
        body: '{"tx":"a"}',
      });
      assert.is(bare.status, 502);
      assert.match((await bare.json()).detail, "the call may have been carried out");
      const wrapped = await methods.rpc({ id: 1, method: "send", params: ["a"] }, { headers });
      const { error } = await wrapped.json();
      assert.is(error.code, -32052);
      assert.match(error.message, "the call may have been carried out");
      assert.is(count() - before, 3);
    });
  });
}

answers("a write is sent only once, even if a reused connection breaks", async () => {
  let isBreaking = false;
  await raw((socket) => {
    if (isBreaking) return socket.destroy();
    socket.write(`${head("Content-Length: 2")}{}`);
  }, async (url, count) => {
    process.env.GATEWAY_TOKEN = TOKEN;
    const settings = {
      open: ["reads"],
      clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
    };
    const { ask } = forwarding(url, REST, settings);
    assert.is((await ask("/v1/node/status")).status, 200);
    isBreaking = true;
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const write = await ask("/v1/node/send", { method: "POST", headers, body: "{}" });
    assert.is(write.status, 502);
    assert.is(count(), 2);
  });
});

const ENDS: Readonly<Record<string, (socket: Socket) => void>> = {
  ends: (socket) => void socket.end(),
  destroys: (socket) => void socket.destroy(),
  resets: (socket) => void socket.resetAndDestroy(),
};

for (const [how, end] of Object.entries(ENDS)) {
  answers(`no call is lost if the node ${how} a connection when the next call comes`, async () => {
    let isEnding = false, isSteady = false;
    await raw((socket) => {
      // The node has closed the connection before it reads the request.
      if (isEnding) {
        isEnding = false;
        return end(socket);
      }
      socket.write(`${head("Content-Length: 2")}{}`);
      if (!isSteady) setTimeout(() => end(socket), 3);
    }, async (url, count) => {
      const { ask } = forwarding(url, REST);
      for (let called = 0; called < 60; called++) {
        assert.is((await ask("/v1/node/status")).status, 200, `call ${called}`);
        // Some calls come while the connection is open, some after its end, some between.
        await new Promise((resolve) => setTimeout(resolve, called % 6));
      }
      isSteady = true;
      // Until all connections that the node is about to close are closed.
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.is((await ask("/v1/node/status")).status, 200);
      isEnding = true;
      const before = count();
      assert.is((await ask("/v1/node/status")).status, 200);
      assert.is(count() - before, 2);
    });
  });
}

answers("a read whose response has begun is not repeated", async () => {
  await raw((socket, count) => {
    if (count === 1) return socket.write(`${head("Content-Length: 2")}{}`);
    socket.end("HTTP/1.1 200");
  }, async (url, count) => {
    const { ask } = forwarding(url, REST);
    assert.is((await ask("/v1/node/status")).status, 200);
    assert.is((await ask("/v1/node/status")).status, 502);
    assert.is(count(), 2);
  });
});

answers("early hints and other interim responses are not passed on", async () => {
  const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.js>; rel=preload\r\n\r\n";
  await raw(
    (socket) => socket.end(`${hints}${hints}${head("Content-Length: 2")}{}`),
    async (url) => {
      const answer = await forwarding(url, REST).ask("/v1/node/status");
      assert.equal([answer.status, await answer.text()], [200, "{}"]);
      assert.is(answer.headers.get("link"), null);
    },
  );
});

answers("a call to a node that has stopped gets 502", async () => {
  const gone = await playNode();
  await gone.close();
  const answer = await forwarding(gone.url, REST).ask("/v1/node/status");
  assert.is(answer.status, 502);
  const text = await answer.text();
  assert.not.match(text, String(gone.port));
  const methods = forwarding(gone.url, RPC);
  assert.is((await methods.ask("/v1/rpc/number")).status, 502);
  const wrapped = await methods.rpc([{ id: 1, method: "number" }]);
  assert.is((await wrapped.json())[0].error.code, -32052);
});

for (
  const [why, answer] of [
    ["does not respond", () => {}],
    ["sends half of a response", (socket: Socket) => socket.write(`${head("Content-Length: 9")}{`)],
    ["responds byte by byte", (socket: Socket) => {
      socket.write(head("Content-Length: 100000"));
      const timer = setInterval(() => socket.write(" "), 20);
      socket.on("close", () => clearInterval(timer));
    }],
  ] as const
) {
  answers(`if the node ${why}, calls get 504 in time`, async () => {
    await raw(answer, async (url) => {
      process.env.GATEWAY_TOKEN = TOKEN;
      const settings = {
        open: ["reads"],
        clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
        timeout: "200ms" as const,
      };
      const read = await forwarding(url, REST, settings).ask("/v1/node/status");
      assert.is(read.status, 504);
      assert.not.match((await read.json()).detail, "carried out");
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const methods = forwarding(url, RPC, settings);
      const init = { method: "POST", headers, body: '{"tx":"a"}' };
      const write = await methods.ask("/v1/rpc/send", init);
      assert.is(write.status, 504);
      assert.match((await write.json()).detail, "carried out");
      // All calls in a batch share one time limit.
      const batch = Array(5).fill({ id: 1, method: "number" });
      const members = await (await methods.rpc(batch)).json();
      assert.equal(
        members.map(({ error }: { error: { code: number } }) => error.code),
        Array(5).fill(-32053),
      );
    });
  });
}

answers("a response above the limit becomes 502 if no part of it was passed on yet", async () => {
  const settings = { open: ["reads"], limit: "100KiB" };
  const [paths, methods] = [
    forwarding(node.url, REST, settings),
    forwarding(node.url, RPC, settings),
  ];
  node.answer = result(`"${"x".repeat(100 * 1024)}"`);
  assert.is((await paths.ask("/v1/node/status")).status, 502);
  assert.is((await methods.ask("/v1/rpc/number")).status, 502);
  node.answer = (_, response) => response.write("x".repeat(200 * 1024), () => response.end());
  assert.is((await paths.ask("/v1/node/status")).status, 502);
  assert.is((await methods.ask("/v1/rpc/number")).status, 502);
});

answers("a response that is exactly as long as the limit is passed on", async () => {
  const { ask } = forwarding(node.url, REST, { open: ["reads"], limit: "100KiB" });
  for (const says of [true, false]) {
    node.answer = (_, response) => {
      const body = "x".repeat(100 * 1024);
      if (says) response.end(body);
      else response.write(body, () => response.end());
    };
    const answer = await ask("/v1/node/status");
    assert.is(answer.status, 200);
    assert.is((await answer.arrayBuffer()).byteLength, 100 * 1024);
  }
});

answers("the size limit on responses applies to all calls of a batch together", async () => {
  const { rpc } = forwarding(node.url, RPC, { open: ["reads"], limit: "100KiB" });
  node.answer = result(`"${"x".repeat(30 * 1024)}"`);
  const members = await (await rpc(Array(5).fill({ id: 1, method: "number" }))).json();
  assert.equal(
    members.map((member: { error?: { code: number } }) => member.error?.code),
    Array(5).fill(-32052),
  );
});

answers("a client can tell that a stream was cut off at the limit", async () => {
  const { ask } = forwarding(node.url, REST, { open: ["reads"], limit: "2MiB" });
  node.answer = (_, response) => {
    for (let count = 0; count < 5; count++) response.write(new Uint8Array(1024 * 1024));
    response.end();
  };
  const answer = await ask("/v1/node/status");
  assert.is(answer.status, 200);
  let error: unknown;
  await answer.arrayBuffer().catch((thrown) => error = thrown);
  assert.ok(error);
});

answers("a client can tell that the node aborted a stream", async () => {
  await raw((socket) => {
    socket.write(head("Content-Length: 3000000"));
    socket.write(" ".repeat(2_000_000), () => socket.end());
  }, async (url) => {
    const answer = await forwarding(url, REST).ask("/v1/node/status");
    let error: unknown;
    await answer.arrayBuffer().catch((thrown) => error = thrown);
    assert.ok(error);
  });
});

answers(
  "if a node forbids a batch for one of its methods, the others get their results",
  async () => {
    const { rpc } = forwarding(node.url, RPC);
    let sizes: number[] = [];
    node.answer = (request, response) => {
      const calls = [JSON.parse(textOf(request))].flat() as { id: unknown; method: string }[];
      sizes.push(calls.length);
      if (calls.some(({ method }) => method === "named")) return response.writeHead(403).end();
      const replies = calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: 7 }));
      response.end(JSON.stringify(calls.length > 1 ? replies : replies[0]));
    };
    const callsOf = (...methods: string[]) =>
      methods.map((method, id) => ({ jsonrpc: "2.0", id, method }));
    for (const _ of ["before a batch was taken", "afterwards"]) {
      const replies = await (await rpc(callsOf("number", "named"))).json();
      assert.equal(replies.map((reply: { result?: number }) => reply.result), [7, undefined]);
      sizes = [];
      await rpc(callsOf("number", "number"));
      assert.equal(sizes, [2], "the node still gets batches");
    }
  },
);

answers(
  "a call that fails makes the service look at the node, though nobody asks for its state",
  async () => {
    const leaving = await playNode();
    const said: string[] = [];
    const log = (message: string) => said.push(message);
    const { ask, rpc } = forwarding(leaving.url, RPC, "reads", { log });
    assert.is((await (await ask("/v1/info")).json()).status, "ok");
    await leaving.close();
    // The state is not read more often than once in `ttl`.
    passTime(1000);
    await rpc({ jsonrpc: "2.0", id: 1, method: "number" });
    await until(() => said.some((message) => message.includes(" is stale")));
  },
);

answers.run();
