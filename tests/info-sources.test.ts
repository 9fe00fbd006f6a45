import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LightSignal } from "../src/abort-signal.ts";
import { createNodeface } from "../src/index.ts";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { placeOfParam } from "../src/info/query-plan.ts";
import {
  readFileSource,
  readOutcome,
  requestJson,
  runCommandSource,
  urlOfLink,
} from "../src/info/sources.ts";
import type { JsonRpcSource } from "../src/kinds/kind.ts";
import type { SourceError } from "../src/node/failures.ts";
import type { Node } from "../src/node/node.ts";
import { rpcRequestOf } from "../src/node/rpc.ts";
import { readFile } from "../src/platform.ts";
import { passTime } from "./_clock.ts";
import { until } from "./_gateway.ts";
import { contextFor, failure, within } from "./_sources.ts";

const sources = suite("info sources");

const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
const NODE = "http://127.0.0.1:1234";
const calls = [{ jsonrpc: "a" }, { jsonrpc: "b" }];

type Call = { id: number; method: string };

function answering(answer: (body: string) => Response) {
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = (_, init) => {
    sent.push(String(init?.body));
    return Promise.resolve(answer(sent.at(-1)!));
  };
  return { sent, context: contextFor(NODE, { fetch }) };
}

async function callAll(node: Node, calls: JsonRpcSource[]) {
  const outcomes = await node.rpc(calls.map(rpcRequestOf), within());
  return outcomes.map((outcome, at) => {
    try {
      return { answer: readOutcome(calls[at]!, outcome) };
    } catch (error) {
      return { error: error as SourceError };
    }
  });
}

const rpc = (answer: (body: Call | Call[]) => Response) =>
  answering((body) => answer(JSON.parse(body)));

const reply = ({ id, method }: Call) => ({ id, result: method });
const answered = (...values: unknown[]) =>
  values.map((value) => ({ answer: { value, omitted: [] } }));

async function call(
  answer: () => Response,
  options: Partial<JsonRpcSource> = {},
) {
  const [outcome] = await callAll(answering(answer).context, [{ jsonrpc: "a", ...options }]);
  return outcome as {
    error?: SourceError;
    answer?: { value: unknown; omitted: string[] };
  };
}

sources(
  "calls are sent in one batch, and the responses may have any order",
  async () => {
    const { sent, context } = rpc((body) => Response.json([body].flat().map(reply).reverse()));
    assert.equal(
      await callAll(context, calls),
      answered("a", "b"),
    );
    assert.is(sent.length, 1);
  },
);

sources(
  "a node that refuses a batch gets single calls, and no further batches",
  async () => {
    for (
      const refusal of [
        () => new Response("no", { status: 400 }),
        () => Response.json({ error: { code: -32600, message: "no" }, id: null }),
      ]
    ) {
      const { sent, context } = rpc((body) =>
        Array.isArray(body) ? refusal() : Response.json(reply(body))
      );
      assert.equal(
        await callAll(context, calls),
        answered("a", "b"),
      );
      await callAll(context, calls);
      assert.is(sent.length, 5);
    }
  },
);

sources("a node that refuses a large batch still gets smaller ones as batches", async () => {
  const { sent, context } = rpc((body) =>
    Array.isArray(body) && body.length > 3
      ? Response.json({ error: { code: -32600, message: "batch too large" }, id: null })
      : Response.json(Array.isArray(body) ? body.map(reply) : reply(body))
  );
  const many = [..."abcde"].map((jsonrpc) => ({ jsonrpc }));
  assert.equal(await callAll(context, many), answered(..."abcde"));
  assert.equal(await callAll(context, many.slice(0, 3)), answered(..."abc"));
  assert.is(sent.length, 1 + many.length + 1);
  // What is as large as before is not tried again.
  assert.equal(await callAll(context, many), answered(..."abcde"));
  assert.is(sent.length, 1 + many.length + 1 + many.length);
  // What made the node refuse it may be over, or was a client's.
  passTime(600_000);
  await callAll(context, many);
  assert.is(sent.length, 1 + many.length + 1 + many.length + 1 + many.length);
});

