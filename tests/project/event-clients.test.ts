/**
 * Runs the client programs in docs/events.md with a real node. Each client must show a change of
 * the height or of the status.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface } from "../../src/index.ts";
import { testWhere } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { closePages, launch } from "../browser/_browser.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { call, type Daemon, startDaemon, until } from "../nodes/_daemon.ts";
import { blocksOf } from "./_manual.ts";

const BLOCKS = blocksOf(readFileSync(`${ROOT}docs/events.md`, "utf8"));

function clientOf(language: string, has = ""): string {
  const found = BLOCKS.filter((block) => block.language === language && block.text.includes(has));
  assert.is(found.length, 1, `blocks of ${language} with ${has}`);
  return found[0]!.text;
}

const NO_PYTHON = (() => {
  try {
    execFileSync("python3", ["--version"]);
  } catch {
    return "needs python3";
  }
  return undefined;
})();

const clients = suite("the clients of docs/events.md");

const PROGRAMS_OF_PAGE = {
  curl: { text: clientOf("sh", "curl -N"), file: "curl.sh", runner: "sh" },
  Node: { text: clientOf("js"), file: "client.mjs", runner: process.execPath },
  Python: { text: clientOf("python"), file: "client.py", runner: "python3" },
  shell: { text: clientOf("sh", "#!/bin/sh"), file: "on-status.sh", runner: "sh" },
} as const;

type Name = keyof typeof PROGRAMS_OF_PAGE;

interface Client {
  readonly process: ChildProcess;
  printed: string;
}

interface Service {
  stop(): Promise<void>;
}

let folder: string;
let anvil: Daemon;
let service: Service;
let site: Server;
let page: Page;
let port: number;
let restart: () => Promise<Service>;
const running = new Map<Name, Client>();

clients.before(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  const [nodePort, servicePort] = [await freePort(), await freePort()];
  port = servicePort;
  const located = (text: string) => text.replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`);
  const html = located(clientOf("html"));
  site = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(html);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(site.address() as { port: number }).port}`;
  anvil = await startDaemon([PROGRAMS.ethereum!.path, "--port", String(nodePort)], nodePort);
  restart = async () => {
    const nodeface = createNodeface({ node: { url: anvil.url }, cors: [origin], log() {} });
    const server = await serve(nodeface, { hostname: "127.0.0.1", port });
    return {
      async stop() {
        await server.close();
        await nodeface.close();
      },
    };
  };
  service = await restart();
  for (const [name, { text, file, runner }] of Object.entries(PROGRAMS_OF_PAGE)) {
    if (name === "Python" && NO_PYTHON) continue;
    writeFileSync(join(folder, file), located(text));
    // Each client has its own process group, so that the processes that a shell script starts can
    // be killed with the script.
    const child = spawn(runner, [join(folder, file)], { detached: true });
    const client: Client = { process: child, printed: "" };
    for (const output of [child.stdout, child.stderr]) {
      output.on("data", (part) => client.printed += part);
    }
    running.set(name as Name, client);
  }
  page = await (await launch()).newPage();
  await page.goto(origin);
});

clients.after(async () => {
  for (const { process: { pid } } of running.values()) {
    try {
      process.kill(-pid!, "SIGKILL");
    } catch {
      // The client has already exited, as curl does when the service stops.
    }
  }
  await closePages(await launch());
  await Promise.all([service?.stop(), anvil?.stop()]);
  site?.closeAllConnections();
  site?.close();
  rmSync(folder, { recursive: true });
});

async function mine(): Promise<number> {
  await call(anvil.url, "evm_mine");
  return Number(await call(anvil.url, "eth_blockNumber"));
}

async function prints(name: Name, expected: RegExp | string): Promise<void> {
  const client = running.get(name)!;
  const isPrinted = () =>
    typeof expected === "string"
      ? client.printed.includes(expected)
      : expected.test(client.printed);
  try {
    await until(() => Promise.resolve(isPrinted()), 30_000);
  } catch {
    assert.unreachable(`${name} did not print ${expected}, but:\n${client.printed}`);
  }
}

const shows = async (text: string) =>
  await page.locator("#node", { hasText: text }).waitFor({ timeout: 30_000 });

clients("curl prints each event", async () => {
  await prints("curl", /^event: snapshot$/m);
  const height = await mine();
  await prints("curl", new RegExp(`^event: head\nid: .*\ndata: \\{"height":${height}\\b`, "m"));
});

clients("a page whose origin is in cors shows the height", async () => {
  await shows("ok at ");
  await shows(`ok at ${await mine()}`);
});

clients("the program for Node prints the height", async () => {
  await prints("Node", /^ok \d+$/m);
  await prints("Node", `ok ${await mine()}\n`);
});

testWhere(clients, NO_PYTHON, "the program for Python prints the height", async () => {
  await prints("Python", /^ok \d+$/m);
  await prints("Python", `ok ${await mine()}\n`);
});

clients("all clients reconnect after the service has restarted", async () => {
  await service.stop();
  service = await restart();
  const height = await mine();
  await shows(`ok at ${height}`);
  await prints("Node", `ok ${height}\n`);
  if (!NO_PYTHON) await prints("Python", `ok ${height}\n`);
});

clients("the script acts once when the status changes", async () => {
  await prints("shell", "The node is ok\n");
  await anvil.stop();
  await prints("shell", "The node is stale\n");
  // On a busy machine, the node may be late, and thus change its status, several times.
  const said = running.get("shell")!.printed.match(/The node is \w+/g)!;
  assert.ok(said.every((text, at) => text !== said[at - 1]), said.join());
});

for (const language of ["html", "js"]) {
  clients(`the program in ${language} changes no prototype, and limits the nesting depth`, () => {
    const [functions] = /function merge[^]*?\n( *)\}\n\n *function isObject[^]*?\n\1\}\n/
      .exec(clientOf(language))!;
    const merge = new Function(`${functions}; return merge;`)() as (
      target: unknown,
      patch: unknown,
    ) => Record<string, unknown>;
    const evil =
      '{"__proto__":{"x":1},"a":{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}}';
    const once = merge(JSON.parse("{}"), JSON.parse(evil));
    const twice = merge(merge(JSON.parse(evil), once), JSON.parse(evil));
    assert.is(Object.getPrototypeOf(twice), null);
    assert.is(({} as Record<string, unknown>).x, undefined);
    assert.equal({ ...merge({ a: 1, b: 2 }, { a: null, c: { d: 1 } }) }.b, 2);
    const deep = JSON.parse('{"a":'.repeat(40) + "1" + "}".repeat(40));
    assert.throws(() => merge({}, deep), /too deep/);
  });
}

testWhere(clients, NO_PYTHON, "the program in Python limits the nesting depth", () => {
  const [functions] = /def merge[^]*?return merged\n/.exec(clientOf("python"))!;
  const code = `${functions}
import json
assert merge({"a": 1, "b": {"c": 1}}, {"a": None, "b": {"d": 2}}) == {"b": {"c": 1, "d": 2}}
try:
    merge({}, json.loads('{"a":' * 40 + "1" + "}" * 40))
except ValueError:
    print("refused")
`;
  assert.is(execFileSync("python3", ["-c", code], { encoding: "utf8" }), "refused\n");
  return Promise.resolve();
});

clients.run();
