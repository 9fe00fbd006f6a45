/** Clients with a name: who is recognized, and what each may call. */
import fc from "fast-check";
import type { ServerResponse } from "node:http";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { App } from "../src/app.ts";
import { Clients } from "../src/gateway/clients.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import { formatJson } from "../src/json/lossless.ts";
import { passTime } from "./_clock.ts";
import { forwarding, json, nodeOf, REST, result, RPC, until } from "./_gateway.ts";
import { draws } from "./_runtime.ts";

const clients = suite("clients with a name");
const node = nodeOf(clients);

const folder = mkdtempSync(join(tmpdir(), "clients-"));
clients.after(() => rmSync(folder, { recursive: true }));

const tokenOf = (name: string) => `${name}-`.padEnd(40, "0123456789abcdef");
const fileOf = (name: string) => join(folder, name);

function named(name: string, allow: string[], token: string = tokenOf(name)) {
  writeFileSync(fileOf(name), `${token}\n`);
  return { name, token_file: fileOf(name), allow };
}

const JSON_TYPE = { "content-type": "application/json" };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const METHODS = RPC.methods.map((method) => method as { name: string; "x-access"?: string });
const PARAMS: Readonly<Record<string, unknown>> = {
  block: ["a"],
  send: ["a"],
  checked: ["a"],
};

/** Whose token a request has. */
const CLIENTS = ["a", "b", "c"] as const;
/** Nobody's. */
const NOBODY = ["prefix", "longer", "none", "empty"] as const;

const headersOf = (
  sender: typeof CLIENTS[number] | typeof NOBODY[number],
): Record<string, string> => {
  if (sender === "none") return {};
  if (sender === "empty") return bearer("");
  if (sender === "prefix") return bearer(tokenOf("a").slice(0, -1));
  return sender === "longer" ? bearer(`${tokenOf("a")}a`) : bearer(tokenOf(sender));
};

clients("no client reaches what neither it nor open names", async () => {
  const patterns = ["reads", "*", "b*", "s*", "un*"];
  const name = fc.constantFrom(...METHODS.map(({ name }) => name), ...patterns);
  const list = fc.uniqueArray(name, { maxLength: 4 });
  const filled = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });
  const nobody = fc.constantFrom(...NOBODY);
  const matches = (method: typeof METHODS[number], names: string[], mayWrite: boolean) => {
    const { name, "x-access": access } = method;
    const isClosed = access === "write" || access === "secret";
    return names.some((each) => {
      if (each === name) return mayWrite || !isClosed;
      if (isClosed) return false;
      if (each === "reads") return access === "read";
      return each.endsWith("*") && name.startsWith(each.slice(0, -1));
    });
  };
  await fc.assert(
    fc.asyncProperty(list, filled, filled, filled, nobody, async (open, a, b, c, nobody) => {
      const lists = { a, b, c };
      const all = Object.entries(lists).map(([name, allow]) => named(name, allow));
      const { rpc, ask } = forwarding(node.url, RPC, { open, clients: all });
      node.answer = result("1");
      for (const sender of [...CLIENTS, nobody]) {
        const headers = { ...JSON_TYPE, ...headersOf(sender) };
        const batch = METHODS.map(({ name }, id) => ({ id, method: name, params: PARAMS[name] }));
        node.received = [];
        const response = await rpc(batch.map((one) => ({ jsonrpc: "2.0", ...one })), { headers });
        const text = await response.text();
        const answers: { id: number; result?: unknown; error?: { code: number } }[] = JSON.parse(
          text,
        );
        for (const { id, result, error } of answers) {
          const method = METHODS[id]!;
          const isOpen = matches(method, open, false);
          const own = sender in lists ? lists[sender as keyof typeof lists] : [];
          const may = isOpen || matches(method, own, true);
          assert.is(result !== undefined, may, `${sender} ${method.name} ${JSON.stringify(error)}`);
        }
        const sent = node.received.map(({ body }) => new TextDecoder().decode(body)).join();
        for (const { name, ...method } of METHODS) {
          const own = sender in lists ? lists[sender as keyof typeof lists] : [];
          const whole = { name, ...method };
          if (matches(whole, open, false) || matches(whole, own, true)) continue;
          assert.not(sent.includes(`"method":"${name}"`), `${sender} ${name}`);
        }
      }
      await ask("/v1/rpc/number");
    }),
    draws(40),
  );
});