sources(
  "a node that refuses everything while it starts gets batches again later",
  async () => {
    let isStarting = true;
    const error = { code: -28, message: "Loading block index…" };
    const { sent, context } = rpc((body) =>
      isStarting
        ? Response.json({ id: null, error }, { status: 500 })
        : Response.json([body].flat().map(reply))
    );
    const [first] = await callAll(context, calls) as {
      error: SourceError;
    }[];
    assert.equal([first!.error.code, first!.error.number], ["bad_answer", -28]);
    assert.is(first!.error.message, "responded with an error: Loading block index… (-28)");
    isStarting = false;
    assert.equal(await callAll(context, calls), answered("a", "b"));
    assert.is(sent.length, 4);
  },
);

sources(
  "one call of a batch may fail, and omitted values are reported for each call",
  async () => {
    const error = { code: -32000, message: "Not\nnow" };
    const long = "x".repeat(5000);
    const { context } = rpc(() =>
      Response.json([{ id: 0, error }, { id: 1, result: { a: 1, long } }])
    );
    const [first, second] = await callAll(context, calls);
    assert.is(
      (first as { error: Error }).error.message,
      "responded with an error: Not now (-32000)",
    );
    assert.equal(second, {
      answer: {
        value: { a: 1 },
        omitted: ["/long: more than 4096 characters"],
      },
    });
    const alone = await call(() => Response.json({ id: 1, result: long }));
    assert.equal(alone.answer, {
      value: undefined,
      omitted: ["the response: more than 4096 characters"],
    });
    const beside = await call(() =>
      Response.json({ id: 1, result: 1, results: long, result_x: long })
    );
    assert.equal(beside.answer, { value: 1, omitted: [] });
  },
);

sources("if a key is duplicated, its last value is used, at any depth", async () => {
  const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
  const text = `{"id":1,"result":0,"result":{"a":1,"a":2,"deep":${deep}},"x":1,"x":2}`;
  const { answer } = await call(() => new Response(text));
  assert.is((answer!.value as { a: number }).a, 2);
  const { error } = await call(() => new Response("[".repeat(5000)));
  assert.match(error!.message, "returned something other than JSON");
});

sources(
  "a truncated result is not an error, even if much was omitted from earlier results",
  async () => {
    const long = "x".repeat(5000);
    const { context } = rpc(() =>
      Response.json([{ id: 0, result: Array(10).fill(long) }, { id: 1, result: long }])
    );
    const [, second] = await callAll(context, calls);
    assert.not("error" in second!);
  },
);

sources(
  "a malformed error is still an error, and a response without a result is invalid",
  async () => {
    for (
      const [answer, message] of [
        [
          { error: { message: { toString: 1 }, code: [] } },
          "responded with an error: an error (no code)",
        ],
        [{ error: "no" }, "responded with an error: no (no code)"],
        [
          { error: { code: 1e400, message: "x".repeat(9000) } },
          `responded with an error: ${"x".repeat(79)}… (no code)`,
        ],
        [{}, "sent a response without a JSON-RPC result"],
        [null, "sent a response without a JSON-RPC result"],
        [7, "sent a response without a JSON-RPC result"],
        [[], "sent a response without a JSON-RPC result"],
      ] as const
    ) {
      const { error } = await call(() => Response.json(answer));
      assert.equal([error!.code, error!.message], ["bad_answer", message]);
    }
  },
);

sources("a method that is missing is distinguished from a method that fails", async () => {
  for (
    const [code, message, status, isAbsent] of [
      [-32601, "Method not found", 200, true],
      [-32601, "Method not found", 404, true],
      [-32601, "", 200, true],
      [-32000, "the method eth_x does not exist/is not available", 200, true],
      [-32604, "Method not enabled", 200, true],
      [-32004, "Method not supported", 200, true],
      [-32600, "Unknown method: x", 200, true],
      [-32001, "rpc method is not whitelisted", 200, true],
      [-32600, "The method 'x' is found but the namespace 'X' is disabled for y.", 200, true],
      [-32004, "Block not available for slot 12", 200, false],
      [-32005, "Node is behind by 4200 slots", 200, false],
      [-28, "Loading block index…", 500, false],
      [-32602, "Invalid params", 400, false],
    ] as const
  ) {
    const { error } = await call(() => Response.json({ error: { code, message } }, { status }));
    assert.equal([error!.number, error!.isAbsent], [code, isAbsent], message);
  }
  for (
    const [status, isAbsent] of [[404, true], [405, true], [400, false], [
      500,
      false,
    ]] as const
  ) {
    const { error } = await call(() => new Response("no", { status }));
    assert.equal([error!.message, error!.number, error!.isAbsent], [
      `responded with ${status}`,
      status,
      isAbsent,
    ]);
  }
});

