/**
 * Starts a separate systemd in namespaces. This systemd and its units can read the machine's files,
 * but all of their writes are discarded. The units use the same network as the tests.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { NOT_ROOT, without } from "../_needs.ts";
import { type Ended, run } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { EXECUTABLE } from "./_executable.ts";
import { makeFolder } from "./_folder.ts";

const SYSTEMD = "/usr/lib/systemd/systemd";

export const UNITS = "/run/units";

/** The time limit for the start, in milliseconds. */
const PATIENCE = 20_000;

export interface Systemd extends AsyncDisposable {
  shell(line: string): Promise<Ended>;
  /** Without `mode`, every user can read the file. */
  write(path: string, text: string, mode?: string): Promise<void>;
}

/**
 * Empty units replace these targets of systemd, because the real targets would change the machine.
 */
const TARGETS = ["sysinit", "basic", "network", "shutdown", "multi-user", "tests"];

const boot = (folder: string) => `
set -e
mount --make-rprivate /
for place in $(findmnt -rno TARGET | grep -vE '^/(proc|sys|dev)(/|$)'); do
  mount -o remount,bind,ro "$place"
done
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t tmpfs tmpfs ${folder}
for name in etc var; do
  mkdir ${folder}/$name ${folder}/$name.work
  mount -t overlay overlay \\
    -o lowerdir=/$name,upperdir=${folder}/$name,workdir=${folder}/$name.work /$name
done
cp ${EXECUTABLE} ${folder}/nodeface
mount -t tmpfs tmpfs /usr/local/bin
cp ${folder}/nodeface /usr/local/bin/nodeface
for place in /dev/shm /run /tmp; do mount -t tmpfs tmpfs $place; done
chmod 1777 /tmp /dev/shm
mkdir -p ${UNITS}
for name in ${TARGETS.join(" ")}; do
  printf '[Unit]\\nDefaultDependencies=no\\n' > ${UNITS}/$name.target
done
if mkdir /usr/nodeface-canary 2> /dev/null && rmdir /usr/nodeface-canary || [ -n "$(ls -A /tmp)" ]; then exit 1; fi
# Mounts propagate only among its own namespaces: credentials are mounted in one, and read in another.
mount --make-rshared /
exec env -i PATH="$PATH" container=other SYSTEMD_UNIT_PATH=${UNITS} SYSTEMD_GENERATOR_PATH=/run/none \\
  SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/run/none ${SYSTEMD} --system --unit=tests.target --show-status=no
`;

/** Starts systemd, or returns the reason why it cannot run on this machine. */
export async function startSystemd(): Promise<Systemd | string> {
  const missing = NOT_ROOT ?? without(SYSTEMD, "/usr/bin/unshare", "/usr/bin/nsenter");
  if (missing !== undefined) return missing;
  const folder = makeFolder();
  const script = join(folder, "boot.sh");
  writeFileSync(script, boot(makeFolder()));
  chmodSync(script, 0o755);
  const namespaces = ["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"];
  const child = spawn("/usr/bin/unshare", [...namespaces, "/bin/sh", script], { stdio: "ignore" });
  const shell = (line: string) =>
    run(["/usr/bin/nsenter", "-t", firstOf(child), "-m", "-p", "/bin/sh", "-c", line]);
  const stop = async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await ended;
    }
  };
  process.on("exit", () => child.kill("SIGKILL"));
  const isUp = async () => {
    if (child.exitCode !== null) throw new Error("it ended");
    if (firstOf(child) === "") return false;
    return /running|degraded/.test((await shell("systemctl is-system-running")).stdout);
  };
  try {
    await until(isUp, PATIENCE);
  } catch {
    await stop();
    return "needs a machine where systemd can run in namespaces";
  }
  const write: Systemd["write"] = async (path, text, mode = "644") => {
    const encoded = Buffer.from(text).toString("base64");
    const { code, stderr } = await shell(
      `mkdir -p "$(dirname '${path}')" && echo ${encoded} | base64 -d > '${path}' && ` +
        `chmod ${mode} '${path}'`,
    );
    if (code !== 0) throw new Error(stderr);
  };
  return { shell, write, [Symbol.asyncDispose]: stop };
}

/**
 * Returns the process ID that systemd has outside its namespaces. The result is empty if systemd is
 * not running.
 */
function firstOf({ pid }: ChildProcess): string {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  } catch {
    return "";
  }
}
