import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface } from "../../src/index.ts";
import type { JsonObject } from "../../src/json/values.ts";
import { closePages, type Complaints, launch, QUIET, watch } from "./_browser.ts";
import { NODE, SIMPLE, tabTo } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";
import { fillForm, openDetails, openForm, operationAt, sendForm } from "./_try.ts";

const tries = suite("calling operations from the simple page");

const asked: { method: string; target: string; headers: Headers; body: string }[] = [];

const DIGITS = "18446744073709551615";

const ANSWERS: Readonly<Record<string, () => Response>> = {
  "/numbers": () =>
    new Response(`{"n":${DIGITS},"d":1.00000000,"e":1e-8,"list":[1,{"a":[]}],"o":{}}`, {
      headers: { "content-type": "application/json", "retry-after": "7", "x-other": "no" },
    }),
  "/wrong": () =>
    new Response(
      JSON.stringify({
        title: "Bad Request",
        detail: "Two are wrong",
        errors: [
          { in: "query", name: "count", rule: "must be an integer" },
          { in: "body", name: "colour", rule: "must be one of red, blue" },
          { in: "query", name: "other", rule: "is unknown" },
        ],
      }),
      { status: 400, headers: { "content-type": "application/problem+json" } },
    ),
  "/larger": () => new Response(`${"a line of text\n".repeat(80_000)}the needle\n`),
  "/many": () => Response.json(Array.from({ length: 12_000 }, (_, at) => at)),
  "/large": () => new Response(`${"a line of text\n".repeat(20_000)}the needle\n`),
  "/octets": () => new Response(new Uint8Array([0, 255, 1])),
  "/nothing": () => new Response(null, { status: 204 }),
};

let browser: Browser;
let own: Served;
/** A service whose node cannot be reached. */
let unreachable: Served;
let described: Served;

tries.before(async () => {
  const start = (options: Parameters<typeof createNodeface>[0]) =>
    serve(createNodeface({ log: () => {}, ...options }), { hostname: "127.0.0.1", port: 0 });
  [browser, own, unreachable] = await Promise.all([
    launch(),
    start({}),
    start({ node: { url: "http://127.0.0.1:1" } }),
  ]);
  described = await serveNode({
    info: () => NODE,
    document: DOCUMENT,
    answer: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (!pathname.startsWith("/t/")) return undefined;
      const { method, headers } = request;
      asked.push({ method, target: pathname + search, headers, body: await request.text() });
      if (pathname.startsWith("/t/endless/")) {
        const type = { "content-type": "text/event-stream" };
        const start = (controller: ReadableStreamDefaultController) =>
          controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
        return new Response(new ReadableStream({ start }), { headers: type });
      }
      return ANSWERS[pathname.slice(2)]?.() ?? new Response("{}");
    },
  });
});
tries.before.each(() => void (asked.length = 0));
tries.after(async () => {
  await closePages(browser);
  for (const server of [own, unreachable, described]) await server?.close();
});

const query = (name: string, more: JsonObject = {}) => ({ name, in: "query", ...more });
const get = (operationId: string, parameters: JsonObject[] = []) => ({
  get: { operationId, parameters, responses: { 200: { description: "Done" } } },
});

