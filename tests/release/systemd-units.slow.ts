/** Runs the units in a separate systemd, see `tests/release/_systemd.ts`. */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { startDaemon, until } from "../nodes/_daemon.ts";
import { startSystemd, type Systemd, UNITS } from "./_systemd.ts";

const units = suite("the units under systemd");

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
const LITECOIND = "/usr/lib/litecoin/litecoind";
const PATIENCE = 40_000;

const started = await startSystemd();
const missing = typeof started === "string" ? started : undefined;
const systemd = started as Systemd;

units.before(async () => {
  if (missing) return;
  const install = (name: string) =>
    systemd.write(`${UNITS}/${name}`, readFileSync(`${ROOT}deploy/${name}`, "utf8"));
  await install("nodeface.service");
  await install("nodeface@.service");
});

units.after(async () => {
  if (!missing) await systemd[Symbol.asyncDispose]();
});

async function shell(line: string): Promise<string> {
  const { code, stdout, stderr } = await systemd.shell(line);
  assert.is(code, 0, `${line}: ${stdout}${stderr}`);
  return stdout;
}

/** The log of the unit goes to a file, because there is no journal. */
const dropIn = (unit: string, lines = "") =>
  systemd.write(
    `${UNITS}/${unit}.d/tests.conf`,
    `[Service]\nStandardError=append:/run/${unit}.log\n${lines}`,
  );

const info = async (port: number) => await (await fetch(`http://127.0.0.1:${port}/v1/info`)).json();

async function well(port: number, unit: string) {
  let last: unknown;
  const isWell = async () => {
    last = await info(port).catch((error) => error);
    return /^(ok|syncing)$/.test((last as { status: string }).status);
  };
  await until(isWell, PATIENCE).catch(async () =>
    assert.unreachable(`${JSON.stringify(last)}\n${await systemd.shell(`cat /run/${unit}.log`)}`)
  );
}

/** Returns a free port in the range that the systemd template allows. */
async function portOfTemplate(taken: readonly number[] = []): Promise<number> {
  for (let port = 8080; port < 8100; port++) {
    if (taken.includes(port)) continue;
    const server = createServer();
    const isFree = await new Promise((resolve) =>
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true))
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error("no port from 8080 to 8099 is free");
}

testWhere(
  units,
  missing ?? without(ANVIL, LITECOIND),
  "the template runs a service for anvil, and one for litecoind with its changing cookie",
  async () => {
    const nodePort = await freePort();
    const anvil = await startDaemon([ANVIL, "--port", `${nodePort}`, "--silent"], nodePort);
    const ethereum = await portOfTemplate();
    const other = await portOfTemplate([ethereum]);
    const rpc = await freePort();
    try {
      // These commands come from the comment at the top of the systemd template.
      await shell("mkdir -p /etc/nodeface");
      const file = "/etc/nodeface/ethereum.yaml";
      await shell(`nodeface init ${anvil.url} --port ${ethereum} --config ${file}`);
      await shell("chmod 644 /etc/nodeface/*.yaml");
      await dropIn("nodeface@ethereum.service");

      // The node has its own user, whose group can read the cookie.
      await shell("useradd --system litecoin");
      await systemd.write(
        `${UNITS}/litecoind.service`,
        `[Service]
User=litecoin
UMask=0027
StateDirectory=litecoin
StateDirectoryMode=0750
ExecStart=${LITECOIND} -regtest -server -listen=0 -sysperms -disablewallet \\
  -datadir=/var/lib/litecoin -rpcport=${rpc}
`,
      );
      const cookie = "/var/lib/litecoin/regtest/.cookie";
      await systemd.write(
        "/etc/nodeface/litecoin.yaml",
        `listen: 127.0.0.1:${other}\nnode: { url: http://127.0.0.1:${rpc}, kind: bitcoin, ` +
          `auth: { basic_file: ${cookie} } }\n`,
      );
      await dropIn("nodeface@litecoin.service", "SupplementaryGroups=litecoin\n");
      await shell("systemctl daemon-reload");
      await shell("systemctl start litecoind nodeface@ethereum nodeface@litecoin");
      await well(ethereum, "nodeface@ethereum.service");
      await well(other, "nodeface@litecoin.service");
      assert.is((await info(ethereum)).software, "anvil");
      assert.match((await info(other)).software, /Litecoin/);
      const user = (await shell("ps -o user= -C nodeface")).trim().split(/\s+/);
      assert.is(user.length, 2);
      assert.not.ok(user.includes("root"));

      const before = await shell(`cat ${cookie}`);
      const startedAt = (await info(other)).started_at;
      await shell("systemctl restart litecoind");
      await until(
        async () => {
          const { stdout } = await systemd.shell(`cat ${cookie}`);
          return stdout !== "" && stdout !== before;
        },
        PATIENCE,
      );
      await until(async () => {
        const now = (await info(other)).started_at;
        return now !== undefined && now !== startedAt;
      }, PATIENCE);
      await well(other, "nodeface@litecoin.service");
      const log = await shell("cat /run/nodeface@litecoin.service.log");
      assert.not.match(log, /unauthorized|rejects the credentials|can be read by/);
    } finally {
      await systemd.shell("systemctl stop nodeface@ethereum nodeface@litecoin litecoind");
      await anvil.stop("SIGKILL");
    }
  },
);

testWhere(
  units,
  missing ?? without(ANVIL),
  "a token that only root can read is passed as a credential, without a warning",
  async () => {
    const nodePort = await freePort();
    const anvil = await startDaemon([ANVIL, "--port", `${nodePort}`, "--silent"], nodePort);
    const port = await portOfTemplate();
    const token = "0123456789abcdef0123456789abcdef";
    try {
      await systemd.write("/etc/nodeface/token", token, "600");
      await systemd.write(
        "/etc/nodeface/tokened.yaml",
        `listen: 127.0.0.1:${port}\nnode: { url: ${anvil.url} }\nforward:\n` +
          "  clients: [{ name: app, allow: [eth_accounts], " +
          "token_file: $CREDENTIALS_DIRECTORY/token }]\n",
      );
      await dropIn("nodeface@tokened.service", "LoadCredential=token:/etc/nodeface/token\n");
      await shell("systemctl daemon-reload && systemctl start nodeface@tokened");
      await well(port, "nodeface@tokened.service");
      const call = (headers: Record<string, string>) =>
        fetch(`http://127.0.0.1:${port}/v1/rpc/eth_accounts`, {
          method: "POST",
          body: "{}",
          headers: { "content-type": "application/json", ...headers },
        });
      const right = { authorization: `Bearer ${token}` };
      let last = "";
      await until(async () => {
        const answer = await call(right);
        last = `${answer.status} ${await answer.text()}`;
        return answer.status === 200;
      }).catch(async () =>
        assert.unreachable(last + await shell("cat /run/nodeface@tokened.service.log"))
      );
      assert.is((await call({})).status, 401);
      const log = await shell("cat /run/nodeface@tokened.service.log");
      assert.match(log, "nodeface ");
      assert.not.match(log, /can be read by|cannot read/);
      // `ExecReload` in the unit sends SIGHUP.
      await shell("systemctl reload nodeface@tokened");
      await until(
        async () =>
          /has been read again/.test(await shell("cat /run/nodeface@tokened.service.log")),
        PATIENCE,
      );
    } finally {
      await systemd.shell("systemctl stop nodeface@tokened");
      await anvil.stop("SIGKILL");
    }
  },
);

units.run();
