/**
 * Tests calls that the service refuses because of its settings, the page's origin or the token.
 * Deno and Bun run only a sample of the cases that do not depend on the runtime.
 */
import fs, { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Kind, NodefaceOptions } from "../src/index.ts";
import { freePort } from "./_port.ts";
import { passTime } from "./_clock.ts";
import { sampleOf, testOnNode } from "./_runtime.ts";
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

const refusals = suite("permissions");

const node = nodeOf(refusals);
let folder: string;
let file: string;
refusals.before(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-"));
  file = join(folder, "token");
});
refusals.after(() => {
  rmSync(folder, { recursive: true });
});
refusals.before.each(() => {
  node.answer = result("1");
  writeFileSync(file, `${TOKEN}\n`);
  // The service reads the file at most once a second.
  passTime(1000);
});

const settings = (allow: string[] = ["send", "POST /send"], open: string[] = ["reads"]) => ({
  open,
  clients: [{ name: "app", allow, token_file: file }],
});
/**
 * Creating a service takes longer than a request, so tests with the same settings share a service.
 */
const services = new Map<string, Gateway>();
function shared(
  description: typeof REST | typeof RPC,
  forward: NodefaceOptions["forward"],
): Gateway {
  const key = JSON.stringify([description === RPC, forward]);
  const made = services.get(key) ?? forwarding(node.url, description, forward);
  services.set(key, made);
  return made;
}

const BEARER = { authorization: `Bearer ${TOKEN}` };
const JSON_TYPE = { "content-type": "application/json" };

const RIGHTS: readonly (readonly [
  forward: () => NodefaceOptions["forward"],
  open: readonly string[],
  token: readonly string[],
])[] = [
  [() => "off", [], []],
  [() => "reads", ["GET /status", "POST /find"], []],
  [() => ({ open: ["reads"] }), ["GET /status", "POST /find"], []],
  [() => ({ open: [] }), [], []],
  [() => ({ open: ["GET /open"] }), ["GET /open"], []],
  [() => ({ open: ["*"] }), ["GET /status", "POST /find", "GET /open"], []],
  [() => ({ open: ["GET *"] }), ["GET /status", "GET /open"], []],
  [() => ({ open: ["GET /*"] }), ["GET /status", "GET /open"], []],
  [() => ({ open: ["get /status"] }), [], []],
  [() => ({ open: ["/status"] }), [], []],
  [() => ({ open: ["GET /stat.s"] }), [], []],
  [() => settings(), ["GET /status", "POST /find"], ["POST /send"]],
  [() => settings(["send"]), ["GET /status", "POST /find"], ["POST /send"]],
  [
    () => settings(["reads"], []),
    [],
    ["GET /status", "POST /find"],
  ],
  [
    () => settings(["GET /status", "GET /balance"]),
    ["GET /status", "POST /find"],
    ["GET /balance"],
  ],
  [
    () => settings(["*", "send"], []),
    [],
    ["GET /status", "POST /find", "GET /open", "POST /send"],
  ],
];

for (const [index, [forward, open, token]] of sampleOf([...RIGHTS.entries()])) {
  refusals(
    `setting ${index} opens ${open.join() || "nothing"}, and ${
      token.join() || "nothing"
    } with the token`,
    async () => {
      const { ask } = forwarding(node.url, REST, forward());
      for (
        const operation of [
          ...["GET /status", "POST /find", "GET /open", "POST /send", "GET /balance", "GET /wait"],
        ]
      ) {
        const [method, path] = operation.split(" ") as [string, string];
        const body = method === "POST" ? { body: '{"key":"a"}' } : {};
        const call = async (headers: Record<string, string>) =>
          (await ask(`/v1/node${path}`, { method, headers: { ...JSON_TYPE, ...headers }, ...body }))
            .status;
        const [without, withToken] = [await call({}), await call(BEARER)];
        const expected = open.includes(operation)
          ? [200, 200]
          : token.includes(operation)
          ? [401, 200]
          : [403, 403];
        assert.equal([without, withToken], expected, operation);
      }
    },
  );
}

for (const forward of ["off", { open: [] }] as const) {
  refusals(`a refusal names the setting if forward is ${JSON.stringify(forward)}`, async () => {
    const { ask } = forwarding(node.url, REST, forward);
    const answer = await ask("/v1/node/status");
    assert.is(answer.status, 403);
    assert.match((await answer.json()).detail, /setting "forward"/);
    assert.equal(node.received, []);
  });
}