const DOCUMENT = {
  openapi: "3.1.1",
  info: { title: "Things", version: "1" },
  servers: [{ url: "./t" }],
  paths: {
    "/numbers": get("numbers"),
    "/large": get("large"),
    "/larger": get("larger"),
    "/many": get("many"),
    "/octets": get("octets"),
    "/nothing": get("nothing"),
    ...Object.fromEntries([1, 2, 3, 4].map((at) => [`/endless/${at}`, {
      get: {
        operationId: `endless${at}`,
        responses: { 200: { description: "Events", content: { "text/event-stream": {} } } },
      },
    }])),
    "/things/{id}/{path}": get("things", [
      { name: "id", in: "path", required: true, schema: { type: "string" }, example: "a/b c" },
      {
        name: "path",
        in: "path",
        required: true,
        schema: { type: "string" },
        "x-multi-segment": true,
      },
      query("kind", { schema: { enum: ["red", "blue"] }, example: "blue" }),
      query("tags", { schema: { type: "array", items: { type: "string" } }, example: ["x", "y"] }),
      query("ids", { schema: { type: "array" }, explode: false }),
      query("limit", { schema: { type: "integer", default: 50 } }),
      query("whole", { schema: { type: "boolean" } }),
      { name: "X-Trace", in: "header", schema: { type: "string" }, example: "t" },
    ]),
    "/wrong": {
      post: {
        operationId: "wrong",
        parameters: [query("count", { schema: { type: "integer" } })],
        requestBody: {
          required: true,
          content: { "application/json": { example: { colour: "green", n: 12345678901234 } } },
        },
        responses: { 400: { description: "Wrong" } },
      },
    },
    "/secret": {
      post: {
        operationId: "secret",
        security: [{ key: [] }],
        responses: { 200: { description: "Done" } },
      },
      get: { ...get("secretRead").get, security: [{ key: [] }] },
    },
    "/file": {
      post: {
        operationId: "file",
        requestBody: { content: { "multipart/form-data": {} } },
        responses: { 200: { description: "Done" } },
      },
    },
    "/elsewhere": {
      servers: [{ url: "https://elsewhere.example" }],
      ...get("elsewhere", [query("a")]),
    },
  },
  components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
};

async function inPage(
  work: (page: Page, complaints: Complaints) => Promise<void>,
  { server = described, ...options }: BrowserContextOptions & { server?: Served } = {},
) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  try {
    const page = await context.newPage();
    const complaints = await watch(page, new URL(server.url).origin);
    await page.goto(server.url + SIMPLE);
    await work(page, complaints);
  } finally {
    await context.close();
  }
}

tries(
  "all of this service's own operations succeed without a message on the console",
  () =>
    inPage(async (page, complaints) => {
      const { paths } = await (await fetch(`${own.url}spec.json`)).json();
      const names = Object.values(paths as Record<string, Record<string, { operationId: string }>>)
        .flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
      assert.ok(names.length >= 8, String(names));
      for (const name of names) {
        const operation = operationAt(page, name);
        const form = await openForm(operation);
        // Its response never ends.
        if (name === "getEvents") {
          await form.getByRole("button", { name: "Start", exact: true }).click();
          await operation.getByText(/^Receiving · [1-9]/).waitFor();
          await form.getByRole("button", { name: "Stop", exact: true }).click();
          await operation.getByText(/^Stopped · \d+ received$/).waitFor();
          continue;
        }
        const { status, line, text } = await sendForm(operation);
        assert.is(status, "200 OK", name);
        assert.match(line, /^200 OK · \d+(\.\d+)? m?s · \d+(\.\d+)? (bytes|kB)$/);
        assert.ok(text.length > 10, name);
      }
      assert.equal(complaints, QUIET);
    }, { server: own }),
);

tries(
  "three streams may be open at once, and leave connections for other calls",
  () =>
    inPage(async (page) => {
      const operations = [1, 2, 3, 4].map((at) => operationAt(page, `endless${at}`));
      for (const operation of operations) {
        const form = await openForm(operation);
        await form.getByRole("button", { name: "Start", exact: true }).click();
        const isLast = operation === operations.at(-1);
        await operation.getByText(isLast ? /^Not started: stop another/ : /^Receiving/).waitFor();
      }
      const numbers = operationAt(page, "numbers");
      await openForm(numbers);
      assert.is((await sendForm(numbers)).status, "200");
      await operations[0]!.getByRole("button", { name: "Stop", exact: true }).click();
      await operations[0]!.getByText(/^Stopped/).waitFor();
      await operations[3]!.getByRole("button", { name: "Start", exact: true }).click();
      await operations[3]!.getByText(/^Receiving/).waitFor();
    }),
);

tries(
  "a page that is opened with a login in its URL works, and does not show the login",
  () =>
    inPage(async (page) => {
      await page.goto(own.url.replace("//", "//me:secret@") + SIMPLE);
      const operation = operationAt(page, "getInfo");
      await openForm(operation);
      const { status } = await sendForm(operation);
      assert.is(status, "200 OK");
      assert.not.match(await page.locator("body").innerText(), "secret");
      await operation.locator(".command select").selectOption("JavaScript");
      assert.not.match(await operation.locator(".command code").innerText(), "secret");
    }, { server: own }),
);