clients("another client's right is refused in the same words as nobody's", async () => {
  const { ask, rpc } = forwarding(node.url, RPC, {
    open: [],
    clients: [named("a", ["number"]), named("b", ["send"])],
  });
  const said = async (method: string) => {
    const headers = { ...JSON_TYPE, ...bearer(tokenOf("a")) };
    const body = JSON.stringify(method === "send" ? { tx: "a" } : {});
    const path = await ask(`/v1/rpc/${method}`, { method: "POST", headers, body });
    const call = await rpc({ jsonrpc: "2.0", id: 1, method, params: PARAMS[method] }, { headers });
    const texts = [path.status, await path.text(), call.status, await call.text()];
    return JSON.stringify(texts).replaceAll(method, "METHOD");
  };
  for (const form of ["not forwarded", "not available"]) {
    assert.match(await said("balance"), `${form} for the client a: it reveals`);
  }
  const secret = "it reveals sensitive data";
  assert.is(await said("send"), (await said("balance")).replaceAll(secret, "it is marked write"));
  assert.equal(node.received, []);
});

clients("GET /v1/clients/self tells a client its name and what its token opens", async () => {
  const { ask } = forwarding(node.url, REST, {
    open: ["reads"],
    per_minute: 25,
    clients: [
      { ...named("a", ["GET /balance", "send"]), per_minute: 7 },
      named("b", ["POST /*", "GET /open"]),
    ],
  });
  const self = (headers: Record<string, string>, path = "/v1/clients/self") =>
    ask(path, { headers });
  const told = await self(bearer(tokenOf("a")));
  assert.is(told.status, 200);
  assert.is(told.headers.get("cache-control"), "no-store");
  assert.is(told.headers.get("content-type"), "application/json");
  assert.equal(await told.json(), {
    name: "a",
    operations: ["POST /send", "GET /balance"],
    per_minute: 7,
  });
  const basic = { authorization: `Basic ${btoa(`anybody:${tokenOf("b")}`)}` };
  assert.equal(await (await self(basic)).json(), { name: "b", operations: ["GET /open"] });
  // A call of `a`'s is not used up by this, and a wrong token takes ten of everybody's.
  assert.is((await self(bearer(tokenOf("a")))).headers.get("ratelimit"), '"minute";r=7;t=60');
  const none = await self({});
  assert.is(none.status, 401);
  assert.is(none.headers.get("www-authenticate"), 'Bearer realm="nodeface"');
  const wrong = await self(bearer(tokenOf("c")));
  assert.is(wrong.status, 401);
  assert.not.match(await wrong.text(), /"a"|"b"|balance/);
  assert.is((await self(bearer(tokenOf("c")))).status, 401);
  assert.is((await self(bearer(tokenOf("c")))).status, 429);
  for (const origin of ["https://evil.example", "null"]) {
    assert.is((await self({ origin, ...bearer(tokenOf("a")) })).status, 403);
  }
  assert.is((await self(bearer(tokenOf("a")), "/v1/clients/self?token=a")).status, 400);
  assert.is((await ask("/v1/clients/self", { method: "POST" })).status, 405);
  assert.is((await ask("/v1/clients")).status, 404);
  assert.is((await ask("/v1/clients/a", { headers: bearer(tokenOf("a")) })).status, 404);
  assert.equal(node.received, []);
});

