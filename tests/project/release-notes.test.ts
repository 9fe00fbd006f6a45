import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { releaseNotes, STEPS } from "../../src/build/release.ts";
import { ROOT } from "../_paths.ts";

const notes = suite("release notes");

const CHANGELOG = `# Changelog

## 0.3.0, 2026-12-01

New, as [docs/a.md](docs/a.md#b) and [the RFC](https://www.rfc-editor.org/rfc/rfc9457) say.

### Fixed

- All.

## 0.2.0, not yet released

Old.
`;

notes("release notes are the changelog section of the version, with its date and commit", () => {
  const text = releaseNotes(CHANGELOG, "0.3.0", "abc");
  assert.match(text, /^# Nodeface 0\.3\.0, 2026-12-01\n\nBuilt from the commit abc\./);
  assert.match(text, /\n### Fixed\n\n- All\.\n$/);
  assert.not.match(text, "Old.");
  assert.match(releaseNotes(CHANGELOG, "0.2.0", "abc"), /^# Nodeface 0\.2\.0\n/);
});

notes("in release notes, relative links become file names, and others stay", () => {
  const text = releaseNotes(CHANGELOG, "0.3.0", "abc");
  assert.match(text, "as docs/a.md and [the RFC](https://www.rfc-editor.org/rfc/rfc9457) say.");
});

notes("a version whose changelog section is empty is not released", () => {
  assert.throws(() => releaseNotes(CHANGELOG, "0.3", "abc"), /CHANGELOG\.md has no text for 0\.3$/);
  assert.throws(() => releaseNotes("## 0.3.0\n\n## 0.2.0\n", "0.3.0", "abc"), /for 0\.3\.0$/);
});

notes("there are release notes for the version of this checkout", () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
  const text = releaseNotes(readFileSync(`${ROOT}CHANGELOG.md`, "utf8"), version, "abc");
  assert.match(text, /^### \w+/m);
  assert.not.match(text, /\]\((?!https?:)/);
});

notes("what a release has built for all machines is not deleted by a later step", () => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
  const commandsOf = (command: string): string[] => {
    const name = /^npm (?:run )?(?:--silent )?([\w:]+)/.exec(command)?.[1] ?? "";
    const parts = [`pre${name}`, name, `post${name}`].flatMap((part) =>
      scripts[part]?.split(" && ") ?? []
    );
    return [command, ...parts.flatMap(commandsOf)];
  };
  const all = STEPS.indexOf("npm run build:exe -- --all");
  assert.ok(all > 0);
  assert.ok(commandsOf("npm run test:slow").some((command) => /^npm run build:exe/.test(command)));
  const later = STEPS.slice(all + 1).flatMap(commandsOf);
  assert.equal(later.filter((command) => /^npm run (?:--silent )?build:exe/.test(command)), []);
});

notes("the workflow names the maintainer of the Debian packages, who is a variable there", () => {
  const { jobs } = parse(readFileSync(`${ROOT}.github/workflows/release.yml`, "utf8"));
  const step = jobs.build.steps.find(({ run = "" }) => run === "npm run release");
  assert.equal(step.env, { DEBIAN_MAINTAINER: "${{ vars.DEBIAN_MAINTAINER }}" });
});

notes.run();
