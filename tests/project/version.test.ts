import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { app, ask } from "../_app.ts";
import { ROOT } from "../_paths.ts";

const version = suite("the version");

version("package.json says it; the info and the changelog follow", async () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
  await app.ready();
  assert.is((await (await ask("/v1/info")).json()).version, version);
  const [, latest] = /^## (\S+?),? /m.exec(readFileSync(`${ROOT}CHANGELOG.md`, "utf8")) ?? [];
  assert.is(latest, version);
});

version.run();
