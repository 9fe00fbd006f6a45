import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ServedRequest } from "../src/http/request.ts";
import type { serve as Serve, ServeOptions } from "../src/adapters/node.ts";
import { checkServeOptions } from "../src/adapters/shared.ts";
import { createNodeface } from "../src/index.ts";
import { forwarding, json, playNode, REST, RPC, until } from "./_gateway.ts";

const name = "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node";
const { serve }: { serve: typeof Serve } = await import(`../src/adapters/${name}.ts`);

const serving = suite("serve");

const nodeface = createNodeface();

serving("serve listens only on this machine by default, and returns its URL", async () => {
  const server = await serve(nodeface, { port: 0 });
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  assert.is((await fetch(`${server.url}v1/info`)).status, 200);
  await server.close();
});

const WAYS: Readonly<Record<string, (response: Response) => Response | Promise<Response>>> = {
  "unchanged": (response) => response,
  "a copy": (response) => response.clone(),
  "a new response with the same body": (response) => new Response(response.body, response),
  "a new response with the same bytes": async (response) =>
    new Response(await response.arrayBuffer(), response),
  "after reading the headers and body": (response) => {
    assert.is(response.headers.get("x-content-type-options"), "nosniff");
    assert.instance(response.body, ReadableStream);
    return response;
  },
};

for (const [way, change] of Object.entries(WAYS)) {
  serving(`a host may process a response before sending it: ${way}`, async () => {
    const fetchChanged = async (request: Request) => {
      const response = await nodeface.fetch(request);
      assert.instance(response, Response);
      response.headers.set("x-own", "a");
      return await change(response);
    };
    await using server = await serve({ fetch: fetchChanged }, { port: 0 });
    for (const path of ["v1/info", "v1/spec", "nope"]) {
      const given = await nodeface.fetch(new Request(server.url + path));
      const sent = await fetch(server.url + path);
      assert.is(sent.status, given.status);
      assert.is(sent.headers.get("x-own"), "a");
      assert.is(sent.headers.get("content-type"), given.headers.get("content-type"));
      assert.is(await sent.text(), await given.text());
    }
  });
}

function shakeHands(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n" +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${"A".repeat(22)}==\r\n\r\n`,
  );
  return socket;
}

const HANDLERS: Readonly<Record<string, (accepted: Response) => Response>> = {
  "replaces": () => new Response("no", { status: 403 }),
  "replaces by an error": () => {
    throw new Error("no");
  },
};

for (const [how, change] of Object.entries(HANDLERS)) {
  serving(`a host that ${how} the response to a handshake gives its place back`, async () => {
    const ended: string[] = [];
    const fetchChanged = (request: Request) =>
      Promise.resolve(change((request as ServedRequest).upgrade!.accept({
        protocol: undefined,
        open: () => {
          ended.push("opened");
          throw new Error("is open");
        },
        drop: () => void ended.push("dropped"),
      })));
    await using server = await serve({ fetch: fetchChanged }, { port: 0, onError: () => {} });
    const socket = shakeHands(server.url);
    const [head] = await once(socket, "data");
    assert.match(String(head), /^HTTP\/1.1 (?:403|500) /, `got ${head}`);
    assert.equal(ended, ["dropped"]);
    socket.destroy();
  });
}

serving("a handshake that is accepted after the host has responded gets no place", async () => {
  let upgrade: ServedRequest["upgrade"];
  let isDropped = false;
  const fetchFirst = (request: Request) => {
    upgrade = (request as ServedRequest).upgrade;
    return Promise.resolve(new Response(null, { status: 504 }));
  };
  await using server = await serve({ fetch: fetchFirst }, { port: 0 });
  const socket = shakeHands(server.url);
  assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1.1 504 /);
  const open = () => {
    throw new Error("is open");
  };
  upgrade!.accept({ protocol: undefined, open, drop: () => isDropped = true });
  assert.ok(isDropped);
  socket.destroy();
});

