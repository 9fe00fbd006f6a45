/** Starts real nodes that have a REST interface but no chain, to test their kinds. */
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../_port.ts";
import { askBy, requestsTo } from "./_calls.ts";
import type { Bench } from "./_bench.ts";
import { type Daemon, startDaemon, until } from "./_daemon.ts";
import type { AskedNode } from "./_interface.ts";

export const ETCD = "/usr/bin/etcd";
export const NATS = "/usr/sbin/nats-server";
export const SYNCTHING = "/usr/bin/syncthing";

/** Sends PROPFIND, because a 405 response lists the valid methods in `Allow`. */
async function hasPath(
  [verb, path]: readonly [string, string],
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const target = url + path.replaceAll(/\{[^}]*\}/g, "x");
  const response = await fetch(target, { method: "PROPFIND", headers });
  const allow = response.headers.get("allow");
  return response.status !== 404 && (allow === null || allow.split(", ").includes(verb));
}

export async function startNats(): Promise<AskedNode> {
  const home = await mkdtemp(join(tmpdir(), "nodeface-nats-"));
  const [port, client] = [await freePort(), await freePort()];
  const flags = [
    "-a",
    "127.0.0.1",
    "-p",
    String(client),
    "-m",
    String(port),
    "-js",
    "-sd",
    home,
  ];
  const daemon = await startDaemon([NATS, ...flags], port);
  const socket = new Socket().on("error", () => {});
  const stop = () => {
    socket.destroy();
    return daemon.stop("SIGKILL");
  };
  try {
    // The monitoring port responds before the server accepts clients.
    await until(async () => (await fetch(`${daemon.url}/healthz`)).ok);
    socket.connect(client, "127.0.0.1");
    const request = (subject: string, value: unknown) => {
      const text = JSON.stringify(value);
      return `PUB $JS.API.${subject} answers ${text.length}\r\n${text}\r\n`;
    };
    socket.write(
      "CONNECT {}\r\nSUB greetings 1\r\nSUB answers 2\r\n" +
        request("STREAM.CREATE.orders", {
          name: "orders",
          subjects: ["orders"],
        }) +
        request("CONSUMER.DURABLE.CREATE.orders.shop", {
          stream_name: "orders",
          config: { durable_name: "shop", ack_policy: "explicit" },
        }),
    );
    await new Promise<void>((resolve, reject) => {
      let said = "";
      socket.on("close", () => reject(new Error("closed"))).on("data", (chunk) => {
        said += chunk;
        if (said.includes("consumer_create_response")) resolve();
      });
    });
    const { version } = await (await fetch(`${daemon.url}/varz`)).json();
    return {
      version,
      url: daemon.url,
      send: requestsTo(daemon.url),
      request: askBy(requestsTo(daemon.url)),
      hasOperation: (...operation) => hasPath(operation, daemon.url),
      known: {
        "listConnections.auth": true,
        "listConnections.subs": "detail",
        "listSubscriptions.subs": true,
        "getAccounts.acc": "$G",
        "listAccountStatistics.unused": true,
        "getJetStream.consumers": true,
        "getJetStream.config": true,
        "listInternalQueues.all": true,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * `setLowPriority` is disabled, because this option moves Syncthing's child process to another
 * process group.
 */
const syncthingConfig = (folder: string, key: string, gui: number, listen: number) => `
<configuration version="36">
  <folder id="texts" label="Texts" path="${folder}" type="receiveonly">
    <versioning type="simple"></versioning>
  </folder>
  <gui enabled="true" tls="false" debugging="true">
    <address>127.0.0.1:${gui}</address>
    <apikey>${key}</apikey>
  </gui>
  <options>
    <listenAddress>tcp://127.0.0.1:${listen}</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled>
    <localAnnounceEnabled>false</localAnnounceEnabled>
    <relaysEnabled>false</relaysEnabled>
    <natEnabled>false</natEnabled>
    <urAccepted>-1</urAccepted>
    <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
    <crashReportingEnabled>false</crashReportingEnabled>
    <startBrowser>false</startBrowser>
    <setLowPriority>false</setLowPriority>
  </options>
</configuration>
`;

export async function startSyncthing(): Promise<AskedNode> {
  const home = await mkdtemp(join(tmpdir(), "nodeface-syncthing-"));
  const port = await freePort();
  const key = "abcdefghijklmnopqrstuvwxyz012345";
  const folder = join(home, "texts");
  await mkdir(join(folder, ".stfolder"), { recursive: true });
  await writeFile(join(folder, "hello.txt"), "hello");
  const config = syncthingConfig(folder, key, port, await freePort());
  await writeFile(join(home, "config.xml"), config);
  const keyFile = join(home, "key");
  await writeFile(keyFile, key);
  const flags = [`--home=${home}`, "--no-browser", "--no-upgrade"];
  const daemon = await startDaemon([SYNCTHING, ...flags], port, { HOME: home });
  const stop = () => daemon.stop("SIGKILL");
  const headers = { "x-api-key": key };
  const send = requestsTo(daemon.url, () => Promise.resolve(headers));
  const ask = async (path: string) => await (await fetch(daemon.url + path, { headers })).json();
  try {
    const { version } = await ask("/rest/system/version");
    const { myID } = await ask("/rest/system/status");
    await until(async () => (await ask("/rest/db/status?folder=texts")).localFiles === 1);
    return {
      version: /^v([\d.]+)/.exec(version)![1]!,
      url: daemon.url,
      auth: { header_file: keyFile, header: "X-API-Key" },
      send,
      request: askBy(send),
      hasOperation: (...operation) => hasPath(operation, daemon.url, headers),
      known: {
        folder: "texts",
        file: "hello.txt",
        device: myID,
        "getFolder.id": "texts",
        "getDevice.id": myID,
        "checkDeviceId.id": myID,
        "getCpuProfile.duration": "10ms",
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function startEtcd(): Promise<AskedNode> {
  const home = await mkdtemp(join(tmpdir(), "nodeface-etcd-"));
  const port = await freePort();
  const [url, peers] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${await freePort()}`];
  const flags = {
    "data-dir": home,
    "listen-client-urls": url,
    "advertise-client-urls": url,
    "listen-peer-urls": peers,
    "initial-advertise-peer-urls": peers,
    "initial-cluster": `default=${peers}`,
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const daemon = await startDaemon([ETCD, ...args], port);
  const stop = () => daemon.stop("SIGKILL");
  const ask = async (path: string, body: unknown) => {
    const init = { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${daemon.url}/v3/${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return await response.json();
  };
  try {
    await until(async () => (await fetch(`${daemon.url}/health`)).ok);
    const { ID } = await ask("lease/grant", { TTL: 600 });
    const [key, name, lease] = [btoa("greeting"), btoa("election"), { ID, keys: true }];
    await ask("kv/put", { key, value: btoa("hello"), lease: ID });
    await ask("election/campaign", { name, value: btoa("me"), lease: ID });
    await ask("auth/role/add", { name: "reader" });
    const perm = { permType: "READWRITE", key, range_end: "AA==" };
    await ask("auth/role/grant", { name: "reader", perm });
    await ask("auth/user/add", { name: "somebody", password: "secret" });
    await ask("auth/user/grant", { user: "somebody", role: "reader" });
    const { etcdserver } = await (await fetch(`${daemon.url}/version`)).json();
    return {
      version: etcdserver,
      url: daemon.url,
      send: requestsTo(daemon.url),
      request: askBy(requestsTo(daemon.url)),
      hasOperation: (...operation) => hasPath(operation, daemon.url),
      known: {
        "getRange.body": { key: "AA==", range_end: "AA==", limit: "10", sort_order: "DESCEND" },
        "getLease.body": lease,
        "getLeaseByOldPath.body": lease,
        "getLeader.body": { name },
        "getRole.body": { role: "reader" },
        "getUser.body": { name: "somebody" },
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function startEtcdCluster(bench: Bench): Promise<Daemon[]> {
  const names = ["a", "b", "c"];
  const ports = await Promise.all(names.map(async () => [await freePort(), await freePort()]));
  const cluster = names.map((name, i) => `${name}=http://127.0.0.1:${ports[i]![1]}`).join();
  return await Promise.all(names.map((name, i) => {
    const [client, peer] = ports[i]!.map((port) => `http://127.0.0.1:${port}`);
    return bench.daemon([
      ...[ETCD, "--name", name, "--data-dir", join(bench.home, name)],
      ...["--listen-peer-urls", peer!, "--initial-advertise-peer-urls", peer!],
      ...["--listen-client-urls", client!, "--advertise-client-urls", client!],
      ...["--initial-cluster", cluster, "--initial-cluster-state", "new"],
    ], ports[i]![0]!);
  }));
}
