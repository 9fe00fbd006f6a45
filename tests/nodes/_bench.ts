/**
 * Manages the processes and files of a test with a node. The processes are stopped at the end of
 * the test.
 */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { EXECUTABLE } from "../gateway/_beside.ts";
import { COMMANDS, type Running, start } from "../_server.ts";
import { type Daemon, startDaemon } from "./_daemon.ts";

export const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  ...COMMANDS,
  executable: [EXECUTABLE],
};

/** The service runs on Node unless another runtime is an argument of the tests. */
export const RUNTIME: string = Object.keys(RUNTIMES).find((name) => process.argv.includes(name)) ??
  "Node";

export class Bench implements AsyncDisposable {
  readonly home: string;
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor(home: string) {
    this.home = home;
  }

  static async open(name: string): Promise<Bench> {
    return new Bench(await mkdtemp(join(tmpdir(), `nodeface-${name}-`)));
  }

  async daemon(command: readonly string[], port: number): Promise<Daemon> {
    const env = { HOME: this.home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "", NODE_BACKEND: "js" };
    const daemon = await startDaemon(command, port, env);
    this.#ends.push(() => daemon.stop("SIGKILL"));
    return daemon;
  }

  /**
   * By default, the service uses the home folder of the daemons, so that it finds their secrets.
   */
  async service(args: readonly string[], home: string = this.home): Promise<Running> {
    const service = await start([...RUNTIMES[RUNTIME]!, ...args], { HOME: home });
    this.#ends.push(() => service.stop());
    return service;
  }

  async config(name: string, value: unknown): Promise<string> {
    const path = join(this.home, name);
    await writeFile(path, JSON.stringify(value));
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}

export const bench = (name: string, use: (bench: Bench) => Promise<void>) => async () => {
  const opened = await Bench.open(name);
  try {
    await use(opened);
  } finally {
    await opened[Symbol.asyncDispose]();
  }
};
