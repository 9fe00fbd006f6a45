/**
 * Prepares the description in a file. Prints two processor times in milliseconds, as JSON: `longest`
 * of the longest slice, including those that write `/spec.yaml`, and `served` of the preparation
 * without `/spec.yaml`. Works only on Linux.
 */
import { openSync, readSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { prepareDescription } from "../../src/description/prepare.ts";
import { sourceAt } from "../../src/description/source.ts";
import { openNode } from "../../src/info/open-node.ts";
import { resolveForward } from "../../src/gateway/policy.ts";
import { loadOwnDocument } from "../../src/resources/open-description.ts";

/** The times of a main thread: the first number is the processor time in nanoseconds. */
const schedstat = openSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, "r");
const buffer = Buffer.alloc(100);

function processorTime(): number {
  const length = readSync(schedstat, buffer, 0, buffer.length, 0);
  return Number(buffer.toString("latin1", 0, length).split(" ")[0]) / 1e6;
}

const file = process.argv[2]!;
const node = "http://127.0.0.1:8545";
const source = await sourceAt(pathToFileURL(file), openNode({}, {}));
const options = {
  own: await loadOwnDocument(),
  operations: [],
  node,
  base: node,
  forward: resolveForward({ open: ["GET *"] }),
};

let longest = 0;
let isOver = false;
let last = processorTime();
/** Runs in each turn of the event loop. */
function measure() {
  const now = processorTime();
  longest = Math.max(longest, now - last);
  last = now;
  if (!isOver) setImmediate(measure);
}

const since = processorTime();
measure();
longest = 0;
const { description } = await prepareDescription(source, {}, options);
const served = processorTime() - since;
await description!.documents["/spec.yaml"].get();
isOver = true;
process.stdout.write(JSON.stringify({ longest, served }));
process.exit(0);
