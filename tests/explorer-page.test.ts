import { suite } from "uvu";
import * as assert from "uvu/assert";
import { renderInline, renderProse } from "../src/explorer/markdown.ts";
import { createPage } from "../src/explorer/page.ts";
import type { Representation } from "../src/http/representation.ts";
import { TEMPLATE } from "../src/generated/page.js";

const page = suite("the first HTML of the explorer");

const FILES = { explorer: "explorer-1", scalar: "scalar-1", preload: ["scalar-1/a.js"] };

/** What may not be in a page, whatever a description says. */
const DANGERS = [
  `<script>document.title = "run"</script>`,
  `"><img src=x onerror=run()>`,
  `' onmouseover='run()`,
  `[link](javascript:run())`,
  `[link](JavaScript:run())`,
  `[link](data:text/html,run)`,
  `[link](java\u0000script:run())`,
  `![image](https://elsewhere.example/pixel.png)`,
  `{header}{content}{title}`,
  `$& $1 $\` </main></body>`,
  `<!-- `,
  `\u0000\u001b\ud800`,
];

page(
  "shows each operation with its method, path, summary, parameters, answers and curl",
  async () => {
    const html = await render({
      info: { title: "A node", version: "7" },
      paths: {
        "/v1/blocks/{height}": {
          parameters: [{ name: "height", in: "path", required: true, schema: { type: "integer" } }],
          get: {
            tags: ["Chain"],
            summary: "Get a block",
            description: "By its `height`.",
            parameters: [{ $ref: "#/components/parameters/Full" }],
            responses: { 200: { $ref: "#/components/responses/Block" }, default: {} },
          },
          post: {
            tags: ["Chain"],
            operationId: "putBlock",
            deprecated: true,
            requestBody: { required: true, content: { "application/json": {} } },
          },
        },
      },
      components: {
        parameters: { Full: { name: "full", in: "query", description: "With transactions" } },
        responses: { Block: { description: "The block", content: { "application/json": {} } } },
      },
    });
    for (
      const text of [
        "<h1>A node</h1>",
        "Version 7",
        `<h2 id="tag/chain">Chain</h2>`,
        `<h3 id="tag/chain/GET/v1/blocks/{height}">Get a block</h3>`,
        "By its <code>height</code>.",
        "<dt><code>height</code></dt><dd><i>path, integer, required</i>",
        "<dt><code>full</code></dt><dd><i>query</i> With transactions",
        "<dt><code>200</code></dt><dd><i>application/json</i> The block",
        "curl <var>$BASE_URL</var>/v1/blocks/{height}",
        "curl -X POST <var>$BASE_URL</var>/v1/blocks/{height}",
        "putBlock",
        "deprecated",
        "<dt><code>body</code></dt><dd><i>application/json, required</i>",
      ]
    ) assert.match(html, text);
  },
);

page("shows the operations of OpenAPI 3.2 as well: QUERY, and those of other methods", async () => {
  const html = await render({
    paths: {
      "/a": {
        query: { summary: "Search" },
        additionalOperations: {
          COPY: { summary: "Copy" },
          "version-control": { summary: "Control" },
          "X><script>": { summary: "hidden" },
          "$(run)": { summary: "hidden" },
        },
      },
    },
  });
  for (
    const text of [
      `<h3 id="tag/default/QUERY/a">Search</h3>`,
      "curl -X QUERY <var>$BASE_URL</var>/a",
      `<h3 id="tag/default/COPY/a">Copy</h3>`,
      "curl -X version-control <var>$BASE_URL</var>/a",
    ]
  ) assert.match(html, text);
  assert.not.match(html, "hidden");
});

page("no text is cut within a character", () => {
  for (const length of [1, 2, 3]) {
    const html = renderProse("\u{1f600}\u{1f601}", length) +
      renderInline("\u{1f600}\u{1f601}", length);
    assert.not.match(html, /\p{Surrogate}/u);
  }
});

