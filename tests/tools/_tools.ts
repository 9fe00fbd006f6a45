/** Defines the tools that read the descriptions, and the results that are expected of each tool. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { BUN, ROOT } from "../_paths.ts";
import { COMMANDS } from "../_server.ts";
import { freePort } from "../_port.ts";
import { countOperations } from "./programs/count-operations.ts";
import { type ProgramOptions, runProgram } from "./_program.ts";

/**
 * The description that a tool reads. `json` and `yaml` are URLs of the served description. `entry`
 * is the path of the original document, or `undefined` if the description comes from a kind. In a
 * test with the original document, every property contains the path of this document.
 */
export interface Input {
  json: string;
  yaml: string;
  jsonFile: string;
  yamlFile: string;
  entry: string | undefined;
}

export interface Verdict {
  problem?: string | undefined;
  /** `undefined` means that the operations cannot be counted. */
  operations?: number | undefined;
}

export interface Tool {
  name: string;
  /** The reason why the tool cannot run on this machine. */
  missing?: string | undefined;
  /** True for this project's own tools, which are not tested with the original document. */
  isOurs?: true;
  run(input: Input, folder: string, timeout: number): Promise<Verdict>;
}

/** The number of characters that are kept from the end of a failed program's output. */
const EXCERPT = 1500;

const HERE = fileURLToPath(new URL(".", import.meta.url));
const NODE_24 = `${ROOT}tests/node_modules/node24/bin/node`;
const missing = existsSync(NODE_24) ? undefined : "needs the Node 24 of tests/package-lock.json";

/** Some packages are installed only for the slow tests, and the others for all tests. */
const inPackage = (path: string): string =>
  [`${HERE}node_modules/${path}`, `${ROOT}tests/node_modules/${path}`].find(existsSync) ?? path;
const script = (name: string): string => `${HERE}programs/${name}`;

type Options = Omit<ProgramOptions, "cwd" | "timeout">;

async function run(
  command: readonly string[],
  cwd: string,
  timeout: number,
  options: Options = {},
): Promise<{ problem?: string; output: string }> {
  const { code, output, isLate } = await runProgram(command, { cwd, timeout, ...options });
  if (isLate) return { problem: `has not ended after ${timeout / 1000} s`, output };
  if (code === 0 || (code === null && options.until)) return { output };
  return { problem: `ended with ${code}: ${excerpt(output)}`, output };
}

/** Returns the end of an output, without stack traces and lists of files. */
function excerpt(output: string): string {
  const lines = output.split("\n").filter((line) => !/^\s*(at |Writing )|^\s*$/.test(line));
  return lines.join("\n").slice(-EXCERPT);
}

/**
 * Creates a tool that only accepts or rejects a description. The program of the tool may print the
 * number of operations.
 */
function judge(
  name: string,
  command: (input: Input) => readonly string[],
  node = NODE_24,
): Tool {
  return {
    name,
    missing: node === NODE_24 ? missing : undefined,
    async run(input, folder, timeout) {
      const { problem, output } = await run([node, ...command(input)], folder, timeout);
      const counted = /^(\d+) operations$/m.exec(output)?.[1];
      return { problem, operations: counted === undefined ? undefined : Number(counted) };
    },
  };
}

interface Generator {
  name: string;
  command: (input: Input) => readonly string[];
  env?: (input: Input) => Record<string, string>;
  /**
   * The compiler gets the generated files that match this pattern, and also reads the files that
   * they import.
   */
  compiled: RegExp;
  /**
   * Each match of `text` in a generated file counts as one operation. `files` must match the path
   * of the file. In each file, everything after the first match of `before` is ignored.
   */
  counted: { files: RegExp; text: RegExp; before?: RegExp };
  /** The program that runs the tool. @default Node 24 */
  node?: string;
}

export const TSC: readonly string[] = [
  `${ROOT}node_modules/typescript/bin/tsc`,
  ...["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom,dom.iterable"],
  ...["--module", "esnext", "--moduleResolution", "bundler", "--types", ""],
  // Checking TypeScript's own libraries would take longer than checking most generated code.
  ...["--ignoreConfig", "--allowImportingTsExtensions", "--skipDefaultLibCheck"],
];

function generator(
  { name, command, env, compiled, counted, node = NODE_24 }: Generator,
): Tool {
  return {
    name,
    missing: node === NODE_24 ? missing : undefined,
    async run(input, folder, timeout) {
      const made = await run([node, ...command(input)], folder, timeout, {
        env: env?.(input) ?? {},
      });
      if (made.problem) return made;
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
      const sources = files.filter((file) => compiled.test(file));
      if (sources.length === 0) return { problem: `generated no TypeScript: ${made.output}` };
      const { problem } = await run([process.execPath, ...TSC, ...sources], folder, timeout);
      const operations = files.filter((file) => counted.files.test(file))
        .map((file) => readFileSync(join(folder, file), "utf8").split(counted.before ?? "\0")[0]!)
        .map((text) => text.match(counted.text)?.length ?? 0)
        .reduce((sum, count) => sum + count, 0);
      return { problem: problem && `tsc ${problem}`, operations };
    },
  };
}

