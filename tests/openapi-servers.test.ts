/**
 * The URLs of operations. Node runs every case; Deno and Bun skip some cases that cannot differ by
 * runtime.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import { formatDiagnostic } from "../src/openapi/diagnostics.ts";
import type { Representation } from "../src/http/representation.ts";
import type { Resource } from "../src/lazy.ts";
import { prepareDocuments } from "../src/openapi/documents.ts";
import { writeJson } from "../src/openapi/write.ts";
import type { JsonObject } from "../src/json/values.ts";
import { contentOf } from "./_representation.ts";
import { load } from "./description/_load.ts";
import { sampleOf } from "./_runtime.ts";

const servers = suite("the servers of a description");

const HEAD = 'openapi: 3.1.1\ninfo: { title: A node, version: "1" }\n';
const NODE = `${HEAD}servers: [{ url: https://node.example/api }]\npaths: { /a: { get: {} } }\n`;
const HOST = {
  method: "GET",
  path: "/v1/peers",
  operation: { operationId: "getPeers", responses: {} },
  handle: () => new Response(),
} as const;

const ADDRESSES = [
  "/spec.json",
  "/spec.yaml",
  "/v1/spec.json",
  "/v1/spec.yaml",
];

type Item = Record<string, JsonObject & { servers?: JsonObject[] }> & { servers?: JsonObject[] };
type Described = { servers?: JsonObject[]; paths: Record<string, Item> };

async function read(
  options: NodefaceOptions,
  address: string,
): Promise<Described> {
  const app = createNodeface({ log() {}, ...options });
  const request = new Request(
    `http://localhost${options.prefix ?? ""}${address}`,
  );
  const text = await (await app.fetch(request)).text();
  return parse(text) as Described;
}

/** Resolves the operation's URL against `from`, the URL of the description (RFC 3986). */
function resolve(
  { servers = [], paths }: Described,
  path: string,
  from: string,
): string[] {
  const item = paths[path]!;
  const [{ url } = { url: "/" }] = item.get?.servers ?? item.servers ?? servers;
  const base = new URL(url as string, from).href;
  return [base.replace(/\/$/, "") + path, new URL(`${url}${path}`, from).href];
}

for (const count of [2, 7]) {
  servers(
    `if ${count} servers have different paths, the first is used, and a note says so`,
    async () => {
      const urls = Array.from({ length: count }, (_, at) => `https://example/v${at}`);
      const text = `${HEAD}servers: [${urls.map((url) => `{ url: "${url}" }`).join()}]\n` +
        "paths: { /a: { get: {} } }\n";
      const { diagnostics, document } = await load({ text }, { node: "http://127.0.0.1:9000" });
      assert.equal(diagnostics.map(formatDiagnostic).filter((said) => said.includes("base path")), [
        "openapi.yaml:3:10 the servers do not determine the base path of the node, so /v0 is used; " +
        "to use another path, write description: { from: openapi.yaml, base: /v1 }",
      ]);
      assert.equal(document!.servers, [{ url: "./v1/node/v0" }]);
    },
  );
}

servers("an empty server URL is the root, wherever the description is", async () => {
  const text = `${HEAD}servers: [{ url: "" }]\npaths: { /a: { get: {} } }\n`;
  const fetch = () => Promise.resolve(new Response(text));
  const url = new URL("http://127.0.0.1:9000/docs/openapi.yaml?token=secret");
  const beside = await load(url, { fetch, node: "http://127.0.0.1:9000" });
  assert.equal(beside.document!.servers, [{ url: "./v1/node" }]);
  const { json } = await load(url, { fetch });
  assert.not.match(json, "secret");
});

servers("the text of a host is not from the network, whatever its name is", async () => {
  const text = `${HEAD}paths: { /a: { get: { x-access: read } } }\n`;
  for (const name of ["C:\\srv\\openapi.yaml", "Acme: our API", "https://a.example/api.yaml"]) {
    const { document } = await load({ text, name }, { node: "http://127.0.0.1:9000" });
    const { get } = (document!.paths as Described["paths"])["/a"]!;
    assert.is(get!["x-access" as keyof typeof get], "read", name);
  }
});

