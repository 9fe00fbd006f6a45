/**
 * The Debian package that `npm run build:exe -- --all` writes: installed, upgraded and removed in a
 * Debian made by debootstrap. Its manual page and completions are read by the programs themselves.
 */
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bashCompletion, fishCompletion, zshCompletion } from "../../src/build/completions.ts";
import { writeDebianPackage } from "../../src/build/debian.ts";
import { manualPage } from "../../src/build/manual-page.ts";
import { FLAGS } from "../../src/cli/usage.ts";
import { NOT_ROOT, testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { makeFolder } from "./_folder.ts";

const debian = suite("the Debian package");

const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const ARCHITECTURE = process.arch === "x64" ? "amd64" : "arm64";
const FILE = `${ROOT}dist/executables/nodeface_${version}_${ARCHITECTURE}.deb`;
const notBuilt = existsSync(FILE) ? undefined : 'needs "npm run build:exe -- --all"';

const read = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: "utf8", maxBuffer: 1e8, stdio: ["ignore", "pipe", 2] });

const noLintian = notBuilt ?? without("/usr/bin/lintian");
testWhere(debian, noLintian, "lintian finds no fault", () => {
  const found = read("lintian", "--allow-root", "--fail-on", "warning", FILE);
  assert.is(found, "");
});

testWhere(debian, without("/usr/bin/dpkg-deb"), "it has the same bytes with any umask", () => {
  const texts = { version, architecture: ARCHITECTURE, licenses: "", license: "MIT" };
  const files = { program: `${ROOT}LICENSE`, units: `${ROOT}deploy`, date: new Date(0) };
  const built = [0o022, 0o077].map((umask) => {
    const folder = makeFolder();
    const before = process.umask(umask);
    try {
      return writeDebianPackage({ ...texts, ...files, maintainer: "A <a@example.org>" }, folder);
    } finally {
      process.umask(before);
    }
  });
  const listed = read("dpkg-deb", "--contents", built[1]!).trim().split("\n");
  for (const line of listed) assert.match(line, /^(?:drwxr-xr-x|-rw-r--r--|-rwxr-xr-x) /);
  assert.ok(readFileSync(built[0]!).equals(readFileSync(built[1]!)));
});

const noDebian = notBuilt ?? NOT_ROOT ?? without("/usr/sbin/debootstrap");
testWhere(debian, noDebian, "it is installed, upgraded and removed", () => {
  const root = join(makeFolder(), "root");
  const options = ["--variant=minbase", "--include=procps"];
  read("debootstrap", ...options, releaseName(), root, mirror());
  const proc = join(root, "proc");
  // The runtime within the executable does not start without it.
  read("mount", "-t", "proc", "proc", proc);
  try {
    installUpgradeRemove(root);
  } finally {
    read("umount", proc);
  }
});

function installUpgradeRemove(root: string): void {
  const within = (...command: string[]) => read("chroot", root, ...command);
  const install = (file: string) => {
    copyFileSync(file, join(root, "nodeface.deb"));
    within("dpkg", "--install", "/nodeface.deb");
  };
  install(FILE);
  assert.match(within("nodeface", "--version"), `nodeface ${version} on Bun`);
  assert.match(within("nodeface", "kinds"), "bitcoin");
  assert.ok(existsSync(join(root, "etc/nodeface")));
  const unit = readFileSync(join(root, "lib/systemd/system/nodeface.service"), "utf8");
  assert.match(unit, "\nExecStart=/usr/bin/nodeface --config /etc/nodeface/nodeface.yaml\n");
  const own = join(root, "etc/nodeface/nodeface.yaml");
  writeFileSync(own, "node: { url: http://127.0.0.1:8545 }\n");

  install(withVersion(FILE, `${version}+1`));
  assert.match(within("dpkg", "--status", "nodeface"), `Version: ${version}+1`);
  assert.match(
    within("nodeface", "check", "--offline", "--config", own.slice(root.length)),
    "no errors",
  );
  within("dpkg", "--remove", "nodeface");
  assert.not.ok(existsSync(join(root, "usr/bin/nodeface")));
  within("dpkg", "--purge", "nodeface");
  assert.ok(existsSync(own), "the operator's own file stays");
}