clients(
  "/spec.json has /v1/clients/self, with the scheme of the token, if there are clients",
  async () => {
    for (const all of [[named("a", ["GET /balance"])], []]) {
      const { ask } = forwarding(node.url, REST, { open: ["reads"], clients: all });
      const { paths } = await (await ask("/spec.json")).json();
      const self = paths["/v1/clients/self"];
      assert.equal(self?.get.security, all.length > 0 ? paths["/balance"].get.security : undefined);
      assert.is((await ask("/v1/clients/self")).status, all.length > 0 ? 401 : 404);
    }
  },
);

clients("the page counts the operations of the node, and not /v1/clients/self", async () => {
  const counts = await Promise.all([[named("a", ["GET /balance"])], []].map(async (all) => {
    const { ask } = forwarding(node.url, REST, { open: ["reads"], clients: all });
    const page = await (await ask("/v1/spec/simple")).text();
    return /\d+ of (\d+) operations enabled/.exec(page)?.[1];
  }));
  assert.ok(counts[0]);
  assert.is(counts[0], counts[1]);
});

clients("the name and address in a request decide nothing", async () => {
  const { ask } = forwarding(node.url, REST, {
    open: [],
    clients: [named("a", ["GET /balance"])],
  });
  const forged = {
    "x-forwarded-for": "127.0.0.1",
    forwarded: "for=127.0.0.1;by=a",
    "x-real-ip": "127.0.0.1",
    "x-client-name": "a",
    from: "a",
    authorization: `Basic ${btoa(`a:${"b".repeat(40)}`)}`,
  };
  assert.is((await ask("/v1/node/balance", { headers: forged })).status, 401);
  assert.is((await ask("/v1/node/balance", { headers: bearer(tokenOf("a")) })).status, 200);
  // A page of another origin is refused, even if it knows the token.
  for (const origin of ["https://evil.example", "null"]) {
    const headers = { origin, ...bearer(tokenOf("a")) };
    assert.is((await ask("/v1/node/balance", { headers })).status, 403);
  }
});

clients("the log names each write and secret of each client once", async () => {
  const lines: string[] = [];
  const { app } = forwarding(node.url, REST, {
    open: ["reads"],
    clients: [named("a", ["GET /balance", "send", "reads"]), named("b", ["reads"])],
  }, { log: (message) => message.startsWith("the client") && lines.push(message) });
  await app.refresh();
  await app.refresh();
  assert.equal(lines, ['the client a may call "POST /send" (write), "GET /balance" (secret)']);
});

clients("two clients with the same token get 503, and the log says so in one line", async () => {
  const lines: string[] = [];
  const a = named("a", ["GET /balance"]);
  const b = named("b", ["POST /send"]);
  const c = named("c", ["GET /open"]);
  const { ask } = forwarding(node.url, REST, { open: [], clients: [a, b, c] }, {
    log: (message) => message.includes("token") && lines.push(message),
  });
  const balance = async (name: string) =>
    (await ask("/v1/node/balance", { headers: bearer(tokenOf(name)) })).status;
  assert.is(await balance("a"), 200);
  writeFileSync(b.token_file, tokenOf("a"));
  passTime(1000);
  assert.is(await balance("a"), 503);
  assert.is((await ask("/v1/node/open", { headers: bearer(tokenOf("c")) })).status, 200);
  passTime(1000);
  assert.is(await balance("a"), 503);
  assert.equal(lines, ["the clients a, b have the same token; give each its own"]);
  writeFileSync(b.token_file, tokenOf("b"));
  passTime(1000);
  assert.is(await balance("a"), 200);
});

clients("a token that cannot be read is 503 for its client alone", async () => {
  const { ask } = forwarding(node.url, REST, {
    open: ["GET /status"],
    clients: [named("a", ["GET /balance"]), named("b", ["GET /open"])],
  });
  const status = async (path: string, headers: Record<string, string>) =>
    (await ask(`/v1/node${path}`, { headers })).status;
  rmSync(fileOf("b"));
  assert.is(await status("/balance", bearer(tokenOf("a"))), 200);
  assert.is(await status("/open", bearer(tokenOf("b"))), 503);
  assert.is(await status("/status", bearer(tokenOf("b"))), 200);
  assert.is(await status("/balance", bearer("f".repeat(40))), 401);
  writeFileSync(fileOf("b"), tokenOf("b"));
  passTime(1000);
  assert.is(await status("/open", bearer(tokenOf("b"))), 200);
  assert.is(await status("/open", bearer("f".repeat(40))), 401);
});