page("what is internal is left out, as Scalar leaves it out", async () => {
  const html = await render({
    tags: [{ name: "Inside", "x-internal": true }],
    paths: {
      "/a": { get: { summary: "shown" } },
      "/b": { get: { summary: "hidden", "x-internal": true } },
      "/c": { get: { summary: "hidden", tags: ["Inside"] } },
    },
  });
  assert.match(html, "shown");
  assert.not.match(html, "hidden<");
});

page("the server that is nearest to an operation comes before its path", async () => {
  const here = "<var>$BASE_URL</var>";
  for (
    const [url, address] of [
      ["https://elsewhere.example/v2/", "https://elsewhere.example/v2/a"],
      ["/v{n}", `${here}/v3/a`],
      ["", `${here}/a`],
      ["http://[", `${here}/a`],
      ["javascript:run()", `${here}`],
    ]
  ) {
    const html = await render({
      servers: [{ url, variables: { n: { default: "3" } } }],
      paths: { "/a": { get: {} }, "/b": { servers: [{ url: "/" }], get: {} } },
    });
    assert.match(html, `curl ${address}`, url);
    assert.match(html, `curl ${here}/b<`, url);
  }
});

page("what is to be known of the description is in the header, as text", async () => {
  const notice = { origins: ["http://a.example"], notice: "It is <b>broken</b>" };
  const made = await createPage(TEMPLATE, {}, FILES, notice);
  const { variants } = await made.prepare({ name: "a node" });
  assert.match(JSON.stringify(variants), "connect-src 'self' http://a.example;");
  const html = new TextDecoder().decode(variants.identity!.full.body);
  assert.match(html, /<header[^]*It is &lt;b&gt;broken[^]*<\/header>/);
});

page("has another validator where it may ask other servers", async () => {
  const etagOf = async (origin: string) => {
    const described = { origins: [origin], notice: undefined };
    const made = await createPage(TEMPLATE, {}, FILES, described);
    return (await made.prepare({ name: "a node" })).variants.identity!.etag;
  };
  assert.is(await etagOf("http://a.example"), await etagOf("http://a.example"));
  assert.is.not(await etagOf("http://a.example"), await etagOf("http://b.example"));
});

page("a number that is too large for others is shown with its digits", async () => {
  const html = await render({ info: { version: 12345678901234567890n }, paths: {} });
  assert.match(html, "Version 12345678901234567890");
});

