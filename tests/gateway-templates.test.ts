/** Tests the matching of random paths with random path templates. */
import process from "node:process";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type FieldData, requestOf } from "../src/explorer/form-request.ts";
import { decide, resolveForward } from "../src/gateway/policy.ts";
import { normalizePath, PathTemplate } from "../src/http/path-template.ts";
import { listNodeOperations } from "../src/openapi/callable-operations.ts";
import { withHomes } from "../src/openapi/home.ts";
import { forwarding, nodeOf, type REST, TOKEN } from "./_gateway.ts";
import { draws } from "./_runtime.ts";

const templates = suite("path templates");

const node = nodeOf(templates);
templates.before(() => {
  process.env.GATEWAY_TOKEN = TOKEN;
});

/** The `x-multi-segment` marks of an operation, keyed by parameter name. */
type Slashes = Readonly<Record<string, true | "encoded">>;

function describe(
  ...operations: (readonly [name: string, access?: string, slashes?: Slashes])[]
): typeof REST {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, access = "read", slashes = {}] of operations) {
    const [method, path] = name.split(" ") as [string, string];
    const names = new Set(
      [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!),
    );
    (paths[path] ??= {})[method.toLowerCase()] = {
      "x-access": access,
      parameters: [...names].map((name) => ({
        ...{ name, in: "path", required: true, schema: { type: "string" } },
        ...slashes[name] !== undefined && { "x-multi-segment": slashes[name] },
      })),
      responses: { 200: { description: "" } },
    };
  }
  return {
    openapi: "3.1.1",
    info: { title: "A node", version: "1" },
    paths,
  } as typeof REST;
}

async function rowsOf(description: typeof REST) {
  const document = await withHomes({ ...description, servers: [{ url: "./v1/node" }] });
  const operations = await listNodeOperations(document, "operator");
  return decide(operations, resolveForward({ open: ["reads"] }))
    .map(({ operation, permission, reason }) => [operation.name, permission, reason]);
}

const headers = { authorization: `Bearer ${TOKEN}` };
const withToken = {
  open: ["reads"],
  clients: [{
    name: "app",
    allow: ["PUT /queues/{host}/{name}", "DELETE /blocks/{id}"],
    token_env: "GATEWAY_TOKEN",
  }],
};

for (
  const [template, path, slashes = {}] of [
    ["/{a}-{b}", "/x-y-z"],
    ["/{name}.json", "/a.json.json"],
    ["/blocks({n})", "/blocks(7)"],
    ["/{a}.{b}.{c}", "/1.2.3.4"],
    ["/café/{a}", "/caf%c3%a9/x"],
    ["/v{a}/{b}:verify", "/v1/x:verify"],
    ["/f/{path}/meta", "/f/a/b%2Fc/meta", { path: true }],
    ["/f/{a}/{path}/{b}.txt", "/f/1/2/3/4.txt", { path: true }],
    ["/p/{name}", "/p/@a%2Fb", { name: "encoded" }],
    ["/p/{name}/{version}", "/p/%2F/1", { name: "encoded" }],
  ] as const satisfies readonly (readonly [string, string, Slashes?])[]
) {
  templates(
    `${path} matches ${template}, and is forwarded unchanged`,
    async () => {
      const { ask } = forwarding(
        node.url,
        describe([`GET ${template}`, "read", slashes]),
      );
      assert.is((await ask(`/v1/node${path}`)).status, 200);
      assert.equal(node.received.map(({ url }) => url), [path]);
    },
  );
}

for (
  const template of [
    ...["/Patient/$everything", "/redfish/v1/$metadata", "/Products({id})", "/a!b*c'd/{id}"],
    ...["/a@b:c,d=e&f+g/{id}", "/café/{id}", "/[a]|b^/{id}", "/a%24b/{id}"],
  ]
) {
  templates(`the request that a form makes of ${template} reaches the node`, async () => {
    const { ask } = forwarding(node.url, describe([`GET ${template}`]));
    const fields: FieldData[] = template.includes("{id}") ? [{ name: "id", in: "path" }] : [];
    const form = { method: "GET", address: `/v1/node${template}`, fields };
    const { url } = requestOf(form, ["7$(x)!'*"], "");
    assert.is((await ask(url)).status, 200, url);
    assert.is(node.received.length, 1);
  });
}

