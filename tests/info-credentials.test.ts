import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { checkCredentials } from "../src/node/secrets.ts";
import { passTime } from "./_clock.ts";
import { contextFor, failure, get, kindsRefusing } from "./_sources.ts";

const credentials = suite("credentials");

const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
const NODE = "http://127.0.0.1:1234";

async function secret(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

function guarded(
  right: () => string,
  refusal: Record<string, string> = {},
  status = 401,
) {
  const shown: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = (_, init) => {
    shown.push(new Headers(init?.headers).get("authorization"));
    const isRight = shown.at(-1) === `Basic ${btoa(right())}`;
    return Promise.resolve(
      new Response("", { status: isRight ? 200 : status, headers: refusal }),
    );
  };
  return { shown, fetch };
}

const JSONRPC = { "www-authenticate": 'Basic realm="jsonrpc"' };
const refusal = { header: "www-authenticate", pattern: 'realm="jsonrpc"' };

credentials(
  "a secret is read again after a second, since a daemon may write a new one",
  async () => {
    const file = await secret("rotated", "");
    let node = guarded(() => "user:one");
    const fetch: typeof globalThis.fetch = (...sent) => node.fetch(...sent);
    const context = contextFor(NODE, { auth: { basic_file: file }, fetch });
    for (const text of ["user:one", "user:two"]) {
      await secret("rotated", `${text}\n`);
      passTime(1000);
      node = guarded(() => text);
      const { shown } = node;
      assert.is((await get(NODE, context)).status, 200);
      assert.is(shown.length, 1);
    }
  },
);

credentials(
  "if a secret changes while a request is sent, the request is repeated with the new secret",
  async () => {
    const file = await secret("changing", "user:old");
    const shown: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (_, init) => {
      shown.push(new Headers(init?.headers).get("authorization"));
      await secret("changing", "user:new");
      return new Response("", {
        status: shown.at(-1) === `Basic ${btoa("user:new")}` ? 200 : 401,
      });
    };
    const context = contextFor(NODE, {
      fetch,
      auth: { basic_file: file },
    });
    assert.is((await get(NODE, context)).status, 200);
    assert.is(shown.length, 2);
  },
);

credentials("if a secret is rejected, the error does not reveal it", async () => {
  const file = await secret("wrong", "user:hunter2");
  const { fetch, shown } = guarded(() => "user:other");
  const { code, message, number, hint } = await failure(
    get(NODE, contextFor(NODE, { fetch, auth: { basic_file: file } })),
  );
  assert.equal([code, message, number], [
    "unauthorized",
    "rejects the credentials of node.auth (401)",
    401,
  ]);
  assert.is(hint, `the credentials come from basic_file ${file}`);
  assert.is(shown.length, 1);
});

credentials(
  "a secret is sent to the node's own origin, and to no other origin",
  async () => {
    const file = await secret("own", "user:one");
    const { fetch, shown } = guarded(() => "none");
    for (
      const url of [
        "http://127.0.0.1:1235/",
        "https://127.0.0.1:1234/",
        "http://127.0.0.2:1234/",
      ]
    ) {
      await failure(
        get(url, contextFor(NODE, { fetch, auth: { basic_file: file } })),
      );
    }
    assert.equal(shown, [null, null, null]);
  },
);

credentials("each way to configure a secret results in the right header", async () => {
  const file = await secret("forms", "<apikey>user:one</apikey>");
  const line = await secret("line", "X-Secret: user:one\n");
  const tight = await secret("tight", "X-Secret:user:one");
  const match = "<apikey>(.*)</apikey>";
  process.env.NODEFACE_TEST_SECRET = "user:one";
  for (
    const [configured, name, value] of [
      [
        { basic_file: file, match },
        "authorization",
        `Basic ${btoa("user:one")}`,
      ],
      [{ bearer_file: file, match }, "authorization", "Bearer user:one"],
      [
        { header_file: file, match, header: "X-API-Key" },
        "x-api-key",
        "user:one",
      ],
      [{ header_file: line }, "x-secret", "user:one"],
      [{ header_file: tight }, "x-secret", "user:one"],
      [
        { basic_env: "NODEFACE_TEST_SECRET" },
        "authorization",
        `Basic ${btoa("user:one")}`,
      ],
      [
        { bearer_env: "NODEFACE_TEST_SECRET" },
        "authorization",
        "Bearer user:one",
      ],
      [
        { header_env: "NODEFACE_TEST_SECRET", header: "X-API-Key" },
        "x-api-key",
        "user:one",
      ],
    ] as const
  ) {
    let sent: Headers | undefined;
    const fetch: typeof globalThis.fetch = (_, init) => {
      sent = new Headers(init?.headers);
      return Promise.resolve(new Response("[]"));
    };
    await get(NODE, contextFor(NODE, { fetch, auth: configured }));
    assert.is(sent?.get(name), value, JSON.stringify(configured));
  }
  delete process.env.NODEFACE_TEST_SECRET;
});

credentials(
  "a hosted node may not repeat the key in its URL, but the name of its chain",
  async () => {
    const KEY = "0123456789abcdef0123456789abcdef";
    const fetch: typeof globalThis.fetch = (input) =>
      Promise.resolve(new Response(`no route ${input}`, { status: 404 }));
    for (
      const [segment, isRefused] of [[KEY, true], ["crypto-org-chain-mainnet-1", false]] as const
    ) {
      const url = `https://node.example/v3/${segment}`;
      const asked = get(url, contextFor(url, { fetch }));
      if (isRefused) {
        assert.match(
          (await failure(asked)).message,
          "contains the service's credentials",
        );
      } else assert.match((await asked).text, segment);
    }
    const moved: typeof globalThis.fetch = () =>
      Promise.resolve(new Response("", { status: 301, headers: { location: `/v3/${KEY}` } }));
    const url = `https://node.example/v3/${KEY}/`;
    const { message, hint } = await failure(get(url, contextFor(url, { fetch: moved })));
    assert.match(message, "responded with a redirect (301)");
    assert.is(hint, "the redirect points to /v3/***");
  },
);

credentials(
  "the error about a refusal names the probable kind of the node, and the setting that helps",
  async () => {
    const kinds = kindsRefusing({
      bitcoin: { refusal, example: { basic_file: "/path/.cookie" } },
      syncthing: {
        refusal: { header: "x-syncthing-version", pattern: "^v" },
        files: [{
          header_file: "/none/config.xml",
          header: "X-API-Key",
          match: "<apikey>([^<]+)",
        }],
      },
    });
    const of = (headers: Record<string, string>, status = 401, kind?: string) =>
      failure(
        get(
          NODE,
          contextFor(NODE, {
            kinds,
            kind,
            fetch: guarded(() => "", headers, status).fetch,
          }),
        ),
      );
    const bitcoin = await of(JSONRPC);
    assert.equal([
      bitcoin.code,
      bitcoin.message,
      bitcoin.looksLike,
      bitcoin.hint,
    ], [
      "unauthorized",
      "requires credentials (401), like bitcoin; set node.auth",
      "bitcoin",
      'set "auth: { basic_file: /path/.cookie }" below node',
    ]);
    const syncthing = await of({ "x-syncthing-version": "v1.2" }, 403);
    assert.equal([
      syncthing.code,
      syncthing.message,
      syncthing.looksLike,
      syncthing.hint,
    ], [
      "forbidden",
      "requires credentials (403), like syncthing; set node.auth",
      "syncthing",
      "set \"auth: { header_file: /none/config.xml, header: X-API-Key, match: '<apikey>([^<]+)' }\" " +
      "below node; tried /none/config.xml: no such file",
    ]);
    const stranger = await of({ "www-authenticate": 'Basic realm="x"' });
    assert.equal([stranger.message, stranger.looksLike, stranger.hint], [
      "requires credentials (401); set node.auth",
      undefined,
      'set "auth: { basic_file: /path/to/secret }" below node',
    ]);
    const schemes = { "Basic, Digest": "digest", Bearer: "bearer", "X-API-Key": "header" };
    for (const [challenge, scheme] of Object.entries(schemes)) {
      const { hint } = await of({ "www-authenticate": challenge });
      assert.is(hint, `set "auth: { ${scheme}_file: /path/to/secret }" below node`);
    }
    const forbidden = await of({}, 403);
    assert.equal([forbidden.code, forbidden.message], [
      "forbidden",
      "forbids the request (403)",
    ]);
    // Syncthing with a password does not say that it is one.
    const { hint } = await of({}, 403, "syncthing");
    assert.match(hint!, 'may require credentials (set "auth: { header_file: /none/config.xml');
    // If two kinds match, neither is chosen.
    assert.is(
      (await of({ ...JSONRPC, "x-syncthing-version": "v1" })).looksLike,
      undefined,
    );
  },
);

credentials(
  "the default secret of a kind is sent if a local node's refusal is typical of the kind",
  async () => {
    const file = await secret("usual", "user:one");
    const kinds = kindsRefusing({
      bitcoin: {
        refusal,
        files: [{ basic_file: "/none" }, { basic_file: file }],
      },
    });
    let node = guarded(() => "user:one", JSONRPC);
    const fetch: typeof globalThis.fetch = (...sent) => node.fetch(...sent);
    const context = contextFor(NODE, { kinds, fetch });
    assert.is((await get(NODE, context)).status, 200);
    assert.equal(node.shown, [null, `Basic ${btoa("user:one")}`]);
    await get(NODE, context);
    assert.is(node.shown.length, 3, "the node does not refuse again");
    await secret("usual", "user:two");
    node = guarded(() => "user:two", JSONRPC);
    assert.is((await get(NODE, context)).status, 200);
  },
);

credentials("the default secret of a kind is not sent to any other server", async () => {
  const file = await secret("usual", "user:one");
  const files = [{ basic_file: file }];
  const kinds = kindsRefusing({
    bitcoin: { refusal, files },
    syncthing: {
      refusal: { header: "x-syncthing-version", pattern: "^v" },
      files,
    },
  });
  const both = { ...JSONRPC, "x-syncthing-version": "v1" };
  for (
    const [url, headers, kind] of [
      [NODE, {}, undefined],
      [NODE, both, undefined],
      [NODE, both, "bitcoin"],
      [NODE, JSONRPC, "syncthing"],
      [NODE, JSONRPC, "none"],
      ["http://node.example", JSONRPC, undefined],
      ["http://192.168.1.2", JSONRPC, "bitcoin"],
      [
        NODE,
        { "www-authenticate": `${"x".repeat(2000)} realm="jsonrpc"` },
        undefined,
      ],
    ] as const
  ) {
    const { fetch, shown } = guarded(() => "user:one", headers);
    await failure(get(url, contextFor(url, { kinds, kind, fetch })));
    assert.equal(shown, [null], `${url} ${kind}`);
  }
});

credentials(
  "default secret files that did not help are reported with the reason",
  async () => {
    const file = await secret("usual", "user:one");
    const at = (...paths: string[]) =>
      kindsRefusing({
        bitcoin: {
          refusal,
          files: paths.map((path) => ({ basic_file: path })),
        },
      });
    const hintOf = async (...paths: string[]) => {
      const { fetch } = guarded(() => "user:other", JSONRPC);
      const context = contextFor(NODE, { kinds: at(...paths), fetch });
      return (await failure(get(NODE, context))).hint ?? "";
    };
    assert.is(
      await hintOf("/none/a", "/none/b"),
      'set "auth: { basic_file: /none/a }" below node; tried /none/a and 1 more: no such file',
    );
    assert.match(
      await hintOf("/none/a", folder),
      `tried ${folder} and 1 more: it is not a regular file`,
    );
    assert.match(
      await hintOf("/none/a", file),
      "the node rejects these credentials",
    );
  },
);

credentials(
  "if the credentials cannot be read, the node is queried without them",
  async () => {
    const auth = { basic_file: join(folder, "none") };
    const open: typeof fetch = () => Promise.resolve(new Response("[]"));
    assert.is((await get(NODE, contextFor(NODE, { auth, fetch: open }))).text, "[]");
    const { fetch } = guarded(() => "user:one", JSONRPC);
    const { code, message, hint } = await failure(get(NODE, contextFor(NODE, { auth, fetch })));
    assert.equal([code, message, hint], [
      "no_credentials",
      "requires credentials (401), but node.auth cannot be read",
      `cannot read node.auth.basic_file ${join(folder, "none")}: no such file`,
    ]);
  },
);

credentials("credentials are checked before a node is queried", async () => {
  const file = await secret("good", "user:one");
  const of = async (name: string, text: string) => ({
    basic_file: await secret(name, text),
  });
  assert.is(await checkCredentials({ basic_file: file }), undefined);
  for (
    const [place, reason] of [
      [{ basic_file: "none.txt" }, "no such file"],
      [{ digest_file: folder }, "it is not a regular file"],
      [{ bearer_env: "NODEFACE_NOPE" }, "the variable is not set"],
      [await of("empty", " \n"), "it is empty"],
      [await of("lines", "a:b\nc:d\n"), "must be one line of printable ASCII"],
      [await of("user", "op\n"), "must have the form user:password"],
      [
        { header_file: file, match: "x(y)" },
        "match finds nothing in it",
      ],
      [
        { header_file: await secret("colon", ": x") },
        'must have the form "Name: value"',
      ],
    ] as const
  ) {
    const [[key, name] = []] = Object.entries(place);
    const unusable = await checkCredentials(place);
    assert.is(unusable?.message, `cannot read node.auth.${key} ${name}: ${reason}`);
  }
});

credentials.after(() => rm(folder, { recursive: true }));
credentials.run();