tries("an unhealthy status (503) is shown like any other response", () =>
  inPage(async (page) => {
    const operation = operationAt(page, "getHealth");
    const form = await openForm(operation);
    await form.getByLabel("accept").fill("syncing");
    const { status, text } = await sendForm(operation);
    assert.match(status, "503");
    assert.match(text, '"status": "unreachable"');
  }, { server: unreachable }));

tries(
  "a form and its curl command send only the fields that are filled in",
  () =>
    inPage(async (page) => {
      const operation = operationAt(page, "things");
      const form = await openForm(operation);
      const curl = operation.locator("pre").first();
      assert.is(await form.getByLabel("limit").inputValue(), "");
      assert.is(await form.getByLabel("limit").getAttribute("placeholder"), "50");
      assert.is(await form.getByLabel("kind").inputValue(), "blue");
      await form.getByLabel("path").last().fill("c d/e");
      await form.getByLabel("ids").fill("1, 2");
      await sendForm(operation);
      const target = "/t/things/a%2Fb%20c/c%20d/e?kind=blue&tags=x&tags=y&ids=1,2";
      const base = described.url.slice(0, -1);
      assert.is(asked[0]!.target, target);
      assert.is(asked[0]!.headers.get("x-trace"), null);
      assert.is(await curl.innerText(), `curl '${base}${target}'`);

      await fillForm(form, { id: "it's", path: "p", whole: "true", "X-Trace": "1 2" });
      await sendForm(operation);
      assert.is(asked[1]!.target, "/t/things/it%27s/p?whole=true");
      assert.is(asked[1]!.headers.get("x-trace"), "1 2");
      const written = `curl '${base}/t/things/it%27s/p?whole=true' -H 'X-Trace: 1 2'`;
      assert.is(await curl.innerText(), written);
    }),
);

tries(
  "on a phone, numbers can be negative, and no keyboard corrects a text",
  () =>
    inPage(async (page) => {
      const form = await openForm(operationAt(page, "things"));
      assert.is(await form.getByLabel("limit").getAttribute("inputmode"), "text");
      const secret = await openForm(operationAt(page, "secret"));
      for (
        const field of [
          form.getByLabel("limit"),
          secret.getByLabel("token"),
          page.getByRole("searchbox"),
        ]
      ) {
        assert.is(await field.getAttribute("autocorrect"), "off");
      }
    }),
);

tries("the form stays where it is while somebody types", () =>
  inPage(async (page) => {
    const operation = operationAt(page, "wrong");
    const form = await openForm(operation);
    const placeAfter = async (text: string) => {
      await form.getByLabel("count").fill(text);
      return await operation.evaluate((article) =>
        article.querySelector(".send")!.getBoundingClientRect().top -
        article.getBoundingClientRect().top
      );
    };
    const place = await placeAfter("1");
    for (const text of ["2", "3", "4"]) assert.is(await placeAfter(text), place);
  }));

tries("missing required fields are marked, and nothing is sent", () =>
  inPage(async (page) => {
    const operation = operationAt(page, "things");
    const form = await openForm(operation);
    await fillForm(form, { path: ".." });
    await operation.getByRole("button", { name: "Send" }).click();
    const id = form.getByLabel("id", { exact: false }).first();
    assert.is(await id.getAttribute("aria-invalid"), "true");
    assert.is(await errorOf(page, "id"), "id is required");
    assert.is(await errorOf(page, "path"), "path cannot have the segment . or ..");
    assert.ok(await id.evaluate((field) => field === document.activeElement));
    assert.equal(asked, []);
    await id.fill("7");
    assert.is(await id.getAttribute("aria-invalid"), null);
  }));

const errorOf = (page: Page, name: string) =>
  page.locator(`.try[open] [name="${name}"]`).evaluate((field) =>
    document.getElementById(field.getAttribute("aria-describedby")!)!.textContent
  );