sources(
  "with keep_errors, an error becomes a value, except for a missing method",
  async () => {
    const behind = { code: -32005, message: "behind", data: { slots: 42 } };
    const kept = await call(() => Response.json({ error: behind }), {
      keep_errors: true,
    });
    assert.equal(kept.answer!.value, { error: behind });
    const good = await call(() => Response.json({ result: "ok" }), {
      keep_errors: true,
    });
    assert.equal(good.answer!.value, { result: "ok" });
    const missing = await call(
      () => Response.json({ error: { code: -32601 } }),
      {
        keep_errors: true,
      },
    );
    assert.is(missing.error!.isAbsent, true);

    const ask = (status: number, text: string) =>
      requestJson(
        answering(() => new Response(text, { status })).context,
        { get: "/health", keep_errors: true },
        NODE,
        within(),
      );
    assert.equal((await ask(503, '{"health":"false"}')).value, {
      health: "false",
    });
    assert.is((await failure(ask(503, "sorry"))).message, "responded with 503");
    assert.is((await failure(ask(404, "{}"))).isAbsent, true);
    for (const status of [502, 504]) {
      const { message } = await failure(ask(status, '{"message":"no upstream"}'));
      assert.is(message, `responded with ${status}`);
    }
  },
);

sources(
  "only an object with nothing but a valid from takes a parameter from another source",
  () => {
    assert.is(placeOfParam({ from: "head#/hash" }), "head#/hash");
    for (const param of [{ from: "head#/hash", to: "x" }, { from: "latest" }, "head#/hash"]) {
      assert.is(placeOfParam(param), undefined, JSON.stringify(param));
    }
  },
);

sources("a whole number is sent with all of its digits", async () => {
  const { sent, context } = answering(() => Response.json({ id: 1, result: 1 }));
  const large = 12345678901234567890n;
  await callAll(context, [{ jsonrpc: "a", params: [large] }]);
  await requestJson(context, { post: "/", json: { large } }, NODE, within());
  assert.match(sent[0]!, '"params":[12345678901234567890]');
  assert.is(sent[1], '{"large":12345678901234567890}');
});

sources("a GET source requests JSON unless it names another media type", async () => {
  const accepted: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = (_, init) => {
    accepted.push(new Headers(init?.headers).get("accept"));
    return Promise.resolve(new Response("{}"));
  };
  const context = contextFor(NODE, { fetch });
  await requestJson(context, { get: "/", accept: "application/nostr+json" }, NODE, within());
  await requestJson(context, { get: "/" }, NODE, within());
  await requestJson(context, { post: "/", json: {} }, NODE, within());
  assert.equal(accepted, ["application/nostr+json", "application/json", "application/json"]);
});

sources(
  "a source fails if the response has an error status; 404 and 405 mean that the path is missing",
  async () => {
    const ask = (status: number) =>
      failure(
        requestJson(
          answering(() => new Response("[]", { status })).context,
          { get: "/" },
          NODE,
          within(),
        ),
      );
    for (
      const [status, isAbsent] of [[404, true], [405, true], [500, false], [
        429,
        false,
      ]] as const
    ) {
      const { code, message, number, isAbsent: is } = await ask(status);
      assert.equal([code, message, number, is], [
        "bad_answer",
        `responded with ${status}`,
        status,
        isAbsent,
      ]);
    }
  },
);

