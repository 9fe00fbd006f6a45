import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "../_paths.ts";
import { CHOSEN_COMMANDS, COMMANDS, run, serving, start } from "../_server.ts";
import { infoOf, until } from "../nodes/_daemon.ts";

const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
const BROKEN = join(folder, "broken.yaml");
writeFileSync(BROKEN, "metrisc: true\n");
const UNKNOWN = `${BROKEN}:1:1: metrisc is an unknown key; did you mean metrics?`;

/** `mistakes.test.ts` tests further invalid arguments without starting the command. */
const WRONG: [code: 1 | 2, args: string[], env: Record<string, string>, complaint: string][] = [
  [2, ["--bogus"], {}, 'unknown option "--bogus"; see nodeface --help'],
  [2, ["check"], {}, "name a node, as in nodeface check http://127.0.0.1:8545"],
  [2, ["init"], {}, "init needs the URL of a node, as in nodeface init http://127.0.0.1:8545"],
  [2, ["--port"], {}, "--port needs a value; see nodeface --help"],
  [
    2,
    ["--kind", "etdc"],
    {},
    '--kind must be a kind of node (see "nodeface kinds") or none, not "etdc"; did you mean etcd?',
  ],
  [
    2,
    ["--bogus", "--config", "/none"],
    { PORT: "1" },
    'unknown option "--bogus"; see nodeface --help\nnodeface: /none: no such file',
  ],
  [2, ["kinds", "xyz"], {}, 'unknown kind "xyz"; see nodeface kinds'],
  [1, ["--spec", "/none.yaml"], {}, "--spec names /none.yaml: no such file"],
  [1, ["check", "--spec", "/none.yaml"], {}, "--spec names /none.yaml: no such file"],
  // What could drive a terminal is not printed as it came.
  [1, ["--config", "/no\u001bne"], {}, "/no\ufffdne: no such file"],
  [1, ["--config", BROKEN], {}, UNKNOWN],
  [1, ["check", "--offline", "--config", BROKEN], {}, UNKNOWN],
  [
    1,
    ["init", "http://127.0.0.1:2", "--config", BROKEN],
    {},
    `${BROKEN} exists already and is not changed; name another file with --config`,
  ],
  [1, [], { PORT: "http" }, 'PORT must be a whole number from 0 to 65535, not "http"'],
  [
    1,
    [],
    { NODEFACE_KIND: "etdc" },
    'NODEFACE_KIND must be a kind of node (see "nodeface kinds") or none, not "etdc"; did you mean etcd?',
  ],
];

/**
 * A description with so many dangling references that the report on them does not fit into a pipe's
 * buffer.
 */
const MANY = join(folder, "many.json");
const LINES = 1000;
const schemas = Array.from({ length: LINES }, (_, i) => [`S${i}`, {
  $ref: `#/components/schemas/${"n".repeat(200)}${i}`,
}]);
const info = { title: "Many", version: "1" };
writeFileSync(
  MANY,
  JSON.stringify({
    openapi: "3.1.0",
    info,
    paths: {},
    components: { schemas: Object.fromEntries(schemas) },
  }),
);

async function runSlowly([program, ...args]: readonly string[]) {
  const child = spawn(program!, args, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  await once(child.stdout, "readable");
  // The output does not fit into the pipe's buffer. During the next second, a faulty command would
  // exit and lose the rest of its output.
  await Promise.race([ended, wait(1000)]);
  let stdout = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) stdout += chunk;
  return { code: await ended, stdout };
}

const VERSION =
  /^nodeface \d+\.\d+\.\d+ on (Node|Deno|Bun) \d+\.\d+\.\d+(, built from [0-9a-f]+)?\n$/;

