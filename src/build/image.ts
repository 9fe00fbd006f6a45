/**
 * The images of a release: for each architecture an archive that `docker load` and `podman load`
 * read, FROM scratch, with the executable, the C libraries that it uses, and the licences. The
 * archive is an OCI image layout (OCI Image Format 1.1) whose media types are Docker's, because
 * Podman ignores the health check of an OCI configuration. It has the index of `docker save`, too.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

interface Architecture {
  /** As images name it. */
  name: "amd64" | "arm64";
  target: string;
  /** Where Debian has the C libraries of this architecture, the machine's own first. */
  libraries: { folder: string; package: string }[];
  /** Where a program expects its loader. */
  loader: string;
}

export const ARCHITECTURES: readonly Architecture[] = [
  {
    name: "amd64",
    target: "linux-x64",
    libraries: [
      { folder: "/lib/x86_64-linux-gnu", package: "libc6" },
      { folder: "/usr/x86_64-linux-gnu/lib", package: "libc6-amd64-cross" },
    ],
    loader: "/lib64/ld-linux-x86-64.so.2",
  },
  {
    name: "arm64",
    target: "linux-arm64",
    libraries: [
      { folder: "/lib/aarch64-linux-gnu", package: "libc6" },
      { folder: "/usr/aarch64-linux-gnu/lib", package: "libc6-arm64-cross" },
    ],
    loader: "/lib/ld-linux-aarch64.so.1",
  },
];

const LIBRARIES = ["libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0"];

/** The licences of the C libraries, where Debian and scanners have them. */
const COPYRIGHT = "/usr/share/doc/libc6/copyright";

const TYPES = {
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  layer: "application/vnd.docker.image.rootfs.diff.tar.gzip",
};

const SECOND = 1_000_000_000;

/**
 * @param program the executable for this architecture
 * @param licenses the path of `LICENSES.txt`
 * @param folder where the archive is written
 * @returns the path of the archive
 * @throws Error if this machine does not have the C libraries of the architecture
 */
export async function writeImage(
  architecture: Architecture,
  program: string,
  licenses: string,
  folder: string,
  labels: Readonly<Record<string, string>>,
): Promise<string> {
  const stage = await mkdtemp(join(folder, "image-"));
  try {
    const layer = tar(await makeRoot(architecture, program, licenses, stage));
    const compressed = gzipSync(layer, { level: 9 });
    const layout = join(stage, "layout");
    const blob = async (content: Uint8Array, mediaType: string) => {
      const digest = sha256(content);
      const path = `blobs/sha256/${digest.slice("sha256:".length)}`;
      await writeFile(join(layout, path), content);
      return { path, descriptor: { mediaType, digest, size: content.length } };
    };
    await mkdir(join(layout, "blobs/sha256"), { recursive: true });
    const config = await blob(json(configOf(architecture, sha256(layer), labels)), TYPES.config);
    const root = await blob(compressed, TYPES.layer);
    const manifest = await blob(
      json({
        schemaVersion: 2,
        mediaType: TYPES.manifest,
        config: config.descriptor,
        layers: [root.descriptor],
      }),
      TYPES.manifest,
    );
    const version = labels["org.opencontainers.image.version"];
    const tags = [`nodeface:${version}`, "nodeface:latest"];
    const platform = { os: "linux", architecture: architecture.name };
    // containerd reads the names here, and others those in `manifest.json`.
    const manifests = tags.map((tag) => {
      const annotations = {
        "io.containerd.image.name": `docker.io/library/${tag}`,
        "org.opencontainers.image.ref.name": tag.split(":")[1],
      };
      return { ...manifest.descriptor, platform, annotations };
    });
    const index = { schemaVersion: 2, manifests };
    const saved = [{ Config: config.path, RepoTags: tags, Layers: [root.path] }];
    await writeFile(join(layout, "index.json"), json(index));
    await writeFile(join(layout, "manifest.json"), json(saved));
    await writeFile(join(layout, "oci-layout"), json({ imageLayoutVersion: "1.0.0" }));
    const archive = join(folder, `nodeface-image-${architecture.name}.tar`);
    await writeFile(archive, tar(layout));
    return archive;
  } finally {
    await rm(stage, { recursive: true });
  }
}

async function makeRoot(
  architecture: Architecture,
  program: string,
  licenses: string,
  stage: string,
): Promise<string> {
  const root = join(stage, "root");
  const add = async (from: string, to: string, mode: number) => {
    await mkdir(dirname(join(root, to)), { recursive: true });
    await copyFile(from, join(root, to));
    await chmod(join(root, to), mode);
  };
  await add(program, "/nodeface", 0o755);
  await add(licenses, "/LICENSES.txt", 0o644);
  for (const [part, found] of findLibraries(architecture)) {
    await add(found, part, part === COPYRIGHT ? 0o644 : 0o755);
  }
  return root;
}

/**
 * Returns where each C library and their licences are on this machine, by the path in the image.
 *
 * @throws Error if one is missing
 */
export function findLibraries({ libraries, loader, name }: Architecture): Map<string, string> {
  const parts = [loader, ...LIBRARIES.map((library) => `/lib/${library}`)];
  const missing: string[] = [];
  for (const { folder, package: owner } of libraries) {
    const all = new Map(parts.map((part) => [part, join(folder, basename(part))]));
    all.set(COPYRIGHT, `/usr/share/doc/${owner}/copyright`);
    const absent = [...all.values()].find((path) => !existsSync(path));
    if (absent === undefined) return all;
    missing.push(absent);
  }
  throw new Error(
    `the image for ${name} needs ${missing.join(" or ")}: ` +
      `on Debian or Ubuntu, install libc6-${name}-cross`,
  );
}

function configOf(
  { name }: Architecture,
  diffId: string,
  labels: Readonly<Record<string, string>>,
) {
  return {
    architecture: name,
    os: "linux",
    created: "1970-01-01T00:00:00Z",
    config: {
      User: "65534:65534",
      // The loopback address of a container cannot be reached from outside.
      Env: ["NODEFACE_HOST=0.0.0.0"],
      ExposedPorts: { "8080/tcp": {} },
      Entrypoint: ["/nodeface"],
      Labels: labels,
      // The service waits for its node, up to twice node.timeout. The container is unhealthy within
      // 30 s of the node's end.
      Healthcheck: {
        Test: ["CMD", "/nodeface", "probe"],
        Interval: 10 * SECOND,
        Timeout: 25 * SECOND,
        StartPeriod: 10 * SECOND,
        Retries: 2,
      },
    },
    rootfs: { type: "layers", diff_ids: [diffId] },
    history: [{ created: "1970-01-01T00:00:00Z", created_by: "npm run release" }],
  };
}

/** Packs a folder into the same bytes at each build. */
function tar(folder: string): Buffer {
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  const names = ["--mode=u+rw,go+r-w,a+X", "--format=ustar", "-C", folder, "."];
  return execFileSync("tar", ["-c", ...same, ...names], { maxBuffer: 2 ** 30 });
}

const sha256 = (content: Uint8Array) =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
