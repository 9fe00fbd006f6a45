import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { checkFile, type Files, parseConfiguration } from "../../src/cli/configuration-file.ts";
import { readConfig } from "../../src/cli/configuration.ts";
import { createNodeface } from "../../src/index.ts";
import { ROOT } from "../_paths.ts";

const upgrading = suite("what the manual says of upgrading");

const page = readFileSync(join(ROOT, "docs/upgrading.md"), "utf8");

/** A row of a table: the old line, the new one, and what becomes of the old one, as code or as words. */
interface Row {
  readonly old: string;
  readonly now: string;
  /** What is said of the old line; `undefined` where it is not refused. */
  readonly refusal: string | undefined;
}

/** The rows of a part that have both lines, and nothing besides in the first cell. */
function rowsOf(part: string): Row[] {
  const [, text = ""] = new RegExp(`^## ${part}\n([^]*?)(?=^## |(?![^]))`, "m").exec(page) ?? [];
  return text.split("\n").flatMap((line) => {
    const [, old, now = "", then = ""] = line.split("|").map((cell) => cell.trim());
    const [, code] = /^`([^`]+)`$/.exec(old ?? "") ?? [];
    if (code === undefined) return [];
    return [{ old: code, now: now.slice(1, -1), refusal: /^`([^`]+)`$/.exec(then)?.[1] }];
  });
}

/** Has to be refused with a message that holds what the page says, or to be taken. */
async function assertTried(work: () => unknown, refusal: string | undefined, line: string) {
  const error = await Promise.resolve().then(work).then(() => undefined, (error: Error) => error);
  if (refusal === undefined) return assert.is(error, undefined, `${line}: ${error?.message}`);
  assert.ok(error?.message.includes(refusal), `${line}: ${error?.message ?? "it was taken"}`);
}

upgrading(
  "each old line of a configuration is refused as it says, and each new one taken",
  async () => {
    const rows = rowsOf("The configuration");
    assert.is(rows.length, 5);
    for (const { old, now, refusal } of rows) {
      assert.ok(refusal, old);
      await assertTried(() => checkFile(parseConfiguration(old, "nodeface.yaml")), refusal, old);
      await assertTried(() => checkFile(parseConfiguration(now, "nodeface.yaml")), undefined, now);
    }
  },
);

upgrading("a secret lies beside the configuration", () => {
  const config = "node: { auth: { basic_file: cookie } }";
  assert.match(page, config);
  const { node } = checkFile(parseConfiguration(config, "/etc/nodeface.yaml"));
  assert.equal(node?.auth, { basic_file: "/etc/cookie" });
});

upgrading("the variables do what it says", async () => {
  const files: Files = {
    read: () => Promise.reject(new Error("none")),
    readBytes: () => Promise.reject(new Error("none")),
    find: () => Promise.resolve(),
    isThere: () => Promise.resolve(false),
  };
  const read = async (line: string) => {
    const [, name = "", value = ""] = /^(\w+)=(\S+) nodeface$/.exec(line) ?? [];
    return await readConfig([], { [name]: value }, files);
  };
  const [host, port] = rowsOf("The command");
  assert.is((await read(host!.old)).host, "127.0.0.1");
  assert.is((await read(host!.now)).host, "0.0.0.0");
  assert.is((await read(port!.old)).port, 8081);
  assert.is((await read(port!.now)).port, 8081);
});

upgrading("each old line of a program is refused as it says, and each new one taken", async () => {
  const rows = rowsOf("In a server of your own");
  assert.is(rows.length, 6);
  const names = { createNodeface, serve, tell() {} };
  // What the lines of the page say is run: they are this project's own.
  const runLine = async (line: string) => {
    const made = await new Function(...Object.keys(names), `return ${line}`)(
      ...Object.values(names),
    );
    await made?.close?.();
  };
  for (const { old, now, refusal } of rows) {
    await assertTried(() => runLine(old), refusal, old);
    await assertTried(() => runLine(now), undefined, now);
  }
});

upgrading.run();
