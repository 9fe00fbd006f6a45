import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { app, ask } from "../_app.ts";
import { ROOT } from "../_paths.ts";

const version = suite("the version");

version("/v1/info and the changelog have the version in package.json", async () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
  await app.ready();
  assert.is((await (await ask("/v1/info")).json()).version, version);
  const [, latest] = /^## (\S+?),? /m.exec(readFileSync(`${ROOT}CHANGELOG.md`, "utf8")) ?? [];
  assert.is(latest, version);
});

version("deno.json has the version in package.json, and the same versions of packages", () => {
  const [npm, deno] = ["package.json", "deno.json"].map((file) =>
    JSON.parse(readFileSync(`${ROOT}${file}`, "utf8"))
  );
  assert.is(deno.version, npm.version);
  const versions = { ...npm.devDependencies, ...npm.dependencies };
  for (const [name, specifier] of Object.entries(deno.imports)) {
    assert.is(specifier, `npm:${name}@${versions[name]}`);
  }
});

version.run();
