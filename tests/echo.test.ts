/** Tests that a node which repeats what it is sent does not reveal its credentials to clients. */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Bytes, joinBytes } from "../src/bytes.ts";
import type { NodefaceOptions } from "../src/index.ts";
import { SecretSearch, withoutSecrets } from "../src/node/echo.ts";
import type { NodeResponse } from "../src/node/http1.ts";
import type { SecretPlace } from "../src/kinds/parts.ts";
import { forwarding, json, nodeOf, type PlayedAnswer, RPC } from "./_gateway.ts";
import { createRandom } from "./_random.ts";

const echo = suite("a node that repeats what it is sent");

const node = nodeOf(echo);
const VARIABLE = "ECHO_TEST_SECRET";
echo.after(() => {
  delete process.env[VARIABLE];
});

const MESSAGE = "sent a response that contains the service's credentials";
/** A part of any of the secrets, plain or encoded, or of a digest. */
const LEAKED = /horse|hunter2|cdef|ghi|dXNlcj|response=/;

const PASSWORD = `corr"ect/horse=\\battery&<staple>`;

interface Scheme {
  readonly auth: SecretPlace;
  readonly secret: string;
  /** The texts that must not reach a client, in addition to the header's value. */
  readonly parts: readonly string[];
}

const SCHEMES: Readonly<Record<string, Scheme>> = {
  basic: {
    auth: { basic_env: VARIABLE },
    secret: `user:${PASSWORD}`,
    parts: [PASSWORD, btoa(`user:${PASSWORD}`)],
  },
  "basic with a short password": {
    auth: { basic_env: VARIABLE },
    secret: "user:hunter2",
    parts: ["user:hunter2", btoa("user:hunter2")],
  },
  bearer: {
    auth: { bearer_env: VARIABLE },
    secret: "abc.def+ghi/jkl==",
    parts: ["abc.def+ghi/jkl=="],
  },
  header: {
    auth: { header_env: VARIABLE, header: "X-Key" },
    secret: "0123456789abcdef",
    parts: ["0123456789abcdef"],
  },
  "header with a name": {
    auth: { header_env: VARIABLE },
    secret: "Authorization: Token 0123456789abcdef",
    parts: ["0123456789abcdef"],
  },
  cookie: {
    auth: { header_env: VARIABLE },
    secret: "Cookie: session=0123456789abcdef",
    parts: ["0123456789abcdef"],
  },
  digest: {
    auth: { digest_env: VARIABLE },
    secret: `user:${PASSWORD}`,
    parts: [PASSWORD],
  },
};

const DIGEST = {
  "www-authenticate": 'Digest realm="r", nonce="n", qop="auth"',
};