for (const danger of DANGERS) {
  page(`${JSON.stringify(danger)} is text wherever it is`, async () => {
    const html = await render(everywhere(danger), everywhereInInfo(danger));
    const plain = await render(everywhere("harmless"), everywhereInInfo("harmless"));
    assert.equal(tagsOf(html), tagsOf(plain));
    assert.not.match(html, /href="(?!\.\.\/|#|info)/);
  });
}

page("a link to a page elsewhere, or beside this one, can be followed", async () => {
  const html = await render({
    info: { description: "[a](https://a.example/x?y=1&z=2) and [b](docs/b)" },
  });
  assert.match(html, `<a href="https://a.example/x?y=1&amp;z=2" rel="noreferrer">a</a>`);
  assert.match(html, `<a href="docs/b" rel="noreferrer">b</a>`);
});

page("whatever is not of the right shape is passed over", async () => {
  const cycle = { $ref: "#/paths/~1a" };
  const odd = [null, 7, "text", [], [[]], { a: null }, true, cycle];
  for (const value of odd) {
    for (
      const document of [
        value,
        { info: value, tags: value, servers: value, paths: value },
        { paths: { "/a": value, "/b": { get: value } }, tags: [value], servers: [value] },
        { paths: { "/a": { get: { tags: [value], parameters: value, responses: value } } } },
        { paths: { "/a": { get: { parameters: [value], responses: { 200: value } } } } },
      ]
    ) assert.match(await render(document), "<h1>API</h1>");
  }
});

page("a long text is cut, and says so", async () => {
  const html = await render({ info: { description: "word ".repeat(400_000) } });
  assert.ok(html.length < 20_000);
  assert.match(html, "1996000 characters more in the description");
});

page("1,000 operations take less than 60 kB, whatever is said of them", async () => {
  for (const words of [0, 20, 2000]) {
    const { variants } = await prepare(manyOperations(1000, words));
    assert.ok(variants.gzip!.full.body.byteLength < 60_000);
    const html = new TextDecoder().decode(variants.identity!.full.body);
    assert.is(html.match(/<article>/g)?.length, 1000);
    assert.is(html.match(/curl /g)?.length, 1000);
    assert.match(html, "<h4>Answers</h4>");
  }
});

page("more operations than there is room for are counted", async () => {
  const { variants } = await prepare(manyOperations(20_000, 5));
  assert.ok(variants.gzip!.full.body.byteLength < 60_000);
  const html = new TextDecoder().decode(variants.identity!.full.body);
  assert.match(html, /… \d+ more operations in the description/);
});

page("the work grows with the description and no faster", async () => {
  const time = async (size: number) => {
    const nasty = ["[", "`", "**a", "[a](", "- ", "\n", "#", "a ", "$", "{"].map((text) =>
      text.repeat(size / text.length)
    );
    const started = performance.now();
    for (const text of nasty) await render(everywhere(text), everywhereInInfo(text));
    return performance.now() - started;
  };
  await time(20_000);
  const [small, large] = [await time(200_000), await time(2_000_000)];
  assert.ok(large < 2 * 10 * small, `${small} ms for 200 kB, ${large} ms for 2 MB`);
});

page("only a change of the header makes another representation", async () => {
  const { prepare } = await createPage(TEMPLATE, {}, FILES);
  const first = await prepare({ name: "a", height: 1 });
  assert.is(await prepare({ name: "a", height: 1, unknown: "key" }), first);
  assert.is.not(await prepare({ name: "a", height: 2 }), first);
});

function everywhere(text: string): unknown {
  const item = { name: text, in: text, description: text, schema: { type: text, format: text } };
  return {
    info: { title: text, version: text, summary: text, description: text },
    servers: [{ url: text }],
    tags: [{ name: text, description: text }],
    paths: {
      [`/${text}`]: {
        get: {
          tags: [text],
          summary: text,
          description: text,
          parameters: [item],
          requestBody: { description: text, content: { [text]: {} } },
          responses: { [text]: { description: text, content: { [text]: {} } } },
        },
      },
    },
  };
}

function everywhereInInfo(text: string): Record<string, unknown> {
  const keys = ["name", "software", "version", "network", "chain_id", "height", "status", "peers"];
  return Object.fromEntries(keys.map((key) => [key, text]));
}

function manyOperations(count: number, words: number): unknown {
  let seed = 1;
  const word = () => (seed = seed * 48271 % 2147483647).toString(36);
  const text = Array.from({ length: words }, word).join(" ");
  const operation = (i: number) => ({
    tags: [`Tag ${i % 20}`],
    summary: `Get the ${word()} of ${word()}`,
    description: `${word()} ${text}`,
    parameters: ["path", "query", "header"].map((place) => ({
      name: word(),
      in: place,
      schema: { type: "string" },
      description: `${word()} ${text}`,
    })),
    responses: Object.fromEntries(
      [200, 400, 404, 500].map((status) => [status, { description: `${word()} ${text}` }]),
    ),
  });
  const paths = Array.from(
    { length: count },
    (_, i) => [`/v1/${word()}/{id}/${i}`, { get: operation(i) }],
  );
  return { info: { title: "Many" }, paths: Object.fromEntries(paths) };
}

/** The names of a page's elements and of their attributes, in their order. */
function tagsOf(html: string): string[] {
  return [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/"[^"]*"/g, '""'));
}

async function prepare(document: unknown, info = {}): Promise<Representation> {
  return await (await createPage(TEMPLATE, document, FILES)).prepare(info);
}

async function render(document: unknown, info = {}): Promise<string> {
  return new TextDecoder().decode((await prepare(document, info)).variants.identity!.full.body);
}

page.run();