async function servedWith(url: string) {
  const text = `${HEAD}servers: [{ url: "${url}" }]\npaths: { /a: { get: {} } }\n`;
  const { diagnostics, document } = await load({ text }, { node: "http://127.0.0.1:9000" });
  const notes = diagnostics.map(formatDiagnostic).filter((said) => said.includes("base path"));
  return { notes, served: (document!.servers as JsonObject[])[0]!.url };
}

for (
  const host of [
    "localhost:3333",
    "127.0.0.1:8080",
    "192.168.1.20",
    "[::1]:8080",
    "localhost",
    "api.example.com",
    "v1.api.example.org",
    "node.example.io",
    "example.com",
    "<host>",
    "<host>:8080",
  ]
) {
  servers(`if a server lacks its scheme, a note says so and offers its path: ${host}`, async () => {
    const { notes, served } = await servedWith(`${host}/core`);
    assert.equal(notes, [
      `openapi.yaml:3:10 the server "${host}/core" lacks http://, so the base path of the node ` +
      "is unknown, and / is used; to use another path, write description: " +
      "{ from: openapi.yaml, base: /core }",
    ]);
    assert.is(served, "./v1/node");
  });
}

servers("a relative path is no host, even if it has dots", async () => {
  const paths = ["v1.0/api", "v1.0.beta/api", "1.0", "api.php", "index.php/api", "v2", "a.b/c:80"];
  for (const path of paths) {
    for (const url of [path, `/${path}`, `./${path}`]) {
      assert.equal(await servedWith(url), { notes: [], served: `./v1/node/${path}` }, url);
    }
  }
  for (const path of ["/localhost:80", "./api.example.com", "/127.0.0.1"]) {
    assert.equal((await servedWith(path)).notes, [], path);
  }
});

servers(
  "a server that lacks its scheme offers its path by the values of its variables",
  async () => {
    const variables = "{ port: { default: '3333' } }";
    const text = `${HEAD}servers: [{ url: "10.0.0.2:{port}/core", variables: ${variables} }]\n` +
      "paths: { /a: { get: {} } }\n";
    const { diagnostics } = await load({ text }, { node: "http://127.0.0.1:9000" });
    assert.match(
      diagnostics.map(formatDiagnostic).join("\n"),
      '"10.0.0.2:3333/core" lacks http://',
    );
  },
);

for (const prefix of sampleOf(["", "/node1", "/deep/node"])) {
  for (
    const [name, options, path] of [
      ["this service's own operations", {}, "/v1/info"],
      ["a host's operations", { operations: [HOST] }, "/v1/peers"],
      [
        "this service's operations in a node's description",
        { description: { text: NODE } },
        "/v1/health",
      ],
      ["a host's operations in a node's description", {
        description: { text: NODE },
        operations: [HOST],
      }, "/v1/peers"],
    ] as [string, NodefaceOptions, string][]
  ) {
    servers(
      `${name} are below "${prefix}", even behind a proxy that adds a path`,
      async () => {
        for (const address of ADDRESSES) {
          const document = await read({ ...options, prefix }, address);
          for (
            const seen of [
              `https://a.example${prefix}`,
              `https://a.example/outer/x${prefix}`,
            ]
          ) {
            const right = seen + path;
            assert.equal(resolve(document, path, seen + address), [
              right,
              right,
            ], address);
          }
        }
      },
    );
  }
}

servers(
  "if the node's URL is unknown, its operations are below this service",
  async () => {
    for (
      const [url, path] of [["/", "/a"], ["/v2/", "/v2/a"], ["v2", "/v2/a"], [
        "../{b}",
        "/{b}/a",
      ]]
    ) {
      const text = `${HEAD}servers: [{ url: "${url}" }]\npaths: { /a: { get: {} } }\n`;
      for (const address of ADDRESSES) {
        const document = await read({ description: { text } }, address);
        const from = `https://a.example/outer${address}`;
        const [seen] = resolve(document, "/a", from);
        assert.is(
          decodeURI(seen!),
          `https://a.example/outer${path}`,
          `${url} at ${address}`,
        );
      }
    }
    const { servers: none } = await read(
      { description: { text: `${HEAD}paths: { /a: { get: {} } }\n` } },
      "/v1/spec.yaml",
    );
    assert.equal(none, [{ url: ".." }]);
  },
);