refusals("a refusal of what no setting allows does not lead to the setting", async () => {
  const { ask } = forwarding(node.url, REST);
  const { detail } = await (await ask("/v1/node/wait")).json();
  assert.is(detail, "GET /wait is not forwarded: the response is a stream");
});

refusals("a description from the network cannot mark operations as read-only", async () => {
  const other = await playNode();
  other.answer = (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        openapi: "3.1.1",
        info: { title: "A", version: "1" },
        paths: { "/status": { get: { "x-access": "read", responses: {} } } },
      }),
    );
  const { ask } = forwarding(other.url, REST, "reads", {
    description: `${other.url}/openapi.json`,
  });
  assert.is((await ask("/v1/node/status")).status, 403);
  assert.equal(other.received.filter(({ url }) => url === "/status"), []);
  await other.close();
});

refusals("the servers in a description do not decide where calls are sent", async () => {
  const other = await playNode();
  for (
    const url of [
      other.url,
      `//127.0.0.1:${other.port}`,
      `http://localhost:${other.port}`,
      "http://169.254.169.254",
      `${node.url}@127.0.0.1:${other.port}`,
    ]
  ) {
    const { ask } = forwarding(node.url, { ...REST, servers: [{ url }] } as typeof REST);
    await ask("/v1/node/status");
    await ask("/v1/node//status");
    assert.equal(other.received, [], url);
  }
  await other.close();
});

/** Each request has the faults of its own row and of all later rows. */
const ORDER: readonly (readonly [
  status: number,
  path: string,
  headers: Record<string, string>,
  query?: string,
])[] = [
  [404, "/v1/node/nope/at/all", { "sec-fetch-site": "cross-site" }],
  [403, "/v1/node/send", { "sec-fetch-site": "cross-site" }],
  [403, "/v1/node/any", { "content-type": "text/plain" }],
  [401, "/v1/node/send", { "content-type": "text/plain" }],
  [413, "/v1/node/send", { ...JSON_TYPE, ...BEARER }],
];

for (const [status, path, headers] of ORDER) {
  refusals(`the first of several reasons for a refusal decides the status: ${status}`, async () => {
    const { ask } = shared(REST, { ...settings(undefined, []), limit: "1MiB" });
    const body = "x".repeat(1024 * 1024 + 1);
    const answer = await ask(`${path}?odd=1`, { method: "POST", headers, body });
    assert.is(answer.status, status, await answer.text());
    assert.equal(node.received, []);
  });
}

refusals("a page of another origin gets 403 before the request path is matched", async () => {
  const { ask } = forwarding(node.url, REST);
  const headers = { "sec-fetch-site": "cross-site" };
  assert.is((await ask("/v1/node/peers/a%2Fb", { headers })).status, 403);
  const { ask: off } = forwarding(node.url, REST, { open: [] });
  assert.is((await off("/v1/node/peers/a%2Fb")).status, 403);
});

for (const path of ["/v1/node/send", "/v1/rpc/send", "/v1/node/any"]) {
  refusals(`the body of a request to ${path} is not read before authorization`, async () => {
    let isRead = false;
    const content = new ReadableStream({
      pull(controller) {
        isRead = true;
        controller.close();
      },
    }, { highWaterMark: 0 });
    const description = path.includes("rpc") ? RPC : REST;
    const { ask } = shared(description, settings(undefined, []));
    const init = { method: "POST", body: content, duplex: "half", headers: JSON_TYPE };
    const answer = await ask(path, init as RequestInit);
    assert.is(answer.status, path.endsWith("any") ? 403 : 401);
    assert.not(isRead);
  });
}

const WRONG: readonly (readonly [why: string, authorization: string | undefined])[] = [
  ["no Authorization header", undefined],
  ["an empty Authorization header", ""],
  ["no token", "Bearer"],
  ["an empty token", "Bearer "],
  ["another token", `Bearer ${"b".repeat(32)}`],
  ["the beginning of the token", `Bearer ${TOKEN.slice(0, -1)}`],
  ["the token with another character", `Bearer ${TOKEN}a`],
  ["the token in another letter case", `Bearer ${TOKEN.toUpperCase()}`],
  ["another scheme", `Basic ${TOKEN}`],
  ["a scheme that begins with Bearer", `Bearers ${TOKEN}`],
  ["no scheme", TOKEN],
  ["HTTP Basic with another password", `Basic ${btoa(`u:${TOKEN}a`)}`],
  ["HTTP Basic with the token as the user name", `Basic ${btoa(`${TOKEN}:`)}`],
  ["HTTP Basic in base64url", `Basic ${btoa(`~~?:${TOKEN}`).replace("/", "_")}`],
  ["two tokens", `Bearer ${TOKEN}, Bearer ${TOKEN}`],
  ["two tokens, of which the second is right", `Bearer ${"b".repeat(32)}, Bearer ${TOKEN}`],
  ["two tokens after one scheme", `Bearer ${TOKEN} ${TOKEN}`],
  ["the token as a parameter", `Bearer token="${TOKEN}"`],
];

