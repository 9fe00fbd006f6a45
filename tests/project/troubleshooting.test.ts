import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { STATUS_OF } from "../../src/info/status.ts";
import { NO_ANSWER, WRONG_ANSWER } from "../../src/info/sources/source-error.ts";
import { ROOT } from "../_paths.ts";
import { literalsOf, textsOf } from "./_messages.ts";

const troubleshooting = suite("the page about what goes wrong");

const page = readFileSync(join(ROOT, "docs/troubleshooting.md"), "utf8");

/** What speaks to an operator. What it finds in descriptions and calls has pages of its own. */
const SPEAKING = [
  "src/main.ts",
  "src/cli",
  "src/info",
  "src/description",
  "src/resources",
  "src/settings/check.ts",
  "src/settings/forward-schema.ts",
  "src/settings/schema-builders.ts",
  "src/settings/text-rules.ts",
  "src/settings/unknown-sources.ts",
  "src/gateway/judge-settings.ts",
  "src/gateway/token.ts",
  "src/explorer/logo.ts",
  "src/openapi/read-file-or-url.ts",
  "src/app.ts",
  "src/nearest.ts",
  "src/platform.ts",
];

/** Files whose texts are help and examples. */
const HELP = ["src/cli/usage.ts", "src/cli/kinds.ts"];

/** Texts that are no messages, or parts of one that says nothing by itself. */
const NO_MESSAGES = [
  ", built from",
  // What `init` writes into the file.
  "it is configured",
  "the sources",
  "a node of no known kind",
  "The configuration of Nodeface",
  "Every key may be left out. A line that begins with # is not read: remove the # to set a key.",
  "Files are relative to this one; ~/ is the home directory, $CREDENTIALS_DIRECTORY/ systemd's.",
  "It was named.",
  "it refuses as nodes of this kind do",
  "It was found by asking:",
  "Nodes of this kind leave it in no usual place.",
  "Without this key it is looked for where nodes of this kind leave it:",
  "it is there",
  "more places",
  "As an object: {",
  "the host",
  ": it is configured",
  "public, max-age=",
  "public, no-cache",
  "calls are made in batches",
  "an error",
  "no code",
  "no TLS",
  "the answer",
  "the answer:",
  "the text:",
  "the node",
  "the description",
  "keys such as",
  "the keys",
  "an object",
  "an object with",
  "an object with one of",
  "one of",
  "needs the token",
  // What a client is told.
  '"accept" lists states:',
  "This path answers",
  // A mistake of the program, which the options are checked for before.
  '" is no kind of node',
  '" is no duration such as "2s" or "500ms"',
  "application/json, application/yaml;q=0.9, */*;q=0.5",
];

const plain = (text: string) => text.replaceAll("`", "").replaceAll(/\s+/g, " ");
const bare = (text: string) => text.replaceAll(/^[\s,;:.)("]+|[\s,;:("[]+$/g, "");

const configuration = plain(
  readFileSync(join(ROOT, "docs/configuration.md"), "utf8"),
)
  .replaceAll("\\", "");

/** Whether a text is about one setting, or says what one must be, which needs no more. */
const isSaidBeside = (text: string) => /^an? /.test(text) || configuration.includes(bare(text));

troubleshooting("every status_code stands there", () => {
  const codes = [
    "starting",
    ...Object.keys(STATUS_OF),
    ...NO_ANSWER,
    ...WRONG_ANSWER,
  ];
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  for (const code of codes) {
    const isThere = rows.some((row) => row.split("|")[1]!.includes(`\`${code}\``));
    assert.ok(isThere, `docs/troubleshooting.md has no row for ${code}`);
  }
});

troubleshooting(
  "every message of the command and of the log stands there",
  () => {
    const said = plain(page);
    const missing = [...textsOf(SPEAKING)].filter(([file]) => !HELP.includes(file))
      .flatMap(([file, texts]) =>
        texts.filter((text) => !NO_MESSAGES.includes(text))
          .filter((text) => !said.includes(bare(text)))
          .filter((text) => !(file.startsWith("src/settings/") && isSaidBeside(text)))
          .map((text) => `${file}: ${text}`)
      );
    assert.equal(missing, [], "docs/troubleshooting.md lacks these");
  },
);

troubleshooting("every message that stands there is one of the source", () => {
  const all = [...textsOf(["src"])].flatMap(([, texts]) => texts).map(bare)
    .sort((a, b) => b.length - a.length);
  const cells = page.split("\n").filter((line) => /^\| .* \|$/.test(line)).map(
    (line) => {
      const columns = line.split(/(?<!\\)\|/);
      // The last column says what to do.
      return columns.slice(1, -2).join(" ");
    },
  );
  const shown = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!));
  const parts = shown.flatMap((text) => text.split("…")).map(bare)
    .filter((part) => /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i.test(part));
  assert.ok(parts.length > 100, `${parts.length} parts`);
  const unknown = parts.filter((part) => !all.some((text) => text.includes(part)))
    // It may be made of several texts and what stands between them.
    .map((part) => all.reduce((left, text) => left.replaceAll(text, "…"), part))
    .filter((left) => /[a-z]{2,} [a-z]{2,}/i.test(left));
  assert.equal(unknown, []);
});

troubleshooting(
  "what is found in the source is what it says, and no expression or comment",
  () => {
    const code = [
      "// not this one",
      'const a = "a first text"; /* nor "this one here" */',
      "const b = /[\"'`]/.test(x) ? `is ${open ? `quite open` : 'shut'} now` : 6 / 2 / 1;",
      "log(`has {braces} and ${{ a: 1 }.a} too`);",
    ].join("\n");
    assert.equal(
      literalsOf(code),
      [
        "a first text",
        "is ",
        "quite open",
        "shut",
        " now",
        "has {braces} and ",
        " too",
      ],
    );
  },
);

troubleshooting.run();
