/**
 * The archives of images that `npm run build:exe -- --all` writes: loaded and run by Debian's Podman
 * beside anvil, the one for arm64 under QEMU.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ARCHITECTURES } from "../../src/build/image.ts";
import { NOT_ROOT, testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { run, start } from "../_server.ts";
import { startDaemon, until } from "../nodes/_daemon.ts";
import { makeFolder } from "./_folder.ts";

const images = suite("the images of a release");

const archiveOf = (name: string) => `${ROOT}dist/executables/nodeface-image-${name}.tar`;
const notBuilt = ARCHITECTURES.every(({ name }) => existsSync(archiveOf(name)))
  ? undefined
  : 'needs "npm run build:exe -- --all"';
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const IMAGE = `nodeface:${version}`;
const OWN = process.arch === "x64" ? "amd64" : "arm64";
const ANVIL = join(ROOT, "tests/node_modules/.bin/anvil");

/** The folders of an archive and of the image's root. */
function unpack(name: string) {
  const layout = makeFolder(), root = makeFolder();
  execFileSync("tar", ["-xf", archiveOf(name), "-C", layout]);
  const json = (path: string) => JSON.parse(readFileSync(join(layout, path), "utf8"));
  const at = ({ digest }: { digest: string }) => `blobs/${digest.replace(":", "/")}`;
  const [listed] = json("index.json").manifests;
  const manifest = json(at(listed));
  execFileSync("tar", ["-xzf", join(layout, at(manifest.layers[0])), "-C", root]);
  return { root, listed, manifest, image: json(at(manifest.config)), layout, at };
}

for (const { name, loader } of ARCHITECTURES) {
  testWhere(images, notBuilt, `the image for ${name} has what it should, and no more`, async () => {
    const { root, listed, manifest, image, layout, at } = await unpack(name);
    assert.equal(listed.platform, { os: "linux", architecture: name });
    assert.is(listed.mediaType, "application/vnd.docker.distribution.manifest.v2+json");
    assert.is(statSync(join(layout, at(manifest.layers[0]))).size, manifest.layers[0].size);
    assert.ok(statSync(archiveOf(name)).size <= 62e6, `${statSync(archiveOf(name)).size} bytes`);
    assert.is(image.config.User, "65534:65534");
    const { Test, Interval, Retries } = image.config.Healthcheck;
    assert.equal(Test, ["CMD", "/nodeface", "probe"]);
    // A probe takes up to node.timeout, two seconds.
    assert.ok(Retries * (Interval / 1e9 + 2) <= 30, `${Retries} probes at each ${Interval} ns`);
    assert.is(image.config.Labels["org.opencontainers.image.version"], version);
    const files = execFileSync("find", [root, "-type", "f", "-printf", "%m /%P\n"], {
      encoding: "utf8",
    });
    const libraries = ["libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0"];
    const licences = ["644 /LICENSES.txt", "644 /usr/share/doc/libc6/copyright"];
    const expected = [...licences, "755 /nodeface", `755 ${loader}`];
    for (const library of libraries) expected.push(`755 /lib/${library}`);
    assert.equal(files.trim().split("\n").sort(), expected.sort());
  });
}

const QEMU = "/usr/bin/qemu-aarch64-static";
const noEmulator = notBuilt ?? (OWN === "arm64" ? "needs another machine" : without(QEMU));

testWhere(images, noEmulator, "the image for arm64 serves /v1/info under QEMU", async () => {
  const { root } = await unpack("arm64");
  const command = [QEMU, "-L", root, join(root, "nodeface")];
  const service = await start(command, {}, { cwd: makeFolder(), bare: true });
  const response = await fetch(new URL("/v1/info", service.url));
  assert.is(response.status, 200);
  assert.is((await response.json()).version, version);
  await service.stop();
});

const store = makeFolder();
const RUNC = "/usr/sbin/runc";
const PODMAN = ["/usr/bin/podman", "--storage-driver=vfs", "--root", join(store, "root")];
PODMAN.push("--runroot", join(store, "run"), `--runtime=${RUNC}`, "--cgroup-manager=cgroupfs");
const podman = (...words: string[]) => run([...PODMAN, ...words]);
const LIMITS = ["--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"];

async function findEngine(): Promise<string | undefined> {
  const absent = notBuilt ?? NOT_ROOT ?? without(PODMAN[0]!, RUNC, ANVIL);
  if (absent !== undefined) return absent;
  const loaded = await podman("load", "--input", archiveOf(OWN));
  assert.is(loaded.code, 0, loaded.stderr);
  for (const name of [IMAGE, "nodeface:latest"]) assert.match(loaded.stdout, name);
  const { code, stderr } = await podman("run", "--rm", "--network=host", ...LIMITS, IMAGE, "-V");
  return code === 0 ? undefined : `needs a machine where podman can run containers: ${stderr}`;
}
const noEngine = await findEngine();

testWhere(
  images,
  noEngine,
  "the container is healthy while its node is, read-only and without capabilities",
  async () => {
    const [port, nodePort] = [await freePort(), await freePort()];
    const anvil = () => startDaemon([ANVIL, "--port", `${nodePort}`, "--silent"], nodePort);
    let node = await anvil();
    const safe = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=all"];
    safe.push("--security-opt=no-new-privileges", "--network=host", ...LIMITS);
    const address = ["--env=NODEFACE_HOST=127.0.0.1", `--env=NODEFACE_PORT=${port}`];
    const options = ["--detach", "--name", "face", ...safe, ...address];
    const started = await podman("run", ...options, IMAGE, node.url);
    assert.is(started.code, 0, started.stderr);
    try {
      const url = `http://127.0.0.1:${port}`;
      await until(() => fetch(`${url}/v1/ready`).then(({ ok }) => ok, () => false));
      // Podman's timers need systemd, so the test runs the image's own health check.
      const healthy = async () => (await podman("healthcheck", "run", "face")).code === 0;
      await until(healthy, 30_000);
      const users = readFileSync(`/proc/${await pidOf("face")}/status`, "utf8");
      assert.match(users, /^Uid:\t65534\t/m);
      assert.match(users, /^CapEff:\t0+$/m);
      await node.stop();
      await until(async () => !await healthy(), 30_000);
      node = await anvil();
      await until(healthy, 30_000);
    } finally {
      await node.stop();
      await podman("rm", "--force", "--time", "5", "face");
    }
  },
);

async function pidOf(name: string): Promise<string> {
  return (await podman("inspect", name, "--format", "{{.State.Pid}}")).stdout.trim();
}

images.after(async () => {
  if (noEngine === undefined) await podman("system", "reset", "--force");
});

images.run();