for (const [runtime, command] of Object.entries(CHOSEN_COMMANDS)) {
  const suiteOf = suite(`the command on ${runtime}`);

  suiteOf(
    "the command prints its addresses when it is ready, and exits with 0 after SIGINT",
    async () => {
      const server = await start(command, { NODEFACE_HOST: "localhost" });
      assert.is((await fetch(`${server.url}v1/info`)).status, 200);
      const { code, stderr, stdout } = await server.stop("SIGINT");
      assert.is(code, 0, stderr);
      assert.is(stdout, "");
      assert.match(
        stderr,
        /^\S+Z info {2}nodeface \d+\.\d+\.\d+ on (http:\/\/\S+\/) \(explorer: \1v1\/spec\)\n\S+Z warn {2}no node is configured; .*\n\S+Z info {2}stopping: SIGINT\n$/,
      );
    },
  );

  suiteOf(
    "a second service on the same port exits with 1 and one line; the first runs until SIGTERM",
    async () => {
      const first = await start(command);
      const { port } = new URL(first.url);
      const second = await run([...command, "--port", port]);
      assert.is(second.code, 1);
      assert.is(
        second.stderr,
        `nodeface: cannot listen on 127.0.0.1, port ${port}: ` +
          "the port is already in use; choose another with --port\n",
      );
      assert.is((await fetch(`${first.url}v1/info`)).status, 200);
      const { code, stderr, stdout } = await first.stop("SIGTERM");
      assert.is(code, 0, stderr);
      assert.match(stderr, / stopping: SIGTERM\n$/);
      assert.is(stdout, "");
    },
  );

  suiteOf(
    "if a signal comes during the start, the command exits with 0",
    async () => {
      const { code, stderr } = await run(
        serving(command, "tests/project/_signalled.ts"),
      );
      assert.is(code, 0, stderr);
    },
  );

  suiteOf("the programs and variables of a configuration may be used", async () => {
    if (process.platform !== "linux") return;
    const info = {
      sources: { disk: { command: ["df", "--output=avail", "/"], ttl: "1m" } },
      fields: { disk_free: { from: "disk#", as: { match: String.raw`\d+` } } },
    };
    const config = join(folder, `${runtime}.yaml`);
    const node = { url: "http://127.0.0.1:2", kind: "none", auth: { bearer_env: "MY_TOKEN" } };
    writeFileSync(config, JSON.stringify({ node, info }));
    const server = await start([...command, "--config", config], { MY_TOKEN: "t".repeat(32) });
    await until(async () => /^\d+$/.test(String((await infoOf(server.url)).info.disk_free)));
    const { stderr } = await server.stop();
    assert.not.match(stderr, "MY_TOKEN");
  });

  suiteOf("a SIGHUP during the start is not lost", async () => {
    const { code, stderr } = await run(serving(command, "tests/project/_hung-up.ts"));
    assert.is(code, 0, stderr);
  });

  suiteOf(
    "a SIGHUP after the configuration was read, but before listening, reloads it",
    async () => {
      const config = join(folder, `early-${runtime}.yaml`);
      writeFileSync(config, "info: { static: { name: second } }");
      const program = serving(command, "tests/project/_reloaded-early.ts");
      const server = await start([...program, "--config", config]);
      await until(async () => (await infoOf(server.url)).info.name === "second");
      assert.is((await server.stop()).code, 0);
    },
  );

  suiteOf(
    "without a terminal and a configuration file, SIGHUP changes nothing",
    async () => {
      const server = await start(command);
      process.kill(server.pid, "SIGHUP");
      const told = "no configuration file to reload on SIGHUP\n";
      await until(() => Promise.resolve(server.stderr().includes(told)));
      assert.is((await fetch(`${server.url}v1/ready`)).status, 200);
      assert.is((await server.stop()).code, 0);
    },
  );

  suiteOf("the command writes its complete output to a slow pipe", async () => {
    const { code, stdout } = await runSlowly([
      ...command,
      "check",
      "--spec",
      MANY,
    ]);
    assert.is(code, 1);
    assert.is(stdout.match(/leads nowhere$/gm)!.length, LINES);
    assert.match(stdout, /^- errors in the description: 1000$/m);
    const { software } = JSON.parse(stdout.slice(stdout.indexOf("# Info\n") + 7));
    assert.is(software, "nodeface");
  });

  suiteOf(
    "the command continues if the reader of its access log exits",
    async () => {
      const server = await start([...command, "--access-log", "text"]);
      server.leave();
      for (let i = 0; i < 5; i++) await fetch(`${server.url}v1/health`);
      const { code, stderr } = await server.stop();
      assert.is(code, 0);
      assert.is(stderr.trim().split("\n").length, 3, stderr);
    },
  );

  suiteOf("the command continues if the reader of its log exits", async () => {
    const config = join(folder, `${runtime}.yaml`);
    const write = (name: string) => writeFileSync(config, `info: { static: { name: ${name} } }`);
    write("first");
    const server = await start([...command, "--config", config]);
    server.leave("stderr");
    // No process reads the log any more, but each reload still writes to it.
    for (const name of ["second", "third", "fourth"]) {
      write(name);
      process.kill(server.pid, "SIGHUP");
      await until(async () => (await infoOf(server.url)).info.name === name);
    }
    assert.is((await server.stop()).code, 0);
  });

  suiteOf(
    "--version and --help print and exit, even if the environment is invalid",
    async () => {
      const version = await run([...command, "--version"], { PORT: "http" });
      assert.match(version.stdout, VERSION);
      assert.match(version.stdout, runtime);
      assert.is(version.code, 0);
      const help = await run([...command, "--help"], { PORT: "http" });
      assert.match(help.stdout, /^Usage: nodeface /);
      assert.is(help.code, 0);
    },
  );

  suiteOf("if its output cannot be written, the command says so and exits with 1", async () => {
    if (process.platform !== "linux") return;
    const shell = ["sh", "-c", '"$@" > /dev/full', "sh"];
    const { code, stderr } = await run([...shell, ...command, "kinds"]);
    assert.is(stderr, "nodeface: cannot write to standard output: no space left\n");
    assert.is(code, 1);
  });

  suiteOf("an unknown flag is reported in one line, with exit code 2", async () => {
    const { code, stderr, stdout } = await run([...command, "--prot", "80"]);
    assert.is(code, 2);
    assert.is(
      stderr,
      'nodeface: unknown option "--prot"; did you mean --port?\n',
    );
    assert.is(stdout, "");
  });

  suiteOf.run();
}