/** How a server writes texts. */
const STYLES: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "as JSON": JSON.stringify,
  "as JSON of PHP": (text) => JSON.stringify(text).replaceAll("/", "\\/"),
  "as JSON of Go": (text) =>
    JSON.stringify(text).replaceAll(
      /[<>&]/g,
      (one) => `\\u00${one.charCodeAt(0).toString(16)}`,
    ),
  "as JSON of Gson": (text) =>
    JSON.stringify(text).replaceAll(
      /[<>&'=]/g,
      (one) => `\\u00${one.charCodeAt(0).toString(16)}`,
    ),
  "as JSON of .NET": (text) =>
    JSON.stringify(text).replaceAll('\\"', "\\u0022")
      .replaceAll(/[<>&'+`]/g, (one) => `\\u00${one.charCodeAt(0).toString(16).toUpperCase()}`),
  "in a URL": encodeURIComponent,
  "as HTML": (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(
      ">",
      "&gt;",
    )
      .replaceAll('"', "&quot;"),
};

const ok = {
  responses: { 200: { description: "", headers: { "X-Echo": {} } } },
};
const REST = {
  openapi: "3.1.1",
  info: { title: "A node", version: "1" },
  paths: Object.fromEntries(
    ["/body", "/head", "/failed", "/refused", "/later"].map((
      path,
    ) => [path, {
      get: { "x-access": "read", ...ok },
    }]),
  ),
};

const create = (
  auth: SecretPlace,
  description: object,
  more: NodefaceOptions = {},
) =>
  forwarding(node.url, description as never, "reads", {
    node: { url: node.url, kind: "none", auth },
    log: () => {},
    ...more,
  });

/** `repeat` gets the credentials that the node has received. */
const withDigest = (
  repeat: (sent: string, ...rest: Parameters<PlayedAnswer>) => unknown,
) => {
  const answer: PlayedAnswer = (request, response) => {
    const { authorization, cookie, "x-key": key } = request.headers;
    const sent = authorization ?? cookie ?? key;
    if (sent === undefined) return void response.writeHead(401, DIGEST).end();
    return repeat(String(sent), request, response);
  };
  return answer;
};

const LONG = "x".repeat(2 * 1024 * 1024);

for (const [name, { auth, secret, parts }] of Object.entries(SCHEMES)) {
  for (const [style, write] of Object.entries(STYLES)) {
    echo(
      `${name}: a call gets 502 if the node writes the secret ${style}`,
      async () => {
        process.env[VARIABLE] = secret;
        const { ask } = create(auth, REST);
        for (const part of [undefined, ...parts]) {
          node.answer = withDigest((sent, { url }, response) => {
            const text = `{"seen":[1,${write(part ?? sent)}]}`;
            const status = { "/failed": 404, "/refused": 403 }[url] ?? 200;
            response.writeHead(status, url === "/head" ? { "x-echo": text } : {});
            response.end(url === "/head" ? "" : text);
          });
          for (const path of ["/body", "/failed", "/refused", "/head"]) {
            const response = await ask(`/v1/node${path}`);
            const text = await response.text();
            assert.is(response.status, 502, `${path} ${text}`);
            assert.match(text, `The node ${MESSAGE}`);
            assert.not.match(
              text + JSON.stringify([...response.headers]),
              LEAKED,
            );
          }
        }
      },
    );
  }

  echo(`${name}: a stream breaks off before the secret`, async () => {
    process.env[VARIABLE] = secret;
    const { ask } = create(auth, REST);
    node.answer = withDigest((sent, _, response) => {
      response.write(LONG);
      response.end(sent);
    });
    const response = await ask("/v1/node/later");
    assert.is(response.status, 200);
    let text = "";
    let isBroken = false;
    try {
      const decoder = new TextDecoder();
      for await (const part of response.body!) text += decoder.decode(part);
    } catch {
      isBroken = true;
    }
    assert.ok(isBroken);
    assert.match(text, /^x*(?:Basic |Bearer |Digest .*|Token |session=)?$/);
    assert.not.match(text, /response="./);
  });

  echo(
    `${name}: only the member of a batch that repeats the secret is an error`,
    async () => {
      process.env[VARIABLE] = secret;
      const { ask, rpc } = create(auth, RPC);
      node.answer = withDigest((sent, request, response) => {
        const { method } = JSON.parse(new TextDecoder().decode(request.body));
        const result = method === "number" ? 7 : { sent };
        return json({ jsonrpc: "2.0", id: 1, result })(request, response);
      });
      const number = { jsonrpc: "2.0", id: 1, method: "number" };
      const named = { jsonrpc: "2.0", id: 2, method: "named" };
      const batch = await (await rpc([number, named, { ...number, id: 3 }]))
        .json();
      assert.equal(batch.map(({ result }: { result?: unknown }) => result), [
        7,
        undefined,
        7,
      ]);
      assert.is(batch[1].error.message, `The node ${MESSAGE}`);
      const single = await (await rpc(named)).json();
      assert.is(single.error.message, `The node ${MESSAGE}`);
      const asPath = await ask("/v1/rpc/named", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      assert.is(asPath.status, 502);
      assert.match((await asPath.json()).detail, MESSAGE);
      assert.is((await ask("/v1/rpc/number")).status, 200);
    },
  );

  echo(`${name}: the info does not show the secret`, async () => {
    process.env[VARIABLE] = secret;
    node.answer = withDigest((sent, request, response) =>
      json(request.url === "/height" ? { height: 7 } : { sent })(request, response)
    );
    const info = {
      sources: { height: { get: "/height" }, echo: { get: "/echo" } },
      fields: { height: "height#/height", client: "echo#/sent" },
    };
    const { app } = create(auth, REST, { info } as NodefaceOptions);
    await app.ready();
    const text = await (await app.fetch(new Request("http://localhost/v1/info"))).text();
    const shown = JSON.parse(text);
    assert.equal([shown.height, shown.client], [7, undefined]);
    assert.match(text, MESSAGE);
    assert.not.match(text, LEAKED);
  });

  echo(`${name}: a description with the secret is not served`, async () => {
    process.env[VARIABLE] = secret;
    node.answer = withDigest((sent, request, response) =>
      json({ ...REST, info: { title: sent, version: "1" } })(request, response)
    );
    const logged: string[] = [];
    const { app } = create(auth, REST, {
      description: `${node.url}/openapi.json`,
      log: (message) => logged.push(message),
    });
    await app.ready();
    const text = await (await app.fetch(new Request("http://localhost/spec.json"))).text();
    assert.not.match(text, LEAKED);
    assert.match(logged.join("\n"), MESSAGE);
    assert.not.match(logged.join("\n"), LEAKED);
  });
}

echo(
  "a response is passed on if it only resembles the secret, or the secret is short",
  async () => {
    const { ask } = create({ basic_env: VARIABLE }, REST);
    const bodies = [
      ["user:correct-horse", "user correct-hors correct-Horse orrect-horse"],
      ["user:a", '{"user":"a"}'],
      ["a:b", "a:b"],
    ] as const;
    for (const [secret, body] of bodies) {
      process.env[VARIABLE] = secret;
      node.answer = (_, response) => response.end(body);
      const response = await ask("/v1/node/body");
      assert.equal([response.status, await response.text()], [200, body]);
    }
  },
);

function responseOf(
  parts: readonly Bytes[],
): NodeResponse & { isCancelled: boolean } {
  const left = [...parts];
  return {
    status: 200,
    headers: new Headers(),
    isCancelled: false,
    next: () => Promise.resolve(left.shift()),
    received: () => 0,
    cancel() {
      this.isCancelled = true;
    },
  };
}

const bytesOf = (text: string): Bytes => new TextEncoder().encode(text);

async function read(parts: readonly Bytes[], search: SecretSearch) {
  const response = responseOf(parts);
  const guarded = withoutSecrets(response, search);
  const text: Bytes[] = [];
  let message: string | undefined;
  try {
    for (let part = await guarded.next(); part; part = await guarded.next()) {
      text.push(part);
    }
  } catch (error) {
    ({ message } = error as Error);
  }
  return { text: new TextDecoder().decode(joinBytes(text)), message, response };
}

function cut(bytes: Bytes, random: () => number): Bytes[] {
  const parts: Bytes[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + Math.floor(random() * random() * 2 * bytes.length);
    parts.push(bytes.subarray(at, at += length));
  }
  return parts;
}

echo(
  "a secret is found wherever the parts of a response divide it, and no part of it is read",
  async () => {
    const random = createRandom(11);
    const secrets = [
      PASSWORD,
      "0123456789abcdef",
      "aaaaaaaaab",
      "abababababac",
      "!!!!----",
      "~".repeat(70),
    ];
    for (const secret of secrets) {
      const search = new SecretSearch([secret]);
      for (const write of Object.values(STYLES)) {
        const before = `before ${secret.slice(0, -1)} `;
        const bytes = bytesOf(`${before}${write(secret)} after`);
        if (!/[a-z0-9]/.test(secret) && write(secret) !== secret) continue;
        const splits = Array.from(
          { length: bytes.length },
          (_, at) => [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0),
        );
        splits.push([...bytes].map((byte) => Uint8Array.of(byte)));
        for (let i = 0; i < 20; i++) splits.push(cut(bytes, random));
        for (const parts of splits) {
          const { text, message, response } = await read(parts, search);
          assert.is(message, MESSAGE, `${secret} in ${parts.length} parts`);
          assert.ok(response.isCancelled);
          assert.ok(`${before}"`.startsWith(text), text);
        }
      }
    }
  },
);

echo("any other response is read unchanged", async () => {
  const random = createRandom(12);
  const search = new SecretSearch(["abcabcabd", "aab/aab=", "x"]);
  for (let i = 0; i < 2000; i++) {
    let text = "";
    while (text.length < 40) text += "abcd/="[Math.floor(random() * 6)];
    const isFound = /abcabcabd|aab(?:\/|\\\/|%2F)aab(?:=|%3D|\\u003[dD])/.test(
      text,
    );
    const { text: got, message } = await read(
      cut(bytesOf(text), random),
      search,
    );
    assert.is(message, isFound ? MESSAGE : undefined, text);
    if (!isFound) assert.is(got, text);
  }
});

echo.run();
