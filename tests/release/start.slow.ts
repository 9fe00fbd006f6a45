import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PATHS } from "../_app.ts";
import { NOT_ROOT, testWhere, without } from "../_needs.ts";
import { start } from "../_server.ts";
import { makeBare } from "./_bare.ts";
import { childrenOf, EXECUTABLE, NOWHERE, startExecutable } from "./_executable.ts";
import { freePort } from "../_port.ts";

const starting = suite("the executable, compared with a bare server");

let bare = "";
starting.before(async () => void (bare = await makeBare()));

const STARTS = 15;

starting("its first response takes at most four times as long as a bare server's", async () => {
  const times: Record<string, number[]> = { [bare]: [], [EXECUTABLE]: [] };
  for (let i = 0; i < STARTS; i++) {
    for (const [program, taken] of Object.entries(times)) taken.push(await firstAnswer(program));
  }
  // Other load on the machine can only slow a start down, so the fastest start of each program
  // counts.
  const [least, ours] = [Math.min(...times[bare]!), Math.min(...times[EXECUTABLE]!)];
  const medians = Object.values(times).map((taken) => median(taken).toFixed(1)).join(" and ");
  console.log(
    `first answer: ${ours.toFixed(1)} ms; a bare server's: ${least.toFixed(1)} ms; ` +
      `medians: a bare server's and ours, ${medians} ms`,
  );
  assert.ok(ours <= 4 * least, `${ours} ms, bare ${least} ms`);
});

starting("at rest, the executable takes at most 25 MiB more than the bare server", async () => {
  const servers = [await start([bare], {}, NOWHERE), await startExecutable()];
  const [least = 0, ours = 0] = servers.map(({ pid }) => resident(pid));
  for (const [path] of PATHS) await fetch(new URL(path, servers[1]!.url));
  const asked = resident(servers[1]!.pid);
  await Promise.all(servers.map((server) => server.stop("SIGKILL")));
  const [a, b, c] = [ours, least, asked].map((size) => size.toFixed(1));
  console.log(`resident: ${a} MiB, asked for every path ${c} MiB; a bare server's: ${b} MiB`);
  assert.ok(ours <= least + 25, `${ours} MiB, bare ${least} MiB`);
});

testWhere(
  starting,
  NOT_ROOT ?? without("/usr/bin/strace"),
  "the executable opens only files that a bare server opens, too",
  async () => {
    const [expected, opened] = [await opens(bare), await opens(EXECUTABLE)];
    assert.ok(expected.size > 0);
    assert.equal([...opened].filter((path) => !expected.has(path)), []);
  },
);

starting.run();

/** Returns the milliseconds from the start of a program to its first response. */
async function firstAnswer(program: string): Promise<number> {
  const port = await freePort();
  const since = performance.now();
  const child = spawn(program, ["--port", String(port)], {
    cwd: NOWHERE.cwd,
    env: {},
    stdio: "ignore",
  });
  await new Promise<void>((resolve) => {
    const ask = () => {
      const socket = connect(port, "127.0.0.1");
      // Without a pause, polling would take processor time from the measured program.
      socket.on("error", () => setTimeout(ask, 1)).on("connect", () => {
        socket.write("GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n");
      }).once("data", () => {
        socket.destroy();
        resolve();
      });
    };
    ask();
  });
  const taken = performance.now() - since;
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  return taken;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Returns the resident memory of a process, in MiB. */
function resident(pid: number): number {
  const [, size] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(size) / 1024;
}

async function opens(program: string): Promise<Set<string>> {
  const strace = ["/usr/bin/strace", "--follow-forks", "--trace=open,openat,openat2"];
  const server = await start([...strace, "--output=trace", program], {}, NOWHERE);
  for (const [path] of PATHS) await (await fetch(new URL(path, server.url))).arrayBuffer();
  // strace does not pass signals on, so the program itself is killed.
  for (const traced of childrenOf(server.pid)) process.kill(traced, "SIGKILL");
  await server.ended;
  const trace = join(NOWHERE.cwd!, "trace");
  const text = readFileSync(trace, "utf8");
  rmSync(trace);
  const paths = [...text.matchAll(/open(?:at2?)?\((?:AT_FDCWD, )?"([^"]*)".* = \d+/g)]
    .map(([, path]) => path!.replace(/\/proc\/\d+/, "/proc/self"));
  return new Set(paths.filter((path) => path !== program));
}
