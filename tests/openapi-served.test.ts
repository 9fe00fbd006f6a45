import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { ASSETS } from "../src/generated/assets.js";
import { FILES } from "../src/generated/page.js";
import { ask, PATHS } from "./_app.ts";

const description = suite("description");

type Operation = { operationId: string; responses: Record<string, unknown> };
type Description = { paths: Record<string, { get: Operation }> };

const json = async (path: string) => await (await ask(path)).json() as Description;

description("both forms say the same", async () => {
  assert.equal(parse(await (await ask("/spec.yaml")).text()), await json("/spec.json"));
});

description("the forms under /v1 differ in the way to the service alone", async () => {
  for (const form of ["spec.json", "spec.yaml"]) {
    const [plain, versioned] = await Promise.all(
      [`/${form}`, `/v1/${form}`].map(async (path) => await (await ask(path)).text()),
    );
    assert.is(plain!.replace(/(url"?: ?)"\."/, '$1".."'), versioned, form);
    assert.is.not(plain, versioned, form);
  }
});

description("YAML is shown rather than downloaded", async () => {
  const { headers } = await ask("/spec.yaml");
  assert.is(headers.get("content-disposition"), 'inline; filename="spec.yaml"');
});

/** Paths that are served and not described, each with the reason. */
const NOT_DESCRIBED: Readonly<Record<string, string>> = {
  "/": "leads people to the page",
  "/v1": "leads people to the page",
  "/favicon.ico": "asked for by browsers alone",
  [`/assets/${FILES.explorer}/reference.js`]: "a file of the page, whose name is in the page alone",
  [`/assets/${Object.keys(ASSETS).find((file) => file.includes("/chunks/"))}`]: "like the other",
};

description(
  "every path that answers is described, unless it is for people and browsers",
  async () => {
    const { paths } = await json("/spec.json");
    const served = ["/", "/v1", ...PATHS.map(([path]) => path)];
    const missing = served.filter((path) => !paths[path]?.get && !NOT_DESCRIBED[path]);
    assert.equal(missing, []);
  },
);

description("what is not described is served, and stands in no description", async () => {
  const { paths } = await json("/spec.json");
  for (const path of Object.keys(NOT_DESCRIBED)) {
    assert.ok((await ask(path)).status < 400, path);
    assert.not(Object.hasOwn(paths, path), path);
  }
  assert.equal(Object.keys(paths).filter((path) => path.startsWith("/assets")), []);
});

description("everything described is served, with a status that is described", async () => {
  const { paths } = await json("/spec.json");
  for (const [path, { get }] of Object.entries(paths)) {
    const { status } = await ask(path);
    assert.ok(status < 400 && get.responses[status], `GET ${path} answers ${status}`);
  }
});

description("the link set has the relations that its schema names, and no others", async () => {
  const document = await (await ask("/spec.json")).json();
  const { linkset: [links] } = await (await ask("/.well-known/api-catalog")).json();
  const { properties, additionalProperties } =
    document.components.schemas.LinkSet.properties.linkset.items;
  assert.equal(Object.keys(links).sort(), Object.keys(properties).sort());
  assert.is(additionalProperties, undefined);
});

description("every operation has a name of its own and says what it is", async () => {
  const operations = Object.values((await json("/spec.json")).paths).map(({ get }) => get);
  assert.is(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
});

description.run();
