import { once } from "node:events";
import { createServer, get, IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Listener, listener } from "../src/adapters/node.ts";
import type { ServedRequest } from "../src/http/request.ts";
import { createNodeface, type Operation } from "../src/index.ts";

const mounting = suite("mounted in a host");

const operation = { responses: { 200: { description: "The content" } } };
const handle: Operation["handle"] = async (request) => new Response(await request.text());
const echo: Operation = { method: "POST", path: "/v1/echo", operation, handle };

const below = createNodeface({ prefix: "/a/node", operations: [echo] });
const anywhere = createNodeface({ operations: [echo] });

const ask = async (path: string, app = below) =>
  await app.fetch(new Request(`http://localhost${path}`));

async function destination(path: string, visited: string): Promise<string> {
  const { status, headers } = await ask(path);
  assert.is(status, 307, path);
  return new URL(headers.get("location")!, `http://localhost${visited}`).pathname;
}

const PATHS = ["/v1/spec", "/v1/info", "/spec.json", "/.well-known/api-catalog"];

mounting("with a prefix, every path is found only below that prefix", async () => {
  for (const path of PATHS) {
    assert.is((await ask(`/a/node${path}`)).status, 200, path);
    for (const other of ["/a", "/a/nodes", "/a/node/a/node", "/b", "/A/node", "//a/node"]) {
      assert.is((await ask(other + path)).status, 404, other + path);
    }
  }
});

mounting("a path is found even if the host has removed all or part of the prefix", async () => {
  for (const path of PATHS) {
    assert.is((await ask(path)).status, 200, path);
    assert.is((await ask(`/node${path}`)).status, 200, path);
  }
});

mounting("the prefix /v1 hides none of the service's paths", async () => {
  const app = createNodeface({ prefix: "/v1" });
  for (const path of ["/v1/v1/info", "/v1/info", "/v1/spec.json"]) {
    assert.is((await ask(path, app)).status, 200, path);
  }
});

mounting("the prefix redirects to the explorer, with or without a trailing slash", async () => {
  for (const path of ["/a/node", "/a/node/", "/a/node/v1", "/a/node/v1/"]) {
    assert.is(await destination(path, path), "/a/node/v1/spec", path);
  }
});

mounting("the redirect leads to the explorer even if the host removes the prefix", async () => {
  for (const path of ["/", "/node", "/node/"]) {
    for (const visited of ["/a/node", "/a/node/"]) {
      assert.is(await destination(path, visited), "/a/node/v1/spec", path);
    }
  }
  for (const path of ["/v1", "/v1/"]) {
    assert.is(await destination(path, `/a/node${path}`), "/a/node/v1/spec", path);
  }
});

mounting("a prefix that cannot be the beginning of a path is refused", () => {
  for (const prefix of ["node", "/node/", "/", "//node", "/n de", "/%20", "/a/..", "/./a"]) {
    assert.throws(() => createNodeface({ prefix }), /prefix must be a path such as "\/node1"/);
  }
});

mounting("a request matches if the service has the requested path, whatever the method is", () => {
  const matches = (path: string, app = below) =>
    app.matches({ url: `http://localhost${path}`, headers: new Headers() } as Request);
  for (const path of ["/v1/info", "/", "/v1/echo", "/favicon.ico", "/assets/explorer-a/b"]) {
    assert.is(matches(`/a/node${path}?x=/y`), true, path);
    assert.is(matches(path), false, path);
    assert.is(matches(path, anywhere), true, path);
  }
  for (const path of ["/nope", "/v1/info/", "//", "/a/node/v1/info", "/assets/img/a.png"]) {
    assert.is(matches(path, anywhere), false, path);
  }
  assert.is(anywhere.matches({ url: "//" }), false);
  assert.is(anywhere.matches({ url: "ftp://localhost/v1/info" }), false);
});