clients(
  "what runs under a token ends within a second if the token is not valid any more",
  async () => {
    const names = ["replaced", "removed", "shared", "sharing", "kept"];
    const all = names.map((name) => ({
      ...named(name, ["GET /balance", "GET /open"]),
      concurrency: 2,
    }));
    const forward = { open: [], clients: all, timeout: "60s" as const };
    const { ask } = forwarding(node.url, REST, forward, { metrics: true });
    const held: ServerResponse[] = [];
    // The service passes on longer responses before they end, and cuts those that stand still.
    const streams: ServerResponse[] = [];
    const writing = setInterval(
      () => streams.forEach((one) => one.write("a".repeat(70_000))),
      1000,
    );
    node.answer = ({ url }, response) => {
      held.push(response);
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("a".repeat(url === "/open" ? 3_000_000 : 1));
      if (url === "/open") streams.push(response);
    };
    const call = (path: string, name: string) =>
      ask(`/v1/node${path}`, { headers: bearer(tokenOf(name)) });
    const read = names.map((name) =>
      call("/open", name).then((response) => response.text()).then(() => "whole", () => "broken")
    );
    await until(() => held.length === names.length);
    const calls = names.map((name) => call("/balance", name));
    await until(() => held.length === 2 * names.length);
    const waiting = names.map((name) => call("/balance", name));
    await until(async () =>
      (await (await ask("/v1/metrics")).text()).includes(`nodeface_queue_length ${names.length}`)
    );
    // A file that is read while it is written would be empty.
    const replace = (name: string, token: string) => {
      writeFileSync(fileOf("next"), token);
      renameSync(fileOf("next"), fileOf(name));
    };
    replace("replaced", tokenOf("new"));
    rmSync(fileOf("removed"));
    replace("shared", tokenOf("sharing"));
    assert.equal(await Promise.all(read.slice(0, -1)), Array(4).fill("broken"));
    const statuses = async (calls: Promise<Response>[]) =>
      (await Promise.all(calls)).map(({ status }) => status);
    assert.equal(await statuses(calls.slice(0, -1)), Array(4).fill(401));
    assert.equal(await statuses(waiting.slice(0, -1)), Array(4).fill(401));
    assert.match((await calls[0]!).headers.get("www-authenticate")!, "invalid_token");
    const textOf = async (call?: Promise<Response>) => await (await call!).text();
    assert.match(await textOf(calls[0]), "the call may have been carried out");
    assert.not.match(await textOf(waiting[0]), "carried out");
    clearInterval(writing);
    // The call that waits may come at once.
    node.answer = json("{}");
    for (const response of held) response.end();
    assert.is(await read.at(-1), "whole");
    assert.equal(await statuses([calls.at(-1)!, waiting.at(-1)!]), [200, 200]);
    const again = names.map((name) => call("/balance", name));
    // The token that was replaced is nobody's now.
    assert.equal(await statuses(again), [401, 503, 401, 503, 200]);
  },
);

clients("a reading of a token that takes long does not put the former token back", async () => {
  const fs = process.getBuiltinModule("node:fs");
  const { createReadStream } = fs;
  const releases: (() => void)[] = [];
  const holds = [0, 1].map(() => new Promise<void>((resolve) => releases.push(resolve)));
  let begun = 0;
  fs.createReadStream = ((path: string) => {
    const bytes = readFileSync(path);
    const hold = path === fileOf("a") ? holds[begun++] : undefined;
    return Readable.from((async function* () {
      await hold;
      yield bytes;
    })());
  }) as typeof createReadStream;
  try {
    const of = named("a", ["GET /balance"]);
    const known = new Clients(resolveForward({ open: [], clients: [of] })!.clients);
    const first = known.identify(tokenOf("a"));
    await until(() => begun === 1);
    writeFileSync(fileOf("a"), tokenOf("new"));
    passTime(1000);
    const second = known.read();
    releases[1]!();
    await new Promise((resolve) => setTimeout(resolve));
    releases[0]!();
    await Promise.all([first, second]);
    assert.ok(begun >= 2);
    assert.is((await known.identify(tokenOf("new"))).client?.name, "a");
  } finally {
    fs.createReadStream = createReadStream;
  }
});