servers(
  "in the description below /v1, only the relative server URLs change",
  async () => {
    const document = {
      openapi: "3.1.1",
      info: { title: "höher 😀" },
      servers: [{ url: ".", description: "." }, { url: "https://a.example" }],
      paths: {
        "/.": {
          get: { servers: [{ url: "./v1/node" }], "x-servers": [{ url: "." }] },
        },
      },
      "x-data": { servers: [{ url: "." }], big: 2n ** 64n },
    };
    const deep = structuredClone(document);
    deep.servers[0]!.url = "..";
    deep.paths["/."].get.servers[0]!.url = "../v1/node";
    const { documents } = await prepareDocuments(await writeJson(document));
    const read = async (form: Resource<Representation>) =>
      parse(await contentOf(await form.get()), { intAsBigInt: true });
    for (const [path, form] of Object.entries(documents)) {
      assert.equal(await read(form), path.startsWith("/v1/") ? deep : document, path);
    }
  },
);

servers(
  "users and passwords in server URLs are never served, logged or shown",
  async () => {
    const urls = [
      "http://hugo:S3cret@node.example/x",
      "https:\\\\hugo:S3cret@node.example",
      "http:hugo:S3cret@node.example",
      "//hugo:S3cret@node.example",
      "{scheme}://{user}:{password}@{host}:80/",
      "/path/{name}@x",
      "{whole}/x",
      "https://{authority}/x",
    ];
    const whole = "http://hugo:S3cret@node.example:5052";
    const variables = {
      authority: { default: "hugo:S3cret@node.example" },
      whole: { default: whole, enum: [whole, "http://b.example"] },
      scheme: { default: "http" },
      user: { default: "hugo" },
      password: { default: "S3cret" },
      host: { default: "node.example", enum: ["node.example", "b.example"] },
      name: { default: "a@b" },
    };
    const list = urls.map((url) => {
      const named = Object.entries(variables).filter(([name]) => url.includes(`{${name}}`));
      return { url, ...(named.length > 0 && { variables: Object.fromEntries(named) }) };
    });
    const item = { servers: list, get: { servers: [list[1]] }, put: {} };
    const text = JSON.stringify({
      openapi: "3.1.1",
      info: { title: "x", version: "1" },
      servers: list,
      paths: { "/a": item, "/b": { $ref: "#/components/pathItems/b" } },
      components: { pathItems: { b: item } },
    });
    const said: string[] = [];
    let logged = "";
    const app = createNodeface({
      description: { text },
      log: (message) => logged += message,
    });
    for (const address of [...ADDRESSES, "/v1/spec"]) {
      const answer = await app.fetch(new Request(`http://localhost${address}`));
      said.push(await answer.text(), JSON.stringify([...answer.headers]));
    }
    said.unshift(logged);
    assert.is(said.length, 11);
    for (const text of said) assert.not.match(text, /S3cret|hugo/);
    assert.match(said[1]!, /"default":"a@b"/);
    const [{ url }, , , , { variables: left }, , last, another] = JSON.parse(said[1]!).servers;
    assert.is(last.variables.whole.default, "http://node.example:5052");
    assert.is(another.variables.authority.default, "node.example");
    assert.is(url, "http://node.example/x");
    assert.equal(left, { scheme: variables.scheme, host: variables.host });
  },
);

const LOGIN = "http://hugo:S3cret@a.example/";
const SERVER = {
  url: "http://{user}:{password}@{host}/",
  variables: {
    user: { default: "hugo" },
    password: { default: "S3cret" },
    host: { default: "b.example" },
  },
};
const DOCS = { externalDocs: { url: LOGIN } };
const RESPONSES = {
  200: {
    description: "",
    content: { "text/plain": { example: "", examples: { a: { externalValue: LOGIN } } } },
    links: { a: { operationId: "a", server: SERVER } },
  },
};
const ITEM = {
  servers: [SERVER],
  post: { ...DOCS, servers: [{ url: LOGIN }], responses: RESPONSES },
};

