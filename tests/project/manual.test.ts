import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkFile, type Files, parseConfiguration } from "../../src/cli/configuration-file.ts";
import { parseKind } from "../_kinds.ts";
import { readConfig } from "../_config.ts";
import type { Listening } from "../../src/adapters/shared.ts";
import type { Nodeface } from "../../src/index.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { RUNTIME, RUNTIMES } from "../nodes/_bench.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { type Daemon, startDaemon } from "../nodes/_daemon.ts";
import { type Block, blocksOf, commandsOf, follow } from "./_manual.ts";

const PAGES: ReadonlyMap<string, string> = new Map(
  [
    "README.md",
    ...readdirSync(`${ROOT}docs`).filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ]
    .map((path) => [path, readFileSync(join(ROOT, path), "utf8")]),
);

const BY_OTHERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "README.md": { sh: "../.ci/run" },
  "docs/beside-your-node.md": { sh: "project/beside.slow.ts" },
  "docs/embedding.md": { ts: "hosts/documents.test.ts" },
  "docs/embedding-fetch.md": { ts: "hosts/documents.test.ts" },
  "docs/embedding-node.md": { ts: "hosts/documents.test.ts" },
  "docs/events.md": {
    sh: "project/event-clients.test.ts",
    html: "project/event-clients.test.ts",
    js: "project/event-clients.test.ts",
    python: "project/event-clients.test.ts",
  },
  "docs/operations.md": { js: "hosts/frameworks.slow.ts" },
  "docs/json-rpc.md": { js: "gateway/clients.slow.ts" },
  "docs/kinds.md": { sh: "nodes/own-kind.slow.ts" },
  "docs/subscriptions.md": {
    sh: "raw/subscription-events.test.ts",
    js: "gateway/sockets.slow.ts",
  },
  "docs/proxies.md": {
    nginx: "gateway/proxies.slow.ts",
    caddyfile: "gateway/proxies.slow.ts",
  },
};

/**
 * The languages of blocks that are not run, such as printed output or the configuration of another
 * program.
 */
const OTHERS = ["", "yml", "json", "text", "ini"];

const ownBlocks = (page: string): Block[] =>
  blocksOf(PAGES.get(page)!).filter(({ language, isLeftOut }) =>
    !isLeftOut && BY_OTHERS[page]?.[language] === undefined
  );
const has = (page: string, ...languages: string[]) =>
  ownBlocks(page).some(({ language }) => languages.includes(language));

const manual = suite("the commands in the manual");

let anvil: Daemon;
let exampled: Server;
let places: Record<string, string>;

manual.before(async () => {
  const answers: Record<string, unknown> = {
    "/blocks/7": { height: 7 },
    "/stats": { blocks: 8 },
  };
  exampled = createServer(({ url = "" }, response) => {
    response.writeHead(url in answers ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answers[url] ?? {}));
  });
  await new Promise<void>((resolve) => exampled.listen(0, "127.0.0.1", resolve));
});
manual.after(() => void exampled?.close());

// Each test starts its own anvil, because the commands on some pages change balances and the
// height.
manual.before.each(async () => {
  const port = await freePort();
  anvil = await startDaemon([PROGRAMS.ethereum!.path, "--port", String(port)], port);
  const { port: other } = exampled.address() as { port: number };
  places = { "127.0.0.1:8545": `127.0.0.1:${port}`, "127.0.0.1:9000": `127.0.0.1:${other}` };
});
manual.after.each(async () => await anvil?.stop());

/**
 * `npm test` follows README alone, and the tier `ci` all pages, on Node. Another runtime can be an
 * argument.
 */
const FOLLOWED = process.argv.includes("all-pages") ? [...PAGES.keys()] : ["README.md"];

/** The commands run in another folder. */
const NODEFACE = RUNTIMES[RUNTIME]!.map((word) => word === "src/main.ts" ? ROOT + word : word);

for (const page of FOLLOWED.filter((page) => has(page, "console", "sh"))) {
  manual(`every command of ${page} works as documented`, async () => {
    await follow(PAGES.get(page)!, {
      places,
      nodeface: NODEFACE,
      isFollowed: (block) => ownBlocks(page).some(is(block)),
    });
  });
}

const is = (one: Block) => (other: Block) =>
  one.text === other.text && one.language === other.language;

manual.run();

const written = suite("the configurations and programs in the manual");

for (const page of [...PAGES.keys()].filter((page) => has(page, "yaml"))) {
  written(`every configuration of ${page} is valid`, async () => {
    for (const { language, file = "nodeface.yaml", text } of ownBlocks(page)) {
      if (language !== "yaml" || file === "openapi.yaml") continue;
      if (/^kinds:$/m.test(text)) await readConfig(["--config", "c.yaml"], {}, filesOf(text));
      else if (page === "docs/kinds.md") parseKind(wholeKind(text), "kind.yaml");
      else checkFile(parseConfiguration(text, basename(file)));
    }
  });
}