clients("a token that ends while the content of a call arrives opens nothing", async () => {
  const lines: string[] = [];
  const { rpc } = forwarding(node.url, RPC, { open: [], clients: [named("a", ["send"])] }, {
    log: (message) => message.includes("cannot read") && lines.push(message),
  });
  node.answer = result("1");
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const call = { jsonrpc: "2.0", id: 1, method: "send", params: ["a"] };
  const response = rpc(readable as unknown as string, {
    body: readable,
    headers: bearer(tokenOf("a")),
    duplex: "half",
  } as RequestInit);
  await writer.write(new TextEncoder().encode(JSON.stringify(call)));
  rmSync(fileOf("a"));
  await until(() => lines.length > 0);
  await writer.close();
  assert.match(await (await response).text(), "token is not valid any more");
  assert.equal(node.received, []);
});

clients("a client that a reload removes has no rights, even in calls that waited", async () => {
  const all = ["kept", "removed"].map((name) => named(name, ["GET /balance"]));
  let begin = () => {};
  node.answer = ({ url }, response) => {
    if (url === "/spec.json") begin = () => void response.end(formatJson(REST));
    else response.end("{}");
  };
  const { app, ask } = forwarding(node.url, REST, { open: [], clients: all }, {
    description: new URL(`${node.url}/spec.json`),
  });
  const calls = all.map(({ name }) => ask("/v1/node/balance", { headers: bearer(tokenOf(name)) }));
  await until(() => node.received.length === 1);
  (app as App).endRemovedClients(resolveForward({ open: [], clients: all.slice(0, 1) }));
  const closing = (app as App).closeWhenIdle();
  begin();
  assert.equal((await Promise.all(calls)).map(({ status }) => status), [200, 401]);
  await closing;
});

clients("tokens are not read while nothing runs under one", async () => {
  const { setTimeout: plain } = globalThis;
  const readings: (() => Promise<void>)[] = [];
  globalThis.setTimeout = ((work: () => Promise<void>, time: number, ...more: []) => {
    if (time !== 900) return plain(work, time, ...more);
    return readings.push(work);
  }) as typeof setTimeout;
  try {
    const { ask } = forwarding(node.url, REST, { open: [], clients: [named("a", ["GET /open"])] });
    let end = () => {};
    node.answer = (_, response) => void (end = () => void response.end("{}"));
    const call = ask("/v1/node/open", { headers: bearer(tokenOf("a")) });
    await until(() => node.received.length === 1);
    assert.is(readings.length, 1);
    await readings[0]!();
    assert.is(readings.length, 2);
    end();
    assert.is(await (await call).text(), "{}");
    await readings[1]!();
    assert.is(readings.length, 2);
  } finally {
    globalThis.setTimeout = plain;
  }
});

clients("a token of each client is sent nowhere", async () => {
  process.env.CLIENTS_TEST_TOKEN = tokenOf("b");
  const { ask } = forwarding(node.url, REST, {
    open: ["reads"],
    clients: [
      named("a", ["GET /balance"]),
      { name: "b", token_env: "CLIENTS_TEST_TOKEN", allow: ["GET /balance"] },
      named("c", ["GET /balance"], tokenOf("c+/")),
    ],
  });
  const token = encodeURIComponent(tokenOf("c+/"));
  for (const spoilt of ["", "%FC", "%zz", "%"]) {
    const query = `?name=M${spoilt}ller&key=${spoilt}${token}`;
    assert.is((await ask(`/v1/node/status${query}`)).status, 400, query);
  }
  assert.equal(node.received, []);
  for (const name of ["a", "b"]) {
    const headers = { prefer: tokenOf(name), ...bearer(tokenOf("a")) };
    assert.is((await ask("/v1/node/status", { headers })).status, 400);
  }
  assert.is((await ask("/v1/node/status", { headers: bearer(tokenOf("a")) })).status, 200);
  for (const { headers } of node.received) {
    assert.not.match(JSON.stringify(headers), /0123456789abcdef/);
  }
});