async function serving(
  handler: (message: IncomingMessage, response: ServerResponse) => void,
  check: (url: string) => Promise<void>,
): Promise<void> {
  const http = createServer(handler);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  try {
    await check(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  } finally {
    http.close();
    http.closeAllConnections();
  }
}

/** Removes the mount path from `url`, as Express and other routers do. */
function mount(at: string, answer: Listener, next: (response: ServerResponse) => void) {
  return (message: IncomingMessage, response: ServerResponse) => {
    const url = message.url!;
    Object.assign(message, { originalUrl: url });
    if (at !== "" && !new RegExp(`^${at}(/|\\?|$)`).test(url)) return next(response);
    message.url = url.slice(at.length).replace(/^(?!\/)/, "/");
    answer(message, response, () => next(response));
  };
}

const own = (response: ServerResponse) => void response.writeHead(418).end("own");
const status = async (url: string, init?: RequestInit) =>
  (await fetch(url, { redirect: "manual", ...init })).status;

/** `fetch` would resolve dots. */
const statusAt = async (url: string, path: string) =>
  await new Promise<number | undefined>((resolve, reject) =>
    get(`${url}/`, { path }, (response) => resolve(response.resume().statusCode))
      .once("error", reject)
  );

for (const [what, app] of [["with", below], ["without", anywhere]] as const) {
  mounting(`below a router that strips its path, Nodeface works ${what} a prefix`, async () => {
    await serving(mount("/a/node", listener(app), own), async (url) => {
      for (const path of PATHS) assert.is(await status(`${url}/a/node${path}`), 200, path);
      for (const path of ["", "/", "/v1", "/v1/", "?x=1"]) {
        const { headers } = await fetch(`${url}/a/node${path}`, { redirect: "manual" });
        const to = new URL(headers.get("location")!, `${url}/a/node${path}`);
        assert.is(to.href, `${url}/a/node/v1/spec`, path);
      }
      for (const path of ["/nope", "/v1/info/", "//v1/info", "/v1/spec/"]) {
        assert.is(await status(`${url}/a/node${path}`), 418, path);
      }
      assert.is(await status(`${url}/v1/info`), 418);
      assert.is(await status(`${url}/a/nodes/v1/info`), 418);
    });
  });
}

mounting("if Nodeface is mounted at the root, unknown paths go to the next handler", async () => {
  await serving(mount("", listener(below), own), async (url) => {
    assert.is(await status(`${url}/a/node/v1/info`), 200);
    assert.is(await status(`${url}/a/node/v1/info`, { method: "POST" }), 405);
    assert.is(await status(`${url}/a/node/v1/info`, { method: "OPTIONS" }), 204);
    for (const path of ["/", "/v1/info", "/a/node/nope", "/assets/a/b"]) {
      assert.is(await status(url + path), 418, path);
    }
    // Authentication of the prefix would not count.
    for (const dots of ["/b/..", "/b/%2e%2E", "/.", "/b/x/../.."]) {
      assert.is(await statusAt(url, `${dots}/a/node/v1/info`), 418, dots);
    }
  });
});

mounting("without a next handler, unknown paths get 404", async () => {
  await serving(listener(anywhere), async (url) => {
    assert.is(await status(`${url}/nope`), 404);
  });
  // No router can have removed the prefix: authentication for it would not count.
  await serving(listener(below), async (url) => {
    assert.is(await status(`${url}/a/node/v1/info`), 200);
    for (const path of ["/v1/info", "/node/v1/info", "/nope"]) {
      const response = await fetch(url + path);
      assert.is(response.status, 404, path);
      assert.is(response.headers.get("x-content-type-options"), "nosniff");
    }
  });
});

mounting(
  "behind a router at a part of the prefix, only paths below the prefix are found",
  async () => {
    for (const next of [true, false]) {
      const handle = listener(below);
      const answer: Listener = (message, response, proceed) =>
        next ? handle(message, response, proceed) : handle(message, response);
      await serving(mount("/a", answer, own), async (url) => {
        for (const path of PATHS) {
          assert.is(await status(`${url}/a/node${path}`), 200, path);
          // Authentication of the prefix would not count.
          assert.is(await status(`${url}/a${path}`), next ? 418 : 404, path);
          for (const dots of ["/a/..", "/a/%2e%2E", "/a/x/../..", "/a/.", "/a/node/.."]) {
            assert.is(await statusAt(url, dots + path), next ? 418 : 404, dots + path);
          }
        }
      });
    }
  },
);

mounting("behind a router at no part of the prefix, all paths are found", async () => {
  // A proxy before the host may have changed the path.
  for (const other of ["/node", "/internal", "/a/nodes"]) {
    await serving(mount(other, listener(below), own), async (url) => {
      assert.is(await status(`${url}${other}/v1/info`), 200, other);
    });
  }
});

for (const consumed of ["wholly", "partly", "into a text"]) {
  for (const method of ["POST", "PUT"]) {
    mounting(
      `a ${method} whose content was consumed ${consumed} gets 500 with advice`,
      async () => {
        await serving(async (message, response) => {
          const isPartly = consumed === "partly" && message.method === method;
          if (isPartly) await new Promise((read) => message.once("data", read));
          let rawBody = "";
          if (!isPartly) { for await (const part of message) rawBody += part; }
          message.pause();
          if (consumed === "into a text") Object.assign(message, { rawBody });
          Object.assign(message, { body: { field: "1" } });
          listener(anywhere)(message, response);
        }, async (url) => {
          const response = await fetch(`${url}/v1/echo`, { method, body: "sent" });
          assert.is(response.status, 500);
          assert.match((await response.json()).detail, "mount Nodeface before body parsers");
          assert.is(await status(`${url}/v1/info`), 200);
        });
      },
    );
  }
}

for (const method of ["GET", "POST"]) {
  mounting(`\`disconnectSignal\` of a ${method} request tells that its client leaves`, async () => {
    let arrive: (request: ServedRequest) => void;
    let close: () => void;
    const arrived = new Promise<ServedRequest>((resolve) => arrive = resolve);
    const closed = new Promise<void>((resolve) => close = resolve);
    const fetch = async (request: Request) => {
      await request.text();
      arrive(request);
      return await new Promise<Response>(() => {});
    };
    await serving((message, response) => {
      response.once("close", close);
      listener({ fetch })(message, response);
    }, async (url) => {
      const client = new AbortController();
      const body = method === "POST" ? "content" : null;
      const asked = globalThis.fetch(url, { method, body, signal: client.signal });
      const { disconnectSignal } = await arrived;
      assert.is(disconnectSignal!.aborted, false);
      client.abort();
      await Promise.all([closed, asked.catch(() => {})]);
      assert.is(disconnectSignal!.aborted, true);
    });
  });
}

mounting("a host's server that closes before the service ends with its event streams", async () => {
  const app = createNodeface();
  const server = createServer(listener(app));
  // An idle connection would never be closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { headers, body } = await fetch(`http://127.0.0.1:${port}/v1/events`);
  const closed = new Promise((resolve) => server.close(resolve));
  await app.close();
  await new Response(body).text();
  if (headers.get("connection") !== "close") server.closeAllConnections();
  assert.is(headers.get("connection"), "close");
  await closed;
});

mounting("if a Request was already consumed, reading it fails with advice", async () => {
  const errors: unknown[] = [];
  const app = createNodeface({
    operations: [echo],
    log: (_, event) => errors.push("error" in event && event.error),
  });
  const request = new Request("http://localhost/v1/echo", { method: "POST", body: "sent" });
  await request.text();
  assert.is((await app.fetch(request)).status, 500);
  assert.match(String(errors[0]), "call request.clone()");
});

mounting(
  "an operation receives the properties that the host's middleware added to the request",
  async () => {
    const path = "/v1/me";
    const app = createNodeface({
      operations: [{
        ...{ method: "GET", path, operation },
        handle: (_request, _params, { user }: { user: string }) => new Response(user),
      }],
    });
    const answer = listener(app);
    const server = createServer((request, response) =>
      answer(Object.assign(request, { user: "alice" }), response)
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      assert.is(await (await fetch(`http://127.0.0.1:${port}${path}`)).text(), "alice");
    } finally {
      server.close();
      server.closeAllConnections();
    }
  },
);

mounting("a client that sends all of a refused call reads the response", async () => {
  const node = { url: "http://127.0.0.1:1", kind: "bitcoin" };
  const calling = createNodeface({ node, forward: "reads", log() {} });
  const server = createServer(listener(calling)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  const content = "x".repeat(5_000_000);
  const head =
    `POST /v1/rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${content.length}\r\n\r\n`;
  await new Promise((sent) => socket.write(head + content, sent));
  assert.match(await text(socket), /^HTTP\/1\.1 413 [^]*"error"/);
  server.close();
  await calling.close();
});

const cookies: Operation = {
  ...{ method: "GET", path: "/v1/cookies", operation },
  handle: () => new Response(null, { headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] }),
};
const baking = createNodeface({ operations: [cookies] });

type Head = [status: number, headers?: undefined];

/** As on-headers 1.0.2 does, which `morgan` 1.10.0 and `compression` 1.8.0 use. */
function onHeaders(response: ServerResponse, listen: () => void): void {
  const { writeHead } = response;
  response.writeHead = (...given: unknown[]) => {
    const at = typeof given[1] === "string" ? 2 : 1;
    const headers = given[at];
    const pairs = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
    for (const [name, value] of pairs) response.setHeader(name, value);
    listen();
    return writeHead.apply(response, given.slice(0, at) as Head);
  };
}

mounting(
  "middleware that wraps writeHead, as morgan does, leaves each response whole",
  async () => {
    const answer = listener(baking);
    let seen: unknown;
    const wrapped = (message: IncomingMessage, response: ServerResponse) => {
      onHeaders(response, () => seen = response.getHeader("content-type"));
      answer(message, response);
    };
    const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => name !== "date");
    await serving(answer, async (url) => {
      await serving(wrapped, async (wrappedUrl) => {
        for (const path of ["/v1/info", "/v1/spec", "/spec.json", "/v1/cookies", "/v1/events"]) {
          const [expected, response] = await Promise.all(
            [url, wrappedUrl].map((each) => fetch(each + path)),
          );
          assert.is(response!.status, 200, path);
          assert.equal(headersOf(response!), headersOf(expected!), path);
          assert.is(seen, expected!.headers.get("content-type") ?? undefined, path);
          if (path !== "/v1/events") {
            assert.is(await response!.text(), await expected!.text(), path);
          }
        }
      });
    });
  },
);

