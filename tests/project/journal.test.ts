import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHOSEN_COMMANDS, withEach } from "../_server.ts";
import { freePort } from "../_port.ts";
import { until } from "../nodes/_daemon.ts";

const journal = suite("the log in systemd's journal");

journal("has priorities in place of its own times", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-journal-"));
  await withEach(Object.entries(CHOSEN_COMMANDS), async ([program, ...args], runtime) => {
    const path = join(folder, runtime);
    const file = openSync(path, "w");
    const { dev, ino } = fstatSync(file);
    const node = `http://127.0.0.1:${await freePort()}`;
    const service = spawn(program!, [...args, node, "--port", "0"], {
      stdio: ["ignore", "ignore", file],
      env: { ...process.env, JOURNAL_STREAM: `${dev}:${ino}` },
    });
    const lines = () => readFileSync(path, "utf8").trim().split("\n");
    await until(() => Promise.resolve(lines().length >= 2));
    assert.match(lines()[0]!, /^<6>nodeface \S+ on http:/);
    assert.match(lines()[1]!, /^<3>node \S+ is unreachable: connection refused/);
    service.kill();
    await once(service, "exit");
    closeSync(file);
  });
  rmSync(folder, { recursive: true });
});

journal("shows why a start fails among the errors", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-journal-"));
  const path = join(folder, "nodeface.yaml");
  writeFileSync(path, "node: { url: 'https://a.example', tls: { ca_file: /absent.pem } }\n");
  await withEach(Object.entries(CHOSEN_COMMANDS), async ([program, ...args], runtime) => {
    const log = join(folder, runtime);
    const file = openSync(log, "w");
    const { dev, ino } = fstatSync(file);
    const service = spawn(program!, [...args, "check", "--offline", "--config", path], {
      stdio: ["ignore", "ignore", file],
      env: { ...process.env, JOURNAL_STREAM: `${dev}:${ino}`, NODEFACE_PROT: "1" },
    });
    assert.equal(await once(service, "exit"), [1, null]);
    closeSync(file);
    const [warning, error, ...others] = readFileSync(log, "utf8").split("\n");
    assert.match(warning!, /^<4>unknown environment variable NODEFACE_PROT/);
    assert.match(error!, /^<3>cannot read node\.tls\.ca_file/);
    assert.equal(others, [""]);
  });
  rmSync(folder, { recursive: true });
});

journal.run();