clients("metrics and the log count each call for its client, and none has a token", async () => {
  const names = Array.from({ length: 64 }, (_, at) => `client-${at}`);
  const calls = 4;
  const variableOf = (name: string) => `CLIENTS_TEST_${name.replace("-", "_")}`;
  for (const name of names) process.env[variableOf(name)] = tokenOf(name);
  const { ask, calls: logged } = forwarding(node.url, RPC, {
    open: ["number"],
    clients: names.map((name) => ({ name, token_env: variableOf(name), allow: ["balance"] })),
    concurrency: 100,
  }, { metrics: true });
  node.answer = result("1");
  await Promise.all(names.map(async (name) => {
    for (let count = 0; count < calls; count++) {
      const headers = { ...JSON_TYPE, ...bearer(tokenOf(name)) };
      const path = count % 2 === 0 ? "balance" : "number";
      const response = await ask(`/v1/rpc/${path}`, { method: "POST", headers, body: "{}" });
      assert.is(response.status, 200);
      await response.text();
    }
  }));
  await (await ask("/v1/rpc/number")).text();
  const text = await (await ask("/v1/metrics")).text();
  const counted = (client: string) =>
    [...text.matchAll(/^nodeface_calls_total\{.*client="([^"]*)"\} (\d+)$/gm)]
      .reduce((sum, [, name, count]) => sum + (name === client ? Number(count) : 0), 0);
  for (const name of names) {
    assert.is(counted(name), calls, name);
    assert.is(logged.filter(({ client }) => client === name).length, calls, name);
    assert.match(text, `nodeface_call_duration_seconds_count{client="${name}"} ${calls}`);
  }
  assert.is(counted("anonymous"), 1);
  assert.not.match(text + JSON.stringify(logged), /0123456789abcdef/);
});

clients("per_minute refuses calls with 429, and a batch counts its members", async () => {
  const { ask, rpc } = forwarding(node.url, RPC, {
    open: ["number"],
    per_minute: 20,
    clients: [{ ...named("a", ["balance"]), per_minute: 5 }],
  });
  node.answer = result("1");
  const headers = { ...JSON_TYPE, ...bearer(tokenOf("a")) };
  const call = (id: number) => ({ jsonrpc: "2.0", id, method: "balance" });
  const first = await rpc([1, 2, 3].map(call), { headers });
  assert.is(first.status, 200);
  assert.is(first.headers.get("ratelimit-policy"), '"minute";q=5;w=60');
  assert.is(first.headers.get("ratelimit"), '"minute";r=2;t=60');
  const second = await rpc([4, 5, 6].map(call), { headers });
  assert.is(second.status, 429);
  assert.is(second.headers.get("retry-after"), "60");
  const refused: { id: number; error: { code: number } }[] = await second.json();
  assert.equal(
    refused.map(({ id, error }) => [id, error.code]),
    [4, 5, 6].map((id) => [id, -32056]),
  );
  assert.is((await rpc(call(7), { headers })).status, 200);
  const third = await rpc(call(8), { headers });
  assert.is(third.status, 429);
  assert.is((await third.json()).id, 8);
  assert.is((await rpc([1, 2].map(call), { headers })).status, 429);
  // Others have limits of their own, of which a wrong token takes ten.
  assert.is((await ask("/v1/rpc/number")).headers.get("ratelimit"), '"minute";r=19;t=60');
  const wrong = () => ask("/v1/rpc/balance", { method: "POST", headers: JSON_TYPE, body: "{}" });
  assert.is((await wrong()).headers.get("ratelimit"), '"minute";r=9;t=60');
  assert.is((await wrong()).status, 401);
  assert.is((await wrong()).status, 429);
  const { detail } = await (await ask("/v1/rpc/number")).json();
  assert.is(detail, "All callers without a token together may make 20 calls in a minute");
  assert.is((await ask("/v1/info")).status, 200);
  passTime(60_000);
  assert.is((await ask("/v1/rpc/number")).status, 200);
  assert.is((await rpc(call(9), { headers })).status, 200);
});

clients(
  "a call that has begun counts once, also if it fails or its token is replaced",
  async () => {
    const { ask } = forwarding(node.url, REST, {
      open: ["GET /status"],
      per_minute: 60,
      clients: [{ ...named("a", ["GET /balance"]), per_minute: 60 }],
    });
    const left = (response: Response) => response.headers.get("ratelimit")!.split(";")[1];
    node.answer = json("{}", 302, { location: "/elsewhere" });
    for (const expected of ["r=59", "r=58"]) {
      const response = await ask("/v1/node/status");
      assert.equal([response.status, left(response)], [502, expected]);
    }
    const held: ServerResponse[] = [];
    node.answer = (_, response) => void held.push(response);
    const balance = (token: string) => ask("/v1/node/balance", { headers: bearer(token) });
    const calls = [1, 2, 3].map(() => balance(tokenOf("a")));
    await until(() => held.length === calls.length);
    writeFileSync(fileOf("next"), tokenOf("new"));
    renameSync(fileOf("next"), fileOf("a"));
    assert.equal((await Promise.all(calls)).map(({ status }) => status), [401, 401, 401]);
    for (const response of held) response.end();
    node.answer = json("{}");
    assert.is(left(await balance(tokenOf("new"))), "r=56");
  },
);

clients("what is no call, and a batch that no minute allows, count as refused calls", async () => {
  const { rpc } = forwarding(node.url, RPC, { open: ["number"], per_minute: 20 });
  const batch = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: "2.0", id, method: "number" }));
  for (
    const [content, left] of [
      ["{", "r=19"],
      ["", "r=19"],
      [Array(48).fill(1), "r=15"],
      [batch, "r=10"],
      [batch, "r=5"],
      [batch, "r=0"],
    ] as const
  ) {
    const { headers } = await rpc(content);
    assert.is(headers.get("ratelimit")!.split(";")[1], left);
  }
  assert.is((await rpc(batch)).status, 429);
  assert.equal(node.received, []);
});

