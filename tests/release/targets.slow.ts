import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fileOf, TARGETS } from "../../src/build/bun-executable.ts";
import { ARCHITECTURES } from "../../src/build/image.ts";
import { testWhere } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { start } from "../_server.ts";
import { runtimeSuite } from "../runtimes/_suite.ts";
import { NOWHERE } from "./_executable.ts";
import { licensedIn, packagesInScalar, unlike } from "./_shipped.ts";

const FOLDER = `${ROOT}dist/executables/`;
const { version: VERSION } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const PACKAGED = ARCHITECTURES.flatMap(({ name }) => [
  `nodeface-image-${name}.tar`,
  `nodeface_${VERSION}_${name}.deb`,
]);

type Component = Readonly<Record<"name" | "version", string>>;

const isBuilt = existsSync(`${FOLDER}SHA256SUMS`);

const EMULATORS: Readonly<Record<string, readonly string[]>> = {
  "linux-arm64": ["/usr/bin/qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"],
};

for (const target of isBuilt ? TARGETS : []) {
  const command = commandFor(target);
  if (command) runtimeSuite(`the executable for ${target}`, () => start(command, {}, NOWHERE));
  else console.log(`Not run here: ${fileOf(target)}`);
}

const targets = suite("the executables for all machines");
const notBuilt = isBuilt ? undefined : 'needs "npm run build:exe -- --all"';

testWhere(targets, notBuilt, "each executable has the checksum in the list", async () => {
  const lines = await readFileSync(`${FOLDER}SHA256SUMS`, "utf8").trimEnd().split("\n");
  const names = lines.map((line) => line.split("  ")[1]);
  assert.equal(names, readdirSync(FOLDER).filter((name) => name !== "SHA256SUMS").sort());
  for (const name of [...TARGETS.map(fileOf), ...PACKAGED, "LICENSES.txt", "nodeface.cdx.json"]) {
    assert.ok(names.includes(name), name);
  }
  for (const line of lines) {
    const [sum, name] = line.split("  ");
    const content = readFileSync(FOLDER + name);
    assert.is(createHash("sha256").update(content).digest("hex"), sum, name);
  }
});

testWhere(
  targets,
  notBuilt,
  "the bill of materials lists exactly the contents of the executables",
  async () => {
    const bill = await JSON.parse(readFileSync(`${FOLDER}nodeface.cdx.json`, "utf8"));
    const own = bill.dependencies[0].dependsOn.map((name: string) => name.replace(/@[\d.]+$/, ""));
    const npm = [
      "%40scalar/api-reference",
      "content-type",
      "fastest-levenshtein",
    ];
    const names = [...npm, "itty-router", "negotiator", "valibot", "ws", "yaml"].map((name) =>
      `pkg:npm/${name}`
    );
    assert.equal(own, ["bun", ...names]);
    const licences = readFileSync(`${FOLDER}LICENSES.txt`, "utf8");
    const licensed = licensedIn(licences);
    assert.match(licences, /^bun [\d.]+ \(MIT\)\n[^]*JavaScriptCore.+LGPL[^]{1000}/);
    const components = bill.components.map((part: Component) => `${part.name} ${part.version}`);
    assert.equal(components, licensed);
    const bundled = own.slice(1).map((purl: string) => decodeURIComponent(purl.slice(8)));
    assert.equal(unlike(new Set(["bun", ...packagesInScalar(), ...bundled]), licensed), []);
    assert.ok(licensed.length > 150, `only ${licensed.length}`);
    for (const { name, version, hashes } of bill.components) {
      assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/);
      if (name !== "bun") assert.match(hashes[0].content, /^[0-9a-f]{128}$/, name);
    }
  },
);

targets.run();

function commandFor(target: string): readonly string[] | undefined {
  const program = FOLDER + fileOf(target);
  const platform = process.platform.replace("darwin", "macos").replace("win32", "windows");
  if (target === `${platform}-${process.arch}`) return [program];
  const emulator = EMULATORS[target];
  return emulator?.every((part) => !part.startsWith("/") || existsSync(part))
    ? [...emulator, program]
    : undefined;
}
