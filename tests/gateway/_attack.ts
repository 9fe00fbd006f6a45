/** Measures the waits of honest clients and the resources of the service during attacks. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../_paths.ts";
import { COMMANDS, type Running, start } from "../_server.ts";
import { makeFolder } from "../release/_folder.ts";
import type { Order, Outcome } from "./_attack-clients.ts";
import type { NodeLoad, Question } from "./_attack-node.ts";
import { TOKEN } from "./_beside.ts";
import { askFor, askOn, type HonestCall, sleep, type Waits } from "./_honest-client.ts";

const EXECUTABLE = `${ROOT}dist/nodeface`;

export const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  ...COMMANDS,
  ...existsSync(EXECUTABLE) && { executable: [EXECUTABLE] },
};

/** If an attack takes longer than this limit, the service is restarted. */
const PATIENCE_MS = 35_000;

const SAMPLE_MS = 20;

export interface Seen {
  readonly info: Waits;
  readonly call: Waits;
  /**
   * The peak of the resident memory minus the memory before the first run, in MB. NaN if the memory
   * is unknown.
   */
  readonly memory: number;
  readonly load: NodeLoad;
  /** `undefined` if the attack took too long. */
  readonly outcome: Outcome | undefined;
}

export interface Scene {
  /** If `count` is 0, the clients run for two seconds without an attack, as a baseline. */
  run(attack: Order["attack"], count: number, call: HonestCall): Promise<Seen>;
  /** Stops the service, so that the next run starts and measures a new process. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function stage(command: readonly string[]): Promise<Scene> {
  const node = child("_attack-node.ts");
  let attackers = child("_attack-clients.ts");
  const [port] = await once(node, "message") as [number];
  const configs = {
    REST: configure(port, REST, ["reads"]),
    RPC: configure(port, RPC, ["eth_send"]),
  };
  const services = new Map<string, { service: Running; before: number }>();
  const askNode = async (question: Question) => {
    node.send(question);
    return (await once(node, "message") as [NodeLoad])[0];
  };
  const stopAll = async () => {
    const running = [...services.values()];
    services.clear();
    await Promise.all(running.map(({ service }) => service.stop("SIGKILL")));
    await askNode("forget");
  };
  const serviceFor = async (call: HonestCall) => {
    const name = call === "GET" ? "REST" : "RPC";
    const running = services.get(name);
    if (running) return running;
    const service = await start([...command, "--config", configs[name]]);
    // These requests load the service's code, so that `before` includes the memory of this code.
    for (let i = 0; i < 50; i++) {
      await askFor(service.url, "info"), await askFor(service.url, call);
    }
    const started = { service, before: memoryOf(service.pid) };
    services.set(name, started);
    return started;
  };
  return {
    async run(attack, count, call) {
      const { service: { url, pid }, before } = await serviceFor(call);
      await askNode("load");
      const honest = [askOn(url, "info"), askOn(url, call)] as const;
      let memory = before;
      const sampling = setInterval(() => memory = Math.max(memory, memoryOf(pid)), SAMPLE_MS);
      const outcome = count === 0
        ? await sleep(2000, { statuses: {}, longest: 0 })
        : await attackBy(attackers, { attack, count, url });
      // After the attack, the service may still be busy for a moment.
      if (outcome) await sleep(300, undefined);
      const [info, beside] = await Promise.all(honest.map((client) => client.leave()));
      clearInterval(sampling);
      const load = await askNode("load");
      if (!outcome) {
        await stopAll();
        attackers.disconnect();
        attackers = child("_attack-clients.ts");
      }
      return { info: info!, call: beside!, memory: memory - before, load, outcome };
    },
    restart: stopAll,
    async stop() {
      await stopAll();
      for (const process of [node, attackers]) process.disconnect();
    },
  };
}

const child = (file: string): ChildProcess => fork(fileURLToPath(new URL(file, import.meta.url)));

async function attackBy(attackers: ChildProcess, order: Order): Promise<Outcome | undefined> {
  const over = once(attackers, "message") as Promise<[Outcome]>;
  attackers.send(order);
  const [outcome] = await Promise.race([over, sleep(PATIENCE_MS, [undefined])]);
  return outcome;
}

const folder = makeFolder();
let files = 0;

function configure(port: number, description: object, withToken: readonly string[]): string {
  const file = (name: string, content: unknown) => {
    const path = join(folder, `${files++}-${name}`);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };
  return file("config.json", {
    node: { url: `http://127.0.0.1:${port}`, kind: "none" },
    description: file("description.json", description),
    forward: {
      open: ["reads"],
      clients: [{ name: "app", allow: withToken, token_file: file("token", TOKEN) }],
    },
    access_log: "off",
  });
}

const responses = { 200: { description: "Done" } };
const read = {
  "x-access": "read",
  parameters: [{ name: "n", in: "query", schema: { type: "integer" } }],
  responses,
};
const letters = [..."abcdefghijkl"];
const named = { parameters: letters.map((name) => inPath(name)), get: read };

const REST = {
  openapi: "3.1.1",
  info: { title: "A node under attack", version: "1" },
  paths: {
    ...Object.fromEntries(
      ["/ok", "/light", "/shorter", "/tiny"].map((path) => [path, { get: read }]),
    ),
    "/heavy": { get: { ...read, "x-cost": "heavy" } },
    [`/${letters.map((name) => `{${name}}`).join("")}/x`]: named,
    [`/d/${letters.map((name) => `{${name}}`).join("-")}/x`]: named,
  },
};

const RPC = {
  openrpc: "1.3.2",
  info: { title: "A node under attack", version: "1" },
  methods: [
    method("eth_blockNumber", "read", []),
    method("long", "read", [{ name: "n", schema: { type: "integer" } }]),
    method("eth_send", "write", []),
  ],
};

function method(name: string, access: string, params: readonly object[]) {
  return { name, params, result: { name: "result", schema: {} }, "x-access": access };
}

function inPath(name: string) {
  return { name, in: "path", required: true, schema: { type: "string" } };
}

/** Returns the resident memory of a process, in MB. */
function memoryOf(pid: number): number {
  const file = `/proc/${pid}/status`;
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? NaN) * 1024 / 1e6;
}
