import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { files } from "../src/cli/read-config.ts";
import { fileUrl, findFile, readFile, readVariable } from "../src/platform.ts";

const platform = suite("files and environment variables");

const BOUNDS = { limit: 100, timeout: 10_000 };
const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
const file = join(folder, "file");
await writeFile(file, "x".repeat(100));

async function refused(work: Promise<unknown>, reason: string): Promise<void> {
  await work.then(() => assert.unreachable(), (error: Error) => {
    assert.is(error.name, "PlatformError");
    assert.is(error.message, reason);
  });
}

platform("a file is read by its path or URL, unless it exceeds the limit", async () => {
  assert.is((await readFile(file, BOUNDS)).length, 100);
  assert.is((await readFile(pathToFileURL(file), BOUNDS)).length, 100);
  await refused(readFile(file, { ...BOUNDS, limit: 99 }), "it is larger than 99 bytes");
});

platform("a file that reports a size of 0 is read to the end", async () => {
  if (process.platform !== "linux") return;
  assert.match(
    new TextDecoder().decode(await readFile("/proc/self/status", { ...BOUNDS, limit: 1e6 })),
    "VmRSS",
  );
});

platform("a file that cannot be read is reported with the reason", async () => {
  await refused(readFile(join(folder, "none"), BOUNDS), "no such file");
  await refused(readFile(join(file, "none"), BOUNDS), "no such file");
  await refused(readFile(folder, BOUNDS), "it is not a regular file");
  await refused(findFile(pathToFileURL(folder), 9000), "it is not a regular file");
  await refused(findFile(pathToFileURL(join(folder, "none")), 9000), "no such file");
});

platform("a file on a disk that hangs is not waited for, and not looked for twice", async () => {
  const promises = process.getBuiltinModule("node:fs/promises");
  const { realpath } = promises;
  let asked = 0;
  let wake!: (path: string) => void;
  promises.realpath = (() => {
    asked++;
    return new Promise((resolve) => wake = resolve);
  }) as unknown as typeof realpath;
  try {
    for (let time = 0; time < 2; time++) {
      await refused(findFile(pathToFileURL(file), 10), "it takes longer than 10 ms");
    }
    assert.is(asked, 1);
    // With its last description, a reload can go through.
    await files.find(file);
    assert.is(asked, 1);
    // Who may wait longer gets what the disk says when it has woken up.
    const found = findFile(pathToFileURL(file), 60_000);
    promises.realpath = realpath;
    wake(file);
    assert.is((await found).size, 100);
    const stale = Object.assign(new Error("stale"), { code: "ESTALE" });
    promises.realpath = (() => Promise.reject(stale)) as unknown as typeof realpath;
    await files.find(file);
    await refused(findFile(pathToFileURL(file), 9000), "ESTALE");
  } finally {
    promises.realpath = realpath;
  }
});

platform("~/ is the home directory, from HOME or USERPROFILE", async () => {
  const { HOME, USERPROFILE } = process.env;
  try {
    process.env.HOME = folder;
    assert.is((await readFile("~/file", BOUNDS)).length, 100);
    assert.is((await fileUrl("~/file")).href, pathToFileURL(file).href);
    delete process.env.HOME;
    process.env.USERPROFILE = folder;
    assert.is((await readFile("~/file", BOUNDS)).length, 100);
  } finally {
    delete process.env.USERPROFILE;
    Object.assign(process.env, HOME && { HOME }, USERPROFILE && { USERPROFILE });
  }
});

platform("a symbolic link is followed, and the stamp changes with the target file", async () => {
  const link = join(folder, "link");
  await symlink(file, link);
  const found = await findFile(pathToFileURL(link), 9000);
  assert.ok(found.url.href.endsWith("/file"));
  assert.is(found.size, 100);
  await writeFile(file, "y".repeat(101));
  assert.is.not((await findFile(pathToFileURL(link), 9000)).stamp, found.stamp);
});

platform("an environment variable that is not set is undefined", () => {
  assert.is(readVariable("NODEFACE_NOT_SET"), undefined);
});

platform.after(() => rm(folder, { recursive: true }));
platform.run();