serving("a handshake that is accepted while the server closes is refused", async () => {
  const ended: string[] = [];
  let accept: (() => void) | undefined;
  const fetchLate = async (request: Request) => {
    await new Promise<void>((resolve) => accept = resolve);
    const open = () => {
      throw new Error("is open");
    };
    const drop = () => void ended.push("dropped");
    return (request as ServedRequest).upgrade!.accept({ protocol: undefined, open, drop });
  };
  const server = await serve({ fetch: fetchLate }, { port: 0, onError: () => {} });
  const socket = shakeHands(server.url);
  await until(() => accept !== undefined);
  const closing = server.close();
  accept!();
  assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1.1 503 .*\nretry-after: 5\r/is);
  assert.equal(ended, ["dropped"]);
  await closing;
});

serving("a host that has read the content of a call is told so", async () => {
  const errors: string[] = [];
  const { app } = forwarding("http://127.0.0.1:1", RPC, "reads", {
    log: (message) => void errors.push(message),
  });
  const fetchRead = async (request: Request) => {
    await request.json();
    return await app.fetch(request);
  };
  await using server = await serve({ fetch: fetchRead }, { port: 0 });
  const headers = { "content-type": "application/json" };
  const body = '{"id":1,"method":"number"}';
  const response = await fetch(`${server.url}v1/rpc`, { method: "POST", headers, body });
  assert.is(response.status, 500);
  assert.match(errors.join(), "call request.clone() before reading");
});

serving("a handler that stops reading the content sees no client that has left", async () => {
  const leave = new AbortController();
  const fetchFirst = async (request: Request) => {
    const reader = request.body!.getReader();
    await reader.read();
    await reader.cancel();
    const { signal, disconnectSignal = signal } = request as ServedRequest;
    return new Response(String([signal.aborted, disconnectSignal.aborted]));
  };
  await using server = await serve({ fetch: fetchFirst }, { port: 0 });
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(10)),
  });
  const { signal } = leave;
  const response = await fetch(
    server.url,
    { method: "POST", body, duplex: "half", signal } as RequestInit,
  );
  assert.is(await response.text(), "false,false");
  leave.abort();
});

serving("without options, serve listens on port 8080", () => {
  assert.equal(checkServeOptions({}), { hostname: "127.0.0.1", port: 8080 });
  const unset = { hostname: undefined, port: undefined, onError: undefined };
  assert.equal(checkServeOptions(unset), { hostname: "127.0.0.1", port: 8080 });
});

serving("what cannot serve is refused before the server listens", async () => {
  for (const wrong of [undefined, {}, nodeface.fetch] as never[]) {
    const error = await serve(wrong, { port: 0 }).then(() => undefined, (error: Error) => error);
    assert.ok(error instanceof TypeError, String(error));
  }
});

serving("for a host name, the URL of the server has its IP address", async () => {
  const server = await serve(nodeface, { hostname: "localhost", port: 0 });
  assert.match(server.url, /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+\/$/);
  assert.is((await fetch(`${server.url}v1/info`)).status, 200);
  await server.close();
});

serving("serve accepts an IPv6 address with and without brackets", () => {
  for (const hostname of ["::1", "[::1]"]) {
    assert.is(checkServeOptions({ hostname }).hostname, "::1");
  }
});

serving("close can be called twice, and afterwards the server does not respond", async () => {
  const server = await serve(nodeface, { port: 0 });
  await (await fetch(server.url)).text();
  await Promise.all([server.close(), server.close()]);
  await server[Symbol.asyncDispose]();
  const failed = await fetch(server.url).then(() => false, () => true);
  assert.ok(failed);
});

serving("close ends the event streams of a Nodeface, and cuts none", async () => {
  const server = await serve(nodeface, { port: 0 });
  const response = await fetch(`${server.url}v1/events`);
  const read = response.text();
  await server.close();
  // A stream that is cut fails.
  assert.match(await read, /^retry: /);
});

