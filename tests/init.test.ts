import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { check } from "../src/cli/check.ts";
import { Arguments } from "../src/cli/arguments.ts";
import { type Config, files, readConfig } from "../src/cli/read-config.ts";
import { checkFile, parseConfiguration } from "../src/cli/configuration-file.ts";
import { init, newConfiguration, writeNewFile } from "../src/cli/init.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import { configuration } from "../src/settings/configuration.ts";
import { aboutOf, partsOfSchema, type Settings } from "../src/settings/schema.ts";
import { serveFetch } from "./nodes/_played-server.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const starts = suite("nodeface init");

/** No server listens on port 2. Port 9 is avoided, because Deno does not connect to it. */
const NOWHERE = "http://127.0.0.1:2";

const EMPTY = { head: ["Head"], values: {}, remarks: {}, examples: {} };

async function inFolder(
  use: (folder: string, run: (...args: string[]) => Promise<string>) => Promise<void>,
  name = "nodeface.yaml",
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-init-"));
  const config = join(folder, name);
  try {
    await use(folder, async (...args) => {
      const given = new Arguments(["init", ...args, "--config", config], {});
      return await init(await readConfig(given, files), given.values, files);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const readBack = (folder: string): Promise<Config> =>
  readConfig(new Arguments(["check", "--config", join(folder, "nodeface.yaml")], {}), files);

async function refusal(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it was not refused");
}

starts("init writes to a path below the home directory", () =>
  inFolder(async (folder) => {
    await using node = await serveFetch(play(RECORDINGS.get("etcd")!));
    const { HOME: before } = process.env;
    process.env.HOME = folder;
    try {
      const given = new Arguments(["init", node.url, "--config=~/mine.yaml"], {});
      await init(await readConfig(given, files), given.values, files);
      assert.match(readFileSync(join(folder, "mine.yaml"), "utf8"), "etcd");
    } finally {
      process.env.HOME = before;
    }
  }));

starts(
  "init writes a configuration that check accepts",
  () =>
    inFolder(async (folder, run) => {
      await using node = await serveFetch(play(RECORDINGS.get("etcd")!));
      const said = await run(node.url, "--forward", "reads", "--port", "8099", "--metrics");
      assert.match(said, /^Wrote .*nodeface\.yaml for /);
      assert.match(said, ` for ${node.url}: etcd`);
      assert.match(said, "Next: nodeface check --config ");
      const config = await readBack(folder);
      assert.equal([config.node.url, config.node.kind], [node.url, "etcd"]);
      assert.equal([config.host, config.port, config.forward], [
        "127.0.0.1",
        8099,
        {
          ...resolveForward({
            open: ["reads"],
            clients: [{
              name: "app",
              token_file: join(folder, "nodeface.token"),
              allow: ["reads"],
            }],
          }),
          places: config.forward?.places,
          at_root: true,
        },
      ]);
      const token = join(folder, "nodeface.token");
      assert.match(readFileSync(token, "utf8"), /^[0-9a-f]{64}\n$/);
      if (process.platform !== "win32") assert.is(statSync(token).mode & 0o777, 0o600);
      assert.match(said, `${token} has the token of the client app\n`);
      assert.not.match(said, readFileSync(token, "utf8").trim());
      assert.is(config.metrics, true);
      const text = readFileSync(join(folder, "nodeface.yaml"), "utf8");
      assert.match(text, /\n {2}# This kind was detected: .+\n {2}kind: etcd\n/);
      assert.match(
        (await check({ ...config, node: { ...config.node, url: node.url } })).report,
        "# ",
      );
      assert.equal(readdirSync(folder).sort(), ["nodeface.token", "nodeface.yaml"]);
    }),
);

starts(
  "an existing file is not changed, and the node is not queried",
  () =>
    inFolder(async (folder, run) => {
      const file = join(folder, "nodeface.yaml");
      writeFileSync(file, "access_log: json\n");
      assert.match(await refusal(run(NOWHERE)), "exists already and is not changed");
      assert.is(readFileSync(file, "utf8"), "access_log: json\n");
    }),
);

starts("a file that appears while init runs is not changed", () =>
  inFolder(async (folder) => {
    const file = join(folder, "nodeface.yaml");
    writeFileSync(file, "access_log: json\n");
    assert.match(await refusal(writeNewFile(file, "new", 0o644)), "it exists already");
    assert.is(readFileSync(file, "utf8"), "access_log: json\n");
    assert.equal(readdirSync(folder), ["nodeface.yaml"]);
  }));

starts("a file that cannot be written completely is removed", () =>
  inFolder(async (folder) => {
    function* text() {
      yield "node:\n";
      throw Object.assign(new Error("full"), { code: "ENOSPC" });
    }
    const written = writeNewFile(join(folder, "nodeface.yaml"), text() as never, 0o644);
    assert.match(await refusal(written), "nodeface.yaml");
    assert.equal(readdirSync(folder), []);
  }));

starts("if the token cannot be written, no configuration stays that has none", () =>
  inFolder(
    async (folder, run) => {
      const said = await refusal(run(NOWHERE, "--kind", "nats", "--forward", "reads"));
      assert.match(said, "ENAMETOOLONG");
      assert.equal(readdirSync(folder), []);
    },
    // With `.token` in the place of `.yaml`, the name is longer than a name may be.
    `${"x".repeat(250)}.yaml`,
  ));

starts(
  "a token that is there is kept, and one that no client could use is refused",
  () =>
    inFolder(async (folder, run) => {
      const token = join(folder, "nodeface.token");
      const args = [NOWHERE, "--kind", "nats", "--forward", "reads"];
      writeFileSync(token, "short");
      const place = `the token of the client app (token_file ${token}): it must be at least 32 `;
      assert.ok((await refusal(run(...args))).startsWith(place));
      assert.equal(readdirSync(folder), ["nodeface.token"]);
      writeFileSync(token, "t".repeat(32));
      await run(...args);
      assert.is(readFileSync(token, "utf8"), "t".repeat(32));
    }),
);

starts("a name that a shell would split is quoted in the commands to run next", () =>
  inFolder(
    async (folder, run) => {
      const path = `'${join(folder, "it'\\''s mine.yaml")}'`;
      const said = await run(NOWHERE, "--kind", "nats");
      assert.ok(said.endsWith(`check --config ${path}, then nodeface --config ${path}\n`), said);
    },
    "it's mine.yaml",
  ));

starts(
  "if a node does not respond, nothing is written unless --kind is given",
  () =>
    inFolder(async (folder, run) => {
      const said = await refusal(run(NOWHERE));
      assert.match(said, `${NOWHERE}: connection refused`);
      assert.match(said, "--kind KIND");
      assert.equal(readdirSync(folder), []);
      assert.match(
        await run(NOWHERE, "--kind", "nats"),
        "The node is unreachable: connection refused",
      );
      assert.is((await readBack(folder)).node.kind, "nats");
    }),
);

starts(
  "a node of an unknown kind is reported, and --kind none lets init write the file",
  () =>
    inFolder(async (folder, run) => {
      await using node = await serveFetch(() =>
        Promise.resolve(new Response('{"hello":"world"}', { status: 200 }))
      );
      assert.match(
        await refusal(run(node.url)),
        "responds, but is not a kind of node that Nodeface knows",
      );
      assert.equal(readdirSync(folder), []);
      await run(node.url, "--kind", "none");
      assert.is((await readBack(folder)).node.kind, "none");
    }),
);

starts(
  "if a node requires a secret, init lists the files that it tried and the setting to write",
  () =>
    inFolder(async (folder, run) => {
      await using node = await serveFetch(() =>
        Promise.resolve(
          new Response("", {
            status: 401,
            headers: { "www-authenticate": 'Basic realm="jsonrpc"' },
          }),
        )
      );
      const home = process.env.HOME;
      process.env.HOME = folder;
      try {
        const said = await run(node.url);
        assert.match(said, "The node is degraded: requires credentials (401)");
        assert.match(said, "~/.bitcoin/.cookie: no such file");
        assert.match(said, /In .*nodeface\.yaml, set node\.auth .*\n {2}auth: \{ basic_file: /);
      } finally {
        if (home === undefined) delete process.env.HOME;
        else process.env.HOME = home;
      }
      const text = readFileSync(join(folder, "nodeface.yaml"), "utf8");
      assert.match(text, /\n {2}kind: bitcoin\n/);
      assert.match(text, /\n {2}# {3}~\/\.bitcoin\/\.cookie: no such file\n/);
      assert.match(text, /\n {2}#auth: \{ basic_file: /);
      if (process.platform !== "win32") {
        assert.is(statSync(join(folder, "nodeface.yaml")).mode & 0o077, 0);
      }
    }),
);

starts(
  "if a URL has a key or password, only its owner can read the new file",
  () =>
    inFolder(async (folder, run) => {
      if (process.platform === "win32") return;
      const withoutPassword = "http://127.0.0.1:3/openapi.json";
      const withPassword = "http://user:secret@127.0.0.1:3/openapi.json";
      for (
        const [path, spec, mode] of [
          ["", withoutPassword, 0o644],
          ["/v3/0123456789abcdef0123456789abcdef", withoutPassword, 0o600],
          ["", withPassword, 0o600],
        ] as const
      ) {
        await run(`http://127.0.0.1:2${path}`, "--kind", "ethereum", "--spec", spec);
        const file = join(folder, "nodeface.yaml");
        assert.is(statSync(file).mode & 0o777, mode, path + spec);
        rmSync(file);
      }
    }),
);

/** Checks a configuration, but does not read the files that the configuration names. */
const readFile = (text: string, name: string) => checkFile(parseConfiguration(text, name));

function* leaves(settings: Settings, path = ""): Generator<[path: string, about: string]> {
  for (const [key, setting] of Object.entries(settings)) {
    const { entries } = partsOfSchema(setting);
    const { text, example } = aboutOf(setting);
    if (entries && example === undefined) yield* leaves(entries, `${path}${key}.`);
    else yield [`${path}${key}`, text];
  }
}

starts("the new file contains every setting with its description", () => {
  const text = newConfiguration(EMPTY);
  const said = text.replaceAll(/\n *# /g, " ");
  for (const [path, about] of leaves(partsOfSchema(configuration()).entries!)) {
    assert.match(text, new RegExp(`^ *#${path.split(".").at(-1)}: `, "m"), path);
    assert.ok(said.includes(about), path);
  }
  for (const line of text.split("\n")) assert.ok(line.length <= 100, line);
});

starts("the new file is valid, even after its keys are uncommented one by one", () => {
  let text = newConfiguration(EMPTY);
  readFile(text, "nodeface.yaml");
  const keys = [...text.matchAll(/^ *#\w+: .*$/gm)];
  assert.ok(keys.length > 15);
  for (const [line] of keys) {
    text = text.replace(line, line.replace("#", ""));
    readFile(text, "nodeface.yaml");
  }
});

starts(
  "init converts a path in a flag to a path relative to the new file",
  () =>
    inFolder(async (folder, run) => {
      const spec = join(folder, "my.yaml");
      const missing = await refusal(run(NOWHERE, "--kind", "nats", "--spec", spec));
      assert.is(missing, `--spec names ${spec}: no such file`);
      assert.equal(readdirSync(folder), []);
      writeFileSync(spec, "openapi: 3.1.1");
      await run(NOWHERE, "--kind", "nats", "--spec", spec);
      assert.is((await readBack(folder)).description, join(folder, "my.yaml"));
    }),
);

starts.run();
