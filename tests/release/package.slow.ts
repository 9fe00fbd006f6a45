import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { importedBy } from "../_imports.ts";
import { until } from "../nodes/_daemon.ts";
import { BUN, DENO, ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { run, start } from "../_server.ts";
import { runtimeSuite } from "../runtimes/_suite.ts";
import { HOME, ok, TARBALL } from "./_package.ts";
import { licensedIn, packagesIn, packagesInScalar, unlike } from "./_shipped.ts";

const PROGRAM = `
import { createNodeface, type Nodeface, type NodefaceOptions, type Operation } from "nodeface";
import { listener, serve as serveOnNode } from "nodeface/node";
import { serve as serveOnDeno } from "nodeface/deno";
import { serve as serveOnBun } from "nodeface/bun";
import worker from "nodeface/worker";

const operation: Operation = {
  method: "GET",
  path: "/v1/peers",
  operation: { summary: "List peers", responses: { 200: { description: "All of them" } } },
  handle: () => Response.json([]),
};
const options: NodefaceOptions = { prefix: "/a", info: () => ({ height: 7 }), operations: [operation] };
const nodeface: Nodeface = createNodeface(options);
const served: Nodeface[] = [nodeface, worker];
export const all = [serveOnNode, serveOnDeno, serveOnBun, listener, served];

const response: Response = await nodeface.fetch(new Request("http://localhost/a/v1/info"));
console.log((await response.json()).height, await nodeface.ready());
// @ts-expect-error: there is no option with this name
export const wrong = () => createNodeface({ hots: [] });
`;
writeFileSync(join(HOME, "program.ts"), PROGRAM);

/** A host that uses no runtime APIs, and sets many options to `undefined`. */
const LIBRARY = `
import { createNodeface, defineOperation, problem } from "nodeface";
import type { Info, Nodeface, NodefaceOptions, Operation, OperationObject } from "nodeface";

interface Peer { id: string }
const peer: Peer = { id: "a" };
const parameters = [{ name: "id", in: "path", required: true, schema: { type: "string" } }];
const operation: OperationObject = { parameters, responses: { 200: { description: "It" } } };

const getPeer = defineOperation({
  method: "GET",
  path: "/v1/peers/{peer-id}",
  operation: { summary: "Get a peer", externalDocs: { url: "/", "x-b": 2 }, "x-a": 1 },
  handle(request, { "peer-id": id }, env: { key: string }) {
    if (!id.startsWith(env.key)) throw problem(404, "There is no peer " + id);
    return new Response(JSON.stringify(peer));
  },
});
const others = ["/a", "/b"].map((path): Operation => ({
  method: "POST",
  path,
  operation,
  cors: undefined,
  handle: async (request) => new Response(await request.text()),
}));
const options: NodefaceOptions = {
  hosts: undefined, cors: undefined, prefix: undefined, description: undefined, operations: undefined,
  document: undefined, kinds: undefined, node: undefined, info: undefined, log: undefined,
  startedAt: undefined,
};
export const all: Nodeface[] = [
  createNodeface(options),
  createNodeface({ info: () => peer, operations: [getPeer, ...others], document: { tags: undefined } }),
  createNodeface({ description: { openapi: "3.1.1", info: { title: "Peers", version: "1" }, paths: {} } }),
  createNodeface({ node: { url: undefined, kind: undefined }, info: { ttl: undefined, sources: {} } }),
];
export async function ask(nodeface: Nodeface, context: unknown): Promise<Info> {
  const response = await nodeface.fetch(new Request("http://localhost/v1/info"), context);
  await nodeface[Symbol.asyncDispose]();
  return await response.json() as Info;
}
// @ts-expect-error: OpenAPI has no key with this name
export const mistyped = () => defineOperation({ ...getPeer, operation: { sumary: "Get a peer" } });
// @ts-expect-error: the path has no parameter with this name
export const wrong = () => defineOperation({ ...getPeer, handle: (request, { id }) => new Response(id) });
`;
writeFileSync(join(HOME, "library.ts"), LIBRARY);

const INSTALLED = join(HOME, "node_modules/nodeface");

runtimeSuite(
  "the package",
  () => start([join(HOME, "node_modules/.bin/nodeface")], {}, { cwd: HOME }),
);

const pack = suite("the published package");

pack("npx runs the package", async () => {
  assert.match(await ok(["npx", "nodeface", "--version"], HOME), /^nodeface \d\S+ on Node /);
});

pack("npx can run the package from its archive", async () => {
  const port = await freePort();
  const npx = spawn("npx", ["--yes", `./${TARBALL}`, "--port", `${port}`], {
    cwd: HOME,
    stdio: "ignore",
    // npm does not pass SIGTERM on, so the test sends SIGTERM to the whole process group.
    detached: true,
  });
  try {
    await until(() =>
      fetch(`http://127.0.0.1:${port}/v1/info`).then(({ status }) => status === 200, () => false)
    );
  } finally {
    process.kill(-npx.pid!);
  }
});

pack("npm publish --dry-run accepts the package", async () => {
  const said = await run(["npm", "publish", "--dry-run", `./${TARBALL}`], {}, { cwd: HOME });
  assert.is(said.code, 0, said.stderr);
  assert.not.match(said.stderr, /npm (?:error|warn) publish (?!This command requires)/i);
});

pack("the package shows a node's own description", async () => {
  for (const file of ["petstore-2.0.json", "petstore-3.1.yaml"]) {
    const command = ["npx", "nodeface", "check", "--spec", `${ROOT}tests/description/${file}`];
    assert.match(await ok(command, HOME), "The description can be shown");
  }
});

pack("the package reads a configuration", async () => {
  writeFileSync(join(HOME, "nodeface.yaml"), "info: { static: { name: here } }\n");
  const command = ["npx", "nodeface", "check", "--config", "nodeface.yaml"];
  assert.match(await ok(command, HOME), '"name": "here"');
});

pack("the package contains the licences of the code that it bundles", () => {
  for (const name of ["itty-router", "negotiator", "srvx", "valibot", "yaml"]) {
    assert.match(LICENSES, new RegExp(`^${name} [\\d.]+ \\((?:MIT|ISC)\\)\\n\\n[^]{500}`, "m"));
  }
});

pack("LICENSES.txt lists exactly the packages that the source maps name", () => {
  const shipped = new Set([...packagesInScalar(), ...packagesIn(join(INSTALLED, "dist"))]);
  assert.ok(shipped.size > 180, `only ${shipped.size}`);
  assert.ok(shipped.has("vue") || shipped.has("@vue/runtime-core"));
  const listed = licensedIn(LICENSES);
  assert.equal(unlike(shipped, listed), []);
  assert.equal(unlike(shipped, listed.filter((entry) => !entry.startsWith("zod "))), ["zod"]);
  assert.equal(unlike(shipped, [...listed, "left-pad 1.3.0"]), ["left-pad"]);
});

const LICENSES = readFileSync(join(HOME, "node_modules/nodeface/dist/LICENSES.txt"), "utf8");

for (const version of [20, 22, 24, 26]) {
  pack(`CommonJS modules can require the package on Node ${version}`, async () => {
    const node = `${ROOT}tests/node_modules/node${version}/bin/node`;
    const program = 'console.log(typeof require("nodeface").createNodeface, ' +
      'typeof require("nodeface/node").listener)';
    assert.match(await ok([node, "-e", program], HOME), "function function");
  });
}

pack(
  "the package has no dependencies, and each entry imports at most 32 other files",
  async () => {
    const { exports, bin, dependencies } = JSON.parse(textOf("package.json"));
    assert.is(dependencies, undefined);
    const entries = Object.values<{ default?: string }>(exports).map((entry) =>
      entry.default ?? ""
    );
    for (const entry of [bin.nodeface, ...entries.filter((path) => path.endsWith(".js"))]) {
      const [, ...imported] = await importedBy(INSTALLED, entry.replace(/^\.\//, ""));
      assert.equal(imported.filter((path) => !path.startsWith("dist/")), []);
      // What is loaded later, such as WebSocket, divides what the entries share into more files.
      assert.ok(imported.length <= 32, `${entry}: ${imported.join(", ")}`);
    }
  },
);

function filesIn(folder: string): string[] {
  const names = readdirSync(join(INSTALLED, folder), { recursive: true, encoding: "utf8" });
  return names.filter((name) => statSync(join(INSTALLED, folder, name)).isFile());
}

const textOf = (...path: string[]) => readFileSync(join(INSTALLED, ...path), "utf8");

pack("the package is small, and contains types only for its exports", () => {
  assert.ok(statSync(join(HOME, TARBALL)).size < 4e6);
  const files = filesIn("dist");
  const sizes = files.map((file) => statSync(join(INSTALLED, "dist", file)).size);
  const mega = sizes.reduce((sum, size) => sum + size) / 1e6;
  // Only a debugger reads source maps.
  const read = files.filter((file) => !file.endsWith(".map"));
  assert.ok(mega < 5.5 && read.length < 200, `${mega} MB in ${read.length} files`);
  assert.not.ok(files.some((file) => file.startsWith("cli") || file === "main.d.ts"));
});

pack("each source is in only one module of the package, and every source is included", () => {
  const sources = filesIn("dist").filter((name) => name.endsWith(".js.map")).flatMap((name) => {
    const map = JSON.parse(textOf("dist", name)) as { sources: string[] };
    return map.sources.map((source) => join("dist", dirname(name), source));
  });
  assert.ok(sources.length > 100);
  assert.equal(sources.filter((source, i) => sources.indexOf(source) !== i), []);
  // `builtin:` is how a bundle names what Node has.
  const own = sources.filter((source) =>
    !/^node_modules|^src.generated|(?:^|\/)builtin:/.test(source)
  );
  for (const source of own) assert.ok(textOf(source).includes("@module"), source);
});

pack("the source map of each declaration file leads to an included source", () => {
  const names = filesIn("dist").filter((name) => name.endsWith(".d.ts"));
  for (const name of names.filter((name) => existsSync(join(INSTALLED, "dist", `${name}.map`)))) {
    const { sources } = JSON.parse(textOf("dist", `${name}.map`)) as { sources: string[] };
    for (const source of sources) assert.ok(textOf("dist", dirname(name), source).length > 0, name);
  }
  assert.ok(existsSync(join(INSTALLED, "dist/index.d.ts.map")));
});

pack("a stack trace names positions in the sources", async () => {
  const program = 'import { createNodeface } from "nodeface"; createNodeface({ prefx: 1 })';
  const flags = ["--enable-source-maps", "--input-type=module", "-e", program];
  const { stderr } = await run([process.execPath, ...flags], {}, { cwd: HOME });
  assert.match(stderr, /nodeface.src.options-schema\.ts:\d+:\d+/);
});

pack("in a web page, the package throws an error; workers can use it", async () => {
  const program = 'import { createNodeface, defineOperation, problem } from "nodeface";\n' +
    "export default [createNodeface, defineOperation, problem].map((made) => typeof made);";
  const { default: esbuild } = await import("esbuild").then((module) => ({ default: module }));
  const bundle = async (platform: "browser" | "neutral", conditions: string[]) => {
    const { outputFiles } = await esbuild.build({
      stdin: { contents: program, resolveDir: HOME },
      ...{ platform, conditions, bundle: true, write: false, format: "esm" },
      external: ["node:*"],
    });
    return outputFiles[0]!.text;
  };
  const page = await bundle("browser", []);
  assert.ok(page.length < 1000, page);
  await import(`data:text/javascript,${encodeURIComponent(page)}`).then(
    assert.unreachable,
    ({ message }) => assert.match(message, "nodeface runs in servers and workers"),
  );
  for (const conditions of [["workerd", "worker", "browser"], ["worker", "browser"]]) {
    assert.not.match(await bundle("browser", conditions), "nodeface runs in servers and workers");
  }
  const library = Object.keys(await import("../../src/index.ts"));
  const inPages = readFileSync(`${ROOT}src/not-in-browsers.ts`, "utf8");
  assert.equal(
    [...inPages.matchAll(/export const (\w+)/g)].map(([, name]) => name),
    library.sort(),
  );
});

pack("an installation of the package has at most six packages, including itself", () => {
  const lock = JSON.parse(readFileSync(join(HOME, "node_modules/.package-lock.json"), "utf8"));
  const names = Object.keys(lock.packages);
  assert.ok(names.length <= 6, names.join(", "));
});

const COMPILERS = join(HOME, "compilers");
/** The oldest supported version of TypeScript, and later versions with relevant changes. */
const VERSIONS = ["5.0.4", "5.4.5", "5.7.3", "5.9.3", "6.0.3"];

pack.before(async () => {
  mkdirSync(COMPILERS);
  writeFileSync(join(COMPILERS, "package.json"), "{}");
  const packages = VERSIONS.map((version) => `ts-${version}@npm:typescript@${version}`);
  await ok(["npm", "install", "--no-audit", "--no-fund", "--silent", ...packages], COMPILERS);
});

const tscOf = (version: string) =>
  version === "own"
    ? `${ROOT}node_modules/.bin/tsc`
    : join(COMPILERS, "node_modules", `ts-${version}`, "bin/tsc");

/** `skipLibCheck` is not set, so the type declarations of packages are checked too. */
async function compile(name: string, tsc: string, files: string[], more: object): Promise<void> {
  const project = join(HOME, name);
  mkdirSync(project);
  const compilerOptions = {
    module: "nodenext",
    moduleResolution: "nodenext",
    target: "es2022",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    ...more,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  await ok([process.execPath, tsc, "--project", project], HOME);
}

const WITH_NODE = { types: ["node"], typeRoots: [`${ROOT}node_modules/@types`] };

for (const version of [...VERSIONS, "own"]) {
  pack(`TypeScript ${version} accepts the library without the types of Node`, async () => {
    await compile(`library-${version}`, tscOf(version), ["../library.ts"], {});
  });
}

// Older versions do not accept the types of Node.
for (const version of ["5.4.5", "5.7.3", "5.9.3", "6.0.3", "own"]) {
  pack(`TypeScript ${version} accepts the library without the types of browsers`, async () => {
    const options = { lib: ["ES2022"], ...WITH_NODE };
    await compile(`server-${version}`, tscOf(version), ["../library.ts"], options);
  });
}

for (
  const [resolution, module] of [["nodenext", "nodenext"], ["bundler", "esnext"]] as const
) {
  pack(`TypeScript finds the types with ${resolution}`, async () => {
    const options = { module, moduleResolution: resolution, target: "es2023", ...WITH_NODE };
    await compile(resolution, tscOf("own"), ["../program.ts", "../library.ts"], options);
  });
}

pack("Deno accepts the types of the package, and runs the package", async () => {
  const cached = { DENO_DIR: join(HOME, "deno") };
  await ok([DENO, "check", "--node-modules-dir=manual", "program.ts"], HOME, cached);
  const flags = ["run", "--allow-read", "--allow-env", "--node-modules-dir=manual"];
  assert.match(await ok([DENO, ...flags, "program.ts"], HOME, cached), /^7 undefined$/m);
});

pack("Bun and Node run the package", async () => {
  assert.match(await ok([BUN, "program.ts"], HOME), /^7 undefined$/m);
  await ok([BUN, "build", "program.ts", "--target=bun", "--outfile=program.js"], HOME);
});

const NODE = `${ROOT}tests/node_modules/node24/bin/node`;

pack("publint reports no problem with the package", async () => {
  const publint = [NODE, `${ROOT}tests/node_modules/.bin/publint`, "run", "--strict"];
  assert.match(await ok([...publint, join(HOME, "node_modules/nodeface")], HOME), "All good!");
});

pack("attw reports no problem with the types of the package", async () => {
  const attw = [
    NODE,
    `${ROOT}tests/node_modules/.bin/attw`,
    TARBALL,
    "--profile=esm-only",
    "--format=ascii",
  ];
  // The package contains only ES modules, so the results for CommonJS are omitted.
  const said = await ok([...attw, "--no-emoji"], HOME);
  assert.is(said.match(/from ESM\): OK \(ESM\)\nbundler: OK/g)?.length, 5, said);
});

pack.run();