mounting("cookies and Vary of a host stay beside those of a response", async () => {
  await serving((message, response) => {
    response.setHeader("Set-Cookie", "sid=abc");
    response.setHeader("Vary", "Origin");
    response.setHeader("Cache-Control", "private");
    listener(baking)(message, response);
  }, async (url) => {
    const { headers } = await fetch(`${url}/v1/cookies`);
    assert.equal(headers.getSetCookie(), ["sid=abc", "a=1", "b=2"]);
    const info = await fetch(`${url}/v1/info`);
    assert.match(info.headers.get("vary")!, /^Origin, Accept-Encoding$/i);
    assert.is(info.headers.get("cache-control"), "public, no-cache");
  });
});

mounting("the callbacks of a listener are checked, and get the whole path", async () => {
  for (const wrong of [null, { onResponce() {} }, { onResponse: 3 }]) {
    assert.throws(
      () => listener(below, wrong as never),
      (error: unknown) => error instanceof TypeError,
    );
  }
  const urls: string[] = [];
  const handle = listener(below, { onResponse: ({ url = "" }) => urls.push(url) });
  await serving((message, response) => {
    const { url = "" } = message;
    Object.assign(message, { originalUrl: url, url: url.slice("/a/node".length) });
    handle(message, response);
  }, async (url) => {
    await (await fetch(`${url}/a/node/v1/info?x=1`)).text();
  });
  assert.equal(urls, ["/a/node/v1/info?x=1"]);
});

