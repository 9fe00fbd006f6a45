import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ask, askWith } from "../_app.ts";

const memory = suite("memory");

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const ENDLESS: Readonly<Record<string, (unique: string) => Promise<Response>>> = {
  "host names": (unique) => askWith({ host: `${unique}.localhost` }, "/v1/health"),
  "paths": (unique) => ask(`/${unique}`),
  "queries": (unique) => ask(`/v1/health?${unique}`),
  "codings": (unique) => askWith({ "accept-encoding": unique }, "/v1/health"),
  "validators": (unique) => askWith({ "if-none-match": `"${unique}"` }, "/v1/health"),
  "origins": (unique) => askWith({ origin: `https://${unique}.example` }, "/v1/health"),
};

const REQUESTS = 5000;

for (const [what, send] of Object.entries(ENDLESS)) {
  memory(`endless ${what} do not increase the service's memory`, async () => {
    const sendAll = async (letter: string) => {
      for (let i = 0; i < REQUESTS; i++) await send(letter.repeat(400) + i);
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await sendAll("a");
    const grown = await sendAll("b") - before;
    assert.ok(grown < REQUESTS * 200, `${grown} bytes for ${REQUESTS} requests`);
  });
}

memory.run();
