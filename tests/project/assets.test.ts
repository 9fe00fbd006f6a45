import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { ASSETS } from "../../src/generated/assets.js";
import { FILES } from "../../src/generated/page.js";
import { KINDS_WITH_INTERFACE } from "../../src/openapi/load-interface.ts";
import { DENO_RUN, ROOT } from "../_paths.ts";
import { run } from "../_server.ts";

const assets = suite("the assets step");

const FOLDER = "src/generated/assets";
const STEP = [process.execPath, "--import", "tsx", "src/build/generated-modules.ts"];

/** Two of the modules. */
const TAKEN = nameOf("chunks/modal-"), MISSING = nameOf("chunks/vendor-");

const bytes = (base64: string) => Buffer.from(base64, "base64");

/** The modules of a checkout, by their names, with what is in them. */
function modulesIn(root: string): Map<string, string> {
  const folder = join(root, "src/generated");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js"));
  return new Map(
    names.sort().map((
      name,
    ) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

/** The name of the module of one of the files. */
function nameOf(beginning: string): string {
  return basename(
    Object.keys(ASSETS).find((path) => path.includes(beginning))!,
  );
}

/** A copy of what the step reads and writes, for as long as it is worked on. */
async function inCopy(work: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "nodeface-"));
  try {
    for (const part of ["src", "spec", "static", "package.json"]) {
      cpSync(ROOT + part, join(cwd, part), { recursive: true });
    }
    symlinkSync(`${ROOT}node_modules`, join(cwd, "node_modules"));
    await work(cwd);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

assets("it is skipped where it is done", async () => {
  const times = () =>
    [...modulesIn(ROOT).keys()].map((name) => statSync(`${ROOT}src/generated/${name}`).mtimeMs);
  const before = times();
  const { code, stderr } = await run(STEP);
  assert.is(code, 0);
  assert.is(stderr, "");
  assert.equal(times(), before);
});

assets(
  "every coding unpacks to the file itself, and none is longer than it",
  async () => {
    for (const [path, { importContent }] of Object.entries(ASSETS)) {
      const { br, gzip, identity } = await importContent();
      assert.ok((gzip === undefined) !== (identity === undefined), path);
      const plain = gzip ? gunzipSync(bytes(gzip)) : bytes(identity!);
      if (br) assert.ok(brotliDecompressSync(bytes(br)).equals(plain), path);
      for (const form of [br, gzip]) {
        assert.ok(
          !form || bytes(form).length < plain.length,
          path,
        );
      }
      assert.not.match(plain.subarray(-200).toString(), "sourceMappingURL");
    }
  },
);

assets(
  "the page's own files are those of static/, and Scalar's are unpatched but for some",
  async () => {
    const folder = "node_modules/@scalar/api-reference/dist/browser/";
    let patched = 0;
    for (const [path, { importContent }] of Object.entries(ASSETS)) {
      const { gzip, identity } = await importContent();
      const plain = gzip ? gunzipSync(bytes(gzip)) : bytes(identity!);
      const [, name] = /^[^/]+\/(.+)$/.exec(path)!;
      const isOwn = path.startsWith(FILES.explorer);
      const source = readFileSync(
        ROOT + (isOwn ? "static/" : folder) + name,
        "utf8",
      )
        .replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n");
      if (isOwn) assert.is(plain.toString(), source, path);
      else if (plain.toString() !== source) patched++;
    }
    assert.ok(patched > 0 && patched <= 5, String(patched));
  },
);

assets(
  "where one file has changed, it takes the others from the last run",
  async () => {
    await inCopy(async (cwd) => {
      const path = (name: string) => join(cwd, FOLDER, name);
      const before = modulesIn(ROOT);
      appendFileSync(path(TAKEN), "// from the last run\n");
      rmSync(path(MISSING));
      writeFileSync(path("gone.js"), "");
      appendFileSync(join(cwd, "static/explorer.js"), "// changed\n");

      const { code, stderr } = await run(STEP, {}, { cwd });
      assert.is(code, 0, stderr);
      const after = modulesIn(cwd);
      assert.match(after.get(`assets/${TAKEN}`)!, /\/\/ from the last run\n$/);
      assert.is(
        after.get(`assets/${MISSING}`),
        before.get(`assets/${MISSING}`),
      );
      assert.equal([...after.keys()], [...before.keys()]);
      assert.not.match(after.get("page.js")!, FILES.explorer);
      assert.match(after.get("page.js")!, FILES.scalar);
    });
  },
);

assets(
  "two runs at once do no harm, and take away what an interrupted one has left",
  async () => {
    await inCopy(async (cwd) => {
      const left = join(cwd, FOLDER, `${MISSING}.1.new`);
      writeFileSync(left, "half of it");
      utimesSync(left, 0, 0);
      for (const name of [MISSING, "../assets.js"]) {
        rmSync(join(cwd, FOLDER, name));
      }
      const runs = await Promise.all([
        run(STEP, {}, { cwd }),
        run(STEP, {}, { cwd }),
      ]);
      assert.equal(runs.map(({ code }) => code), [0, 0]);
      const [made, expected] = [modulesIn(cwd), modulesIn(ROOT)];
      for (const [name, text] of expected) {
        // The copy is no clone: its commit is not known.
        if (name !== "build-info.js") assert.ok(made.get(name) === text, name);
      }
      assert.not.ok(existsSync(left));
    });
  },
);

assets("Deno runs it with the permissions of its task", async () => {
  await inCopy(async (cwd) => {
    for (const name of ["description.js", "assets.js"]) rmSync(join(cwd, "src/generated", name));
    const { tasks } = JSON.parse(readFileSync(`${ROOT}deno.json`, "utf8"));
    const flags = tasks.assets.split(" ").slice(2);
    cpSync(`${ROOT}deno.json`, join(cwd, "deno.json"));
    const { code, stderr } = await run([...DENO_RUN, ...flags], {}, { cwd });
    assert.is(code, 0, stderr);
    assert.equal([...modulesIn(cwd).keys()], [...modulesIn(ROOT).keys()]);
  });
});

assets("it makes the kinds of node where nothing was made before", async () => {
  await inCopy(async (cwd) => {
    const path = (name: string) => join(cwd, "src/generated", name);
    for (const name of ["kinds.js", "kind-names.js"]) rmSync(path(name));
    const { code, stderr } = await run(STEP, {}, { cwd });
    assert.is(code, 0, stderr);
    for (const name of ["kinds.js", "kind-names.js"]) {
      assert.is(modulesIn(cwd).get(name), modulesIn(ROOT).get(name));
    }
  });
});

assets("what all kinds offer adds less than 400 kB to the executable", () => {
  const sizes = [...modulesIn(ROOT)].filter(([name]) => /^interfaces[/\\]/.test(name))
    .map(([, text]) => text.length);
  assert.is(sizes.length, KINDS_WITH_INTERFACE.length);
  // Bun has each module twice, as text and as bytecode: 364 kB where these are 183 kB (Bun 1.4.4).
  const bytes = 2 * sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < 400_000, `${bytes} bytes`);
});

assets("a kind that is wrong stops it, and its place is said", async () => {
  await inCopy(async (cwd) => {
    const file = (name: string) => join(cwd, "spec/kinds", name);
    writeFileSync(file("etcd.yaml"), `colour: blue\n${readFileSync(file("etcd.yaml"), "utf8")}`);
    writeFileSync(file("near.yaml"), "title: [\n");
    const { code, stderr } = await run(STEP, {}, { cwd });
    assert.is(code, 1);
    assert.match(stderr, "spec/kinds/etcd.yaml:1:1: unknown key colour");
    assert.match(stderr, 'spec/kinds/near.yaml:2:1: a "]" is missing before this');
    assert.not.match(stderr, "    at ");
  });
});

for (
  const [what, from, to, said] of [
    ["no longer applies", "class:`endpoints`}", "class:`gone`}", "does not apply"],
    ["is of another version", 'SEEN_WITH = "', 'SEEN_WITH = "0.', "whether it is still needed"],
  ] as const
) {
  assets(`a patch of Scalar's that ${what} stops it`, async () => {
    await inCopy(async (cwd) => {
      const file = join(cwd, "src/build/patch-scalar.ts");
      writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
      const { code, stderr } = await run(STEP, {}, { cwd });
      assert.is(code, 1);
      assert.match(stderr, said);
    });
  });
}

assets.run();