for (const [why, authorization] of sampleOf(WRONG)) {
  refusals(`a call without a valid token gets 401: ${why}`, async () => {
    const [paths, methods] = [
      shared(REST, settings()),
      shared(RPC, settings()),
    ];
    const headers = { ...JSON_TYPE, ...authorization !== undefined && { authorization } };
    for (
      const answer of [
        await paths.ask("/v1/node/send", { method: "POST", headers, body: "{}" }),
        await methods.ask("/v1/rpc/send", { method: "POST", headers, body: '{"tx":"a"}' }),
      ]
    ) {
      assert.is(answer.status, 401);
      const challenge = 'Bearer realm="nodeface"';
      assert.is(
        answer.headers.get("www-authenticate"),
        /^bearer \S/i.test(authorization ?? "") ? `${challenge}, error="invalid_token"` : challenge,
      );
    }
    const content = { jsonrpc: "2.0", id: 1, method: "send", params: ["a"] };
    const call = await methods.rpc(content, { headers });
    assert.is(call.status, 200);
    const { error } = await call.json();
    assert.equal([error.code, error.data], [-32050, { setting: "forward.clients" }]);
    assert.equal(node.received, []);
  });
}

refusals("a program may send the token as the password of HTTP Basic, but no browser", async () => {
  const { ask } = shared(RPC, settings());
  const send = async (user: string, more: Record<string, string> = {}) => {
    const headers = { ...JSON_TYPE, authorization: `Basic ${btoa(`${user}:${TOKEN}`)}`, ...more };
    return await ask("/v1/rpc/send", { method: "POST", headers, body: '{"tx":"a"}' });
  };
  for (const user of ["", "u", "__cookie__"]) assert.is((await send(user)).status, 200);
  assert.is(node.received.length, 3);
  const signs = [
    { "sec-fetch-site": "same-origin" },
    { "x-nodeface": "1", "user-agent": "Mozilla/5.0" },
    { "accept-language": "en" },
    { "sec-fetch-site": "same-origin", cookie: "a=b" },
  ];
  for (const sign of signs) {
    const response = await send("u", sign);
    assert.is(response.status, 401);
    assert.not.match(response.headers.get("www-authenticate")!, /basic/i);
  }
  assert.is(node.received.length, 3);
});

for (const scheme of ["Bearer ", "bearer ", "BEARER   "]) {
  refusals(`the token is accepted after ${JSON.stringify(scheme)}`, async () => {
    const { ask } = shared(RPC, settings());
    const headers = { ...JSON_TYPE, authorization: scheme + TOKEN };
    const answer = await ask("/v1/rpc/send", { method: "POST", headers, body: '{"tx":"a"}' });
    assert.is(answer.status, 200);
    assert.is(node.received.length, 1);
  });
}

for (const name of ["token", "access_token", "%74oken"]) {
  refusals(`a token in the query as ${name} results in 400, even if it is valid`, async () => {
    const [paths, methods] = [
      shared(REST, settings()),
      shared(RPC, settings()),
    ];
    const init = { method: "POST", headers: { ...JSON_TYPE, ...BEARER }, body: "{}" };
    for (const token of [TOKEN, "a"]) {
      const query = `?${name}=${token}`;
      assert.is((await paths.ask(`/v1/node/send${query}`, init)).status, 400);
      assert.is((await methods.ask(`/v1/rpc/send${query}`, init)).status, 400);
      assert.is((await methods.ask(`/v1/rpc${query}`, init)).status, 400);
      assert.is((await methods.ask(`/v1/rpc/number${query}`)).status, 400);
    }
    assert.equal(node.received, []);
  });
}

