import { type AddressInfo, createServer } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, run, start } from "../_server.ts";

/** Arguments and environment that are wrong, and what is said of them. */
const WRONG: [args: string[], env: Record<string, string>, complaint: string][] = [
  [["--bogus"], {}, 'unknown option "--bogus"; see nodeface --help'],
  [["--prot", "80"], {}, 'unknown option "--prot"; did you mean --port?'],
  [["-p", "80"], {}, 'unknown option "-p"; see nodeface --help'],
  [["--port", "http"], {}, '--port must be a whole number from 0 to 65535, not "http"'],
  [["--port", "65536"], {}, '--port must be a whole number from 0 to 65535, not "65536"'],
  [["--port", "-1"], {}, '--port must be a whole number from 0 to 65535, not "-1"'],
  [["--port", "80.5"], {}, '--port must be a whole number from 0 to 65535, not "80.5"'],
  [["--port"], {}, "--port needs a value; see nodeface --help"],
  [["--host", "a", "--host", "b"], {}, "--host is given twice"],
  [["--help=yes"], {}, "--help takes no value"],
  [["http://a", "http://b"], {}, 'unexpected argument "http://b"; see nodeface --help'],
  [["a.b"], {}, "NODE_URL must begin with http:// or https://; did you mean http://a.b?"],
  [["chek", "http://a"], {}, 'unknown command "chek"; did you mean check?'],
  [["kinds", "xyz"], {}, '"xyz" is no kind known; see nodeface kinds'],
  [["--config", "/none"], {}, "/none: there is no such file"],
  [[], { PORT: "http" }, 'PORT must be a whole number from 0 to 65535, not "http"'],
];

/** The service's version, the runtime's, and the commit where the build step knew one. */
const VERSION =
  /^nodeface \d+\.\d+\.\d+ on (Node|Deno|Bun) \d+\.\d+\.\d+(, built from [0-9a-f]+)?\n$/;

for (const [runtime, command] of Object.entries(COMMANDS)) {
  const suiteOf = suite(`the command on ${runtime}`);

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    suiteOf(`${signal} stops it cleanly, exit code 0`, async () => {
      const server = await start(command);
      assert.is((await fetch(`${server.url}v1/info`)).status, 200);
      const { code, stderr, stdout } = await server.stop(signal);
      assert.is(code, 0, stderr);
      assert.is(stdout, "");
    });
  }

  suiteOf("a port in use is said in one line, exit code 1", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await run([...command, "--port", String(port)]);
    taken.close();
    assert.is(code, 1);
    assert.is(
      stderr,
      `nodeface: cannot listen on 127.0.0.1, port ${port}: ` +
        "the port is already in use; choose another with --port\n",
    );
  });

  suiteOf("it prints its address and the explorer's when it is ready", async () => {
    const server = await start(command, { NODEFACE_HOST: "localhost" });
    const { stderr } = await server.stop();
    assert.match(
      stderr,
      /^\S+Z info {2}nodeface \d+\.\d+\.\d+ on (http:\/\/\S+\/) \(explorer: \1v1\/spec\)\n$/,
    );
  });

  suiteOf("--version and --help print and stop, in a wrong environment too", async () => {
    const version = await run([...command, "--version"], { PORT: "http" });
    assert.match(version.stdout, VERSION);
    assert.match(version.stdout, runtime);
    assert.is(version.code, 0);
    const help = await run([...command, "--help"], { PORT: "http" });
    assert.match(help.stdout, /^Usage: nodeface /);
    assert.is(help.code, 0);
  });

  suiteOf("a wrong flag is said in one line, exit code 2", async () => {
    const { code, stderr, stdout } = await run([...command, "--prot", "80"]);
    assert.is(code, 2);
    assert.is(stderr, 'nodeface: unknown option "--prot"; did you mean --port?\n');
    assert.is(stdout, "");
  });

  suiteOf.run();
}

const wrong = suite("wrong arguments");
for (const [args, env, complaint] of WRONG) {
  wrong(`${JSON.stringify(env)} ${args.join(" ")}`, async () => {
    const { code, stderr } = await run([...COMMANDS.Bun, ...args], env);
    assert.is(stderr, `nodeface: ${complaint}\n`);
    assert.is(code, 2);
  });
}

wrong("a flag goes before the environment", async () => {
  const server = await start(COMMANDS.Bun, { PORT: "http" });
  assert.is((await server.stop()).code, 0);
});
wrong.run();