serving("a response is sent with the host's changes", async () => {
  for (const path of ["v1/info", "spec.json", "v1/rpc/any", "nothing"]) {
    const texts: string[] = [];
    const wrapped = async (request: Request) => {
      const response = await nodeface.fetch(request);
      const before = response.headers.get("content-type")!;
      response.headers.set("x-host", before);
      if (!request.url.endsWith("?read")) return response;
      texts.push(await response.clone().text());
      return new Response(response.body?.pipeThrough(new TransformStream()), response);
    };
    const server = await serve({ fetch: wrapped }, { port: 0 });
    for (const query of ["", "?read"]) {
      const headers = { "accept-encoding": "identity" };
      const response = await fetch(server.url + path + query, { headers });
      assert.is(response.headers.get("x-host"), response.headers.get("content-type"), path);
      texts.push(await response.text());
    }
    await server.close();
    assert.equal(new Set(texts).size, 1, path);
  }
});

serving(
  "if the stream of an operation fails, the error is logged with the method and path",
  async () => {
    const told: string[] = [];
    const app = createNodeface({
      operations: [{
        method: "GET",
        path: "/own",
        operation: { responses: { 200: { description: "A stream" } } },
        handle: () =>
          new Response(
            new ReadableStream({ pull: (controller) => controller.error(new Error("disk")) }),
          ),
      }],
      log: (message, { code, level }) => told.push(`${code} ${level} ${message}`),
    });
    const server = await serve(app, { port: 0 });
    await fetch(`${server.url}own?key=secret`).then((response) => response.text()).catch(() => {});
    await server.close();
    // Deno 2.9's `fetch` sends the request twice, so the error may be logged twice.
    assert.match(told[0] ?? "", /^error error GET \/own failed: Error: disk/);
  },
);

const WRONG: readonly [options: unknown, message: string][] = [
  [{ host: "127.0.0.1" }, "host is an unknown key; did you mean hostname?"],
  [{ prot: 1 }, "prot is an unknown key; did you mean port?"],
  [{ tls: 1 }, "tls is an unknown key; expected one of hostname, port, onResponse, onError"],
  [{ port: "8080" }, 'port must be a whole number from 0 to 65535, not "8080"'],
  [{ port: 65_536 }, "port must be a whole number from 0 to 65535, not 65536"],
  [{ port: NaN }, "port must be a whole number from 0 to 65535, not NaN"],
  [{ hostname: "" }, 'hostname must be a host name or an IP address such as "127.0.0.1", not ""'],
  [{ hostname: "http://a" }, "hostname must be a host name or an IP address"],
  [{ hostname: null }, "hostname must be a host name or an IP address"],
  [{ onError: 5 }, "onError must be a function, not 5"],
  [{ host: "a", port: -1 }, "invalid options:\n  port must be"],
];

for (const [options, message] of WRONG) {
  serving(`serve refuses the options ${JSON.stringify(options)}`, async () => {
    const error = await serve(nodeface, options as ServeOptions).catch((error) => error);
    assert.instance(error, TypeError);
    assert.ok(error.message.startsWith(message), error.message);
  });
}

serving("a call whose client leaves during a long response is logged once", async () => {
  const node = await playNode();
  const { app, calls } = forwarding(node.url, REST);
  await using server = await serve(app, { port: 0 });
  try {
    // A shorter response is sent when the node has sent all of it.
    node.answer = (_, response) => response.writeHead(200).write(new Uint8Array(2_000_000));
    const client = connect(Number(new URL(server.url).port), "127.0.0.1");
    client.write("GET /v1/node/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let received = 0;
    client.on("data", (part) => received += part.length);
    await until(() => received > 2_000_000);
    client.destroy();
    await until(() => calls.length > 0);
    node.answer = json({});
    await (await fetch(`${server.url}v1/node/peers/a`)).text();
    assert.equal(calls.map(({ operation }) => operation), ["GET /status", "GET /peers/{address}"]);
  } finally {
    await node.close();
  }
});

serving.run();