mounting("a response has all its cookies if the host has set a header before", async () => {
  await serving((message, response) => {
    response.setHeader("x-powered-by", "a host");
    listener(baking)(message, response);
  }, async (url) => {
    const { headers } = await fetch(`${url}/v1/cookies`);
    assert.equal(headers.getSetCookie(), ["a=1", "b=2"]);
    assert.is(headers.get("x-powered-by"), "a host");
  });
});

/** As that of serverless-http, whose socket tells the head from the content as text. */
class ServerlessResponse extends ServerResponse {
  readonly written: Uint8Array[] = [];
  #hasHead = false;

  constructor(message: IncomingMessage) {
    super(message);
    this.useChunkedEncodingByDefault = false;
    const write = (part: string | Uint8Array, _: unknown, onWritten?: () => void) => {
      const bytes = Buffer.from(part as string);
      const start = this.#hasHead ? 0 : bytes.indexOf("\r\n\r\n") + 4;
      this.#hasHead = true;
      this.written.push(bytes.subarray(start));
      onWritten?.();
      return true;
    };
    const [on, cork] = [() => {}, () => {}];
    const socket = { write, on, cork, uncork: cork, removeListener: on, destroy: on };
    this.assignSocket({ ...socket, writable: true, _writableState: {} } as unknown as Socket);
  }

  override writeHead(status: number, reason?: unknown, headers?: unknown): this {
    const given = (typeof reason === "string" ? headers : reason) ?? {};
    for (const [name, value] of Object.entries(given)) this.setHeader(name, value as string);
    return super.writeHead(status, reason as string, headers as Record<string, string>);
  }
}

/** AWS Lambda runs Node. */
const frameworks = "Deno" in globalThis || "Bun" in globalThis ? [] : ["no framework", "Express"];
for (const framework of frameworks) {
  mounting(`a serverless host gets the bytes of a compressed response: ${framework}`, async () => {
    const message = new IncomingMessage(new Socket());
    const headers = { host: "localhost", "accept-encoding": "gzip" };
    const rawHeaders = Object.entries(headers).flat();
    const head = { method: "GET", url: "/v1/spec", httpVersion: "1.1", headers, rawHeaders };
    Object.assign(message, head).push(null);
    const response = new ServerlessResponse(message);
    const { written } = response;
    if (framework === "Express") {
      Object.setPrototypeOf(response, Object.create(ServerResponse.prototype));
    }
    const records: unknown[] = [];
    listener(anywhere, { onResponse: ({ status }) => records.push(status) })(message, response);
    await once(response, "finish");
    assert.is(response.getHeader("content-encoding"), "gzip");
    assert.match(gunzipSync(Buffer.concat(written)).toString(), /^<!DOCTYPE html>/);
    assert.equal(records, [200]);
  });
}

mounting.run();
