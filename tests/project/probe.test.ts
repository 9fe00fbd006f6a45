import { suite } from "uvu";
import * as assert from "uvu/assert";
import { freePort } from "../_port.ts";
import { CHOSEN_COMMANDS, COMMANDS, run, start, withEach } from "../_server.ts";
import { play } from "../_sources.ts";

const probe = suite("nodeface probe");

const each = (act: (command: readonly string[]) => Promise<void>) => () =>
  withEach(Object.entries(CHOSEN_COMMANDS), act);

const asks = async (command: readonly string[], ...args: string[]) => {
  const { code, stdout, stderr } = await run([...command, "probe", ...args]);
  return [code, stdout, stderr];
};

probe(
  "exits with 0 if the node is ok, and with 1 and the reason if not",
  each(async (command) => {
    const node = await play((_, response) => response.end());
    const service = await start([...command, node.url, "--kind", "none"]);
    const reason = "responds to HTTP; its state is not known";
    let well = await asks(command, service.url);
    // On a busy machine, the node may respond late.
    while (/\((?:timeout|starting)\)/.test(String(well[1]))) {
      well = await asks(command, service.url);
    }
    assert.equal(well, [0, `ok: ${reason}\n`, ""]);
    await node.close();
    let seen = await asks(command, service.url);
    while (seen[0] === 0) seen = await asks(command, service.url);
    assert.equal(seen, [1, "stale (connection_refused): connection refused\n", ""]);
    const accepted = await asks(command, service.url, "--accept", "ok,stale");
    assert.equal(accepted, [0, "stale (connection_refused): connection refused\n", ""]);
    await service.stop();
  }),
);

probe(
  "exits with 0 if no node is configured, and reads the port from NODEFACE_PORT",
  each(async (command) => {
    const service = await start(command);
    const env = { NODEFACE_PORT: "", PORT: new URL(service.url).port };
    const { code, stdout } = await run([...command, "probe"], env);
    assert.equal([code, stdout], [0, "no node is configured\n"]);
    const linked = { ...env, NODEFACE_PORT: "tcp://10.0.0.1:8080" };
    assert.is((await run([...command, "probe"], linked)).code, 0);
    const other = { ...env, NODEFACE_HOST: "::1" };
    const { stdout: refused } = await run([...command, "probe"], other);
    assert.match(refused, `the service at http://[::1]:${env.PORT} does not respond`);
    await service.stop();
  }),
);

probe(
  "exits with 1 if the service does not respond as Nodeface does, and with 2 for a wrong list",
  each(async (command) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const refused = `the service at ${url} does not respond: connection refused\n`;
    assert.equal(await asks(command, url), [1, refused, ""]);
    // Most programs respond with 200 to some paths, and some of them to all.
    for (const [code, text] of [[404, "<html>"], [200, "<html>"], [200, "{}"]] as const) {
      const other = await play((_, response) => response.writeHead(code).end(text));
      const found = `the service responded with ${code}, but not with its health\n`;
      assert.equal(await asks(command, other.url), [1, found, ""]);
      await other.close();
    }
    const service = await start(command);
    const [code, stdout] = await asks(command, service.url, "--accept=fine");
    assert.is(code, 2);
    assert.match(
      String(stdout),
      /^the service responded with 400: "accept" must be a list of: ok,/,
    );
    await service.stop();
  }),
);

probe("exits with 2 if it is used wrongly", async () => {
  const two = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
  for (const args of [["--wait"], ["here"], ["http://127.0.0.1:1/?a=b"], two]) {
    const [code, stdout, stderr] = await asks(COMMANDS.Bun, ...args);
    assert.equal([code, stdout], [2, ""]);
    assert.match(String(stderr), /^nodeface: .*; see nodeface --help\n$/);
  }
  const ofVariable = await run([...COMMANDS.Bun, "probe"], { NODEFACE_PORT: "http" });
  const wrong = 'nodeface: "http://127.0.0.1:http" is not the URL of a service, ';
  assert.is(ofVariable.stderr, `${wrong}with the port in NODEFACE_PORT; see nodeface --help\n`);
  const zone = { NODEFACE_HOST: "fe80::1%eth0", NODEFACE_PORT: "8081" };
  assert.match(
    (await run([...COMMANDS.Bun, "probe"], zone)).stderr,
    "with the host in NODEFACE_HOST;",
  );
  const { code, stderr } = await run([...COMMANDS.Bun, "--port", "1", "probe"]);
  assert.is(code, 2);
  assert.match(stderr, /probe must be the first argument/);
});

probe("is part of --help", async () => {
  for (const args of [["--help"], ["probe", "--help"], ["probe", "-h"]]) {
    const { code, stdout } = await run([...COMMANDS.Bun, ...args]);
    assert.match(stdout, /nodeface probe \[URL\] \[--accept LIST\]/);
    assert.is(code, 0);
  }
});

probe.run();
