/**
 * The Debian packages of a release, built by `dpkg-deb`: the executable, the units for systemd, the
 * manual page and completions. Nothing is started when it is installed, since the service needs to
 * know its node.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { bashCompletion, fishCompletion, zshCompletion } from "./completions.ts";
import { manualPage } from "./manual-page.ts";

interface Contents {
  version: string;
  /** As Debian names it: `amd64` or `arm64`. */
  architecture: string;
  /** The executable for this architecture. */
  program: string;
  /** The content of `LICENSES.txt`. */
  licenses: string;
  /** The licence of Nodeface itself. */
  license: string;
  /** The folder of the units. */
  units: string;
  /** When the version was made; files in the package have this time. */
  date: Date;
  /** A name and an address for mail, as in `A Name <a@example.org>`. */
  maintainer: string;
}

/** @returns the path of the package, in `folder` */
export function writeDebianPackage(contents: Contents, folder: string): string {
  const { version, architecture, date } = contents;
  const stage = mkdtempSync(join(folder, "debian-"));
  try {
    let bytes = 0;
    const add = (path: string, content: string | Buffer, mode = 0o644) => {
      const place = join(stage, path);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, content);
      chmodSync(place, mode);
      bytes += Buffer.byteLength(content);
    };
    for (const [path, content] of Object.entries(textsOf(contents))) add(path, content);
    for (const unit of ["nodeface.service", "nodeface@.service"]) {
      add(
        `lib/systemd/system/${unit}`,
        installed(readFileSync(join(contents.units, unit), "utf8")),
      );
    }
    mkdirSync(join(stage, "etc/nodeface"), { recursive: true });
    mkdirSync(join(stage, "usr/bin"), { recursive: true });
    copyFileSync(contents.program, join(stage, "usr/bin/nodeface"));
    chmodSync(join(stage, "usr/bin/nodeface"), 0o755);
    bytes += statSync(contents.program).size;
    for (const [name, script] of Object.entries(SCRIPTS)) add(`DEBIAN/${name}`, script, 0o755);
    add("DEBIAN/control", controlOf(contents, Math.ceil(bytes / 1024)));
    add("DEBIAN/md5sums", sumsIn(stage));
    // Whatever the umask of who builds it.
    execFileSync("find", [stage, "-type", "d", "-exec", "chmod", "755", "{}", "+"]);
    const file = join(folder, `nodeface_${version}_${architecture}.deb`);
    execFileSync("dpkg-deb", ["--root-owner-group", "-Zxz", "-z1", "--build", stage, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(Math.floor(date.getTime() / 1000)) },
      stdio: ["ignore", "ignore", "inherit"],
    });
    return file;
  } finally {
    rmSync(stage, { recursive: true });
  }
}

const DOCUMENTS = "usr/share/doc/nodeface";

function textsOf(contents: Contents): Record<string, string | Buffer> {
  const { version, date, license, licenses } = contents;
  const day = date.toISOString().slice(0, 10);
  return {
    "usr/share/man/man1/nodeface.1.gz": compressed(manualPage(version, day)),
    "usr/share/bash-completion/completions/nodeface": bashCompletion(),
    "usr/share/zsh/vendor-completions/_nodeface": zshCompletion(),
    "usr/share/fish/vendor_completions.d/nodeface.fish": fishCompletion(),
    "usr/share/lintian/overrides/nodeface": OVERRIDES,
    [`${DOCUMENTS}/copyright`]: `Nodeface\n\n${license}\n${FOR_PARTS}`,
    [`${DOCUMENTS}/LICENSES.txt.gz`]: compressed(licenses),
    [`${DOCUMENTS}/changelog.gz`]: compressed(changelogOf(contents)),
  };
}

const FOR_PARTS =
  "The licences of Bun and the packages within the executable are in LICENSES.txt.gz.\n";

/** Without the instructions at the start for an installation by hand. */
const installed = (unit: string): string =>
  unit.replaceAll("/usr/local/bin/", "/usr/bin/").replaceAll(/^# {3}install .*\n/gm, "");

const controlOf = ({ version, architecture, maintainer }: Contents, size: number): string =>
  `Package: nodeface
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${size}
Depends: libc6 (>= 2.27), procps
Section: net
Priority: optional
Description: REST face for a network node
 Runs beside a node, such as a chain daemon, a storage or a message node, and
 serves what the node is, how it is doing, and a web page to explore and try
 its interface. Calls to the node are forwarded as far as its operator allows.
`;

/** Debian's form of a change log (deb-changelog(5)); the changes are in CHANGELOG.md. */
const changelogOf = ({ version, maintainer, date }: Contents): string =>
  `nodeface (${version}) stable; urgency=medium

  * Release ${version}.

 -- ${maintainer}  ${date.toUTCString().replace("GMT", "+0000")}
`;

/** Units that run go on with the new executable, and end before it is removed. */
const SCRIPTS = {
  postinst: `#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload || true
  if [ -n "$2" ]; then
    deb-systemd-invoke try-restart nodeface.service 'nodeface@*.service' || true
  fi
fi
`,
  prerm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop nodeface.service 'nodeface@*.service' || true
fi
`,
  postrm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload || true
fi
`,
};

/** The executable is Bun, as its authors build it; `strip` would cut off Nodeface at its end. */
const OVERRIDES = [
  "embedded-library libjpeg",
  "unstripped-binary-or-object",
  "hardening-no-pie",
  "hardening-no-relro",
]
  .map((tag) => `nodeface: ${tag} [usr/bin/nodeface]\n`).join("");

function sumsIn(stage: string): string {
  const find = [
    "-c",
    "find . -type f ! -path './DEBIAN/*' | LC_ALL=C sort | xargs -d '\\n' md5sum",
  ];
  return execFileSync("sh", find, { cwd: stage, encoding: "utf8" }).replaceAll("  ./", "  ");
}

const compressed = (text: string): Buffer => gzipSync(text, { level: 9 });