const wrong = suite("wrong arguments exit with 2, and a wrong configuration with 1");
for (const [expected, args, env, complaint] of WRONG) {
  wrong(`${expected}: ${JSON.stringify(env)} ${args.join(" ")}`, async () => {
    const { code, stderr } = await run([...COMMANDS.Bun, ...args], env);
    assert.is(stderr, `nodeface: ${complaint}\n`);
    assert.is(code, expected);
  });
}

const denoWithNet = (host: string) =>
  COMMANDS.Deno.map((flag) => flag === "--allow-net" ? `${flag}=${host}` : flag);

wrong("on Deno, the command says in one line which --allow-net it needs to listen", async () => {
  const { code, stderr } = await run([...denoWithNet("localhost"), "--host", "localhost"]);
  const why = "cannot listen on localhost, port 8080: Deno needs the permission";
  assert.is(stderr, `nodeface: ${why} --allow-net=127.0.0.1:8080\n`);
  assert.is(code, 1);
});

for (const host of ["127.0.0.1", "localhost"]) {
  wrong(`on Deno, check says that --allow-net does not allow the node at ${host}`, async () => {
    const { code, stdout } = await run([
      ...denoWithNet("192.0.2.1"),
      "check",
      `http://${host}:8545`,
    ]);
    const why = "cannot be reached: Deno needs the permission --allow-net";
    assert.match(stdout, `- the node is unreachable: ${why}; name the node's address in`);
    assert.is(code, 1);
  });
}

wrong("on Deno, the right to connect to a name is the right to connect to its node", async () => {
  const node = createServer((_, response) => response.end("{}")).listen(0, "localhost");
  await once(node, "listening");
  const host = `localhost:${(node.address() as AddressInfo).port}`;
  const { stdout } = await run([...denoWithNet(host), "check", `http://${host}`]);
  assert.not.match(stdout, "unreachable");
  node.close();
});

const json = suite("check --json");

for (
  const [what, args, code, trouble] of [
    ["trouble", ["check", "http://127.0.0.1:2"], 1, /^the node is unreachable: /],
    ["wrong arguments", ["check", "--prot", "80"], 2, /^unknown option "--prot"/],
    ["a wrong configuration", ["check", "--config", "/none"], 1, /no such file$/],
  ] as const
) {
  json(`check --json prints one object and exits with ${code} if there is ${what}`, async () => {
    const ended = await run([...COMMANDS.Bun, ...args, "--json"], { NODEFACE_PROT: "1" });
    const { ok, troubles } = JSON.parse(ended.stdout);
    // On a busy machine, the command says that it is still asking.
    const stderr = ended.stderr.replaceAll(/^nodeface: .* …\n/gm, "");
    assert.equal([ok, ended.code, stderr], [false, code, ""]);
    assert.match(troubles[0], trouble);
  });
}

