import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkFile, type Files, parseConfiguration } from "../../src/cli/configuration-file.ts";
import { readConfig } from "../../src/cli/read-config.ts";
import { ROOT } from "../_paths.ts";

const upgrading = suite("the manual's page on upgrading");

const page = readFileSync(join(ROOT, "docs/upgrading.md"), "utf8");

const filesOf = (yaml: string): Files => ({
  read: () => Promise.resolve(yaml),
  readBytes: () => Promise.reject(new Error("none")),
  find: () => Promise.resolve(),
  isThere: () => Promise.resolve(false),
});

upgrading("the configurations in docs/upgrading.md are accepted", () => {
  for (const line of ["access_log: json", "description: { from: FILE, servers: keep }"]) {
    assert.match(page, line);
    checkFile(parseConfiguration(line, "nodeface.yaml"));
  }
});

upgrading(
  "the names of 0.2 for the access log still work, with a warning that gives the new names",
  async () => {
    const read = (args: string[], env: Record<string, string>, yaml = "") =>
      readConfig(yaml ? ["--config", "nodeface.yaml", ...args] : args, env, filesOf(yaml));
    const pairs = [
      [await read([], {}, "log: json"), "access_log"],
      [await read(["--log", "json"], {}), "--access-log"],
      [await read([], { NODEFACE_LOG: "json" }), "NODEFACE_ACCESS_LOG"],
    ] as const;
    for (const [{ accessLog, remarks }, name] of pairs) {
      assert.is(accessLog, "json", name);
      assert.ok(remarks.some(({ message, level }) => level === "warn" && message.includes(name)));
      assert.match(page, `\`${name}`);
    }
    assert.equal((await read(["--access-log", "json"], {})).remarks, []);
  },
);

upgrading.run();