for (
  const [why, change] of [
    ["is missing", () => rmSync(file)],
    ["is empty", () => writeFileSync(file, "\n")],
    ["is too short", () => writeFileSync(file, "a".repeat(31))],
    ["has invalid characters", () => writeFileSync(file, `${TOKEN} b`)],
    ["has two lines", () => writeFileSync(file, `${TOKEN}\n${TOKEN}\n`)],
  ] as const
) {
  refusals(`if the token file ${why}, operations that need the token get 503`, async () => {
    const [paths, methods] = [
      shared(REST, settings()),
      shared(RPC, settings()),
    ];
    const send = (authorization: string) => {
      const init = { method: "POST", headers: { ...JSON_TYPE, authorization } };
      return Promise.all([
        paths.ask("/v1/node/send", { ...init, body: "{}" }),
        methods.ask("/v1/rpc/send", { ...init, body: '{"tx":"a"}' }),
        methods.rpc({ id: 1, method: "send", params: ["a"] }, init),
      ]);
    };
    assert.equal((await send(`Bearer ${TOKEN}`)).map(({ status }) => status), [200, 200, 200]);
    node.received = [];
    change();
    passTime(1000);
    const [path, method, call] = await send(`Bearer ${TOKEN}`);
    assert.equal([path.status, method.status, call.status], [503, 503, 503]);
    assert.is((await call.json()).error.code, -32050);
    for (const authorization of ["Bearer ", `Bearer ${"a".repeat(31)}`]) {
      const statuses = (await send(authorization)).map(({ status }) => status);
      assert.equal(statuses, [401, 401, 500], "its client alone is meant");
    }
    assert.equal(node.received, []);
    assert.is((await paths.ask("/v1/node/status")).status, 200);
  });
}

refusals("when the token file changes, only the new token is valid", async () => {
  const { ask } = shared(RPC, settings());
  const call = async (token: string) =>
    (await ask("/v1/rpc/send", {
      method: "POST",
      headers: { ...JSON_TYPE, authorization: `Bearer ${token}` },
      body: '{"tx":"a"}',
    })).status;
  const other = "b".repeat(40);
  assert.equal([await call(TOKEN), await call(other)], [200, 401]);
  writeFileSync(file, other);
  passTime(1000);
  assert.equal([await call(TOKEN), await call(other)], [401, 200]);
});

/**
 * Runs `work` with a token file of its own, which services of other tests do not read. Calls
 * `opened` with the number of times that the file has been opened.
 */
async function whileOpening(opened: (count: number) => void, work: () => Promise<void>) {
  const { createReadStream } = fs;
  const shared = file;
  file = `${shared}-${Math.random()}`;
  writeFileSync(file, TOKEN);
  let count = 0;
  const counting: typeof createReadStream = (path, ...more) => {
    if (path === file) opened(++count);
    return createReadStream(path, ...more);
  };
  try {
    fs.createReadStream = counting;
    syncBuiltinESMExports();
    await work();
  } finally {
    file = shared;
    fs.createReadStream = createReadStream;
    syncBuiltinESMExports();
  }
  return count;
}

const BATCH = Array.from({ length: 100 }, (_, id) => ({ id, method: "send", params: ["a"] }));

testOnNode(
  refusals,
  "a batch of 100 calls opens the token file at most once a second",
  async () => {
    const started = performance.now();
    const count = await whileOpening(() => {}, async () => {
      const { rpc } = shared(RPC, settings());
      const responses = await (await rpc(BATCH, { headers: BEARER })).json();
      assert.is(responses.length, 100);
      for (const { result } of responses) assert.is(result, 1);
    });
    // While the batch runs, its right is read again each second.
    const seconds = Math.floor((performance.now() - started) / 900);
    assert.ok(count >= 1 && count <= 2 + seconds, `${count} in ${seconds} s`);
  },
);

testOnNode(
  refusals,
  "a token that is replaced while it is read refuses a whole batch",
  async () => {
    await whileOpening(() => writeFileSync(file, "b".repeat(40)), async () => {
      const { rpc } = shared(RPC, settings());
      const responses = await (await rpc(BATCH, { headers: BEARER })).json();
      assert.is(responses.filter(({ error }: { error: object | null }) => error).length, 100);
    });
  },
);

testOnNode(
  refusals,
  "a token that is replaced during a batch judges none of its calls",
  async () => {
    const { rpc } = forwarding(node.url, RPC, settings());
    const answer = node.answer;
    node.answer = (request, response) => {
      writeFileSync(file, "b".repeat(40));
      passTime(1000);
      return answer(request, response);
    };
    // What runs for a second ends with its token.
    const responses = await (await rpc(BATCH.slice(0, 5), { headers: BEARER })).json();
    assert.is(responses.filter(({ error }: { error: object | null }) => error).length, 0);
  },
);