const CHECK: Tool = {
  name: "nodeface check",
  isOurs: true,
  async run({ entry }, _, timeout) {
    if (entry === undefined) return { problem: undefined };
    return await run([...COMMANDS.Node, "check", "--spec", entry], ROOT, timeout);
  },
};

const ours = (name: string, file: string): Tool => ({
  name,
  isOurs: true,
  async run({ jsonFile, yamlFile }, _, timeout) {
    return await run([BUN, script(file), jsonFile, yamlFile], ROOT, timeout);
  },
});

const OPERATIONS: Tool = {
  name: "operations",
  isOurs: true,
  run: ({ jsonFile }) =>
    Promise.resolve({
      operations: countOperations(JSON.parse(readFileSync(jsonFile, "utf8"))),
    }),
};

/**
 * Prism is a mock server that responds with the examples of a description. The test requests one
 * operation from Prism.
 */
const PRISM: Tool = {
  name: "prism mock",
  missing,
  // Prism gets a file instead of a URL, because Prism fails if the server closes the connection
  // between two requests.
  async run({ jsonFile }, folder, timeout) {
    const port = await freePort();
    const program = inPackage("@stoplight/prism-cli/dist/index.js");
    const command = [
      NODE_24,
      program,
      "mock",
      jsonFile,
      "--port",
      `${port}`,
      "--host",
      "127.0.0.1",
    ];
    let status: number | undefined;
    const { problem, output } = await run(command, folder, timeout, {
      until: {
        text: "Prism is listening",
        async then(output) {
          const url = / GET +(http:\S+)/.exec(output)?.[1];
          // Prism 5.16 sometimes omits the first parameter, and writes "&" where "?" should be.
          if (url) status = (await fetch(url.replace(/^([^?&]*)&/, "$1?"))).status;
        },
      },
    });
    const operations = output.match(/ info +[A-Z]+ +http:/g)?.length ?? 0;
    const isFound = operations === 0 || (status !== undefined && status !== 404);
    return { problem: problem ?? (isFound ? undefined : `responds with ${status}`), operations };
  },
};

/** The tools that the fast tests use. */
export const QUICK: readonly Tool[] = [
  CHECK,
  OPERATIONS,
  ours("JSON is YAML", "compare-forms.ts"),
  ours("references", "check-references.ts"),
  judge(
    "official schema",
    ({ jsonFile }) => [script("official-schema.mjs"), jsonFile],
    process.execPath,
  ),
  judge(
    "redocly lint",
    ({ yaml }) => [
      `${ROOT}tests/node_modules/@redocly/cli/bin/cli.js`,
      ...["lint", yaml, "--config", script("redocly.yaml"), "--max-problems", "5"],
    ],
    process.execPath,
  ),
  generator({
    name: "openapi-typescript",
    command: ({ yaml }) => [inPackage("openapi-typescript/bin/cli.js"), yaml, "-o", "api.ts"],
    node: process.execPath,
    compiled: /^api\.ts$/,
    counted: {
      files: /^api\.ts$/,
      text: /^ {8}(get|put|post|delete|options|head|patch|trace): /gm,
      before: /^export (?:interface|type) (?:webhooks|components)\b/m,
    },
  }),
];

export const TOOLS: readonly Tool[] = [
  ...QUICK,
  judge(
    "spectral",
    ({ yaml }) => [
      inPackage("@stoplight/spectral-cli/dist/index.js"),
      ...["lint", yaml, "--ruleset", script("spectral.yaml"), "--fail-severity", "error"],
    ],
  ),
  judge("swagger-parser", ({ json }) => [script("swagger-parser.mjs"), json]),
  judge("Scalar's parser", ({ jsonFile }) => [script("scalar.mjs"), jsonFile]),
  PRISM,
  generator({
    name: "swagger-typescript-api",
    command: ({ json }) => [
      inPackage("swagger-typescript-api/dist/cli.mjs"),
      ...["generate", "-p", json, "-o", ".", "-n", "api.ts"],
    ],
    compiled: /^api\.ts$/,
    counted: { files: /^api\.ts$/, text: /^ +\* @request [A-Z]+:/gm },
  }),
  generator({
    name: "hey-api",
    command: ({ json }) => [
      inPackage("@hey-api/openapi-ts/bin/run.js"),
      ...["-i", json, "-o", "made", "--no-log-file"],
    ],
    compiled: /^made[/\\]index\.ts$/,
    counted: {
      files: /^made[/\\]sdk\.gen\.ts$/,
      text: /^export const \S+ = <ThrowOnError/gm,
    },
  }),
  generator({
    name: "orval",
    command: ({ yaml }) => [
      inPackage("orval/dist/bin/orval.mjs"),
      ...["--input", yaml, "--output", "api.ts", "--client", "fetch"],
    ],
    compiled: /^api\.ts$/,
    counted: { files: /^api\.ts$/, text: /^export const get\S+Url = /gm },
  }),
  generator({
    name: "kubb",
    command: () => [
      inPackage("@kubb/cli/bin/kubb.cjs"),
      ...["generate", "--config", script("kubb.config.mjs")],
    ],
    env: ({ jsonFile }) => ({ KUBB_INPUT: jsonFile }),
    compiled: /^made[/\\].*\.ts$/,
    counted: { files: /^made[/\\]clients[/\\].*\.ts$/, text: /^export async function /gm },
  }),
];