tries(
  "if a 400 response names fields, they are marked; its other errors are listed",
  () =>
    inPage(async (page) => {
      const operation = operationAt(page, "wrong");
      const form = await openForm(operation);
      const body = form.getByLabel("body");
      assert.is(await body.inputValue(), '{\n  "colour": "green",\n  "n": 12345678901234\n}');
      await body.fill(`{ "n": ${DIGITS} }`);
      await form.getByLabel("count").fill("7");
      const { line } = await sendForm(operation);
      assert.is(asked[0]!.body, `{ "n": ${DIGITS} }`);
      assert.is(asked[0]!.headers.get("content-type"), "application/json");
      assert.is(await errorOf(page, "count"), "count must be an integer");
      assert.is(await errorOf(page, "body"), "colour must be one of red, blue");
      assert.match(line, /^400 .* · Two are wrong · other is unknown$/);
      assert.match(
        await operation.locator("pre").first().innerText(),
        `-H 'Content-Type: application/json' --data-raw '{"n":${DIGITS}}'`,
      );
    }),
);

tries("numbers keep all digits, and only useful headers are shown", () =>
  inPage(async (page) => {
    const operation = operationAt(page, "numbers");
    await openForm(operation);
    const { text } = await sendForm(operation);
    assert.is(
      text,
      `{\n  "n": ${DIGITS},\n  "d": 1.00000000,\n  "e": 1e-8,\n  "list": [\n    1,\n    {\n` +
        `      "a": []\n    }\n  ],\n  "o": {}\n}`,
    );
    const headers = await operation.locator(".response dl").innerText();
    assert.match(headers, /retry-after\s+7/);
    assert.not.match(headers, "x-other");
  }));

tries(
  "a large response is shown and can be searched; a larger one is only downloaded completely",
  () =>
    inPage(async (page) => {
      const operation = operationAt(page, "large");
      await openForm(operation);
      const { text, line } = await sendForm(operation);
      assert.match(line, "300.0 kB");
      assert.ok(text.includes("needle"));
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        operation.getByRole("link", { name: "Download (300.0 kB)" }).click(),
      ]);
      assert.is(download.suggestedFilename(), "large.txt");
      const larger = operationAt(page, "larger");
      await openForm(larger);
      const { text: part } = await sendForm(larger);
      assert.ok(part.length < 1_010_000 && !part.includes("needle"));
      await larger.getByText("The first 1.0 MB are shown.").waitFor();
      await larger.getByRole("link", { name: "Download (1.2 MB)" }).waitFor();
    }),
);

tries(
  "a long list shows its first 10,000 lines, and the others on demand",
  () =>
    inPage(async (page) => {
      const operation = operationAt(page, "many");
      await openForm(operation);
      await sendForm(operation);
      const pre = operation.locator(".response pre");
      assert.ok(!(await pre.textContent())!.includes("11999"));
      await pre.getByRole("button", { name: "2002 more lines" }).click();
      assert.match(await pre.textContent() ?? "", /11998,\n {2}11999\n\]$/);
    }),
);

tries(
  "a binary response can be downloaded, and an empty one is shown",
  () =>
    inPage(async (page) => {
      await openForm(operationAt(page, "octets"));
      await sendForm(operationAt(page, "octets"));
      await operationAt(page, "octets").getByRole("link", { name: "Download (3 bytes)" })
        .waitFor();
      await openForm(operationAt(page, "nothing"));
      const { status, text } = await sendForm(operationAt(page, "nothing"));
      assert.equal([status, text], ["204 No Content", ""]);
    }),
);

tries(
  "the keyboard alone is enough to find an operation, fill it in, send it and read the response",
  () =>
    inPage(async (page) => {
      const operation = operationAt(page, "things");
      await page.keyboard.press("/");
      await page.keyboard.type("/things get");
      await page.keyboard.press("Enter");
      await operation.locator(".try[open] form").waitFor();
      await tabTo(page, /^path path, string/);
      await page.keyboard.type("c/d");
      await tabTo(page, /^Send$/);
      await page.keyboard.press("Enter");
      await operation.locator(".status").getByText("200", { exact: true }).waitFor();
      assert.match(asked[0]!.target, /^\/t\/things\/a%2Fb%20c\/c\/d\?kind=blue&/);
      await tabTo(page, /^Response body$/);
    }),
);