json("check --offline reports an error that the service would log, as JSON, too", async () => {
  const config = join(folder, "itself.yaml");
  const write = (port: number) =>
    writeFileSync(
      config,
      `listen: 127.0.0.1:8080\nnode: { url: "http://127.0.0.1:${port}" }\nforward: reads\n`,
    );
  const check = async (...more: string[]) => {
    const args = ["check", "--offline", "--config", config, ...more];
    const { code, stdout, stderr } = await run([...COMMANDS.Bun, ...args]);
    return [code, more.length > 0 ? JSON.parse(stdout) : stdout + stderr];
  };
  write(8080);
  const itself =
    "node.url http://127.0.0.1:8080 is where this service would listen; choose another port with --port or listen";
  assert.equal(await check(), [1, `nodeface: ${itself}\n`]);
  assert.equal(await check("--json"), [1, { ok: false, troubles: [itself], notes: [] }]);
  write(8545);
  assert.equal(await check("--json"), [0, { ok: true, troubles: [], notes: [] }]);
  // Only the service has the credentials that systemd gives it.
  const client = "{ name: a, token_file: $CREDENTIALS_DIRECTORY/a, allow: [reads] }";
  writeFileSync(
    config,
    `node: { url: "http://127.0.0.1:8545" }\nforward: { clients: [${client}] }\n`,
  );
  const [code, text] = await check();
  assert.match(text, "$CREDENTIALS_DIRECTORY is not set\nThe configuration has no errors\n");
  assert.is(code, 0);
  const missing = { tls: { ca_file: "none.pem" }, auth: { basic_file: "none.cookie" } };
  for (const key of ["tls", "auth"] as const) {
    const node = { url: "https://127.0.0.1:8545", [key]: missing[key] };
    writeFileSync(config, JSON.stringify({ node }));
    const [code, { troubles, notes }] = await check("--json");
    // A node that has stopped may have removed its secret, but not the certificate.
    assert.is(code, key === "tls" ? 1 : 0);
    const [found, none] = key === "tls" ? [troubles, notes] : [notes, troubles];
    assert.match(found.join(), /none\.\w+: no such file/);
    assert.equal(none, []);
  }
});

json("check --json prints one object and exits with 0 if there is no error", async () => {
  const spec = join(folder, "well.json");
  writeFileSync(spec, JSON.stringify({ openapi: "3.1.0", info, paths: {} }));
  const args = ["check", "--json", "--spec", spec];
  const variables = { NODEFACE_PROT: "1", NODEFACE_POST: "" };
  const ended = await run([...COMMANDS.Bun, ...args], variables);
  const { ok, troubles, notes } = JSON.parse(ended.stdout);
  // On a busy machine, the command takes more than a second and prints a progress line.
  const others = ended.stderr.replaceAll(/^nodeface: .* …\n/gm, "");
  assert.equal([ok, troubles, ended.code, others], [true, [], 0, ""]);
  assert.match(notes[0], "unknown environment variable NODEFACE_PROT");
  assert.is(notes.length, 1, "a variable without a text is not set");
});

json.run();

wrong("for 0.0.0.0, the command prints an address that a browser can open", async () => {
  const server = await start(COMMANDS.Bun, { NODEFACE_HOST: "0.0.0.0" });
  const { stderr } = await server.stop();
  assert.match(
    stderr,
    /on http:\/\/127\.0\.0\.1:\d+\/ and every other address of this machine \(/,
  );
});

wrong("an unknown environment variable causes a warning", async () => {
  const server = await start(COMMANDS.Bun, { NODEFACE_PROT: "1" });
  const { stderr } = await server.stop();
  assert.match(
    stderr,
    /Z warn {2}unknown environment variable NODEFACE_PROT; did you mean NODEFACE_PORT/,
  );
});

wrong("a secret file that others can read causes a warning at the start", async () => {
  const config = join(folder, "open.yaml");
  writeFileSync(join(folder, "open"), "user:password", { mode: 0o644 });
  writeFileSync(config, "node: { url: http://127.0.0.1:2, auth: { basic_file: open } }");
  const server = await start([...COMMANDS.Bun, "--config", config]);
  await until(() => Promise.resolve(server.stderr().includes("chmod 600")));
  const { stderr } = await server.stop();
  assert.match(stderr, /Z warn {2}node\.auth\.basic_file .*open can be read by every user/);
});

wrong(
  "nodeface.yaml in the working directory is read, and the first log line says so",
  async () => {
    writeFileSync(
      join(folder, "nodeface.yaml"),
      "info: { static: { name: here } }\n",
    );
    const [program, file] = COMMANDS.Bun;
    const server = await start([program!, `${ROOT}${file}`], {}, {
      cwd: folder,
    });
    const info = await (await fetch(`${server.url}v1/info`)).json() as {
      name: string;
    };
    const { stderr } = await server.stop();
    assert.is(info.name, "here");
    assert.match(
      stderr,
      /^\S+Z info {2}the configuration is nodeface\.yaml in the working directory\n/,
    );
  },
);

wrong("signals are handled before other modules are loaded", () => {
  const [first] = /import .* from ".*"|import ".*"/.exec(
    readFileSync(`${ROOT}src/main.ts`, "utf8"),
  )!;
  assert.match(first, "./cli/signals.ts");
});

wrong.after(() => rmSync(folder, { recursive: true }));

wrong("a flag takes precedence over an environment variable", async () => {
  const server = await start(COMMANDS.Bun, { PORT: "http" });
  assert.is((await server.stop()).code, 0);
});
wrong.run();
