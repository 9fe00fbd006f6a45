// Installs the tools of the table (tests/tools/package-lock.json). Extracts the documents of the table from packages
// that are too large to install (tests/tools/documents.json). Skips everything that is already present.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { install, once, run } from "../_install.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));
const documents = `${folder}../.cache/documents/`;

install(
  folder,
  "Installing the generators, linters and validators that the tests use",
  "--ignore-scripts",
);
once(`${folder}documents.json`, `${documents}.installed`, () => {
  console.error("Downloading the descriptions for the table of documents and tools");
  mkdirSync(documents, { recursive: true });
  for (const source of JSON.parse(readFileSync(`${folder}documents.json`, "utf8"))) extract(source);
});

function extract({ package: name, integrity, files }) {
  const temporary = mkdtempSync(join(tmpdir(), "nodeface-documents-"));
  try {
    const packed = run("npm", ["pack", name, "--silent", "--pack-destination", temporary], folder);
    const archive = join(temporary, packed.trim());
    const digest = createHash("sha512").update(readFileSync(archive)).digest("base64");
    if (`sha512-${digest}` !== integrity) throw new Error(`the archive of ${name} has changed`);
    const paths = Object.values(files).map((path) => `package/${path}`);
    run("tar", ["-xzf", archive, "-C", temporary, ...paths], folder);
    for (const [file, path] of Object.entries(files)) {
      const bytes = readFileSync(join(temporary, "package", path));
      writeFileSync(`${documents}${file}`, path.endsWith(".gz") ? gunzipSync(bytes) : bytes);
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
