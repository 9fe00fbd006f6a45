import { build } from "esbuild";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ASSETS } from "../../src/generated/assets.js";
import { FILES, TEMPLATES } from "../../src/generated/page.js";
import { ask } from "../_app.ts";
import { ROOT } from "../_paths.ts";

// A commit that raises one of these limits must state the reason. The limits for the package and
// its installation are in `release/package.slow.ts`.
const size = suite("the size of the page and of the program");

async function sent(name: string): Promise<number> {
  const { gzip, identity } = await ASSETS[name]!.importContent();
  return Buffer.from((gzip ?? identity)!, "base64").length;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/**
 * Returns the sizes in bytes of the HTML, of Nodeface's own scripts, and of all scripts, as they
 * are sent.
 */
async function weigh(view: "reference" | "simple") {
  const response = await ask(`/v1/spec/${view}`, { headers: { "accept-encoding": "gzip" } });
  assert.is(response.headers.get("content-encoding"), "gzip");
  const scripts = [...TEMPLATES[view].matchAll(/assets\/([^"]+\.js)/g)].map(([, path]) => path!);
  const files = [...new Set(scripts)];
  const own = files.filter((path) => path.startsWith(FILES.explorer));
  return {
    html: (await response.arrayBuffer()).byteLength,
    own: sum(await Promise.all(own.map(sent))),
    all: sum(await Promise.all(files.map(sent))),
    requests: files.length + 1,
  };
}

size("the simple page is usable after two requests with 28 kB in total", async () => {
  const { html, own, all, requests } = await weigh("simple");
  assert.ok(html + own < 28_000, `${html + own} bytes`);
  assert.is(own, all);
  assert.is(requests, 2);
});

size("the reference loads 920 kB, with 13 kB of our scripts, in 24 requests", async () => {
  const { html, own, all, requests } = await weigh("reference");
  assert.ok(html + all < 920_000, `${html + all} bytes`);
  assert.ok(own < 13_000, `${own} bytes`);
  // The page also requests the description.
  assert.ok(requests + 1 <= 24, `${requests} files`);
});

size("the program has at most 4.5 MB, including everything that it serves", async () => {
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
