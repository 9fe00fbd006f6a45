import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import { DELAYS_MS, hangUpAfter } from "./_hang-up.ts";

const STARTS = 200;

const hangUp = suite("SIGHUP during many starts");
const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
hangUp.after(() => rm(folder, { recursive: true }));

if (process.platform === "linux") {
  hangUp(`a SIGHUP is not lost in any of ${STARTS} starts`, async () => {
    for (let count = 0; count < STARTS; count++) {
      await hangUpAfter(DELAYS_MS[count % DELAYS_MS.length]!, folder);
    }
  });
}

hangUp.run();
