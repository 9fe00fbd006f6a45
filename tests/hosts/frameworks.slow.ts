/**
 * Hands the documents of frameworks to `createNodeface`, and runs the checks of a query and of
 * content, as docs/operations.md shows both.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type NodefaceOptions, problem } from "../../src/index.ts";
import { testWhere } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { NOT_INSTALLED, PACKAGES, withVersion } from "./_folder.ts";

const frameworks = suite("the documents of frameworks, and the checks of a handler");

const PAGE = readFileSync(`${ROOT}docs/operations.md`, "utf8");

/** For each framework, a program that creates `app` with the operation `GET /peers`. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "hono-openapi": `
    import { Hono } from "hono";
    import { describeRoute, generateSpecs, validator } from "hono-openapi";
    import * as v from "valibot";
    const app = new Hono();
    const responses = { 200: { description: "The peers" } };
    const query = validator("query", v.object({ limit: v.optional(v.string()) }));
    app.get("/peers", describeRoute({ responses }), query, (c) => c.json([]));`,
  "@hono/zod-openapi": `
    import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
    const app = new OpenAPIHono();
    const request = { query: z.object({ limit: z.coerce.number().default(10) }) };
    const responses = { 200: { description: "The peers" } };
    const route = createRoute({ method: "get", path: "/peers", request, responses });
    app.openapi(route, (c) => c.json([]));
    const info = { title: "exampled", version: "2.1.0" };`,
  "@fastify/swagger": `
    import fastify from "fastify";
    import swagger from "@fastify/swagger";
    const app = fastify();
    await app.register(swagger, { openapi: { openapi: "3.1.0" } });
    const querystring = { type: "object", properties: { limit: { type: "integer" } } };
    app.get("/peers", { schema: { querystring } }, () => []);
    await app.ready();`,
  "@elysiajs/openapi": `
    import { Elysia, t } from "elysia";
    import { openapi } from "@elysiajs/openapi";
    const query = t.Object({ limit: t.Optional(t.Number()) });
    const app = new Elysia().use(openapi()).get("/peers", () => [], { query });`,
  chanfana: `
    import { fromHono, OpenAPIRoute } from "chanfana";
    import { Hono } from "hono";
    import { z } from "zod";
    class ListPeers extends OpenAPIRoute {
      schema = {
        request: { query: z.object({ limit: z.coerce.number().default(10) }) },
        responses: { 200: { description: "The peers" } },
      };
      handle() {
        return [];
      }
    }
    const app = fromHono(new Hono());
    app.get("/peers", ListPeers);`,
};

const missing = (...packages: string[]) =>
  NOT_INSTALLED ?? packages.map((name) => withVersion(name) ? undefined : `needs ${name}`)
    .find((reason) => reason !== undefined);

/** Resolves to the default export of a program that finds the installed packages. */
async function run(program: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  symlinkSync(PACKAGES, join(folder, "node_modules"), "junction");
  const file = join(folder, "program.mts");
  writeFileSync(file, program);
  try {
    return (await import(pathToFileURL(file).href)).default;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  testWhere(frameworks, missing(name), `the document of ${name} is shown`, async () => {
    const row = PAGE.split("\n").find((line) => line.startsWith(`| \`${name}\``));
    const [, , expression] = row!.split("`").filter((_, i) => i !== 2);
    const code = `${program}\nexport default ${expression};`;
    const description = await run(code) as NodefaceOptions["description"];
    const messages: string[] = [];
    const nodeface = createNodeface({ description, log: (message) => messages.push(message) });
    await nodeface.refresh();
    const response = await nodeface.fetch(new Request("http://localhost/spec.json"));
    const { paths } = await response.json();
    const [parameter] = paths["/peers"].get.parameters;
    assert.equal([parameter.name, parameter.in], ["limit", "query"]);
    assert.equal(messages.length, 1);
    assert.match(messages[0]!, "the page sends the calls to this service");
    await nodeface.close();
  });
}

const [QUERY = "", CONTENT = ""] = [...PAGE.matchAll(/^```js\n([^]*?)^```/gm)]
  .map(([, code]) => code!);

type Handle = (request: Request) => Promise<Response>;

async function statusOf(handle: Handle, request: Request): Promise<number> {
  try {
    return (await handle(request)).status;
  } catch (thrown) {
    if (thrown instanceof Error) throw thrown;
    return (thrown as Response).status;
  }
}

testWhere(frameworks, missing("valibot"), "valibot checks the query", async () => {
  Object.assign(globalThis, { problem, listPeers: (limit: number) => Array(limit).fill(0) });
  const handle = await run(
    `import * as v from "valibot";\n${QUERY}\nexport default handle;`,
  ) as Handle;
  const ask = (query: string) => statusOf(handle, new Request(`http://localhost/v1/peers${query}`));
  assert.equal([await ask(""), await ask("?limit=5"), await ask("?limit=500")], [200, 200, 400]);
});

testWhere(frameworks, missing("zod"), "zod checks the content", async () => {
  Object.assign(globalThis, { problem, addPeer: (peer: object) => peer });
  const handle = await run(
    `import { z } from "zod";\n${CONTENT}\nexport default handle;`,
  ) as Handle;
  const send = (body: string) =>
    statusOf(handle, new Request("http://localhost/v1/peers", { method: "POST", body }));
  const peer = '{ "address": "http://peer.example" }';
  assert.equal([await send(peer), await send("{}"), await send("{")], [201, 400, 400]);
});

frameworks.run();
