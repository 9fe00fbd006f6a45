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

description("the forms under /v1 are the same bytes", async () => {
  for (const form of ["spec.json", "spec.yaml"]) {
    const [plain, versioned] = [await ask(`/${form}`), await ask(`/v1/${form}`)];
    assert.equal([...plain.headers], [...versioned.headers]);
    assert.is(await plain.text(), await versioned.text());
  }
});

description("YAML is shown rather than downloaded", async () => {
  const { headers } = await ask("/spec.yaml");
  assert.is(headers.get("content-disposition"), 'inline; filename="spec.yaml"');
});

description("every path that answers is described", async () => {
  const { paths } = await json("/spec.json");
  for (const path of ["/", "/v1", ...PATHS.map(([path]) => path)]) {
    assert.ok(paths[path]?.get, path);
  }
});

description("everything described is served, with a status that is described", async () => {
  const { paths } = await json("/spec.json");
  const chunk = Object.keys(ASSETS).find((file) => file.includes("/chunks/")) ?? "";
  const file = (path: string) =>
    path.includes("/chunks/") ? chunk : `${FILES.explorer}/explorer.js`;
  for (const [path, { get }] of Object.entries(paths)) {
    const served = path.startsWith("/assets/") ? `/assets/${file(path)}` : path;
    const { status } = await ask(served);
    assert.ok(status < 400 && get.responses[status], `GET ${served} answers ${status}`);
  }
});

description("every operation has a name of its own and says what it is", async () => {
  const operations = Object.values((await json("/spec.json")).paths).map(({ get }) => get);
  assert.is(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
});

description.run();