const releaseName = () =>
  /VERSION_CODENAME=(\w+)/.exec(readFileSync("/etc/os-release", "utf8"))![1]!;

/** The mirror that this machine's own packages come from. */
function mirror(): string {
  const [address] = /https?:\S+\/debian(?=\/? )/.exec(read("apt-cache", "policy"))!;
  return address;
}

/** The same package under another version, for an upgrade. */
function withVersion(file: string, other: string): string {
  const stage = join(makeFolder(), "stage");
  read("dpkg-deb", "--raw-extract", file, stage);
  const control = join(stage, "DEBIAN/control");
  writeFileSync(
    control,
    readFileSync(control, "utf8").replace(/^Version: .*$/m, `Version: ${other}`),
  );
  read("dpkg-deb", "-Zgzip", "-z1", "--build", stage, `${stage}.deb`);
  return `${stage}.deb`;
}

testWhere(debian, without("/usr/bin/man"), "man finds no fault in the manual page", () => {
  const page = join(makeFolder(), "nodeface.1");
  writeFileSync(page, manualPage(version, "2026-01-01"));
  const shell = `man --warnings -l ${page} 2>&1 | col -b`;
  const text = read("sh", "-c", shell);
  assert.not.match(text, "warning");
  for (const { name } of FLAGS) assert.match(text, `--${name}`);
});

const LINES = [
  ["nodeface ", "check"],
  ["nodeface kinds et", "ethereum"],
  ["nodeface --forward ", "reads"],
  ["nodeface check --off", "--offline"],
] as const;

testWhere(debian, without("/bin/bash"), "Bash completes commands, flags and values", () => {
  const file = join(makeFolder(), "nodeface");
  writeFileSync(file, bashCompletion());
  for (const [line, expected] of LINES) {
    const words = line.split(" ").map((word) => `'${word}'`).join(" ");
    const set = `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))`;
    const shown = read("bash", "-c", `. ${file}; ${set}; _nodeface; echo "\${COMPREPLY[*]}"`);
    assert.ok(shown.trim().split(" ").includes(expected), `${line}: ${shown}`);
  }
});

testWhere(debian, without("/usr/bin/fish"), "Fish completes them", () => {
  const file = join(makeFolder(), "nodeface.fish");
  writeFileSync(file, fishCompletion());
  for (const [line, expected] of LINES) {
    const shown = read("fish", "--no-config", "-c", `source ${file}; complete -C '${line}'`);
    const names = shown.split("\n").map((row) => row.split("\t")[0]);
    assert.ok(names.includes(expected), `${line}: ${shown}`);
  }
});

/** Zsh completes only in a terminal: `script` gives it one. */
testWhere(
  debian,
  without("/usr/bin/zsh", "/usr/bin/script"),
  "Zsh completes them",
  async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, "own"));
    writeFileSync(join(folder, "own/_nodeface"), zshCompletion());
    for (const [line, expected] of LINES) {
      assert.match(await typedInZsh(folder, line, expected), expected, line);
    }
  },
);

/** Resolves once `expected` is shown, or with what was shown within a minute. */
function typedInZsh(folder: string, line: string, expected: string): Promise<string> {
  const zsh = spawn("script", ["-qfc", "zsh -f", "/dev/null"], {
    env: { ...process.env, ZDOTDIR: folder, TERM: "dumb" },
    cwd: folder,
  });
  const steps = [
    {
      shown: /[#%] /,
      typed: "fpath=($PWD/own $fpath); autoload -Uz compinit; compinit -u -D; echo be''gun\n",
    },
    { shown: /begun\r?\n[^]*[#%] /, typed: `${line}\t\t` },
  ];
  let text = "";
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      zsh.kill();
      resolve(text);
    };
    const timer = setTimeout(end, 60_000);
    zsh.stdout.on("data", (data) => {
      text += data;
      if (steps.length === 0) {
        if (text.includes(expected)) end();
      } else if (steps[0]!.shown.test(text)) {
        text = "";
        zsh.stdin.write(steps.shift()!.typed);
      }
    });
  });
}

debian.run();
