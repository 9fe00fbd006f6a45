import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

const STEP = [process.execPath, "--import", "tsx", "src/build/assets.ts"];

assets("it is skipped where it is done", async () => {
  const before = statSync(ROOT + MANIFEST).mtimeMs;
  const { code, stderr } = await run(STEP);
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

assets("where one file has changed, it takes the others from the last run", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "nodeface-"));
  try {
    for (const part of ["src", "spec", "static", "package.json", "dist/assets"]) {
      cpSync(ROOT + part, join(cwd, part), { recursive: true });
    }
    symlinkSync(`${ROOT}node_modules`, join(cwd, "node_modules"));
    const dist = (path: string) => join(cwd, "dist/assets", path);
    const [taken, missing] = Object.keys(manifest.files).filter((path) =>
      path.startsWith(manifest.scalar) && manifest.files[path]!.codings.includes("br")
    );
    writeFileSync(dist(`${taken}.br`), "from the last run");
    rmSync(dist(`${missing}.br`));
    appendFileSync(join(cwd, "static/explorer.css"), "/* changed */");

    const { code, stderr } = await run(STEP, {}, { cwd });
    assert.is(code, 0, stderr);
    assert.is(readFileSync(dist(`${taken}.br`), "utf8"), "from the last run");
    assert.ok(brotliDecompressSync(readFileSync(dist(`${missing}.br`))).equals(read(missing!)));
    const made: Manifest = JSON.parse(readFileSync(dist("manifest.json"), "utf8"));
    assert.is.not(made.explorer, manifest.explorer);
    assert.is(Object.keys(made.files).length, Object.keys(manifest.files).length);
    assert.match(readFileSync(dist(`${made.explorer}/explorer.css`), "utf8"), "/* changed */");
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});

assets.run();