const filesOf = (text: string): Files => ({
  read: () => Promise.resolve(text),
  readBytes: () => Promise.reject(new Error("none")),
  find: () => Promise.resolve(),
  isThere: () => Promise.resolve(false),
});

const wholeKind = (text: string) =>
  [
    "title: A",
    "url: http://127.0.0.1:9000",
    "detect: { a#: . }",
    "sources: { a: { get: / }, chain: { get: / } }",
    "fields: { version: a#, height: a#, progress: a#, head_at: a#, peers: a#, network: a# }",
    "health: { ok: it answers }",
  ].filter((line) => !new RegExp(`^${line.split(":")[0]}:`, "m").test(text))
    .concat(text).join("\n");

const programsOf = (page: string) => ownBlocks(page).filter(({ language }) => language === "ts");

written("every program in docs/operations.md creates a service with the operation", async () => {
  for (const { text } of programsOf("docs/operations.md")) {
    const { nodeface } = await runProgram(programOf(text));
    const { paths } = await (await nodeface.fetch(new Request("http://localhost/spec.json")))
      .json();
    assert.ok(Object.keys(paths).some((path) => path.includes("/peers")), text);
    await nodeface.close();
  }
});

written("the program in docs/embedding.md serves the node that it describes", async () => {
  const blocks = blocksOf(PAGES.get("docs/embedding.md")!);
  const { text } = blocks.find(({ text }) => text.includes("await serve("))!;
  const free = text.replace("port: 8080", "port: 0").replace(/^console.*$/m, "");
  const { server, nodeface } = await runProgram(`${free}\nexport { nodeface, server };`);
  const { software, height } = await (await fetch(new URL("v1/info", server.url))).json();
  assert.equal([software, height], ["exampled", 41]);
  await server.close();
  await nodeface.close();
});

/**
 * Runs a program that imports the sources instead of the package `nodeface`, and returns its
 * exports.
 */
async function runProgram(code: string): Promise<{ nodeface: Nodeface; server: Listening }> {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  try {
    const file = join(folder, "program.mts");
    const here = (path: string) => JSON.stringify(pathToFileURL(`${ROOT}src/${path}`).href);
    writeFileSync(
      file,
      code.replace('"nodeface"', here("index.ts")).replace(
        '"nodeface/node"',
        here("adapters/node.ts"),
      ),
    );
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function programOf(text: string): string {
  const code = text.startsWith("import") ? text : `import { createNodeface } from "nodeface";
const operation = { responses: { 200: { description: "All of them" } } };
const handle = () => Response.json([]);
const getPeer = { method: "GET", path: "/v1/peers/{id}", operation, handle };
${text.startsWith("{") ? `const nodeface = createNodeface({ operations: [${text}] });` : text}`;
  return `const peers = new Map([["a", { id: "a" }]]);
${code}
export { nodeface };
`;
}

written("every block is tested unless the page excludes it", () => {
  for (const page of PAGES.keys()) {
    for (const { language, text } of ownBlocks(page)) {
      const isTried = ["yaml", "console", "sh"].includes(language) || OTHERS.includes(language) ||
        (language === "ts" && page === "docs/operations.md");
      assert.ok(isTried, `${page}: no test runs this block of ${language}:\n${text}`);
    }
  }
});

written("the blocks that other suites test exist, and so do those suites", () => {
  for (const [page, languages] of Object.entries(BY_OTHERS)) {
    for (const [language, test] of Object.entries(languages)) {
      assert.ok(existsSync(`${ROOT}tests/${test}`), test);
      const isThere = blocksOf(PAGES.get(page)!).some((block) => block.language === language);
      assert.ok(isThere, `${page} has no block of ${language}`);
    }
  }
});

written("a block states its language, its file, and whether the page excludes it", () => {
  const page = `Write:

\`\`\`yaml
# nodeface.yaml
node: {}
\`\`\`

1. Then (not run by the manual's tests: it takes root):

   \`\`\`sh
   a
     b
   \`\`\`

\`\`\`yaml openapi.yaml
openapi: 3.1.1
\`\`\`
`;
  assert.equal(blocksOf(page), [
    {
      language: "yaml",
      text: "# nodeface.yaml\nnode: {}\n",
      file: "nodeface.yaml",
      isLeftOut: false,
    },
    { language: "sh", text: "a\n  b\n", file: undefined, isLeftOut: true },
    { language: "yaml", text: "openapi: 3.1.1\n", file: "openapi.yaml", isLeftOut: false },
  ]);
});

written(
  "a command continues after a backslash and within quotes, and ends before a comment",
  () => {
    const text = "a 'b\nc' # as this\nd \\\n  --e \"f\n# g\"\n\n# h\n";
    assert.equal(commandsOf({ language: "sh", text }).map(({ command }) => command), [
      "a 'b\nc'",
      'd --e "f\n# g"',
    ]);
    const session = "$ a\nprinted\n\nmore\n$ b\n";
    assert.equal(commandsOf({ language: "console", text: session }), [
      { command: "a", printed: "printed\n\nmore" },
      { command: "b", printed: "" },
    ]);
  },
);

written.run();