for (
  const [template, path, slashes = {}] of [
    ["/{a}-{b}", "/x-"],
    ["/{a}-{b}", "/x/y-z"],
    ["/{name}.json", "/.json"],
    ["/blocks({n})", "/blocks()"],
    ["/f/{path}/meta", "/f/meta", { path: true }],
    ["/f/{path}/{b}.txt", "/f/1/2/.txt", { path: true }],
  ] as const satisfies readonly (readonly [string, string, Slashes?])[]
) {
  templates(`${path} does not match ${template}`, async () => {
    const { ask } = forwarding(
      node.url,
      describe([`GET ${template}`, "read", slashes]),
    );
    assert.is((await ask(`/v1/node${path}`)).status, 404);
    assert.equal(node.received, []);
  });
}

templates("the error about a slash in a parameter names the mark that allows slashes", async () => {
  const { ask } = forwarding(node.url, describe(["GET /queues/{host}"]));
  const answer = await ask("/v1/node/queues/%2F");
  assert.is(answer.status, 400);
  assert.match((await answer.json()).detail, "x-multi-segment");
});

templates(
  "a multi-segment template takes no calls from other templates, whatever their methods",
  async () => {
    const { ask } = forwarding(
      node.url,
      describe(
        ["GET /queues/{host}", "read", { host: true }],
        ["PUT /queues/{host}/{name}", "write", { host: true }],
        ["DELETE /blocks/{id}", "write"],
        ["GET /blocks/latest", "read"],
      ),
      withToken,
    );
    assert.is(
      (await ask("/v1/node/queues/a/q", { method: "PUT", headers })).status,
      200,
    );
    assert.is((await ask("/v1/node/queues/a")).status, 200);
    assert.is(
      (await ask("/v1/node/blocks/latest", { method: "DELETE", headers }))
        .status,
      200,
    );
    // The GET must not reach the node, because a node that ignores HTTP methods would run the PUT
    // operation without the token.
    const answer = await ask("/v1/node/queues/a/q");
    assert.equal([answer.status, answer.headers.get("allow")], [
      405,
      "PUT, OPTIONS",
    ]);
    assert.equal(node.received.map(({ method, url }) => `${method} ${url}`), [
      "PUT /queues/a/q",
      "GET /queues/a",
      "DELETE /blocks/latest",
    ]);
  },
);

templates(
  "a more specific path takes a call with another method only if its permission is stricter",
  async () => {
    const { ask } = forwarding(
      node.url,
      describe(
        ["GET /peers/{id}"],
        ["POST /peers/search"],
        ["POST /peers/connect", "write"],
      ),
    );
    assert.is((await ask("/v1/node/peers/search")).status, 200);
    assert.is((await ask("/v1/node/peers/connect")).status, 405);
    assert.equal(node.received.map(({ url }) => url), ["/peers/search"]);
  },
);

templates(
  "a template with text after a parameter takes precedence over a bare parameter",
  async () => {
    const { ask } = forwarding(
      node.url,
      describe(["GET /keys/{id}"], ["GET /keys/{id}.secret", "secret"]),
    );
    assert.is((await ask("/v1/node/keys/a.secret")).status, 403);
    assert.is((await ask("/v1/node/keys/a.other")).status, 200);
  },
);

templates("of two templates, a call that either may take needs the rights to both", async () => {
  const description = describe(
    ["GET /books/{id}"],
    ["GET /{entity}/me", "secret"],
    ["GET /{entity}/all"],
    ["DELETE /{entity}/all", "write"],
    ["POST /{entity}/many", "write"],
  );
  const { ask } = forwarding(node.url, description);
  for (const [path, status] of [["/books/me", 404], ["/books/many", 405]]) {
    assert.is((await ask(`/v1/node${path}`)).status, status, String(path));
  }
  for (const path of ["/books/all", "/books/1"]) {
    assert.is((await ask(`/v1/node${path}`)).status, 200, path);
  }
  assert.equal(node.received.map(({ url }) => url), ["/books/all", "/books/1"]);
});