servers("users and passwords are removed from every other URL in a description", async () => {
  const info = {
    title: "x",
    version: "1",
    termsOfService: LOGIN,
    contact: { url: LOGIN },
    license: { name: "x", url: LOGIN },
  };
  const flow = { authorizationUrl: LOGIN, refreshUrl: LOGIN, scopes: {} };
  const tokenUrl = LOGIN;
  const oauth2 = { implicit: flow, password: { tokenUrl, scopes: {} } };
  const documents: JsonObject[] = [
    {
      openapi: "3.2.0",
      $self: LOGIN,
      jsonSchemaDialect: LOGIN,
      info,
      ...DOCS,
      tags: [{ name: "x", ...DOCS }],
      paths: { "/a": { ...ITEM, get: { operationId: "a", callbacks: { a: { b: ITEM } } } } },
      webhooks: { a: ITEM },
      components: {
        schemas: { A: DOCS },
        callbacks: { a: { b: ITEM } },
        securitySchemes: {
          a: { type: "oauth2", oauth2MetadataUrl: LOGIN, flows: oauth2 },
          b: { type: "openIdConnect", openIdConnectUrl: LOGIN },
        },
      },
    },
    {
      swagger: "2.0",
      info,
      host: "hugo:S3cret@a.example",
      paths: { "/a": { get: { ...DOCS } } },
      securityDefinitions: { a: { type: "oauth2", flow: "accessCode", ...flow, tokenUrl } },
    },
  ];
  for (const document of documents) {
    const { json, yaml, diagnostics } = await load({ text: JSON.stringify(document) });
    assert.match(json, "http://a.example/");
    const said = diagnostics.map(formatDiagnostic);
    for (const text of [json, yaml, ...said]) assert.not.match(text, /S3cret|hugo/);
    assert.match(said.join(), "the user and password in a URL are omitted");
  }
});

servers("the user and password in node.url are not shown", async () => {
  const node = "http://hugo:S3cret@node.example/eth";
  for (const list of ["", "servers: [{ url: v1 }, { url: 'http://node.example/eth/v1' }]\n"]) {
    const text = `${HEAD}${list}paths: { /a: { servers: [{ url: v2 }], get: {} } }\n`;
    const { document, diagnostics } = await load({ text }, { node });
    assert.not.match(JSON.stringify([document, diagnostics]), /S3cret|hugo|node\.example/);
  }
});

servers(
  "the page may connect to only a limited number of origins, whatever the servers' URLs",
  async () => {
    const numbers = Array.from({ length: 400 }, (_, i) => i);
    for (
      const named of [
        numbers.map((i) => ({ url: `https://a${i}.example` })),
        numbers.map((i) => ({ url: `https://a.example:${i + 1000}` })),
        numbers.map((i) => ({ url: `https://*.a${i}.example` })),
        numbers.map((i) => ({
          url: "https://{a}.{b}.example:{c}",
          variables: {
            a: { default: "a", enum: ["a", "b", "c", "d"] },
            b: { default: "a", enum: ["a", "b", "c", "d"] },
            c: {
              default: `${i + 1000}`,
              enum: [`${i + 1000}`, "80", "81", "82"],
            },
          },
        })),
      ]
    ) {
      const text = JSON.stringify({
        openapi: "3.1.1",
        info: { title: "x", version: "1" },
        servers: named.slice(0, 200),
        paths: {
          "/a": { servers: named.slice(200), get: {} },
          "/b": { get: {} },
        },
      });
      const notes: string[] = [];
      const app = createNodeface({
        description: { text },
        log: (_, event) => "finding" in event && notes.push(event.finding!.message),
      });
      const { headers } = await app.fetch(
        new Request("http://localhost/v1/spec"),
      );
      const policy = headers.get("content-security-policy")!;
      const isWild = named[0]!.url.includes("*");
      assert.is(
        policy.match(/ https:/g)?.length ?? 0,
        isWild ? 0 : 64,
        named[0]!.url,
      );
      assert.ok(policy.length < 3000);
      assert.is(
        notes.some((note) => note.includes("first 64 origins")),
        !isWild,
      );
    }
  },
);

servers(
  "an operation's own server leads through the service if it has the node's origin",
  async () => {
    const node = "http://node.example:8545";
    for (
      const [url, served] of [
        [`${node}/v1`, "./v1/node/v1"],
        ["http://node.example:8546/v1", "http://node.example:8546/v1"],
      ]
    ) {
      const operation = { servers: [{ url }], responses: {}, "x-access": "read" };
      const from = { openapi: "3.1.1", info: {}, paths: { "/a": { get: operation } } };
      const description = { text: JSON.stringify(from) };
      const { paths } = await read({ node, description, forward: "reads" }, "/spec.json");
      assert.is(paths["/a"]?.get?.servers?.[0]?.url, served);
    }
  },
);

servers.run();
