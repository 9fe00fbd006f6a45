/**
 * Builds the image of deploy/Dockerfile with Debian's buildah, and runs the two nodes of
 * deploy/compose.yaml with podman. Nothing is downloaded, because the images of the nodes are built
 * from programs on this machine.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { NOT_ROOT, testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { run } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { EXECUTABLE } from "./_executable.ts";
import { makeFolder } from "./_folder.ts";

const containers = suite("containers");

const BUILDAH = "/usr/bin/buildah", PODMAN = "/usr/bin/podman", RUNC = "/usr/sbin/runc";
const COMPOSE = "/usr/bin/podman-compose", ETCD = "/usr/bin/etcd";
/**
 * Podman's network helper needs `iptables`. If `iptables` is missing, Podman reports only "No such
 * file or directory".
 */
const IPTABLES = "/usr/sbin/iptables";
/** The processor architecture, named as in anvil's packages. */
const ARCH = process.arch === "x64" ? "amd64" : process.arch;
const FILE = `${ROOT}deploy/compose.yaml`;

interface Service {
  image: string;
  command?: string[];
  ports?: string[];
  depends_on?: string[];
  read_only?: boolean;
  cap_drop?: string[];
}
const { services } = parse(readFileSync(FILE, "utf8")) as { services: Record<string, Service> };
const faces = Object.values(services).filter(({ image }) => image === "nodeface");

const folder = makeFolder();
const store = [
  ...["--storage-driver=vfs", "--root", join(folder, "store")],
  ...["--runroot", join(folder, "run")],
];
const buildah = (...args: string[]) => run([BUILDAH, ...store, ...args]);

const podman = join(folder, "podman");
writeFileSync(podman, `#!/bin/sh\nexec ${PODMAN} ${store.join(" ")} --runtime=${RUNC} "$@"\n`, {
  mode: 0o755,
});
/** The limits of a container must not exceed the limits of this process. */
const limits = async () => {
  const { stdout } = await run(["/bin/bash", "-c", "ulimit -Hn; ulimit -Hu"]);
  const [files, processes] = stdout.trim().split("\n").map((text) => Number(text) || 1_048_576);
  const most = Math.min(processes!, 32_768);
  return [`--ulimit=nofile=${files}:${files}`, `--ulimit=nproc=${most}:${most}`];
};

async function build(program: string, image: string, dockerfile: string): Promise<void> {
  const context = makeFolder();
  const root = await run([`${ROOT}deploy/image-root.sh`, program, context]);
  assert.is(root.code, 0, root.stderr);
  // etcd stores its data below `/tmp`.
  mkdirSync(join(context, "tmp"), { recursive: true });
  // Podman ignores the health check of an OCI image.
  const options = ["--isolation=chroot", "--format=docker", "--file", dockerfile];
  const args = [...options, "--tag", image, context];
  const { code, stderr } = await buildah("build", ...args);
  assert.is(code, 0, stderr);
}

async function findBuilder(): Promise<string | undefined> {
  const absent = NOT_ROOT ?? without(BUILDAH);
  if (absent !== undefined) return absent;
  const context = makeFolder();
  writeFileSync(join(context, "Dockerfile"), "FROM scratch\nCOPY Dockerfile /\n");
  const { code } = await buildah("build", "--isolation=chroot", "--tag", "probe", context);
  return code === 0 ? undefined : "needs a machine where buildah can build images";
}
const missing = await findBuilder();
if (missing === undefined) await build(EXECUTABLE, "nodeface", `${ROOT}deploy/Dockerfile`);

async function findEngine(): Promise<string | undefined> {
  const absent = missing ?? without(PODMAN, RUNC, COMPOSE, ETCD, IPTABLES);
  if (absent !== undefined) return absent;
  const args = ["run", "--rm", "--network=bridge", ...await limits(), "nodeface", "--version"];
  const { code } = await run([podman, ...args]);
  return code === 0 ? undefined : "needs a machine where podman can connect containers";
}
const noEngine = await findEngine();

containers("in the compose file, each node has its own service at a loopback port", () => {
  assert.is(faces.length, 2);
  const ports = faces.flatMap(({ ports }) => ports!);
  assert.is(new Set(ports).size, 2);
  for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:8080$/);
  for (const { command, depends_on, read_only, cap_drop } of faces) {
    const { hostname } = new URL(command!.at(-1)!);
    assert.ok(hostname in services, hostname);
    assert.equal([depends_on, read_only, cap_drop], [[hostname], true, ["ALL"]]);
  }
});