templates("a query that makes a call another operation is refused like that one", async () => {
  const description = describe(
    ["GET /{bucket}"],
    ["GET /{bucket}?policy", "secret"],
    ["GET /{bucket}?list=2"],
    ["PUT /{bucket}?acl={acl}&x", "write"],
    ["GET /{bucket}?own"],
    ["PUT /{bucket}?own", "write"],
    ["GET /a/{path}", "read", { path: true }],
    ["GET /a/{path}?tags", "secret", { path: true }],
    ["GET /p/{name}", "read", { name: "encoded" }],
    ["POST /p/{name}?purge", "write", { name: "encoded" }],
    ["GET /r/{id}"],
    ["GET /r/{id}?reboot", ""],
    ["GET /files/{name}.{ext}"],
    ["DELETE /files/{name}", "write"],
    ["GET /page/{page}"],
    ["POST /page/admin/?reset", "write"],
  );
  const { ask } = forwarding(node.url, description);
  for (const query of ["policy", "policy=", "a=1&policy=x", "%70olicy", "x=1&acl=private"]) {
    assert.is((await ask(`/v1/node/photos?${query}`)).status, 403, query);
  }
  const refused = [
    ...["/a/b?tags", "/a/b/c?tags", "/page/admin?reset", "/page/ADM%69n?reset"],
    ...["/p/a?purge", "/p/a%2Fb?purge", "/p/%3Bx?purge", "/p/a%2fb?purge", "/r/1?reboot"],
  ];
  for (const path of refused) {
    assert.is((await ask(`/v1/node${path}`)).status, 403, path);
  }
  for (const query of ["", "list=2", "policies", "acl=private", "own"]) {
    assert.is((await ask(`/v1/node/photos?${query}`)).status, 200, query);
  }
  assert.is((await ask("/v1/node/files/report.json")).status, 200);
  assert.is(node.received.length, 6);
});

templates("a path is the same with brackets and lines as they are and encoded", async () => {
  const { ask } = forwarding(node.url, describe(["GET /{any}"], ["GET /a[0]|^", "secret"]));
  for (const path of ["/a[0]|^", "/a%5B0]%7c^", "/a%5b0%5D|%5E"]) {
    assert.is((await ask(`/v1/node${path}`)).status, 403, path);
  }
  assert.is((await ask("/v1/node/A[0]|^")).status, 404);
  assert.is((await ask("/v1/node/a[1]|^")).status, 200);
});

templates(
  "an operation with an ambiguous path is shown but refused, and check explains why",
  async () => {
    const description = describe(
      ["GET /q?a=b"],
      ["GET /q#a?b"],
      ["GET /a/{b}{c}"],
      [`GET /long/{a}${"b".repeat(251)}`],
      [`GET /long/{a}${"c".repeat(250)}`],
      ...["GET /a;b/{c}", "GET /a//b", "GET /a/../b", "GET /a/%2e/b"].map((name) =>
        [name] as const
      ),
      [`GET /long/{a}${"\ufdfa".repeat(20)}`],
      ["GET /b/{c}/{c}"],
      ["GET /c/{d}/x/{e}", "read", { d: true, e: true }],
      ["GET /f/{bucket}/{key}", "read", { key: true }],
      ["GET /f/{path}/meta", "read", { path: true }],
      ["GET /same/{a}"],
      ["GET /same/{b}", "write"],
      ["GET /caf%c3%a9/{a}"],
      ["GET /café/{b}", "write"],
      ["GET /g/{a}"],
      ["GET /g/{p}", "read", { p: true }],
      ["GET /z/{a}", "read", { a: true }],
      ["GET /z/z", "read"],
    );
    assert.equal(await rowsOf(description), [
      ["GET /q?a=b", "refused", "its path has a query"],
      ["GET /q#a?b", "refused", "its path has a fragment"],
      ["GET /a/{b}{c}", "refused", "its path has two parameters side by side"],
      [`GET /long/{a}${"b".repeat(251)}`, "refused", "its path has a long text between parameters"],
      [`GET /long/{a}${"c".repeat(250)}`, "open", "it is read-only"],
      ...["GET /a;b/{c}", "GET /a//b", "GET /a/../b", "GET /a/%2e/b"].map((name) => [
        name,
        "refused",
        "its path has a semicolon, a dot segment, or two slashes side by side",
      ]),
      [
        `GET /long/{a}${"\ufdfa".repeat(20)}`,
        "refused",
        "its path has a long text between parameters",
      ],
      ["GET /b/{c}/{c}", "refused", "its path has two parameters with the same name"],
      ["GET /c/{d}/x/{e}", "refused", "its path has two parameters that span several segments"],
      ["GET /f/{bucket}/{key}", "open", "it is read-only"],
      [
        "GET /f/{path}/meta",
        "refused",
        "GET /f/{bucket}/{key} matches the same paths",
      ],
      ["GET /same/{a}", "open", "it is read-only"],
      ["GET /same/{b}", "refused", "GET /same/{a} matches the same paths"],
      ["GET /caf%c3%a9/{a}", "open", "it is read-only"],
      ["GET /café/{b}", "refused", "GET /caf%c3%a9/{a} matches the same paths"],
      ["GET /g/{a}", "open", "it is read-only"],
      ["GET /g/{p}", "open", "it is read-only"],
      ["GET /z/{a}", "open", "it is read-only"],
      ["GET /z/z", "open", "it is read-only"],
    ]);
    const { ask } = forwarding(node.url, describe(["GET /a/{b}{c}"]));
    const answer = await ask("/v1/node/a/xy");
    assert.is(answer.status, 403);
    assert.match((await answer.json()).detail, "side by side");
    const { paths } = await (await ask("/spec.json")).json();
    const { description: shown } = paths["/a/{b}{c}"].get;
    assert.match(shown, "its path has two parameters side by side");
  },
);