testOnNode(refusals, "requests with a token open its file once a second", async () => {
  const started = performance.now();
  const count = await whileOpening(() => {}, async () => {
    const { rpc } = shared(RPC, settings());
    const call = () => rpc({ id: 1, method: "send", params: ["a"] }, { headers: BEARER });
    for (let second = 0; second < 3; second++) {
      await Promise.all(Array.from({ length: 20 }, call));
      for (let calls = 0; calls < 20; calls++) assert.is((await call()).status, 200);
      passTime(1000);
    }
  });
  const seconds = Math.ceil((performance.now() - started) / 1000);
  assert.ok(count >= 3 && count < 3 + seconds + 1, `${count} in ${seconds} s`);
});

refusals("an Authorization header is ignored if no token is needed", async () => {
  const { ask } = forwarding(node.url, REST);
  const headers = { authorization: "Basic nonsense" };
  assert.is((await ask("/v1/node/status", { headers })).status, 200);
});

refusals(
  "calls get 503 with Retry-After until the kind of the node is known, and then succeed",
  async () => {
    node.answer = json({}, 500);
    const { ask, rpc, app } = forwarding(node.url, RPC, "reads", {
      node: { url: node.url },
      description: undefined,
      log: () => {},
    });
    const early = [
      await ask("/v1/rpc/eth_blockNumber"),
      await ask("/v1/node/status"),
      await rpc({ id: 1, method: "eth_blockNumber" }),
    ];
    for (const response of early) {
      assert.equal([response.status, response.headers.get("retry-after")], [503, "5"]);
    }
    assert.match((await early[2]!.json()).error.message, "are not known yet");
    node.answer = (request, response) => {
      const isCall = /eth_chainId|eth_blockNumber/.test(textOf(request));
      return (isCall ? result('"0x1"') : json({}, 404))(request, response);
    };
    // No client requests `/v1/info` here.
    let status = 0;
    await until(async () => {
      await app.refresh();
      return (status = (await ask("/v1/rpc/eth_blockNumber")).status) !== 503;
    });
    assert.is(status, 200);
  },
);

refusals("if no description of the node is expected, calls get 404 at once", async () => {
  const own: Kind = {
    title: "Mine",
    url: "https://mine.example",
    detect: { "a#": "." },
    sources: { a: { get: "/a" } },
    fields: {},
    health: { ok: "it answers" },
  };
  for (
    const more of [
      { node: { url: node.url, kind: "none" } },
      { node: { url: node.url, kind: "mine" }, kinds: { mine: own } },
      { node: { url: node.url }, description: "none" as const },
      { node: { url: node.url }, info: () => ({ height: 1 }) },
    ]
  ) {
    const { ask } = forwarding(node.url, RPC, "reads", { description: undefined, ...more });
    assert.is((await ask("/v1/rpc/number")).status, 404, JSON.stringify(more));
  }
});

refusals(
  "while the node is away, JSON-RPC gets 503, as clients repeat calls after it",
  async () => {
    const away = forwarding(`http://127.0.0.1:${await freePort()}`, RPC, "reads", { log() {} });
    const response = await away.rpc({ jsonrpc: "2.0", id: 7, method: "number" });
    assert.equal([response.status, response.headers.get("retry-after")], [503, "5"]);
    const { id, error } = await response.json();
    assert.equal([id, error.code], [7, -32052]);
  },
);

refusals("a call that a broken connection may have carried out is not to be repeated", async () => {
  writeFileSync(file, TOKEN);
  const clients = [{ name: "wallet", token_file: file, allow: ["send"] }];
  const { rpc } = forwarding(node.url, RPC, { open: ["reads"], clients }, { log() {} });
  node.answer = (_, response) => response.destroy();
  const outcomeOf = async (method: string, params: string[]) => {
    const response = await rpc({ jsonrpc: "2.0", id: 7, method, params }, { headers: BEARER });
    const { error } = await response.json();
    const mayHaveRun = /may have been carried out/.test(error.message);
    return [response.status, response.headers.get("retry-after"), mayHaveRun];
  };
  assert.equal(await outcomeOf("number", []), [503, "5", false]);
  assert.equal(await outcomeOf("send", ["a"]), [200, null, true]);
});

refusals.run();
