import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { LightSignal } from "../src/abort-signal.ts";
import { createNodeface } from "../src/index.ts";
import { contextFor, failure, get, play, type Played, playTcp, within } from "./_sources.ts";

const failures = suite("why a node does not respond");

async function beside(
  server: Promise<Played>,
  check: (url: string) => Promise<void>,
) {
  const { url, close } = await server;
  try {
    await check(url);
  } finally {
    await close();
  }
}

async function says(url: string, code: string, message: string): Promise<void> {
  const error = await failure(get(url));
  assert.equal([error.code, error.message], [code, message]);
}

failures("connections that are refused", async () => {
  const { url, close } = await play(() => {});
  await close();
  await says(url, "connection_refused", "connection refused");
});

failures("a query leaves nothing at a signal that lasts, as that of the node does", async () => {
  const life = new LightSignal();
  let isHeard = false;
  await beside(
    play((request, response) => {
      isHeard ||= life.hasListeners;
      if (request.url === "/late") return;
      response.writeHead(request.url === "/redirect" ? 302 : 200).end("{}");
    }),
    async (url) => {
      const limits = { timeout: 10_000, signal: life };
      assert.is((await get(`${url}/well`, undefined, limits)).status, 200);
      assert.ok(isHeard);
      assert.not(life.hasListeners);
      await failure(get(`${url}/redirect`, undefined, limits));
      await failure(get(`${url}/late`, undefined, { ...limits, timeout: 1 }));
      assert.not(life.hasListeners);
    },
  );
});

failures(
  "a node that sends only errors and broken responses has a fault, but is there",
  () =>
    beside(
      play((request, response) => {
        if (request.url === "/eth/v1/node/version") response.writeHead(500).end();
        else response.destroy();
      }),
      async (url) => {
        await using app = createNodeface({ node: { url, kind: "beacon" }, log() {} });
        const info = await (await app.fetch(new Request("http://localhost/v1/info"))).json();
        assert.equal([info.status, info.status_code], ["degraded", "bad_answer"]);
      },
    ),
);

failures("a host name that is not found", async () => {
  const { code, message } = await failure(get("http://node.invalid/"));
  assert.is(code, "dns");
  // A machine without a network cannot resolve any name.
  assert.match(
    message,
    /^has a host name that (does not exist|cannot be resolved at the moment)$/,
  );
});

failures(
  "the URL begins with https, but the node speaks plain HTTP",
  () =>
    beside(play((_, response) => response.end("[]")), async (url) => {
      const https = url.replace("http:", "https:");
      await says(https, "not_tls", "does not speak TLS; try http://");
    }),
);

failures("the URL begins with http, but the node speaks TLS", () =>
  beside(
    play((_, response) =>
      response.writeHead(400).end(
        "Client sent an HTTP request to an HTTPS server.\n",
      )
    ),
    (url) => says(url, "bad_answer", "speaks TLS; try https://"),
  ));

const CLOSED = "closed the connection without a response";

const CLOSINGS: Readonly<
  Record<string, [connect: (socket: Socket) => void, message: string]>
