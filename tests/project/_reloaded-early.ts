/**
 * Runs the service with other values than those in its configuration file, and receives SIGHUP
 * before it listens.
 */
import { once } from "node:events";
import process from "node:process";
import "../../src/cli/signals.ts";
import { files } from "../../src/cli/read-config.ts";
import { readConfig } from "../_config.ts";
import { runService } from "../../src/cli/serve.ts";

const read = () => readConfig(process.argv.slice(2), process.env, files);
const config = { ...await read(), info: { static: { name: "first" } } };
const timer = setInterval(() => {}, 1000);
const hungUp = once(process, "SIGHUP");
process.kill(process.pid, "SIGHUP");
await hungUp;
clearInterval(timer);
await runService(config, read);
process.exit(0);