sources("a link in a response is followed to the node itself, whatever host the link names", () => {
  for (
    const [link, url] of [
      ["/nodeinfo/2.0", "/nodeinfo/2.0"],
      ["https://public.example/nodeinfo/2.0?a=b", "/nodeinfo/2.0?a=b"],
      ["http://public.example:8080", "/"],
      ["https://public.example//evil.example/x", "//evil.example/x"],
    ] as const
  ) {
    assert.is(
      urlOfLink(link, new URL("http://127.0.0.1:3338/base"), "x#/link"),
      `http://127.0.0.1:3338${url}`,
    );
  }
});

sources("a link that is neither a plain path nor an HTTP URL is not followed", () => {
  for (
    const link of [
      "",
      "#",
      "x",
      "1/internal",
      "//evil.example/x",
      "/\\evil.example/x",
      "\\\\evil.example",
      "mailto:http://evil.example/",
      "a+b:http://evil.example/",
      "blob:http://evil.example/",
      "urn:@evil.example:80/",
      "data:.@evil.example/",
      "q:1/internal",
      "javascript:1",
      "http://user:secret@public.example/",
      "http:evil.example",
      "http:/evil.example/",
      "http:///evil.example/",
      "ftp://evil.example/",
      "https://public.example/a/../b",
      "https://public.example/%2e%2e/b",
      "/a/./b",
      "/a\nb",
      "/a\tb",
      " /a",
      "/ü",
      "/a#b",
      "https://public.example\\@evil.example/",
      "https://public example/",
      "https://[/",
    ]
  ) {
    try {
      const url = urlOfLink(link, new URL("http://127.0.0.1:3338"), "x#/link");
      assert.unreachable(`${JSON.stringify(link)} leads to ${url}`);
    } catch (error) {
      assert.is((error as SourceError).code, "bad_answer", link);
      // deno-lint-ignore no-control-regex
      assert.not.match((error as Error).message, /[\x00-\x1f]/);
    }
  }
});

sources(
  "a file may contain JSON or text, and must not be larger than the limit",
  async () => {
    const file = join(folder, "file");
    await writeFile(file, "1.10\n");
    assert.is((await readFileSource(file, within())).value, "1.10");
    await writeFile(file, '{"height":18446744073709551615}');
    assert.equal((await readFileSource(file, within())).value, {
      height: 18446744073709551615n,
    });
    await writeFile(file, "x".repeat(1024 * 1024 + 1));
    for (const path of [file, folder, join(folder, "none")]) {
      const { code, message, hint } = await failure(
        readFileSource(path, within()),
      );
      assert.equal([code, message], [
        "bad_answer",
        "has a file that cannot be read",
      ]);
      assert.match(hint!, path);
    }
  },
);

const PRINT = "Deno" in globalThis ? [process.execPath, "eval"] : [process.execPath, "-e"];

sources("no shell interprets the arguments of a program", async () => {
  const { value } = await runCommandSource([
    ...PRINT,
    "console.log('$HOME; `id` > x')",
  ], within());
  assert.is(value, "$HOME; `id` > x");
});

sources(
  "a program that takes too long or prints too much is killed",
  async () => {
    const forever = "setInterval(() => {}, 1000)";
    const much = "setInterval(() => console.log('x'.repeat(99999)), 0)";
    for (
      const [script, limit, reason] of [[forever, 300, "300 ms"], [
        much,
        20_000,
        "1 MiB",
      ]] as const
    ) {
      const { message, hint } = await failure(
        runCommandSource([...PRINT, script], within(limit)),
      );
      assert.is(message, "has a program that fails");
      assert.match(hint!, reason);
    }
  },
);

sources("the error says if a program is missing, and how a program failed", async () => {
  for (
    const [command, reason] of [
      [["/none/of/it"], "/none/of/it: program not found"],
      [["/etc/hosts/it"], "/etc/hosts/it: program not found"],
      [[...PRINT, "process.exit(3)"], "exited with 3"],
    ] as const
  ) {
    assert.match(
      (await failure(runCommandSource(command, within()))).hint!,
      reason,
    );
  }
});

