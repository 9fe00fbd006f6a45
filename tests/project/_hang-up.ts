/**
 * Starts the service, and sends SIGHUP a given time after the process is able to catch it. Needs
 * Linux.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { infoOf, until } from "../nodes/_daemon.ts";
import { COMMANDS, launch } from "../_server.ts";

export const DELAYS_MS = [0, 20, 50, 100, 150, 300];

/** Throws if the service does not read the file again, which is replaced before the signal. */
export async function hangUpAfter(
  delay: number,
  folder: string,
): Promise<void> {
  const file = join(folder, `hang-up-${delay}-${Math.random()}.yaml`);
  const write = (name: string) => writeFile(file, `info: { static: { name: ${name} } }\n`);
  await write("first");
  const [program, ...args] = COMMANDS.Node;
  const flags = ["--config", file, "--port", "0"];
  const { child, ended, ready } = launch(program!, [...args, ...flags], {}, {});
  try {
    await until(() => catchesHangUp(child.pid!));
    await wait(delay);
    await write("second");
    process.kill(child.pid!, "SIGHUP");
    const url = await ready;
    await until(async () => (await infoOf(url)).info.name === "second");
  } finally {
    child.kill();
    await ended;
  }
}

async function catchesHangUp(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const caught = /^SigCgt:\s*([\da-f]+)$/m.exec(status)?.[1] ?? "0";
  // SIGHUP is signal 1, the lowest bit.
  return (parseInt(caught.slice(-1), 16) & 1) === 1;
}
