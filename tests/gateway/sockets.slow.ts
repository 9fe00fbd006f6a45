/**
 * Third-party clients that subscribe through the service. `node tests/gateway/setup.mjs` installs
 * the clients.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { COMMANDS, launch, run } from "../_server.ts";
import { callsTo } from "../nodes/_calls.ts";
import { until } from "../nodes/_daemon.ts";
import { ANVIL, startAnvil } from "../nodes/_start-ethereum.ts";
import { SocketNode } from "../raw/_socket-node.ts";
import { besideNode, installed, SERVICES } from "./_beside.ts";

const sockets = suite("third-party clients that subscribe");

for (const name of ["ethers", "viem"]) {
  testWhere(
    sockets,
    without(installed(name), ANVIL),
    `the program with ${name} in docs/subscriptions.md works`,
    () =>
      besideNode(startAnvil(), "ethereum", async ({ url }, node) => {
        const page = await readFile(join(ROOT, "docs/subscriptions.md"), "utf8");
        const programs = [...page.matchAll(/^```js\n([^]*?)^```/gm)].map(([, program]) => program!);
        const program = programs.find((program) => program.includes(`from "${name}"`))!;
        // The program must be in the folder in which its packages are installed.
        const file = installed(`.${name}-sockets.mjs`);
        const call = callsTo(node.url);
        const miner = setInterval(() => void call("evm_mine", []), 200);
        try {
          await writeFile(file, program.replaceAll("127.0.0.1:8080", new URL(url).host));
          const { code, stdout, stderr } = await run([process.execPath, file]);
          assert.is(code, 0, stderr);
          assert.match(stdout, /^\d+n?\n$/);
        } finally {
          clearInterval(miner);
          await rm(file, { force: true });
        }
      }),
  );
}

/** Runs a client until it has had `count` notifications, which `send` makes. */
async function notified(name: string, url: string, send: () => Promise<void>): Promise<void> {
  const address = url.replace(/^http/, "ws");
  const file = `${ROOT}tests/gateway/_socket-clients.mjs`;
  const { child, ended, printed } = launch(process.execPath, [file, name, address, "1000"], {}, {});
  try {
    await until(() => Promise.resolve(printed.stdout.includes("ready") || child.exitCode !== null));
    await send();
    const { code, stdout, stderr } = await ended;
    assert.is(code, 0, stderr);
    const { numbers, reason } = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
    const [first] = numbers;
    assert.equal(numbers, Array.from({ length: 1000 }, (_, at) => first + at), name);
    assert.match(reason, "does not exist/is not available", name);
  } finally {
    child.kill();
  }
}

const SERVED = [
  ...SERVICES.map(({ name, command, files }) => [name, command, files] as const),
  ["Deno", COMMANDS.Deno, []] as const,
  ["Bun", COMMANDS.Bun, []] as const,
];

for (const [runtime, command, files] of SERVED) {
  for (const name of ["ethers", "viem", "web3"]) {
    testWhere(
      sockets,
      without(installed(name), ANVIL, ...files),
      `${name} has a thousand blocks of anvil in order, on ${runtime}`,
      () =>
        besideNode(
          startAnvil(),
          "ethereum",
          async ({ url }, node) => {
            const call = callsTo(node.url);
            await notified(name, url, async () => {
              for (let block = 0; block < 1000; block++) await call("evm_mine", []);
            });
          },
          "reads",
          command,
        ),
    );
  }

  for (
    const [name, folder, kind, notification] of [
      [
        "polkadot",
        "@polkadot/rpc-provider",
        "substrate",
        (number: number, subscription: string) => ({
          method: "chain_newHead",
          params: { subscription, result: { number } },
        }),
      ],
      [
        "solana",
        "@solana/kit",
        "solana",
        (slot: number, subscription: string) => ({
          method: "slotNotification",
          params: { subscription, result: { parent: slot - 1, root: 1, slot } },
        }),
      ],
      [
        "cosmos",
        "@cosmjs/tendermint-rpc",
        "cosmos",
        (number: number, _: string, id: number) => ({
          id,
          result: { query: "tm.event='NewBlock'", data: { number }, events: {} },
        }),
      ],
    ] as const
  ) {
    testWhere(
      sockets,
      without(installed(folder), ...files),
      `${folder} has a thousand notifications in order, on ${runtime}`,
      () =>
        besideNode(
          SocketNode.start(kind === "cosmos" ? { subscribe: {}, unsubscribe: {} } : {}),
          kind,
          async ({ url }, node) => {
            if (kind === "solana") node.makeId = () => 23;
            node.onSubscribe = (connection, id, { id: callId }) => {
              for (let number = 1; number <= 1000; number++) {
                const message = notification(number, id, callId);
                connection.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
              }
            };
            await notified(name, url, () => Promise.resolve());
          },
          "reads",
          command,
        ),
    );
  }
}

sockets.run();