templates("two operations with the same path can be called if both may be called", async () => {
  const description = describe(
    ["POST /auth/{github}/login"],
    ["POST /auth/{ldap}/login"],
    ["GET /a/{name}"],
    ["GET /a/{secret}", "secret"],
    ["GET /b/{secret}", "secret"],
    ["GET /b/{name}"],
  );
  const taken = (name: string) => `${name} matches the same paths`;
  assert.equal(await rowsOf(description), [
    ["POST /auth/{github}/login", "open", "it is read-only"],
    ["POST /auth/{ldap}/login", "open", "it is read-only"],
    ["GET /a/{name}", "open", "it is read-only"],
    ["GET /a/{secret}", "refused", taken("GET /a/{name}")],
    [
      "GET /b/{secret}",
      "refused",
      "it reveals sensitive data; forward.clients can allow it",
    ],
    ["GET /b/{name}", "refused", taken("GET /b/{secret}")],
  ]);
  const { ask } = forwarding(node.url, description);
  const { paths } = await (await ask("/spec.json")).json();
  assert.is(paths["/auth/{ldap}/login"].post["x-call"], "open");
  assert.is((await ask("/v1/node/auth/ldap/login", { method: "POST" })).status, 200);
  assert.equal(node.received.map(({ url }) => url), ["/auth/ldap/login"]);
  assert.is((await ask("/v1/node/b/x")).status, 403);
});

templates("an operation that a client may call has no twin that others may call", async () => {
  const { ask } = forwarding(
    node.url,
    describe(["PUT /queues/{host}/{name}", "write"], ["PUT /queues/{a}/{b}"]),
    withToken,
  );
  const { paths } = await (await ask("/spec.json")).json();
  assert.is(paths["/queues/{host}/{name}"].put["x-call"], "token");
  assert.is(paths["/queues/{a}/{b}"].put["x-call"], "refused");
  assert.is((await ask("/v1/node/queues/a/b", { method: "PUT" })).status, 401);
});

templates("a twin is found behind a path that ends with a slash", async () => {
  const { ask } = forwarding(
    node.url,
    describe(["GET /roles/{a}", "write"], ["GET /roles/{a}/"], ["GET /roles/{b}"]),
    { open: ["reads"] },
  );
  const { paths } = await (await ask("/spec.json")).json();
  assert.is(paths["/roles/{b}"].get["x-call"], "refused");
  assert.is((await ask("/v1/node/roles/x")).status, 403);
});

templates(
  "a description with half of a surrogate pair in a path is served",
  async () => {
    const { ask } = forwarding(
      node.url,
      describe(["GET /\ud800/{a}"], ["GET /b"]),
    );
    assert.is((await ask("/v1/node/b")).status, 200);
  },
);

templates("a value may resemble the path of an operation that is as open", async () => {
  const coins = [["GET /coins"], ["GET /coins/top"], ["GET /coins/{s}"]] as const;
  const { ask } = forwarding(node.url, describe(...coins));
  for (const value of ["TOP", "top", "%23btc", "t%6Fp", "a".repeat(300)]) {
    assert.is((await ask(`/v1/node/coins/${value}`)).status, 200, value);
  }
  const closed = describe(["GET /coins/top", "secret"], ["GET /coins/{s}"]);
  assert.is((await forwarding(node.url, closed).ask("/v1/node/coins/TOP")).status, 404);
  for (const mark of [{ "x-checked": true }, { "x-cost": "heavy" }, { "x-streaming": true }]) {
    const marked = describe(...coins);
    Object.assign(marked.paths, { "/coins/top": { get: { ...TOP, ...mark } } });
    assert.is((await forwarding(node.url, marked).ask("/v1/node/coins/TOP")).status, 404);
  }
});

