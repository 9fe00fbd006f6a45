/**
 * `npm run demo`: runs anvil, a development chain, and a service for it. Every three seconds, the
 * chain gets a block with some transfers. If anvil or the service ends, the demo ends.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Listening, serve } from "../adapters/node.ts";
import { createNodeface, type Nodeface, problem } from "../index.ts";

const ROOT = new URL("../../", import.meta.url);

/**
 * A shell script that runs a program, and kills it when Node closes the script's input or exits.
 */
const GUARD = `exec 3<&0; "$0" "$@" 3<&- & program=$!
{ read -r _ <&3; kill "$program"; } 2> /dev/null & wait "$program"`;

const BLOCK_SECONDS = 3;
const TRANSFERS_PER_BLOCK = 3;

/** The port that Ethereum nodes have by default, and README's commands. */
const NODE_PORT = 8545;

let service: Pick<Nodeface, "fetch"> = {
  fetch: () => Promise.resolve(problem(503, "The demo is starting", { "retry-after": "5" })),
};
// The port is taken first, since the installation of anvil takes long.
const { url } = await listen();
const program = findAnvil();
const node = program && await startAnvil(program);
if (!node) {
  console.error(
    `anvil is not available for ${process.platform} on ${process.arch}; serving without a node\n` +
      "To serve your own node: npm start -- http://127.0.0.1:8545",
  );
}
service = createNodeface(
  node ? { node: { url: node }, forward: { open: ["reads"], at_root: true } } : {},
);
if (node) setInterval(() => void transfer(node), BLOCK_SECONDS * 1000);
console.log(`Open ${url}v1/spec`);
console.log(`Try  curl ${url}${node ? "v1/rpc/eth_blockNumber" : "v1/info"}`);
if (node) console.log(`The node is at ${node}, as long as the demo runs`);

async function listen(): Promise<Listening> {
  try {
    return await serve({ fetch: (request: Request) => service.fetch(request) }, {
      port: Number(process.env["PORT"] || 8080),
    });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const isInUse = code === "EADDRINUSE";
    console.error(isInUse ? "The port is in use; choose another: PORT=8081 npm run demo" : message);
    process.exit(1);
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

function findAnvil(): string | undefined {
  const build = `${process.platform}-${process.arch.replace("x64", "amd64")}`;
  // Windows has no `sh` to run `GUARD`.
  if (!/^(?:linux|darwin)-(?:amd64|arm64)$/.test(build)) return undefined;
  const name = `@foundry-rs/anvil-${build}`;
  const pathIn = (folder: string) =>
    fileURLToPath(new URL(`${folder}node_modules/${name}/bin/anvil`, ROOT));
  const places = ["tests/", "node_modules/.demo/"].map(pathIn);
  const found = () => places.find((path) => existsSync(path));
  if (!found()) {
    const tests = JSON.parse(readFileSync(new URL("tests/package.json", ROOT), "utf8"));
    const version = tests.dependencies["@foundry-rs/anvil"];
    console.error(`Installing anvil ${version}, a development chain`);
    const folder = fileURLToPath(new URL("node_modules/.demo", ROOT));
    const flags = ["--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    spawnSync("npm", ["install", "--prefix", folder, ...flags, `${name}@${version}`], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return found();
}

async function startAnvil(path: string): Promise<string | undefined> {
  const port = await isFree(NODE_PORT) ? NODE_PORT : 0;
  // Another program may take the port before anvil does.
  return await runAnvil(path, port) ?? (port === 0 ? undefined : await runAnvil(path, 0));
}

async function runAnvil(path: string, port: number): Promise<string | undefined> {
  const flags = ["--port", String(port), "--block-time", String(BLOCK_SECONDS)];
  const anvil = spawn("sh", ["-c", GUARD, path, ...flags], { stdio: ["pipe", "pipe", "inherit"] });
  return await new Promise((resolve) => {
    let text = "";
    let url: string | undefined;
    // Reads all output, even after the line with the URL: a full pipe would block anvil.
    anvil.stdout.setEncoding("utf8").on("data", (part: string) => {
      if (url) return;
      text += part;
      const [, address] = /^Listening on (\S+)$/m.exec(text) ?? [];
      if (address) resolve(url = `http://${address}`);
    });
    anvil.on("exit", () => {
      if (!url) return resolve(undefined);
      console.error("anvil has ended, so the demo ends too");
      process.exit(1);
    });
  });
}

async function transfer(url: string): Promise<void> {
  try {
    const accounts = await call<string[]>(url, "eth_accounts");
    for (let i = 0; i < TRANSFERS_PER_BLOCK; i++) {
      const value = `0x${Math.ceil(Math.random() * 1e15).toString(16)}`;
      await call(url, "eth_sendTransaction", { from: accounts[i], to: accounts[i + 1], value });
    }
  } catch {
    // The node has ended, and the demo is about to end as well.
  }
}

async function call<T>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: T }).result;
}