sources("an optional file or program may be missing, but must work if it is there", async () => {
  for (
    const [source, failed] of [
      [{ file: "/none/of/it" }, false],
      [{ command: ["/none/of/it"] }, false],
      [{ file: "/" }, true],
      [{ command: [...PRINT, "process.exit(3)"] }, true],
    ] as const
  ) {
    const app = createNodeface({
      info: { sources: { it: { ...source, optional: true } }, fields: { it: "it#" } },
      log() {},
    });
    const { status_code } = await (await app.fetch(new Request("http://localhost/v1/info"))).json();
    assert.is(status_code, failed ? "bad_answer" : undefined, JSON.stringify(source));
  }
});

if (process.platform !== "win32") {
  sources(
    "after a timeout, too much output, an abort or the end, a program's children are killed too",
    async () => {
      /** The command starts a child process, which writes its ID to `file` and keeps running. */
      const starting = (file: string, then: string) => [
        "/bin/sh",
        "-c",
        `/bin/sh -c 'echo $$ > ${file}.part; mv ${file}.part ${file}; exec sleep 600' & ${then}`,
      ];
      // An exited process is a zombie until its parent has waited for it.
      const isRunning = (pid: unknown) =>
        /^[^Z]/.test(
          spawnSync("ps", ["-o", "stat=", "-p", String(pid)]).stdout.toString(),
        );
      const until = async (isSo: () => boolean) => {
        for (let looked = 0; !isSo(); looked++) {
          assert.ok(looked < 500, "it takes too long");
          await sleep(10);
        }
      };
      const signal = new LightSignal();
      for (
        const [name, then, limits, reason] of [
          ["late", "wait", within(1000), "takes longer"],
          [
            ...[
              "loud",
              `while [ ! -e ${join(folder, "loud")} ]; do sleep 0.01; done; yes`,
            ] as const,
            ...[within(), "prints more"] as const,
          ],
          [
            "unwanted",
            "wait",
            within(10_000, signal),
            "no longer needed",
          ],
        ] as const
      ) {
        const file = join(folder, name);
        // The time limit ends only when the child has started.
        const { setTimeout: set } = globalThis;
        let passLimit = () => {};
        globalThis.setTimeout = ((act: () => void, time: number) => {
          if (time !== 1000) return set(act, time);
          passLimit = act;
          return set(() => {}, 0);
        }) as typeof set;
        const failed = failure(runCommandSource(starting(file, then), limits));
        globalThis.setTimeout = set;
        await until(() => existsSync(file));
        if (name === "late") passLimit();
        const { value: pid } = await readFileSource(file, within());
        if (name === "unwanted") signal.abort();
        assert.match((await failed).hint!, reason);
        await until(() => !isRunning(pid));
      }
      assert.match(
        (await failure(
          runCommandSource(["true"], within(1000, signal)),
        )).hint!,
        "no longer",
      );
      if ("Deno" in globalThis || "Bun" in globalThis) return;
      const file = join(folder, "left");
      const [platform, command] = [
        new URL("../src/platform.ts", import.meta.url),
        starting(file, "wait"),
      ]
        .map((value) => JSON.stringify(value));
      const script = `
        import { existsSync } from "node:fs";
        import { runProgram } from ${platform};
        runProgram(${command}, { limit: 100, timeout: 60_000 });
        setInterval(() => existsSync(${JSON.stringify(file)}) && process.exit(0), 5);`;
      spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script]);
      const { value: pid } = await readFileSource(file, within());
      await until(() => !isRunning(pid));
    },
  );
}

sources.after(() => rm(folder, { recursive: true }));
sources("a file whose reading hangs is not read again meanwhile", async () => {
  const fs = process.getBuiltinModule("node:fs/promises");
  const { stat } = fs;
  const path = new URL(import.meta.url).pathname;
  let reads = 0;
  let goOn = () => {};
  fs.stat = ((of: string) => {
    reads++;
    return new Promise<void>((resolve) => goOn = resolve).then(() => stat(of));
  }) as typeof stat;
  const read = (timeout: number) =>
    readFile(path, { limit: 1_000_000, timeout }).then(({ length }) => length, String);
  try {
    for (let i = 0; i < 3; i++) assert.match(`${await read(20)}`, "takes longer than 20 ms");
    assert.is(reads, 1);
    goOn();
  } finally {
    fs.stat = stat;
  }
  await until(async () => typeof await read(5000) === "number");
});

sources.run();
