import { suite } from "uvu";
import * as assert from "uvu/assert";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { createNodeface } from "../../src/index.ts";
import { COMMANDS, type Running, start } from "../_server.ts";
import { BADNESS, type BadNode, startBadNode } from "./_bad-node.ts";
import { assertQuick, infoOf, until } from "./_daemon.ts";

const bad = suite("bad nodes");

const MEBIBYTE = 1024;

let node: BadNode;
let service: Running;

/** Returns the resident memory of the service, in KiB. */
function memory(): number {
  if (process.platform !== "linux") {
    return Number(execFileSync("ps", ["-o", "rss=", "-p", String(service.pid)]));
  }
  // A process for each look would take more time than the service that is tested.
  const status = readFileSync(`/proc/${service.pid}/status`, "utf8");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)![1]);
}

/**
 * `times` says by how many milliseconds each info object was slower than a static file. `most` is
 * the peak memory of the service, in KiB.
 */
async function watch(wanted: string): Promise<{ times: number[]; most: number }> {
  const times: number[] = [];
  let most = 0;
  await until(async () => {
    const { status, info, took } = await infoOf(service.url);
    assert.is(status, 200);
    times.push(took);
    most = Math.max(most, memory());
    return info.status === wanted;
  });
  return { times, most };
}

async function startService(): Promise<void> {
  const file = join(await mkdtemp(join(tmpdir(), "nodeface-")), "nodeface.yaml");
  await writeFile(file, "{ node: { timeout: 2s }, info: { ttl: 100ms, stale: 3s } }\n");
  service = await start([...COMMANDS.Node, node.url, "--config", file]);
  for (let asked = 0; asked < 200; asked++) await infoOf(service.url);
  await watch("ok");
}

bad.before(async () => {
  node = await startBadNode();
  await startService();
});

bad.after(async () => {
  await service?.stop();
  await node?.close();
});

/** Faults after which the service shows the last known values for a while. */
const SILENT = ["refuses", "hangs", "drips a byte a second"];

/** A service logs a limited number of changes, so that it is started anew after some faults. */
const FAULTS_MAX = 4;

for (const [at, behaviour] of ["refuses", ...Object.keys(BADNESS)].entries()) {
  const isSilent = SILENT.includes(behaviour);
  const state = isSilent ? "unreachable" : "degraded";

  const wait = isSilent ? "by more than its timeout" : "at all";
  bad(`a node that ${behaviour} delays no response ${wait}, and is logged once`, async () => {
    if (at > 0 && at % FAULTS_MAX === 0) {
      await service.stop();
      await startService();
    }
    const before = memory();
    const said = service.stderr().length;
    await node.be(behaviour);
    const seen = [await watch(state)];
    // The log may arrive later than the response.
    await until(() => Promise.resolve(service.stderr().slice(said).includes(` is ${state} `)));
    const told = service.stderr().slice(said).trim().split("\n");
    const states = told.map((line) => / is (\w+) /.exec(line)?.[1]);
    // On a slow machine, the status `stale` may not be seen. If this process stalls, the node does,
    // too.
    const found = states.join().replace(/^(?:stale,ok,)*(?:stale,)?/, "");
    assert.is(found, state, told.join("\n"));
    await node.be("good");
    seen.push(await watch("ok"));
    assertQuick(seen.flatMap(({ times }) => times), isSilent ? 6000 : 500);
    const more = (Math.max(...seen.map(({ most }) => most)) - before) / MEBIBYTE;
    // Buffering a whole response would take 100 MiB.
    assert.ok(more < 40, `the service took ${more} MiB more`);
  });

  bad(`a node that ${behaviour} from the start delays no response beyond the timeout`, async () => {
    await node.be(behaviour);
    const said: string[] = [];
    // A busy machine may read what is bad later than within half a second. For silent nodes, the
    // limit of 1.5 s is shorter than the default timeout of 2 s.
    const timeout = isSilent ? 500 : 5000;
    const app = createNodeface({
      node: { url: node.url, kind: "ethereum", timeout: `${timeout}ms` },
      log: (message) => said.push(message),
    });
    await app.ready();
    let response: Response | undefined;
    void Promise.resolve(app.fetch(new Request("http://localhost/v1/info")))
      .then((came) => response = came);
    // A stall of the machine counts as one step.
    for (let waited = 0; !response && waited < 3 * timeout; waited += 10) await sleep(10);
    assert.ok(response, "three times the timeout has passed");
    assert.is(response.status, 200);
    assert.is((await response.json()).status, state);
    assert.is((await app.fetch(new Request("http://localhost/v1/health"))).status, 503);
    await until(() => Promise.resolve(said.length === 1));
    assert.not.match(said[0]!, /secret|localhost:1|\bat /);
    await node.be("good");
    await watch("ok");
  });
}

bad.run();
