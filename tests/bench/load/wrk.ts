/** Load from `wrk`. */
import { fileURLToPath } from "node:url";
import { launch } from "../cli/processes.ts";
import type { Generate } from "./load.ts";

const SCRIPT = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** One thread: where there are two processors, the other one is the server's. */
export const wrk: Generate = async ({ url, headers, connections, seconds }) => {
  const fields = Object.entries(headers).flatMap((field) => ["-H", field.join(": ")]);
  const size = ["-t1", `-c${connections}`, `-d${seconds}s`];
  const child = launch(["wrk", ...size, "-s", SCRIPT, ...fields, url]);
  let printed = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => printed += text);
  child.stderr!.setEncoding("utf8").on("data", (text: string) => printed += text);
  await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  const found = /^bench (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(printed);
  if (!found) throw new Error(`wrk did not measure ${url}: ${printed}`);
  const [requests = 0, duration = 0, p50 = 0, p99 = 0, broken = 0, wrong = 0] = found.slice(1)
    .map(Number);
  return {
    requests,
    rate: requests / duration * 1e6,
    p50: p50 / 1000,
    p99: p99 / 1000,
    failed: broken + wrong,
  };
};