testWhere(
  containers,
  missing,
  "the image contains only the executable and its libraries",
  async () => {
    const { stdout: container } = await buildah("from", "nodeface");
    const { stdout: place } = await buildah("mount", container.trim());
    const { stdout: files } = await run(["find", place.trim(), "-type", "f", "-printf", "/%P\n"]);
    for (const file of files.trim().split("\n")) {
      assert.match(
        file,
        /^\/nodeface$|^\/lib.*\.so\.\d+$/,
      );
    }
    const version = await buildah("run", "--isolation=chroot", container.trim(), "/nodeface", "-V");
    assert.match(version.stdout, /^nodeface \d/);
    const { stdout: inspected } = await buildah("inspect", "--type", "image", "nodeface");
    const { config } = JSON.parse(inspected).OCIv1;
    assert.equal([config.User, config.Entrypoint], ["65534:65534", ["/nodeface"]]);
    await buildah("rm", container.trim());
  },
);

testWhere(
  containers,
  noEngine,
  "a configuration, and the files that it names, can be mounted at the root",
  async () => {
    const mounted = makeFolder();
    const configuration = {
      node: { url: "http://127.0.0.1:8545", kind: "ethereum" },
      forward: {
        open: ["reads"],
        clients: [{ name: "wallet", token_file: "wallet.token", allow: ["eth_sendTransaction"] }],
      },
    };
    writeFileSync(join(mounted, "nodeface.yaml"), JSON.stringify(configuration));
    writeFileSync(join(mounted, "wallet.token"), "t".repeat(64));
    const mountOf = (name: string) => `--volume=${join(mounted, name)}:/${name}:ro`;
    const check = async (...names: string[]) => {
      const words = ["run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL"];
      const args = [...words, ...await limits(), ...names.map(mountOf), "nodeface"];
      return await run([podman, ...args, "check", "--offline"]);
    };
    const { code, stdout, stderr } = await check("nodeface.yaml", "wallet.token");
    assert.is(code, 0, stdout + stderr);
    assert.match(stdout, "has no errors");
    const without = await check("nodeface.yaml");
    assert.is(without.code, 1);
    assert.match(without.stdout + without.stderr, /wallet\.token/);
  },
);

testWhere(
  containers,
  noEngine,
  "the compose file runs two nodes and their services, each healthy only while its node is",
  async () => {
    const plain = join(folder, "Dockerfile");
    writeFileSync(plain, "FROM scratch\nCOPY . /\nENV PATH=/\n");
    const require = createRequire(`${ROOT}tests/package.json`);
    const anvil = require.resolve(`@foundry-rs/anvil-linux-${ARCH}/bin/anvil`);
    await build(anvil, services.ethereum!.image, plain);
    await build(ETCD, services.etcd!.image, plain);
    const args = `--podman-run-args=${(await limits()).join(" ")}`;
    const project = ["--podman-path", podman, args, "-p", "nodeface-tests", "-f", FILE];
    const compose = (...words: string[]) => run([COMPOSE, ...project, ...words]);
    const nameOf = (service: string) => `nodeface-tests_${service}_1`;
    const inspect = async (service: string, what: string) =>
      (await run([podman, "inspect", nameOf(service), "--format", what])).stdout.trim();
    try {
      const up = await compose("up", "-d");
      assert.is(up.code, 0, up.stderr);
      for (
        const [service, software] of [["ethereum-face", "anvil"], ["etcd-face", "etcd"]] as const
      ) {
        const address = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
        const host = await inspect(service, address);
        // `podman-compose up` exits with 0 even if it has started nothing.
        assert.is.not(host, "", up.stderr);
        const url = `http://${host}:8080/v1/info`;
        let info: { status?: string; software?: string } = {};
        await until(async () => {
          info = await (await fetch(url)).json().catch(() => ({}));
          return info.status === "ok";
        });
        assert.is(info.software, software);
      }
      await Promise.all(faces.map(async ({ command }) => {
        const node = new URL(command!.at(-1)!).hostname;
        const service = `${node}-face`;
        const names = { node: nameOf(node), service: nameOf(service) };
        const check = JSON.parse(await inspect(service, "{{json .Config.Healthcheck}}"));
        /** Podman's timers need systemd, so the test probes at their interval, and counts. */
        const probesUntil = async (expected: string) => {
          for (let probes = 1; probes <= 6; probes++) {
            await setTimeout(check.Interval / 1e6);
            await run([podman, "healthcheck", "run", names.service]);
            if (await inspect(service, "{{.State.Health.Status}}") === expected) return probes;
          }
          throw new Error(`${service} is not ${expected}`);
        };
        await probesUntil("healthy");
        await run([podman, "stop", "--time", "5", names.node]);
        const probes = await probesUntil("unhealthy");
        // A probe takes up to node.timeout, two seconds.
        const seconds = probes * (check.Interval / 1e9 + 2);
        assert.ok(seconds <= 30, `${service} is unhealthy only ${seconds} s after its node's end`);
        await run([podman, "start", names.node]);
        await probesUntil("healthy");
        await run([podman, "stop", "--time", "10", names.service]);
        assert.is(await inspect(service, "{{.State.ExitCode}}"), "0");
      }));
    } finally {
      await compose("down");
      await run([podman, "network", "rm", "--force", "nodeface-tests_default"]);
    }
  },
);

containers.run();
