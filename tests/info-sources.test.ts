import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createAuth } from "../src/info/sources/credentials.ts";
import { runCommand } from "../src/info/sources/command.ts";
import { readTextFile } from "../src/info/sources/file.ts";
import { askHttp } from "../src/info/sources/http-request.ts";
import { askJson } from "../src/info/sources/get-and-post.ts";
import { createEndpoint } from "../src/info/sources/json-rpc.ts";
import { KINDS } from "../src/kinds/index.ts";

const sources = suite("info sources");

const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
const NODE = "http://127.0.0.1:1234";
const calls = [{ jsonrpc: "a" }, { jsonrpc: "b" }];

type Call = { id: number; method: string };

/** A `fetch` that answers JSON-RPC, and keeps what it was sent. */
function rpc(answer: (body: Call | Call[]) => Response) {
  const sent: (Call | Call[])[] = [];
  const fetch = ((_: unknown, init: RequestInit) => {
    sent.push(JSON.parse(String(init.body)));
    return Promise.resolve(answer(sent.at(-1)!));
  }) as typeof globalThis.fetch;
  return { sent, context: { fetch, auth: createAuth(NODE, undefined, undefined) } };
}

const reply = ({ id, method }: Call) => ({ id, result: method });

sources("calls travel in one batch, whatever the order of the answers", async () => {
  const { sent, context } = rpc((body) => Response.json([body].flat().map(reply).reverse()));
  const outcomes = await createEndpoint(NODE)(calls, 1000, context);
  assert.equal(outcomes, [{ value: "a" }, { value: "b" }]);
  assert.is(sent.length, 1);
});

sources("a node that takes no batches is called singly, and not offered one again", async () => {
  for (
    const refusal of [
      () => new Response("no", { status: 400 }),
      () => Response.json({ error: { code: -32600, message: "no" }, id: null }),
    ]
  ) {
    const { sent, context } = rpc((body) =>
      Array.isArray(body) ? refusal() : Response.json(reply(body))
    );
    const endpoint = createEndpoint(NODE);
    assert.equal(await endpoint(calls, 1000, context), [{ value: "a" }, { value: "b" }]);
    await endpoint(calls, 1000, context);
    assert.is(sent.length, 5);
  }
});

sources("a call may fail alone, and an error is read whatever its status", async () => {
  const error = { code: -32601, message: "Method\nnot found" };
  const { context } = rpc(() => Response.json([{ id: 0, error }, { id: 1, result: 0 }]));
  const [first, second] = await createEndpoint(NODE)(calls, 1000, context);
  assert.match((first as { error: Error }).error.message, "Method not found (-32601)");
  assert.equal(second, { value: 0 });
  const odd = rpc(() => Response.json({ id: 1, error: { message: { toString: 1 }, code: [] } }));
  const [unsaid] = await createEndpoint(NODE)([calls[0]!], 1000, odd.context);
  assert.match((unsaid as { error: Error }).error.message, "an error (no code)");
  const broken = rpc(() => Response.json({ id: 1, error }, { status: 404 }));
  const [only] = await createEndpoint(NODE)([calls[0]!], 1000, broken.context);
  assert.match((only as { error: Error }).error.message, "-32601");
});

sources("a whole number is sent with all of its digits", async () => {
  const bodies: string[] = [];
  const fetch = ((_: unknown, init: RequestInit) => {
    bodies.push(String(init.body));
    return Promise.resolve(Response.json({ id: 1, result: 1 }));
  }) as typeof globalThis.fetch;
  const context = { fetch, auth: createAuth(NODE, undefined, undefined) };
  const large = 12345678901234567890n;
  await createEndpoint(NODE)([{ jsonrpc: "a", params: [large] }], 1000, context);
  await askJson({ post: "/", json: { large } }, NODE, 1000, context);
  assert.match(bodies[0]!, '"params":[12345678901234567890]');
  assert.is(bodies[1], '{"large":12345678901234567890}');
});

sources(
  "an answer that is no JSON is quoted on one line, and one without end is refused",
  async () => {
    const said = async (body: string) => {
      const fetch = (() => Promise.resolve(new Response(body))) as typeof globalThis.fetch;
      const context = { fetch, auth: createAuth(NODE, undefined, undefined) };
      return await askJson({ get: "/" }, NODE, 1000, context).catch(({ message }) => message);
    };
    assert.is(
      await said(`<p class="a">\n\u202eno ${"such page ".repeat(9)}`),
      'gives something other than JSON: "<p class=\\"a\\"> no such page such page…"',
    );
    assert.is(await said("[".repeat(500_000)), "nests its answer more than 512 levels deep");
    assert.is(await said(""), "gives something other than JSON: nothing");
  },
);