tries("the curl command and the response can be copied", () =>
  inPage(async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const operation = operationAt(page, "numbers");
    await openForm(operation);
    const { text } = await sendForm(operation);
    const line = await operation.locator(".command pre").innerText();
    for (const [at, copied] of [line, text].entries()) {
      await operation.getByRole("button", { name: "Copy" }).nth(at).click();
      await operation.getByRole("button", { name: "Copied" }).waitFor();
      assert.is(await page.evaluate(() => navigator.clipboard.readText()), copied);
      await operation.getByRole("button", { name: "Copied" }).waitFor({ state: "detached" });
    }
  }));

tries(
  "a token is typed in once, is sent only by operations that need it, and is in no curl command",
  () =>
    inPage(async (page) => {
      const form = await openForm(operationAt(page, "secret"));
      await form.getByLabel("token").fill("abc.def");
      await sendForm(operationAt(page, "secret"));
      await openForm(operationAt(page, "secretRead"));
      await sendForm(operationAt(page, "secretRead"));
      await openForm(operationAt(page, "numbers"));
      await sendForm(operationAt(page, "numbers"));
      assert.equal(
        asked.map(({ headers }) => headers.get("authorization")),
        ["Bearer abc.def", "Bearer abc.def", null],
      );
      const curl = await operationAt(page, "secret").locator("pre").first().textContent();
      assert.match(curl!, ' -X POST -H "Authorization: Bearer $NODEFACE_TOKEN"');
      const kept = await page.evaluate(() =>
        JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])
      );
      assert.not.match(kept, "abc.def");
      assert.not.match(await page.content(), "abc.def");
    }),
);

tries(
  "if another server cannot be reached, the page says so; an upload has no form",
  () =>
    inPage(async (page) => {
      assert.is(await operationAt(page, "file").locator(".try").count(), 0);
      const operation = operationAt(page, "elsewhere");
      await openForm(operation);
      const { line } = await sendForm(operation);
      assert.match(line, "No response: the server cannot be reached");
    }),
);

tries("a call can be cancelled before its response arrives", () =>
  inPage(async (page) => {
    await page.route("**/t/numbers", () => {});
    const operation = operationAt(page, "numbers");
    await openForm(operation);
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.getByRole("button", { name: "Stop" }).click();
    await operation.getByText(/^Cancelled after \d/).waitFor();
    await operation.getByRole("button", { name: "Send" }).waitFor();
  }));

tries(
  "a form that is opened before the script has loaded can be sent",
  () =>
    inPage(async (page) => {
      let release = () => {};
      const held = new Promise<void>((resolve) => release = resolve);
      await page.route("**/simple.js", async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(own.url + SIMPLE, { waitUntil: "commit" });
      const operation = operationAt(page, "getHealth");
      await openDetails(operation);
      release();
      await operation.getByRole("button", { name: "Send" }).click();
      await operation.getByText(/^200 OK/).waitFor();
    }, { server: own }),
);

tries(
  "without JavaScript, a read-only GET has a link if it needs no input",
  () =>
    inPage(async (page) => {
      assert.is(await page.getByText("Try it", { exact: true }).first().isVisible(), false);
      await operationAt(page, "getHealth").getByRole("link", { name: "Open" }).click();
      await page.waitForURL(`${own.url}v1/health**`);
      assert.match(await page.locator("body").innerText(), /"status": ?null/);
    }, { server: own, javaScriptEnabled: false }),
);

tries(
  "without JavaScript, only a complete GET has a link; other operations show a curl command",
  () =>
    inPage(async (page) => {
      // A curl command is hidden if a required value is missing.
      assert.is(await operationAt(page, "things").locator("pre").isVisible(), false);
      for (const name of ["wrong", "secretRead", "elsewhere"]) {
        assert.is(await operationAt(page, name).locator("noscript a").count(), 0, name);
        assert.match(await operationAt(page, name).locator("pre").textContent() ?? "", /^curl /);
      }
      assert.is(await operationAt(page, "numbers").locator("noscript a").count(), 1);
    }, { javaScriptEnabled: false }),
);

tries.run();
