import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gunzipSync } from "node:zlib";
import { ASSETS } from "../../src/generated/assets.js";
import { FILES } from "../../src/generated/page.js";
import { isCurrent, stampOf, writeStamp } from "../../src/build/stamp.mjs";
import { KINDS_WITH_INTERFACE } from "../_kinds.ts";
import { DENO_RUN, ROOT } from "../_paths.ts";
import { run } from "../_server.ts";

const assets = suite("the build step for assets");

const STEP = [process.execPath, "--import", "tsx", "src/build/generated-modules.ts"];

const SCALAR = `assets/${FILES.scalar}/standalone.esm.js`;

const bytes = (base64: string) => Buffer.from(base64, "base64");

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

/** True for modules whose content depends on the set of kinds. */
const isOfKinds = (name: string) => /^(interfaces|kind)/.test(name);

/** The build reads every kind, which takes most of its time, so the test copies only two kinds. */
const SOME_KINDS = ["etcd", "near"];

async function inCopy(work: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "nodeface-"));
  try {
    for (const part of ["src", "static", "package.json", "spec/openapi.yaml"]) {
      cpSync(ROOT + part, join(cwd, part), { recursive: true });
    }
    for (const kind of SOME_KINDS) {
      cpSync(`${ROOT}spec/kinds/${kind}.yaml`, join(cwd, `spec/kinds/${kind}.yaml`));
    }
    symlinkSync(`${ROOT}node_modules`, join(cwd, "node_modules"));
    await work(cwd);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

assets(
  "each compressed file decompresses to the original, and is shorter",
  async () => {
    for (const [path, { importContent }] of Object.entries(ASSETS)) {
      const { gzip, identity } = await importContent();
      assert.ok((gzip === undefined) !== (identity === undefined), path);
      const plain = gzip ? gunzipSync(bytes(gzip)) : bytes(identity!);
      assert.ok(!gzip || bytes(gzip).length < plain.length, path);
      assert.not.match(plain.subarray(-200).toString(), "sourceMappingURL");
    }
  },
);

assets(
  "Scalar's files are unchanged but for the one patch of the samples for a shell",
  async () => {
    const folder = "node_modules/@scalar/api-reference/dist/browser/";
    const changed: string[] = [];
    for (const [path, { importContent }] of Object.entries(ASSETS)) {
      const { gzip, identity } = await importContent();
      const plain = gzip ? gunzipSync(bytes(gzip)) : bytes(identity!);
      const [, name] = /^[^/]+\/(.+)$/.exec(path)!;
      if (path.startsWith(FILES.explorer)) continue;
      const source = readFileSync(ROOT + folder + name, "utf8")
        .replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n");
      if (plain.toString() === source) continue;
      changed.push(name!);
      const patch = ".replaceAll(`$NODEFACE_TOKEN`,`'\"$NODEFACE_TOKEN\"'`)";
      assert.ok(plain.toString().replace(patch, "") === source, name);
    }
    assert.is(changed.length, 1);
  },
);

assets(
  "two concurrent runs create missing files, keep the others, and remove leftovers",
  async () => {
    await inCopy(async (cwd) => {
      const path = (name: string) => join(cwd, "src/generated", name);
      appendFileSync(path(SCALAR), "// from the last run\n");
      mkdirSync(path("assets/gone"));
      for (const name of modulesIn(cwd).keys()) {
        if (!name.includes(FILES.scalar)) rmSync(path(name));
      }
      appendFileSync(join(cwd, "static/simple.ts"), "globalThis.isChanged = true;\n");

      const runs = await Promise.all([run(STEP, {}, { cwd }), run(STEP, {}, { cwd })]);
      assert.equal(runs.map(({ code }) => code), [0, 0], runs.map(({ stderr }) => stderr).join());
      const [made, expected] = [modulesIn(cwd), modulesIn(ROOT)];
      const shared = (name: string) => !isOfKinds(name) && !name.includes(FILES.explorer);
      for (const name of [...expected.keys()].filter(shared)) assert.ok(made.has(name), name);
      assert.match(made.get(SCALAR)!, /\/\/ from the last run\n$/);
      assert.not.match(made.get("page.js")!, FILES.explorer);
      assert.match(made.get("page.js")!, FILES.scalar);
      const { KINDS } = await import(pathToFileURL(path("kinds.js")).href);
      assert.equal(Object.keys(KINDS), SOME_KINDS);
      assert.is(made.get("interfaces/etcd.js"), expected.get("interfaces/etcd.js"));
      assert.not.ok(made.has("interfaces/bitcoin.js"));
      assert.is(readdirSync(path("assets")).length, 2);

      const times = () => [...made.keys()].map((name) => statSync(path(name)).mtimeMs);
      const before = times();
      assert.equal(await run(STEP, {}, { cwd }), { code: 0, stdout: "", stderr: "" });
      assert.equal(times(), before, "unchanged files are not written again");
    });
  },
);

assets("the step runs on Deno with the permissions of its task", async () => {
  await inCopy(async (cwd) => {
    rmSync(join(cwd, "src/generated/assets.js"));
    const { tasks } = JSON.parse(readFileSync(`${ROOT}deno.json`, "utf8"));
    const flags = tasks.assets.split(" ").slice(2);
    cpSync(`${ROOT}deno.json`, join(cwd, "deno.json"));
    const { code, stderr } = await run([...DENO_RUN, ...flags], {}, { cwd });
    assert.is(code, 0, stderr);
    const [made, expected] = [cwd, ROOT].map((root) =>
      [...modulesIn(root).keys()].filter((name) => !isOfKinds(name))
    );
    assert.equal(made, expected);
  });
});

assets("the operations of all kinds add less than 410 kB to the executable", () => {
  const sizes = [...modulesIn(ROOT)].filter(([name]) => /^interfaces[/\\]/.test(name))
    .map(([, text]) => text.length);
  assert.is(sizes.length, KINDS_WITH_INTERFACE.length);
  // Bun stores each module both as text and as bytecode. With Bun 1.4.4, 183 kB of text take up 364
  // kB.
  const bytes = 2 * sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < 410_000, `${bytes} bytes`);
});

