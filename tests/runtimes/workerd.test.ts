import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runtimeSuite } from "./_suite.ts";
import { startModule, startPlainWorkerd, startWorkerd } from "./_workerd.ts";

runtimeSuite("workerd", startWorkerd);

/**
 * workerd may end a connection while `fetch` sends the next request on it
 * (cloudflare/workers-sdk#11642), so each request has its own.
 */
const get = (url: string, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(new URL(path, url), { ...init, headers: { connection: "close" } });

const large = suite("workerd, with a large description");

const optionsFor = (size: number) =>
  `{ description: { name: "a.json", text: JSON.stringify({
    openapi: "3.1.1",
    info: { title: "Large", version: "1", description: "x".repeat(${size}) },
    paths: {},
  }) } }`;

for (const flags of [[], ["nodejs_compat"]]) {
  large(`workerd serves a description of 5 MB, with ${flags.join() || "no flags"}`, async () => {
    const { url, stop } = await startPlainWorkerd(optionsFor(5e6), flags);
    try {
      for (const path of ["spec.json", "spec.yaml", "spec.json"]) {
        const answer = await get(url, path);
        assert.match((await answer.text()).slice(0, 200), /title"?: ?"?Large/);
      }
    } finally {
      await stop();
    }
  });
}

large.run();

const quiet = suite("workerd, which has no timers between requests");

quiet("workers have no events and no history", async () => {
  const { url, stop } = await startPlainWorkerd("{}", []);
  try {
    for (const path of ["v1/events", "v1/history"]) {
      const answer = await get(url, path);
      await answer.body?.cancel();
      assert.is(answer.status, 404, path);
    }
  } finally {
    await stop();
  }
});

quiet.run();

const starting = suite("workerd, whose clock shows 1970 before the first request");

starting("a service has started with its first request", async () => {
  // Newer releases of workerd have such a clock. This release has it only when deployed.
  const { url, stop } = await startModule(
    `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...args) { super(...args.length > 0 ? args : [0]); }
      static now() { return 0; }
    };
    const nodeface = createNodeface({ info: () => ({ height: 1 }) });
    globalThis.Date = Real;
    export default nodeface;`,
  );
  try {
    const before = Date.now();
    const { api } = await (await get(url, "v1/info")).json();
    assert.ok(Date.parse(api.started_at) >= before, api.started_at);
  } finally {
    await stop();
  }
});

starting.run();

const logging = suite("workerd, whose console shows the level of a message");

for (const flags of [[], ["nodejs_compat"]]) {
  logging(`messages have their level, with ${flags.join() || "no flags"}`, async () => {
    const { url, stop } = await startModule(
      `const said = [];
      for (const level of ["info", "warn", "error"]) {
        console[level] = (message) => said.push(level + " " + message);
      }
      const nodeface = createNodeface({ info: () => ({ software: "mine" }) });
      export default {
        fetch: async (request) => (await nodeface.fetch(request), Response.json(said)),
      };`,
      flags,
    );
    try {
      const said = await (await get(url, "v1/info")).json();
      assert.equal(said, ['info nodeface: node runs "mine"']);
    } finally {
      await stop();
    }
  });
}

logging.run();

const calls = suite("workerd, which forwards no calls");

const BESIDE = `node: { url: "http://127.0.0.1:1", kind: "ethereum" }`;

for (const flags of [[], ["nodejs_compat"]]) {
  const name = flags.join() || "no flags";

  calls(`calls are refused with an explanation, with ${name}`, async () => {
    const { url, stop } = await startPlainWorkerd(`{ ${BESIDE} }`, flags);
    try {
      for (
        const [path, status, init] of [
          ["v1/rpc", 200, { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"a"}' }],
          ["v1/rpc/eth_chainId", 403, {}],
          ["v1/node/eth/v1", 403, {}],
        ] as const
      ) {
        const answer = await get(url, path, init);
        assert.is(answer.status, status);
        assert.match(await answer.text(), "runs in a worker, which cannot forward calls");
      }
      assert.is((await get(url, "v1/info")).status, 200);
    } finally {
      await stop();
    }
  });

  calls(`only "off" is accepted for \`forward\`, with ${name}`, async () => {
    const { url, stop } = await startModule(
      `const failures = ["off", "reads", { open: ["eth_chainId"] }].map((forward) => {
        try {
          createNodeface({ forward, ${BESIDE} });
        } catch ({ name, message }) {
          return name + ": " + message;
        }
      });
      export default { fetch: () => Response.json(failures.map(String)) };`,
      flags,
    );
    try {
      const failure =
        'TypeError: forward must be "off" in a worker, which cannot forward calls to the node';
      assert.equal(await (await get(url, "")).json(), ["undefined", failure, failure]);
    } finally {
      await stop();
    }
  });
}

calls.run();

const closing = suite("workerd, where a request cannot cancel the work of another request");

for (const flags of [[], ["nodejs_compat"]]) {
  closing(
    `close() works while another request queries the node, with ${flags.join() || "no flags"}`,
    async () => {
      const silent = createServer(() => {}).listen(0, "127.0.0.1");
      await once(silent, "listening");
      const { port } = silent.address() as AddressInfo;
      const { url, stop } = await startModule(
        `const nodeface = createNodeface({ node: { url: "http://127.0.0.1:${port}", kind: "ethereum" } });
      export default {
        async fetch(request) {
          if (!request.url.endsWith("close")) return nodeface.fetch(request);
          return new Response(await nodeface.close().then(() => "closed", String));
        },
      };`,
        flags,
      );
      try {
        const waiting = get(url, "v1/info").then(({ status }) => status, String);
        await once(silent, "request");
        assert.is(await (await get(url, "close")).text(), "closed");
        assert.is(await waiting, 200);
      } finally {
        await stop();
        silent.closeAllConnections();
        silent.close();
      }
    },
  );
}

closing.run();

const lasting = suite("workerd, where work goes on after its request");

lasting(
  "a page whose node is slow, and a client that leaves, do not make the node stale",
  async () => {
    let asked = () => {};
    let isSlow = false;
    const node = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += chunk;
      if (isSlow) {
        asked();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const calls = JSON.parse(text);
      const answerOf = ({ id, method }: { id: number; method: string }) => ({
        ...{ jsonrpc: "2.0", id },
        ...RESULTS[method] === undefined
          ? { error: { code: -32601, message: "method not found" } }
          : { result: RESULTS[method] },
      });
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify(Array.isArray(calls) ? calls.map(answerOf) : answerOf(calls)),
      );
    }).listen(0, "127.0.0.1");
    await once(node, "listening");
    const { port } = node.address() as AddressInfo;
    const { url, stop } = await startPlainWorkerd(
      `{ node: { url: "http://127.0.0.1:${port}", kind: "ethereum", timeout: "500ms" } }`,
    );
    const info = async () => await (await get(url, "v1/info")).json();
    try {
      await get(url, "v1/spec");
      assert.is((await info()).status, "ok");
      isSlow = true;
      for (const leaves of [false, true]) {
        const isAsked = new Promise<void>((resolve) => asked = resolve);
        const aborter = new AbortController();
        const due = new Promise((resolve) => setTimeout(resolve, 1100));
        await due;
        const path = leaves ? "v1/info" : "v1/spec";
        const { signal } = aborter;
        const headers = { connection: "close" };
        const read = fetch(new URL(path, url), { signal, headers })
          .then((response) => response.text()).catch(() => "");
        await isAsked;
        if (leaves) aborter.abort();
        await read;
        // A poll that stopped would count as late after its time.
        const began = performance.now();
        while (performance.now() - began < 2000) {
          const { status, status_reason } = await info();
          assert.equal([status, status_reason], ["ok", undefined], path);
        }
      }
    } finally {
      await stop();
      node.closeAllConnections();
      node.close();
    }
  },
);

const RESULTS: Readonly<Record<string, unknown>> = {
  web3_clientVersion: "anvil/v1.0.0",
  eth_chainId: "0x7a69",
  net_version: "31337",
  eth_blockNumber: "0x10",
  eth_syncing: false,
  net_peerCount: "0x5",
};

lasting.run();
