/**
 * Tests the initial HTML of the simple page. On Deno and Bun, some tests with thousands of
 * operations are skipped.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { renderParts } from "../src/explorer/render-content.ts";
import {
  fill,
  joinParts,
  jsonOf,
  markup,
  type Part,
  renderInlineMarkdown,
  renderMarkdown,
} from "../src/explorer/html.ts";
import { gunzipSync } from "node:zlib";
import { createNodeface } from "../src/index.ts";
import { withHomes } from "../src/openapi/home.ts";
import { until } from "./nodes/_daemon.ts";
import { processorTime, sampleOf, testOnNode } from "./_runtime.ts";

const page = suite("the initial HTML of the explorer");

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
  "shows each operation with its method, path, summary, parameters, responses and curl command",
  async () => {
    const html = await render({
      info: { title: "A node", version: "7" },
      paths: {
        "/v1/blocks/{height}": {
          parameters: [
            { name: "height", in: "path", required: true, schema: { type: "integer", example: 7 } },
          ],
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
        "<h2>A node</h2>",
        "Version 7",
        `<h2 id="tag/chain">Chain</h2>`,
        `<h3 id="tag/chain/GET/v1/blocks/{height}">Get a block</h3>`,
        "By its <code>height</code>.",
        "<dt><code>height</code></dt><dd><i>path, integer, required</i>",
        "<dt><code>full</code></dt><dd><i>query</i> With transactions",
        "<dt><code>200</code></dt><dd><i>application/json</i> The block",
        "curl &quot;<var>$BASE_URL</var>/v1/blocks/7&quot;",
        "curl &quot;<var>$BASE_URL</var>/v1/blocks/7&quot; -H &#39;Content-Type: application/json&#39; --data-raw",
        "putBlock",
        "deprecated",
        "<h4>Request body</h4><dl><dt><code>application/json</code></dt><dd><i>required</i>",
      ]
    ) assert.match(html, text);
  },
);

page("shows QUERY and additionalOperations, which OpenAPI 3.2 introduced", async () => {
  const html = await render({
    openapi: "3.2.0",
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
      "curl &quot;<var>$BASE_URL</var>/a&quot; -X QUERY",
      `<h3 id="tag/default/COPY/a">Copy</h3>`,
      "curl &quot;<var>$BASE_URL</var>/a&quot; -X version-control",
    ]
  ) assert.match(html, text);
  assert.not.match(html, "hidden");
});

page("webhooks have no form, and are shown under their tags or their own heading", async () => {
  const html = await render({
    openapi: "3.1.1",
    webhooks: {
      newBlock: {
        post: { summary: "A block has come", responses: { 200: { description: "Taken" } } },
      },
      "peer lost": { $ref: "#/components/pathItems/Lost" },
      hidden: { post: { summary: "kept away", "x-internal": true } },
    },
    components: {
      pathItems: { Lost: { put: { summary: "A peer has gone", tags: ["Peers"] } } },
    },
  });
  for (
    const text of [
      `<h2 id="tag/webhooks">Webhooks</h2>`,
      `<h3 id="webhook/POST/newBlock">A block has come</h3>`,
      "<code>newBlock</code>",
      "Sent by the API to its subscribers.",
      "<dt><code>200</code></dt><dd>Taken",
      `<h3 id="tag/peers/webhook/PUT/peer%20lost">A peer has gone</h3>`,
    ]
  ) assert.match(html, text);
  assert.not.match(html, "kept away");
  const [, webhooks] = /<h2 id="tag\/webhooks">(.*)<h2 id="tag\/about/s.exec(html)!;
  assert.not.match(webhooks!, "curl");
  assert.not.match(webhooks!, "try");
});

page("the initial HTML contains absolute times, because it may be read later", async () => {
  const html = await render({}, { height: 7, head_at: "2026-01-31T08:14:41.5Z" });
  const shown = "2026-01-31 08:14:41 UTC";
  const time = `<time datetime="2026-01-31T08:14:41Z" title="${shown}">${shown}</time>`;
  assert.match(html, `<dt>Latest block</dt><dd>${time}</dd>`);
});

page("an operation is shown under its first four tags only", async () => {
  const html = await render({ paths: { "/a": { get: { tags: [..."ABCDEF"], summary: "Many" } } } });
  const headings = [...html.matchAll(/<h2[^>]*>([A-F])<\/h2>/g)];
  assert.equal(headings.map(([, tag]) => tag), [..."ABCD"]);
});

page("the service's own operations come last, and are closed if there are others", async () => {
  const get = (tag: string) => ({ get: { tags: [tag], summary: `In ${tag}` } });
  const html = await render({
    tags: [{ name: "Declared" }],
    paths: { "/a": get("Declared"), "/b": get("Other") },
  });
  const own = `<details><summary><h2 id="tag/about-this-service">About this service</h2></summary>`;
  assert.match(html, own);
  const end = "</details></section>";
  const order = ["In Declared</h3>", "In Other</h3>", own, `/v1/info</code>`, end]
    .map((text) => html.indexOf(text));
  assert.equal(order, [...order].sort((a, b) => a - b));
  assert.match(/<nav.*?<\/nav>/s.exec(html)![0], /about-this-service.*\/v1\/info/);
  assert.match(await render({}), own.replace("<details>", "<details open>"));
});

page("each mark is a word that is explained once, and common operations come first", async () => {
  const operation = (marks: Document) => ({ get: { tags: ["T"], ...marks } });
  const html = await render({
    paths: {
      "/plain": operation({}),
      "/odd": operation({ "x-access": "none", "x-cost": 7, "x-streaming": "yes", "x-since": {} }),
      "/all": operation({ "x-access": "secret", "x-cost": "heavy", "x-streaming": true }),
      "/new": operation({ "x-access": "write", "x-since": "0.19<b>" }),
      "/first": operation({ "x-access": "read", "x-common": true }),
    },
  });
  const marksOf = (path: string) => {
    const line = html.split("\n").join("").split(`<code>${path}</code>`)[1]!.split("</p>")[0]!;
    return [...line.matchAll(/<span class="mark \w+">([^<]*)<\/span>/g)].map(([, word]) => word);
  };
  assert.equal(marksOf("/plain"), []);
  assert.equal(marksOf("/odd"), []);
  assert.equal(marksOf("/all"), ["sensitive", "slow", "streams"]);
  assert.equal(marksOf("/new"), ["write", "since 0.19&lt;b&gt;"]);
  assert.equal(marksOf("/first"), ["read"]);
  const shown = [...html.matchAll(/<h3 id="tag\/t\/GET(\/\w+)"/g)].map(([, path]) => path);
  assert.equal(shown, ["/first", "/plain", "/odd", "/all", "/new"]);
  const legend = /<details class="legend".*?<\/ul>/.exec(html)![0];
  assert.is(legend.split("<li>").length - 1, 5);
  assert.not.match(await render({ paths: { "/plain": operation({}) } }), "legend");
});

page("a common operation with two tags is among the most used ones", async () => {
  const get = { tags: ["T", "U"], operationId: "first", "x-common": true };
  const info = { title: "A", version: "1" };
  const servers = [{ url: "./v1/node" }];
  const paths = { "/first": { get } };
  const document = await withHomes({ openapi: "3.1.1", info, servers, paths });
  const { calls } = await renderParts(document);
  assert.match(String(calls), /Most used: <a href="#[^"]*first"/);
});

page("a common operation without a link of its own is not among the most used ones", async () => {
  const document = await withHomes({
    openapi: "3.1.1",
    info: { title: "A", version: "1" },
    servers: [{ url: "./v1/node" }],
    paths: { "/first": { get: { "x-common": true } } },
  });
  const { calls } = await renderParts(document);
  assert.not.match(String(calls), "Most used");
});

page(
  "a JSON-RPC method is shown once, under its name; other operations are not merged",
  async () => {
    const method = (summary: string, more: Document = {}) => ({ tags: ["T"], summary, ...more });
    const content = { "application/json": { schema: { $ref: "#/components/schemas/Params" } } };
    const html = await render({
      paths: {
        "/v1/rpc/getblock": {
          ...{ "x-one-method": true, get: method("Get a block"), post: method("Get a block") },
        },
        "/v1/rpc/own": { get: method("Its own"), post: method("Its own") },
        "/v1/rpc/a%2Fb": { post: method("Do it", { requestBody: { content } }) },
        "/other": { get: method("Same"), post: method("Same") },
      },
      components: {
        schemas: {
          Params: {
            required: ["hash"],
            properties: {
              hash: { type: "string", description: "Of the block" },
              n: { type: "integer" },
            },
          },
        },
      },
    });
    for (
      const text of [
        `<h3 id="tag/t/GET/v1/rpc/getblock">getblock</h3>`,
        `<p class="gist">Get a block</p>`,
        `also works as a <b class="post">POST</b> with`,
        `<h3 id="tag/t/POST/v1/rpc/a%2Fb">a/b</h3>`,
        "<dt><code>hash</code></dt><dd><i>body, string, required</i> Of the block</dd>",
        "<dt><code>n</code></dt><dd><i>body, integer</i> </dd>",
        `<h3 id="tag/t/GET/v1/rpc/own">own</h3>`,
        `<h3 id="tag/t/POST/v1/rpc/own">own</h3>`,
        `<h3 id="tag/t/GET/other">Same</h3>`,
        `<h3 id="tag/t/POST/other">Same</h3>`,
      ]
    ) assert.match(html, text);
    assert.is(html.split("also works as a").length, 2);
    assert.not.match(html, "POST/v1/rpc/getblock");
  },
);

page(
  "the navigation comes before the content, shows methods, and breaks long names at words",
  async () => {
    const paths = {
      "/a": { get: { tags: ["T"], summary: "eth_getBlockTransactionCountByNumber v1/b" } },
    };
    const html = await render({ paths });
    assert.match(
      html,
      `">eth_<wbr>get<wbr>Block<wbr>Transaction<wbr>Count<wbr>By<wbr>Number v1/<wbr>b <b class="get">GET</b></a>`,
    );
    assert.match(
      html,
      /<nav id="list" popover aria-label="Operations">.*<\/nav>\s*<main id="content">/s,
    );
    assert.match(
      html,
      /<button type="button" id="open-list" popovertarget="list">Operations \(\d+\)</,
    );
  },
);

page("names and texts can be written from right to left", async () => {
  const name = "المراقبة في الميناء";
  const response = await show({
    tags: [{ name }],
    paths: { "/a": { get: { tags: [name], summary: name } } },
  }, { name, version: name, status: name, status_reason: name });
  const html = await response.text();
  for (const tag of ["h1", "h2", "h3"]) assert.match(html, `<${tag} dir="auto"`);
  assert.match(html, `<p dir="auto">${name}</p>`);
  assert.match(html, `<span dir="auto">`);
});

page("an operation shows parameter constraints, and schemas two levels deep", async () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const html = await render({
    paths: {
      "/a": {
        post: {
          parameters: [
            {
              name: "n",
              in: "query",
              schema: { type: "integer", minimum: 1, maximum: 9, default: 5 },
            },
            {
              name: "tag",
              in: "query",
              example: "<b>",
              schema: { ...ref("Tag"), description: "ignored" },
            },
          ],
          requestBody: {
            required: true,
            content: { "application/json": { schema: ref("Block") } },
          },
          responses: {
            200: {
              description: "",
              content: {
                "application/json": { schema: { oneOf: [ref("Block"), { type: "null" }] } },
              },
            },
            400: {
              description: "Wrong",
              content: { "application/problem+json": { schema: ref("Block") } },
            },
          },
        },
      },
    },
    components: {
      schemas: {
        Tag: {
          type: "string",
          description: "Of the *block*",
          enum: ["latest", "safe"],
          pattern: "^[a-z]+$",
        },
        Block: {
          type: "object",
          required: ["hash"],
          properties: {
            hash: { type: "string", description: "Its **hash**" },
            parent: ref("Block"),
            txs: { type: "array", items: ref("Tx") },
          },
        },
        Tx: { type: "object", properties: { to: { type: "string", format: "address" } } },
      },
    },
  });
  for (
    const text of [
      "<i>query, integer</i>  <small>· from <code>1</code>, to <code>9</code>, default <code>5</code></small>",
      "<i>query, string</i> Of the *block* <small>· one of <code>latest, safe</code>, pattern <code>^[a-z]+$</code>, " +
      "example <code>&lt;b&gt;</code></small>",
      "<dt><code>application/json</code></dt><dd><i>Block, required</i> <details><summary>Schema: 3 fields</summary>",
      "<dt><code>200</code></dt><dd><i>Block or null</i> <details>",
      "<dt><code>hash</code></dt><dd><i>string, required</i> Its <strong>hash</strong></dd>",
      "<dt><code>txs</code></dt><dd><i>array of Tx</i> <details><summary>Schema: 1 field</summary>" +
      "<dl><dt><code>to</code></dt><dd><i>string, address</i> </dd></dl></details></dd>",
      "<dt><code>400</code></dt><dd><i>application/problem+json</i> Wrong</dd>",
    ]
  ) assert.match(html, text);
  // The schema `Block` has a `parent`, which is a `Block` as well. The page shows the fields of the
  // parent, but omits the fields of the grandparent.
  const [article] = html.split("</article>");
  assert.is(article!.split("<summary>Schema: 3 fields").length - 1, 4);
});

page("a field of several schemas in allOf is shown once, as the outermost defines it", async () => {
  const html = await render({
    openapi: "3.1.1",
    paths: {
      "/a": {
        get: {
          responses: {
            200: {
              content: { "application/json": { schema: { $ref: "#/components/schemas/A" } } },
            },
          },
        },
      },
    },
    components: {
      schemas: {
        A: {
          allOf: [{ $ref: "#/components/schemas/B" }],
          properties: { status: { type: "boolean" } },
        },
        B: {
          allOf: [{ $ref: "#/components/schemas/C" }, { $ref: "#/components/schemas/A" }],
          properties: { id: { type: "integer" } },
        },
        C: { properties: { deep: {}, status: { type: "string" } }, required: ["deep"] },
      },
    },
  });
  const [, operation = ""] = html.split(`<h3 id="tag/default/GET/a"`);
  const fields = [
    ...operation.split("<h3 ")[0]!.matchAll(/<dt><code>(\w+)<\/code><\/dt><dd><i>([^<]*)/g),
  ]
    .map(([, name, facts]) => `${name} ${facts}`);
  assert.equal(fields, ["200 A", "status boolean", "id integer", "deep required"]);
});

page("a list shows which values its items may have", async () => {
  const states = { type: "array", items: { $ref: "#/components/schemas/State" } };
  const html = await render({
    paths: {
      "/pins": {
        get: {
          parameters: [{ name: "state", in: "query", schema: { ...states, maxItems: 2 } }],
          responses: { 200: { description: "" } },
        },
      },
    },
    components: { schemas: { State: { type: "string", enum: ["queued", "pinned"] } } },
  });
  assert.match(html, "<small>· each one of <code>queued, pinned</code></small>");
});

page("the version is shown only for descriptions from the operator or the network", async () => {
  const document = { openapi: "3.1.1", info: { title: "A", version: "7.7.7" }, paths: {} };
  for (
    const [by, isShown] of [["operator", true], ["network", true], ["kind", false], [
      undefined,
      false,
    ]] as const
  ) {
    const { content } = await renderParts(document, by);
    assert.is(String(content.main).includes("Version 7.7.7"), isShown, by);
  }
});

page("clients are shown an address only where they can call something", async () => {
  const callsOf = async (info: object) => {
    const paths = { "/v1/info": { get: {} } };
    return String((await renderParts({ openapi: "3.1.1", info, paths })).calls);
  };
  const ofHost = await callsOf({ title: "A host's own interface", version: "1" });
  assert.match(ofHost, "Connect to");
  const own = await createNodeface().fetch(new Request("http://localhost/spec.json"));
  const { info } = await own.json();
  assert.not.match(await callsOf(info), "Connect to");
});

page("if a description was fetched over the network, its links are shown as text", async () => {
  const description =
    "See [the docs](https://a.example/?q=1&b) and ![x](https://a.example/x.png), `[b](c)`";
  const document = { openapi: "3.1.1", info: { title: "A", version: "1", description }, paths: {} };
  const partsFrom = async (by: "network" | "operator") => {
    const { content, flags } = await renderParts(document, by);
    return { main: String(content.main), flags: String(flags) };
  };
  const { main, flags } = await partsFrom("network");
  assert.match(main, "See the docs (https://a.example/?q=1&amp;b) and x, <code>[b](c)</code>");
  assert.not.match(main, 'rel="noreferrer"');
  assert.is(flags, " data-foreign");
  const own = await partsFrom("operator");
  assert.match(
    own.main,
    `<a href="https://a.example/?q=1&amp;b" rel="noreferrer">the docs</a>`,
  );
  assert.is(own.flags, "");
});

page("all 200 operations are listed, even if their texts are long", async () => {
  for (const words of sampleOf([20, 200])) {
    const html = await unpack(manyOperations(200, words));
    assert.is(html.match(/<h3 id="tag\/tag-\d+\/GET[^"]*">Get the \w+ of \w+</g)?.length, 200);
    assert.is(html.match(/<b class="get">GET<\/b> <code>\/v1\/\w+\/\{id\}\/\d+</g)?.length, 200);
  }
});

page("a text in a template is escaped, in an element and in an attribute", () => {
  const hostile = `"><b>'&\u0000`;
  const escaped = "&quot;&gt;&lt;b&gt;&#39;&amp;\ufffd";
  const link = markup`<a title="${hostile}">${hostile}</a>`;
  assert.is(String(link), `<a title="${escaped}">${escaped}</a>`);
  assert.is(String(joinParts([hostile, hostile], "<")), `${escaped}&lt;${escaped}`);
  assert.is(fill("<p>{text}</p>", { text: hostile }, "", ""), `<p>${escaped}</p>`);
  const disguised = { toString: () => hostile } as unknown as Part;
  assert.is(String(markup`${disguised}${[disguised]}`), escaped + escaped);
  const data = markup`<p data-a='${jsonOf({ a: `'<&"` })}'>`;
  assert.is(String(data), String.raw`<p data-a='{"a":"\u0027\u003c\u0026\""}'>`);
});

page("a template takes pieces as they are, and nothing for a missing value", () => {
  const bold = markup`<b>${1}</b>`;
  const list = markup`<p>${bold}, ${[bold, " & ", [2, bold]]}</p>`;
  assert.is(String(list), "<p><b>1</b>, <b>1</b> &amp; 2<b>1</b></p>");
  assert.is(String(markup`<p>${undefined}${false}${""}${[]}${0}</p>`), "<p>0</p>");
  assert.is(bold.length, "<b>1</b>".length);
});

page("the indentation of a template has no effect, but that of a value is kept", () => {
  const text = "two\n  lines";
  const indented = markup`
    <p class="a"
      id="b">
      ${text}
      ${markup`<b>${text}</b>`}
      a long
      sentence
    </p>`;
  const inner = `${text}<b>${text}</b>a long sentence`;
  assert.is(String(indented), `<p class="a" id="b">${inner}</p>`);
});

page("Markdown lists with any bullet or number become HTML lists", () => {
  for (const mark of ["-", "*", "+", "1.", "2)", "10."]) {
    const html = String(renderMarkdown(`Before\n\n${mark} one\n${mark} two\n\nafter`, 100, true));
    assert.match(html, "<ul><li>one</li><li>two</li></ul>", mark);
  }
});

page("Markdown headings become strong text, from level 1 to 6", () => {
  for (const [mark, isHeading] of [["#", true], ["######", true], ["#######", false]] as const) {
    const html = String(renderMarkdown(`${mark} Limits\n\nafter`, 100, true));
    assert.is(html.startsWith("<p><strong>Limits</strong></p>"), isHeading, mark);
  }
});

page("truncation never splits a character", () => {
  for (const length of [1, 2, 3]) {
    const text = "\u{1f600}\u{1f601}";
    const html = [renderMarkdown(text, length, true), renderInlineMarkdown(text, length, true)]
      .join();
    assert.not.match(html, /\p{Surrogate}/u);
  }
});

page("internal operations are omitted, as in Scalar", async () => {
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

page("members beside a $ref take precedence over the members of its target", async () => {
  const components = {
    parameters: { Full: { name: "full", in: "query", description: "of all" } },
    responses: { Block: { description: "The block" } },
    requestBodies: { Block: { description: "Any block", content: { "text/plain": {} } } },
  };
  const paths = {
    "/a": {
      post: {
        parameters: [{ $ref: "#/components/parameters/Full", description: "of mine" }],
        requestBody: { $ref: "#/components/requestBodies/Block", description: "My block" },
        responses: { 200: { $ref: "#/components/responses/Block", description: "The block made" } },
      },
    },
  };
  const html = await render({ components, paths });
  for (const own of ["of mine", "My block", "The block made"]) assert.match(html, own);
  for (const shared of ["of all", "Any block", "The block<"]) assert.not.match(html, shared);
  // In OpenAPI 3.0, members beside a `$ref` are ignored.
  const before = await render({ openapi: "3.0.3", components, paths });
  for (const own of ["of mine", "My block", "The block made"]) assert.not.match(before, own);
  for (const shared of ["of all", "Any block", "The block<"]) assert.match(before, shared);
});

page("a path item with a $ref has its own operations and the target's operations", async () => {
  const html = await render({
    paths: {
      "/a": { get: { summary: "Theirs to get" }, put: { summary: "Theirs to put" } },
      "/b": {
        $ref: "#/paths/~1a",
        put: { summary: "Own to put" },
        post: { summary: "Own to post" },
      },
    },
  });
  for (
    const [method, summary] of [
      ["GET", "Theirs to get"],
      ["PUT", "Own to put"],
      ["POST", "Own to post"],
    ]
  ) assert.match(html, `<h3 id="tag/default/${method}/b">${summary}</h3>`);
});

page("an operation is shown under each of its tags", async () => {
  const html = await render({ paths: { "/a": { get: { tags: ["One", "Two", "One"] } } } });
  const shown = [...html.matchAll(/<h3 id="(tag\/(?:one|two)[^"]*)"/g)].map(([, id]) => id);
  assert.equal(shown, ["tag/one/GET/a", "tag/two/GET/a"]);
});

page("every section has a unique ID, to which the navigation links", async () => {
  const names = ["Foo Bar", "foo-bar", "FOO BAR", "foo bar 2", "!!!", "???"];
  const long = `/${"a".repeat(500)}`;
  const paths = ["/a b", "/a%20b", "/a\tb", "/a\u0001b", "/a\u0002b", `${long}1`, `${long}2`];
  const operation = { tags: names };
  const html = await render({
    tags: names.map((name) => ({ name })),
    paths: Object.fromEntries(paths.map((path) => [path, { get: operation }])),
  });
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!);
  assert.ok(ids.length > names.length * (paths.length + 1));
  assert.is(new Set(ids).size, ids.length);
  assert.equal(ids.filter((id) => id === "" || /\s/.test(id)), []);
  const led = [...html.matchAll(/(?:href="#|aria-labelledby=")([^"]*)"/g)].map(([, id]) => id!);
  assert.equal(led.filter((id) => !ids.includes(id)), []);
});

page("the URL of an operation begins with its most specific server URL", async () => {
  const here = "<var>$BASE_URL</var>";
  const commands = new Map<number, boolean>();
  for (
    const [url, address] of [
      ["https://elsewhere.example/v2/", "https://elsewhere.example/v2/a"],
      ["/v{n}", `&quot;${here}/v3/a`],
      ["http://[", undefined],
      ["http://HOST:PORT/api", undefined],
      ["javascript:run()", undefined],
      ["localhost:8545/core", undefined],
      ["wss://a.example", undefined],
    ] as const
  ) {
    const html = await render({
      servers: [{ url, variables: { n: { default: "3" } } }],
      paths: { "/a": { get: {} }, "/b": { servers: [{ url: "/" }], get: {} } },
    });
    if (address !== undefined) assert.match(html, `curl ${address}`, url);
    assert.match(html, `curl &quot;${here}/b&quot;<`, url);
    commands.set(html.split("curl ").length, address !== undefined);
  }
  const [most = 0] = commands.keys();
  assert.equal([...commands], [[most, true], [most - 1, false]]);
});

page("the ETag depends on the servers that the page may call", async () => {
  const etagOf = async (origin: string) => {
    const servers = [{ url: origin }];
    const { headers } = await show({ servers, paths: { "/a": { servers: [{ url: "/" }] } } });
    assert.match(headers.get("content-security-policy")!, `connect-src 'self' ${origin};`);
    return headers.get("etag");
  };
  assert.is(await etagOf("http://a.example"), await etagOf("http://a.example"));
  assert.is.not(await etagOf("http://a.example"), await etagOf("http://b.example"));
});

page("a number that is too large for a double is shown with all its digits", async () => {
  const text = '{"openapi":"3.1.1","info":{"title":"a","version":12345678901234567890},"paths":{}}';
  const html = await (await show(text)).text();
  assert.match(html, "Version 12345678901234567890");
});

for (const danger of sampleOf(DANGERS)) {
  page(`${JSON.stringify(danger)} is shown as text everywhere`, async () => {
    const html = await render(everywhere(danger), everywhereInInfo(danger));
    // In a path, text in braces is a parameter. `harmless` has as many parameters as `danger`, so
    // that both pages have the same HTML tags.
    const harmless = danger.includes("{") ? "{a}{b}{c}" : "harmless";
    const plain = await render(everywhere(harmless), everywhereInInfo(harmless));
    assert.equal(tagsOf(html), tagsOf(plain));
    assert.not.match(html, /href="(?!\.\.\/|#)/);
  });
}

page("absolute and relative links of a description are kept", async () => {
  const html = await render({
    info: { description: "[a](https://a.example/x?y=1&z=2) and [b](docs/b)" },
  });
  assert.match(html, `<a href="https://a.example/x?y=1&amp;z=2" rel="noreferrer">a</a>`);
  assert.match(html, `<a href="../docs/b" rel="noreferrer">b</a>`);
});

page("members of the wrong type are omitted", async () => {
  const cycle = { $ref: "#/paths/~1a" };
  const odd = [null, 7, "text", [], [[]], { a: null }, true, cycle];
  for (const value of sampleOf(odd)) {
    for (
      const document of [
        { tags: value, servers: value, paths: value },
        { paths: { "/a": value, "/b": { get: value } }, tags: [value], servers: [value] },
        { paths: { "/a": { get: { tags: [value], parameters: value, responses: value } } } },
        { paths: { "/a": { get: { parameters: [value], responses: { 200: value } } } } },
        { paths: { "/a": { get: { requestBody: value, servers: value, description: value } } } },
      ]
    ) {
      const html = await render(document);
      assert.match(html, "<h2>A node</h2>", JSON.stringify(document));
      assert.not.match(html, /<code><\/code>|>(null|undefined|\[object Object\])</);
    }
  }
});

page("a long text is truncated, and the page says how much is missing", async () => {
  const short = await render({ info: { title: "A node", version: "1", description: "word" } });
  const description = "word ".repeat(400_000);
  const html = await render({ info: { title: "A node", version: "1", description } });
  assert.ok(html.length < short.length + 10_000);
  assert.match(html, "1996000 characters more in the description");
});

page("1,000 operations take less than 75 kB, even if their texts are long", async () => {
  const html = await unpack(manyOperations(1000, 20));
  const own = html.split("Get the ").length - 1;
  assert.ok(own >= 1000, `${own}`);
  // The curl command is hidden, because the path parameter has no value.
  assert.is(html.match(/<div class="command" hidden>/g)?.length, 1000);
  assert.match(html, "<h4>Responses</h4>");
  // If the description of a response would exceed the limit, the page omits this description
  // instead of truncating it.
  assert.match(html, "<dt><code>404</code></dt><dd></dd>");
});

testOnNode(page, "if operations are omitted, the page says how many", async () => {
  const html = await unpack(manyOperations(1500, 0));
  assert.match(html, /… \d+ more operations in the description/);
});

testOnNode(page, "the processor time grows linearly with the size of the description", async () => {
  const texts = ["[", "`", "**a", "[a](", "- ", "\n", "#", "a ", "$", "{"];
  const time = async (size: number) => {
    const nasty = texts.map((text) => text.repeat(size / text.length));
    const paths = nasty.map((text, i) => [
      `/${i}`,
      { get: { summary: text, description: text, tags: [text] } },
    ]);
    const info = { title: nasty[0], version: "1" };
    return await processorTime(1, () => render({ info, paths: Object.fromEntries(paths) }));
  };
  await time(10_000);
  const [small, large] = [await time(10_000), await time(100_000)];
  // Linear growth would multiply the time by 10, and quadratic growth would multiply the time by
  // 100.
  assert.ok(large < 40 * small, `${small} ms for 10 kB, ${large} ms for 100 kB`);
});

page("the ETag changes only if the content of the header changes", async () => {
  const etagOf = async (info: Record<string, unknown>) =>
    (await show({ paths: {} }, info)).headers.get("etag");
  const first = await etagOf({ name: "a", height: 1 });
  assert.is(await etagOf({ name: "a", height: 1, unknown: "key" }), first);
  assert.is.not(await etagOf({ name: "a", height: 2 }), first);
});

function everywhere(text: string): Document {
  const item = { name: text, in: text, description: text, schema: { type: text, format: text } };
  const field = { ...item, in: "query", example: text };
  const choice = { ...field, name: `${text} 2`, schema: { enum: [text] } };
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
          parameters: [item, field, choice],
          requestBody: { description: text, content: { [text]: {} } },
          responses: { [text]: { description: text, content: { [text]: {} } } },
        },
        put: {
          tags: [text],
          requestBody: { content: { "application/json": { example: text } } },
        },
      },
    },
  };
}

function everywhereInInfo(text: string): Record<string, unknown> {
  const keys = ["name", "software", "version", "network", "chain_id", "height", "status", "peers"];
  return Object.fromEntries(keys.map((key) => [key, text]));
}

function manyOperations(count: number, words: number): Document {
  let seed = 1;
  const word = () => (seed = seed * 48271 % 2147483647).toString(36);
  const text = Array.from({ length: words }, word).join(" ");
  const operation = (i: number) => ({
    tags: [`Tag ${i % 20}`],
    summary: `Get the ${word()} of ${word()}`,
    description: `${word()} ${text}`,
    parameters: [
      ...["query", "header"].map((place) => ({
        name: word(),
        in: place,
        schema: { type: "string" },
        description: `${word()} ${text}`,
      })),
      { name: "id", in: "path", required: true, schema: { type: "string" } },
    ],
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

function tagsOf(html: string): string[] {
  // The page inserts `<wbr>` between the words of a name.
  return [...html.replaceAll("<wbr>", "").matchAll(/<[^>]*>/g)].map(([tag]) =>
    tag.replaceAll(/"[^"]*"|'[^']*'/g, '""')
  );
}

type Document = Record<string, unknown>;

/**
 * @param description the members to add to a minimal description, or a complete description as text
 */