templates("a client that may read and write gets no write by the path of a read", async () => {
  const allow = ["GET /x/{id}", "GET /x/run", "GET /p/{name}"];
  const clients = [{ name: "app", token_env: "GATEWAY_TOKEN", allow }];
  const slashes = { name: "encoded" } as const;
  const { ask } = forwarding(
    node.url,
    describe(
      ["GET /x/{id}", "read"],
      ["GET /x/run", "write"],
      ["GET /p/{name}/{version}"],
      ["GET /p/{name}", "secret", slashes],
    ),
    { open: ["GET /p/{name}/{version}"], clients },
  );
  assert.is((await ask("/v1/node/x/a", { headers })).status, 200);
  assert.is((await ask("/v1/node/x/run", { headers })).status, 200);
  assert.is((await ask("/v1/node/x/RUN", { headers })).status, 404);
  assert.is((await ask("/v1/node/p/@a%2Fb", { headers })).status, 200);
});

const TOP = { "x-access": "read", responses: { 200: { description: "" } } };

templates("matching a path takes time in proportion to its length", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `{p${at}}`);
  const { ask } = forwarding(
    node.url,
    describe([`GET /${names.join("")}/x`], [`GET /${names.join("-")}/x`], [
      `GET /${names[0]}`,
    ]),
  );
  // A regular expression that backtracks would take minutes for each of these paths.
  assert.is((await ask(`/v1/node/${"a".repeat(200)}`)).status, 200);
  assert.is((await ask(`/v1/node/${"-".repeat(5000)}`)).status, 200);
  assert.is((await ask(`/v1/node/${"a-".repeat(2500)}/y`)).status, 404);
});

/** The returned expression is slow, but obviously correct. */
function patternOf(template: string, spans: string | undefined): RegExp {
  const source = template.split(/(\{[^{}]*\})/).map((part) =>
    !part.startsWith("{")
      ? part.replace(/[.()]/g, "\\$&")
      : part === `{${spans}}`
      ? "(.+)"
      : "([^/]+?)"
  );
  return new RegExp(`^${source.join("")}$`);
}

const piece = fc.constantFrom("a", "b", "-", ".", "/", "/a", "ab", "-b", "/b/");

templates("a template matches the same paths as the equivalent regular expression", () => {
  const text = fc.array(fc.oneof(piece, fc.constant("{}")), {
    minLength: 1,
    maxLength: 8,
  });
  const path = fc.array(piece, { maxLength: 10 }).map((parts) => `/${parts.join("")}`);
  const spanning = fc.option(fc.nat({ max: 3 }), { nil: undefined });
  fc.assert(
    fc.property(text, path, spanning, (parts, path, spanning) => {
      let count = 0;
      const template = `/${parts.map((part) => part === "{}" ? `{n${count++}}` : part).join("")}`;
      const spans = spanning === undefined ? undefined : `n${spanning}`;
      const read = new PathTemplate(template, (name) => name === spans);
      const found = patternOf(template, spans).exec(path);
      const texts = read.match(normalizePath(path));
      assert.is(texts !== undefined, found !== null, `${template} ${path}`);
      if (spanning === undefined || spanning >= count) {
        assert.equal(texts, found?.slice(1), `${template} ${path}`);
      } else if (texts) {
        let at = 0;
        assert.is(template.replaceAll(/\{[^{}]*\}/g, () => texts[at++]!), path);
      }
    }),
    draws(2000),
  );
});

const segment = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "ab",
    "a-b",
    "a.json",
    "%61",
    "%2F",
    "a%2Fb",
    "%2f",
    "..",
    "%2e%2E",
  ),
  fc.constantFrom(
    "",
    ".",
    "%20",
    "a%20",
    "a;x",
    "a%3Bx",
    "%5C",
    "%EF%BC%8F",
    "%zz",
    "%FF",
    "A",
  ),
  fc.constantFrom(
    "%E2%91%90",
    "é",
    "%C3%A9",
    "a+",
    "'",
    "...",
    "..%3Bx",
    "%252e",
    "|",
    "x{y}",
  ),
  fc.string({ unit: "grapheme-ascii", maxLength: 5 }),
);
const anyPath = fc.array(segment, { minLength: 1, maxLength: 4 })
  .map((segments) => `/${segments.join("/")}`);

