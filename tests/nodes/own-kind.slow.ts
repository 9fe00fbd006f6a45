/**
 * Tests the example of a custom kind with a real node: aria2 from Debian (`apt-get install aria2`).
 */
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../../src/index.ts";
import { parseKind } from "../_kinds.ts";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { startDaemon } from "./_daemon.ts";

const own = suite("an operator's own kind");

const PROGRAM = "/usr/bin/aria2c";

testWhere(
  own,
  without(PROGRAM),
  "aria2 is detected by its kind file, and all its operations are shown",
  async () => {
    const aria2 = parseKind(
      await readFile(`${ROOT}examples/kinds/aria2.yaml`, "utf8"),
      "aria2.yaml",
    );
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), "nodeface-aria2-"));
    const flags = [
      "--enable-rpc",
      `--rpc-listen-port=${port}`,
      `--dir=${folder}`,
      "--no-conf",
      "-q",
    ];
    const daemon = await startDaemon([PROGRAM, ...flags], port, { HOME: folder });
    try {
      const app = createNodeface({ kinds: { aria2 }, node: daemon.url, log() {} });
      const read = async (path: string) =>
        await (await app.fetch(new Request(`http://localhost${path}`))).json();
      const { status, software, version, downloads } = await read("/v1/info");
      assert.equal([status, software, downloads], ["ok", "aria2", 0]);
      assert.match(version, /^\d+\.\d+/);
      await app.refresh();
      const { paths } = await read("/spec.json");
      assert.is(paths["/v1/rpc/aria2.getVersion"].get["x-access"], "read");
      // `aria2.pauseAll` is not in the kind file, but the node lists it.
      assert.is(paths["/v1/rpc/aria2.pauseAll"].post["x-access"], undefined);
      await app.close();
    } finally {
      await daemon.stop();
    }
  },
);

own.run();