async function show(
  description: Document | string,
  info: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const every = { openapi: "3.1.1", info: { title: "A node", version: "1" }, paths: {} };
  const text = typeof description === "string"
    ? description
    : JSON.stringify({ ...every, ...description });
  const app = createNodeface({ description: { text }, info: () => info, log() {} });
  const read = (path: string, headers = {}) =>
    app.fetch(new Request(`http://localhost${path}`, { headers }));
  const ask = (headers = {}) => read("/v1/spec/simple", headers);
  const isKnown = async () => {
    const { status } = await (await read("/v1/info")).json();
    return status === "ok" || "status" in info;
  };
  await until(isKnown, 60_000);
  // Until the service has read the description, the page shows only the service's own operations.
  await until(async () => !(await (await ask()).text()).includes("is being read"), 60_000);
  const response = await ask(headers);
  assert.is(response.status, 200);
  return response;
}

/** Removes the style sheet, because it contains words that the tests search for. */
async function render(description: Document, info = {}): Promise<string> {
  const html = await (await show(description, info)).text();
  // Names may break between their parts, in the navigation as well as in the content.
  const [navigation, content = ""] = html.split(/(?=<main )/);
  return (navigation + content.replaceAll("<wbr>", ""))
    .replace(/<style>.*?<\/style>/gs, "").replaceAll(' dir="auto"', "");
}

async function unpack(description: Document): Promise<string> {
  const response = await show(description, {}, { "accept-encoding": "gzip" });
  const packed = await response.arrayBuffer();
  assert.ok(packed.byteLength < 75_000, `${packed.byteLength} bytes`);
  return gunzipSync(packed).toString().replaceAll(/ dir="auto"|<wbr>/g, "");
}

page.run();