/** A `fetch` that wants a password, and keeps what it was shown. */
function guarded(right: () => string, refusal: Record<string, string> = {}) {
  const shown: (string | null)[] = [];
  const fetch = ((_: unknown, init: RequestInit) => {
    shown.push(new Headers(init.headers).get("authorization"));
    const isRight = shown.at(-1) === `Basic ${btoa(right())}`;
    return Promise.resolve(new Response("", { status: isRight ? 200 : 401, headers: refusal }));
  }) as typeof globalThis.fetch;
  return { shown, fetch };
}

const ask = (url: string, fetch: typeof globalThis.fetch, auth: ReturnType<typeof createAuth>) =>
  askHttp({ url, method: "GET", timeout: 1000 }, { fetch, auth });

sources("a secret is read again at every use, since a daemon may write a new one", async () => {
  const file = join(folder, "cookie");
  const auth = createAuth(NODE, { basic_file: file }, undefined);
  for (const secret of ["user:one", "user:two"]) {
    await writeFile(file, `${secret}\n`);
    const { fetch, shown } = guarded(() => secret);
    assert.is((await ask(NODE, fetch, auth)).status, 200);
    assert.is(shown.length, 1);
  }
});

sources("a secret that is refused is not told", async () => {
  const file = join(folder, "wrong");
  await writeFile(file, "user:hunter2");
  const { fetch } = guarded(() => "user:other");
  try {
    await ask(NODE, fetch, createAuth(NODE, { basic_file: file }, undefined));
    assert.unreachable();
  } catch (error) {
    const { message } = error as Error;
    assert.match(message, "asks for a secret (401)");
    assert.not.match(message, /hunter2|dXNlcj/);
  }
});

sources("a secret goes to the node's own origin and nowhere else", async () => {
  const file = join(folder, "cookie");
  const { fetch, shown } = guarded(() => "none");
  const auth = createAuth(NODE, { basic_file: file }, undefined);
  await ask("http://127.0.0.1:1235/", fetch, auth).catch(() => {});
  assert.equal(shown, [null]);
});

sources(
  "the usual secret is tried where a node on this machine asks as its kind does",
  async () => {
    const file = join(folder, "cookie");
    const usual = {
      ...KINDS.bitcoin!.auth!,
      files: [{ basic_file: "/none" }, { basic_file: file }],
    };
    await writeFile(file, "user:one");
    const asks = { "www-authenticate": 'Basic realm="jsonrpc"' };
    const node = guarded(() => "user:one", asks);
    assert.is((await ask(NODE, node.fetch, createAuth(NODE, undefined, usual))).status, 200);
    assert.is(node.shown[0], null);
    for (const [url, headers] of [[NODE, {}], ["http://node.example", asks]] as const) {
      const stranger = guarded(() => "user:one", headers);
      await ask(url, stranger.fetch, createAuth(url, undefined, usual)).catch(() => {});
      assert.equal(stranger.shown, [null], url);
    }
  },
);

sources("a redirect is not followed", async () => {
  const asked: string[] = [];
  const fetch = ((url: string, init: RequestInit) => {
    asked.push(url);
    assert.is(init.redirect, "manual");
    return Promise.resolve(new Response(null, { status: 302, headers: { location: "http://x/" } }));
  }) as typeof globalThis.fetch;
  try {
    await ask(NODE, fetch, createAuth(NODE, undefined, undefined));
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, "redirects (302)");
  }
  assert.is(asked.length, 1);
});

sources("a file is read as far as the limit, and only if it is one", async () => {
  const file = join(folder, "file");
  await writeFile(file, "text");
  assert.is(await readTextFile(file), "text");
  await writeFile(file, "x".repeat(1024 * 1024 + 1));
  for (const path of [file, folder, join(folder, "none")]) {
    await readTextFile(path).then(() => assert.unreachable(), ({ name }) => {
      assert.is(name, "SourceError");
    });
  }
});

const PRINT = "Deno" in globalThis ? [process.execPath, "eval"] : [process.execPath, "-e"];

sources("a program's arguments are read by no shell", async () => {
  const output = await runCommand([...PRINT, "console.log('$HOME; `id` > x')"], 10_000);
  assert.is(output.trim(), "$HOME; `id` > x");
});

sources("a program that takes too long or prints too much is killed", async () => {
  const forever = "setInterval(() => {}, 1000)";
  const much = "setInterval(() => console.log('x'.repeat(99999)), 0)";
  for (
    const [script, limit, reason] of [[forever, 300, "300 ms"], [much, 20_000, "1 MiB"]] as const
  ) {
    try {
      await runCommand([...PRINT, script], limit);
      assert.unreachable();
    } catch (error) {
      assert.match((error as Error).message, reason);
    }
  }
});

sources("a program that is not there, or fails, is said to be so", async () => {
  for (
    const [command, reason] of [
      [["/none/of/it"], "no such program"],
      [[...PRINT, "process.exit(3)"], "ends with 3"],
    ] as const
  ) {
    try {
      await runCommand(command, 10_000);
      assert.unreachable();
    } catch (error) {
      assert.match((error as Error).message, reason);
    }
  }
});

sources.after(() => rm(folder, { recursive: true }));
sources.run();