clients("calls beyond the limit count as refused calls, in all forms", async () => {
  node.answer = result("1");
  const call = { jsonrpc: "2.0", id: 1, method: "number" };
  const { rpc } = forwarding(node.url, RPC, { open: ["number"], per_minute: 20 });
  const left = async (content: unknown) => {
    const { status, headers } = await rpc(content);
    return [status, headers.get("ratelimit")!.split(";")[1]];
  };
  assert.equal(await left(Array(10).fill(call)), [200, "r=10"]);
  assert.equal(await left(Array(20).fill(call)), [429, "r=8"]);
  assert.equal(await left(Array(20).fill(call)), [429, "r=6"]);
  assert.equal(await left(call), [200, "r=5"]);
  for (const form of ["/v1/rpc", "/v1/rpc/number"]) {
    const { ask, rpc } = forwarding(node.url, RPC, { open: ["number"], per_minute: 1 });
    const refuse = async () => (await rpc({ ...call, method: "nope" })).status;
    for (let calls = 0; calls < 5; calls++) assert.is(await refuse(), 200);
    for (let calls = 0; calls < 5; calls++) {
      const refused = form === "/v1/rpc" ? await rpc(call) : await ask(form);
      assert.is(refused.status, 429);
    }
    assert.is(await refuse(), 429, form);
  }
});

clients.run();
