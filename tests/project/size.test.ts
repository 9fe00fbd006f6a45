import { build } from "esbuild";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ASSETS } from "../../src/generated/assets.js";
import { FILES } from "../../src/generated/page.js";
import { ask } from "../_app.ts";
import { ROOT } from "../_paths.ts";

// What grows past its bound needs a reason; a larger bound stands in the commit with that. The package and what
// is installed with it have theirs in `release/package.slow.ts`.
const size = suite("the size of the page and of the program");

/** How many bytes of a file are sent to a browser. */
async function sent(name: string): Promise<number> {
  const { br, gzip, identity } = await ASSETS[name]!.importContent();
  return Buffer.from((br ?? gzip ?? identity)!, "base64").length;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** The page's own files. */
const OWN = Object.keys(ASSETS).filter((path) => path.startsWith(FILES.explorer));

size("an operation can be tried after 26 kB, in five requests", async () => {
  const response = await ask("/v1/spec", { headers: { "accept-encoding": "br" } });
  assert.is(response.headers.get("content-encoding"), "br");
  const page = (await response.arrayBuffer()).byteLength;
  const bytes = sum([page, ...await Promise.all(OWN.map(sent))]);
  assert.ok(bytes < 26_000, `${bytes} bytes`);
});

size("Scalar is there after 690 kB, in 20 requests", async () => {
  const files = new Set([...OWN, ...FILES.preload]);
  const bytes = sum(await Promise.all([...files].map(sent)));
  assert.ok(bytes < 690_000, `${bytes} bytes`);
  assert.ok(files.size < 20, `${files.size} files and the page`);
});

size("the program has no more than 4.5 MB, with all that it serves", async () => {
  const { outputFiles } = await build({
    entryPoints: [`${ROOT}src/main.ts`],
    bundle: true,
    minify: true,
    splitting: true,
    write: false,
    format: "esm",
    platform: "node",
    outdir: "out",
    logLevel: "error",
  });
  const bytes = sum(outputFiles.map(({ contents }) => contents.length));
  assert.ok(bytes < 4_500_000, `${bytes} bytes`);
});

size.run();
