import { readFileSync, statSync } from "node:fs";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { MANIFEST, type Manifest } from "../../src/explorer/manifest.ts";
import { ROOT } from "../_paths.ts";
import { run } from "../_server.ts";

const assets = suite("the assets step");

const folder = `${ROOT}dist/assets/`;
const read = (path: string) => readFileSync(folder + path);
const manifest: Manifest = JSON.parse(readFileSync(ROOT + MANIFEST, "utf8"));

assets("it is skipped where it is done", async () => {
  const before = statSync(ROOT + MANIFEST).mtimeMs;
  const { code, stderr } = await run([process.execPath, "--import", "tsx", "src/build/assets.ts"]);
  assert.is(code, 0);
  assert.is(stderr, "");
  assert.is(statSync(ROOT + MANIFEST).mtimeMs, before);
});

assets("every coding unpacks to the file itself, and none is longer than it", () => {
  for (const [path, { codings }] of Object.entries(manifest.files)) {
    const plain = read(path);
    if (codings.includes("br")) assert.ok(brotliDecompressSync(read(`${path}.br`)).equals(plain));
    if (codings.includes("gzip")) assert.ok(gunzipSync(read(`${path}.gz`)).equals(plain));
    for (const form of codings.filter((coding) => coding !== "identity")) {
      const end = form === "br" ? ".br" : ".gz";
      assert.ok(statSync(`${folder}${path}${end}`).size < plain.length, path);
    }
  }
});

assets("no file refers to a source map", () => {
  for (const path of Object.keys(manifest.files)) {
    assert.not.ok(path.endsWith(".map"));
    assert.not.match(read(path).subarray(-200).toString(), "sourceMappingURL");
  }
});

assets.run();