const part = fc.constantFrom(
  "a",
  "b",
  "{n}",
  "{n}-{m}",
  "{n}.json",
  "a{n}",
  "{n}{m}",
  "(é)",
  "A",
);
const operation = fc.record({
  method: fc.constantFrom("GET", "GET", "POST"),
  access: fc.constantFrom("read", "read", "write"),
  parts: fc.array(part, { minLength: 1, maxLength: 3 }),
  slashes: fc.constantFrom({}, {}, { n: true as const }, {
    n: "encoded" as const,
  }),
});

templates(
  "any path is either forwarded unchanged or refused",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 1, maxLength: 6 }),
        fc.array(anyPath, { minLength: 8, maxLength: 8 }),
        async (operations, paths) => {
          const described = operations.map((
            { method, access, parts, slashes },
          ) => [`${method} /${parts.join("/")}`, access, slashes] as const);
          const { app } = forwarding(node.url, describe(...described));
          for (const path of [...paths, "/%20?", "/a?"]) {
            // `Request` removes dot segments. Other tests send paths with dot segments over
            // sockets.
            const request = new Request(`http://localhost/v1/node${path}`);
            const [target, base] = [request.url.split("#")[0]!, "http://localhost/v1/node"];
            if (!target.startsWith(`${base}/`)) continue;
            node.received = [];
            const { status } = await app.fetch(request);
            // An empty query (`?` at the end) is passed on, too.
            const sent = status === 200 ? [target.slice(base.length)] : [];
            assert.ok(
              [200, 400, 403, 404, 405].includes(status),
              `${path}: ${status}`,
            );
            assert.equal(node.received.map(({ url }) => url), sent, path);
          }
        },
      ),
      draws(40),
    );
  },
);

/** Functions that rewrite a text. A lenient server may still read the original text. */
const DISGUISES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => `${text};x=1`,
  (text) => ` ${text}`,
  (text) => `${text} `,
  (text) =>
    text.replaceAll(
      /[a-z]/g,
      (x) => String.fromCodePoint(x.charCodeAt(0) + 0xfee0),
    ),
  (text) =>
    text.replaceAll(
      /[a-z]/g,
      (x) => String.fromCodePoint(x.charCodeAt(0) + 0x246f),
    ),
  (text) => text.replaceAll("s", "ſ"),
];

templates(
  "a disguised non-public path is not accepted as a parameter of a public path",
  async () => {
    const closed = describe(
      ["GET /peers/{address}"],
      ["GET /peers/{address}/{what}"],
      ["POST /peers/connect", "write"],
      ["GET /peers/all/secrets", "secret"],
      ["GET /files/{path}", "read", { path: true }],
      ["GET /files/all/secrets", "secret"],
      ["GET /peers"],
      ["GET /names/{name}", "read", { name: "encoded" }],
      ["GET /names/all/secrets", "secret"],
    );
    const { ask } = forwarding(node.url, closed);
    const disguise = fc.constantFrom(...DISGUISES);
    const encoding = fc.boolean();
    const write = (text: string, isAll: boolean) =>
      isAll
        ? [...new TextEncoder().encode(text)].map((byte) =>
          `%${byte.toString(16).padStart(2, "0")}`
        )
          .join("")
        : encodeURIComponent(text);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          "/peers/connect",
          "/peers/all/secrets",
          "/files/all/secrets",
          "/names/all/secrets",
        ),
        disguise,
        disguise,
        encoding,
        fc.constantFrom("/", "%2F", "%2f"),
        async (path, first, second, isAll, slash) => {
          const [, start, ...rest] = path.split("/");
          const texts = rest.map((text) => write(second(first(text)), isAll));
          const { status } = await ask(
            `/v1/node/${start}/${texts.join(slash)}`,
          );
          assert.ok(
            status === 403 || status === 404 || status === 405 ||
              status === 400,
            `${status}`,
          );
        },
      ),
      draws(200),
    );
    assert.equal(node.received, []);
  },
);

templates.run();