> = {
  "at once": [(socket) => socket.end(), CLOSED],
  "after the request": [
    (socket) => socket.once("data", () => socket.end()),
    CLOSED,
  ],
  "with a reset": [
    (socket) => socket.once("data", () => socket.resetAndDestroy()),
    CLOSED,
  ],
  "during the response head": [
    (socket) => socket.once("data", () => socket.end("HTTP/1.1 200 O")),
    CLOSED,
  ],
  "during the response body": [
    (socket) =>
      socket.once("data", () => {
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n[");
      }),
    "broke off its response",
  ],
};

for (const [what, [connect, message]] of Object.entries(CLOSINGS)) {
  failures(
    `a connection that is closed ${what}`,
    () => beside(playTcp(connect), (url) => says(url, "reset", message)),
  );
}

const NO_HTTP = {
  "but SSH": "SSH-2.0-OpenSSH_9.2\r\n",
  "but has malformed headers": "HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
};

for (const [what, text] of Object.entries(NO_HTTP)) {
  failures(`a response that is not HTTP, ${what}`, () =>
    beside(
      playTcp((socket) => socket.once("data", () => socket.end(text))),
      (url) => says(url, "bad_answer", "does not speak HTTP"),
    ));
}

failures(
  "if a node closes a connection, the hint suggests the other scheme",
  () =>
    beside(
      playTcp((socket) => socket.once("data", () => socket.end())),
      async (url) => {
        const { hint } = await failure(get(url));
        assert.is(
          hint,
          "if the node uses TLS, node.url must begin with https://",
        );
        const error = await failure(get(url.replace("http:", "https:")));
        assert.equal([error.code, error.hint], [
          "reset",
          "if the node does not use TLS, node.url must begin with http://",
        ]);
      },
    ),
);

failures("a response that never begins, or never ends", async () => {
  await beside(play(() => {}), async (url) => {
    const error = await failure(get(url, contextFor(url), within(100)));
    assert.equal([error.code, error.message], [
      "timeout",
      "did not finish its response within 100 ms",
    ]);
  });
  await beside(play((_, response) => response.write("[")), async (url) => {
    const error = await failure(get(url, contextFor(url), within(1200)));
    assert.equal([error.code, error.message], [
      "timeout",
      "did not finish its response within 1.2 s",
    ]);
  });
});

failures("a response that is too large, compressed, or a redirect", async () => {
  const head = { "content-type": "application/json" };
  await beside(
    play((_, response) => response.writeHead(200, head).end("x".repeat(1024 * 1024 + 1))),
    (url) => says(url, "bad_answer", "sent a response of more than 1 MiB"),
  );
  await beside(
    play((_, response) =>
      response.writeHead(200, { ...head, "content-encoding": "gzip" }).end(
        gzipSync("[]"),
      )
    ),
    (url) => says(url, "bad_answer", "compressed its response (gzip) without being asked to"),
  );
  const asked: string[] = [];
  await beside(
    play(({ url = "" }, response) => {
      asked.push(url);
      response.writeHead(302, { location: "/else" }).end();
    }),
    (url) =>
      says(
        `${url}/here`,
        "bad_answer",
        "responded with a redirect (302), which is not followed",
      ),
  );
  assert.equal(asked, ["/here"]);
});

failures("a response that arrives byte by byte is read only up to a limit", async () => {
  let sent = 0, most = Infinity;
  const fetch: typeof globalThis.fetch = () =>
    Promise.resolve(
      new Response(
        new ReadableStream({
          pull(controller) {
            if (sent++ === most) return controller.close();
            controller.enqueue(Uint8Array.of(32));
          },
        }),
      ),
    );
  const url = "http://node.example";
  const error = await failure(get(url, contextFor(url, { fetch })));
  assert.is(error.message, "sent its response in too many small parts");
  assert.ok(sent < 70_000, `${sent} parts`);
  sent = 0;
  most = 65_536;
  assert.equal((await get(url, contextFor(url, { fetch }))).text.length, most);
});

/** The hint about a redirect omits the query, because a query may contain a secret. */
const LEADS: [location: string | undefined, hint: string | undefined][] = [
  ["/else/?key=secret#part", "the redirect points to /else/"],
  ["below", "the redirect points to /a/below"],
  ["https://user:secret@other.example:8443/x?y", "the redirect points to another server"],
  ["https://node.example/x?y", "the redirect points to https://node.example"],
  [`/${"x".repeat(2000)}`, `the redirect points to /${"x".repeat(118)}…`],
  ["/a\u0080[2J", "the redirect points to /a%C2%80[2J"],
  ["http://[", undefined],
  [undefined, undefined],
];

failures("a hint tells the operator where a redirect leads", async () => {
  for (const [location, hint] of LEADS) {
    const response = { status: 301, headers: { ...location !== undefined && { location } } };
    const fetch = () => Promise.resolve(new Response(null, response));
    const error = await failure(
      get("http://node.example/a/b", contextFor("http://node.example", { fetch })),
    );
    assert.equal([error.message, error.hint], [
      "responded with a redirect (301), which is not followed",
      hint,
    ]);
  }
});

failures(
  "the rest of a refused response is not read",
  async () => {
    let closed: () => void;
    const isClosed = new Promise<void>((resolve) => closed = resolve);
    await beside(
      playTcp((socket) => {
        socket.once("data", () => {
          socket.write("HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n");
          const timer = setInterval(() => socket.write("x"), 10);
          socket.on("close", () => {
            clearInterval(timer);
            closed();
          });
        });
      }),
      async (url) => {
        await says(url, "bad_answer", "responded with a redirect (302), which is not followed");
        await isClosed;
      },
    );
  },
);

failures(
  "an error message reveals no headers, paths or addresses",
  async () => {
    const error = await failure(get("http://127.0.0.1:1/path?key=hunter2"));
    assert.not.match(
      JSON.stringify([error.message, error.hint]),
      /hunter2|path|127/,
    );
  },
);

failures(
  "if a request is aborted, the connection is closed",
  async () => {
    let closed: () => void;
    const isClosed = new Promise<void>((resolve) => closed = resolve);
    const signal = new LightSignal();
    await beside(
      playTcp((socket) => {
        socket.on("close", () => closed());
        socket.once("data", () => signal.abort());
      }),
      async (url) => {
        for (const when of ["during the request", "before the request"]) {
          const limits = within(10_000, signal);
          const { message } = await failure(get(url, contextFor(url), limits));
          assert.is(message, "did not respond before the query ended", when);
          await isClosed;
        }
      },
    );
  },
);

/** The node closes each connection at the second request. */
function playForgetful(): Promise<Played> & { requests: () => number } {
  let requests = 0;
  const played = playTcp((socket) => {
    let isUsed = false;
    socket.on("data", () => {
      requests++;
      if (isUsed) return socket.destroy();
      isUsed = true;
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]");
    });
  });
  return Object.assign(played, { requests: () => requests });
}

failures(
  "if the node closes a reused connection, the request is repeated on a new connection",
  () => {
    const node = playForgetful();
    return beside(node, async (url) => {
      const context = contextFor(url);
      // Parallel requests open several connections, which stay open for reuse.
      await Promise.all([1, 2, 3].map(() => get(url, context)));
      for (let asked = 0; asked < 6; asked++) {
        assert.is((await get(url, context)).text, "[]");
      }
      assert.ok(node.requests() > 9, "no connection was reused");
    });
  },
);

failures(
  "if the node closes a new connection, the request is not repeated",
  async () => {
    let connections = 0;
    await beside(
      playTcp((socket) => {
        connections++;
        socket.once("data", () => socket.destroy());
      }),
      (url) => says(url, "reset", "closed the connection without a response"),
    );
    assert.is(connections, 1);
  },
);

failures("a connection is used for many requests", async () => {
  const sockets = new Set<Socket>();
  await beside(
    play(({ socket }, response) => {
      sockets.add(socket);
      response.end("[]");
    }),
    async (url) => {
      const context = contextFor(url);
      for (let asked = 0; asked < 5; asked++) await get(url, context);
    },
  );
  assert.is(sockets.size, 1);
});

failures.run();
