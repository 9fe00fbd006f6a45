/** Processes that are measured: started on a port, stopped with everything else when the run ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import process from "node:process";
import { ROOT } from "../../_paths.ts";

/** A server that answers. */
export interface Started {
  pid: number;
  /** The ports it listens on, as they were given to it. */
  ports: readonly number[];
  /** From the start of its process to its first answer, in milliseconds. */
  took: number;
  /** What it has printed lately. */
  printed(): string;
  stop(): Promise<void>;
}

/** How long a server may take until it answers, in milliseconds. */
const PATIENCE = 60_000;

const children = new Set<ChildProcess>();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** Starts a program that is stopped at the end, whatever happens. */
export function launch([program, ...args]: readonly string[]): ChildProcess {
  const { HOST: _host, PORT: _port, NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(program!, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  child.once("close", () => children.delete(child));
  return child;
}

/** What servers print where another process was quicker to take a port. */
const TAKEN = /EADDRINUSE|address (already )?in use|in use\?/i;

/**
 * Starts a server and waits until it answers a request.
 *
 * @param command makes the command from free ports
 * @param path what is asked of the first port until it is answered
 * @param count how many ports it is given
 */
export async function startServer(
  command: (ports: readonly number[]) => readonly string[],
  path: string,
  count = 1,
): Promise<Started> {
  for (let attempt = 1;; attempt++) {
    const ports = await Promise.all(Array.from({ length: count }, freePort));
    try {
      return await startOn(ports, command(ports), path);
    } catch (error) {
      if (attempt === 3 || !TAKEN.test((error as Error).message)) throw error;
    }
  }
}

async function startOn(
  ports: readonly number[],
  command: readonly string[],
  path: string,
): Promise<Started> {
  const since = performance.now();
  const child = launch(command);
  let printed = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-4000);
    });
  }
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`It ended with ${code}: ${printed}`)));
  });
  ended.catch(() => {});
  await Promise.race([answers(ports[0]!, path, since), ended]);
  const took = performance.now() - since;
  return { pid: child.pid!, ports, took, printed: () => printed, stop: () => stop(child) };
}

/** Resolves when a request to a port has been answered, and not with an error. */
function answers(port: number, path: string, since: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const ask = () => {
      const socket = connect(port, "127.0.0.1");
      // Not at once again, which would take the processor from what is measured.
      const again = () => {
        socket.destroy();
        if (performance.now() - since < PATIENCE) setTimeout(ask, 1);
        else reject(new Error(`Nothing answers ${path}`));
      };
      socket.once("error", again).once("connect", () => {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
      }).once("data", (bytes) => {
        if (!/ (200|304)$/.test(bytes.toString("latin1", 0, 12))) return again();
        socket.destroy();
        resolve();
      });
    };
    ask();
  });
}

/** Stops whatever is still running. */
export async function stopAll(): Promise<void> {
  await Promise.all([...children].map(stop));
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** A port that nothing listens on. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