assets("an invalid kind stops the step, and its error is reported with its position", async () => {
  await inCopy(async (cwd) => {
    const file = (name: string) => join(cwd, "spec/kinds", name);
    writeFileSync(file("etcd.yaml"), `colour: blue\n${readFileSync(file("etcd.yaml"), "utf8")}`);
    writeFileSync(file("near.yaml"), "title: [\n");
    const { code, stderr } = await run(STEP, {}, { cwd });
    assert.is(code, 1);
    assert.match(stderr, "spec/kinds/etcd.yaml:1:1: colour is an unknown key");
    assert.match(stderr, 'spec/kinds/near.yaml:2:1: a closing "]" is missing before this');
    assert.not.match(stderr, "    at ");
  });
});

assets("the step runs again only if a source has changed since its last run", () => {
  const root = mkdtempSync(join(tmpdir(), "stamp-"));
  try {
    for (const folder of ["spec/kinds", "src/generated", "static"]) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    const change = (path: string, text: string) => writeFileSync(join(root, path), text);
    change("static/head.css", "a");
    change("package.json", "{}");
    assert.not(isCurrent(root));
    writeStamp(stampOf(root), root);
    assert.ok(isCurrent(root));
    change("src/generated/page.js", "made");
    assert.ok(isCurrent(root));
    for (const path of ["static/head.css", "spec/kinds/new.yaml", "package.json"]) {
      change(path, `changed ${path}`);
      assert.not(isCurrent(root), path);
      writeStamp(stampOf(root), root);
      assert.ok(isCurrent(root), path);
    }
    rmSync(join(root, "spec/kinds/new.yaml"));
    assert.not(isCurrent(root));
    rmSync(join(root, "src/generated/stamp.js"), { force: true });
    assert.not(isCurrent(root));
  } finally {
    rmSync(root, { recursive: true });
  }
});

assets.run();
