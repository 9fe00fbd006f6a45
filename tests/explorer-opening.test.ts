/** Tests the lines of configuration that the page shows at an operation that is not enabled. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { readEnabled, writeOpening } from "../src/explorer/opening.ts";
import { readOutline, type ShownOperation } from "../src/explorer/read-outline.ts";
import { annotateCalls } from "../src/gateway/annotate-operations.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import { withDropInPaths } from "../src/openapi/drop-in.ts";
import type { ForwardSettings } from "../src/setting-types.ts";
import { withHomes } from "../src/openapi/home.ts";

const opening = suite("how to enable an operation");

const marked = (access?: string, more: object = {}) => ({
  responses: {},
  ...access && { "x-access": access },
  ...more,
});

const DOCUMENT = {
  openapi: "3.1.1",
  info: { title: "A", version: "1" },
  servers: [{ url: "./v1/node" }],
  paths: {
    "/height": { get: marked("read") },
    "/block/{id}": { get: marked("read") },
    "/send": { post: marked("write") },
    "/keys": { get: marked("secret") },
    "/own": { get: marked() },
    "/v1/info": { get: marked("secret") },
    "/follow": { get: marked("read", { "x-streaming": true }) },
  },
};

async function read(
  forward?: ForwardSettings | "reads",
  isAtRoot = false,
): Promise<ShownOperation[]> {
  const policy = resolveForward(forward);
  const { document } = await annotateCalls(await withHomes(DOCUMENT), policy, "operator");
  const shown = isAtRoot ? await withDropInPaths(document, [], false) : document;
  return (await readOutline(shown)).sections.flatMap(({ operations }) => operations);
}

async function linesFor(path: string, forward?: ForwardSettings | "reads"): Promise<string> {
  const operations = await read(forward);
  const operation = operations.find((one) => one.path === path)!;
  return writeOpening(operation, readEnabled(operations));
}

const withClient = (allow: string[]) => ({
  clients: [{ name: "app", token_file: "token", allow }],
});

opening("an operation with two tags is repeated once", async () => {
  const operations = await read({ open: ["GET /height"] });
  const height = operations.find(({ path }) => path.endsWith("/height"))!;
  assert.equal(readEnabled([height, ...operations]).open, ["GET /height"]);
});

opening("the lines keep what is enabled, and enable the operation if they are used", async () => {
  const cases: [path: string, before: ForwardSettings | "reads" | undefined, after: unknown][] = [
    ["/height", undefined, { open: ["reads"] }],
    ["/send", "reads", { open: ["reads"], ...withClient(["POST /send"]) }],
    ["/own", { open: ["reads"] }, { open: ["reads", "GET /own"] }],
    ["/own", { open: ["GET /height"] }, { open: ["GET /height", "GET /own"] }],
    ["/block/{id}", { open: ["GET /own"] }, { open: ["GET /own", "reads"] }],
  ];
  for (const [path, before, after] of cases) {
    const lines = await linesFor(path, before);
    assert.match(lines, /^# nodeface\.yaml\n/);
    assert.equal(parse(lines), { forward: after }, path);
    const operations = await read(parse(lines).forward);
    assert.not.equal(operations.find((one) => one.path === path)!.call, "refused");
  }
});

opening(
  "at the drop-in address, an operation with a path of ours has the name it has",
  async () => {
    const operations = await read("reads", true);
    const lines = ["/v1/node/v1/info", "/own"].map((path) => {
      const operation = operations.find((one) => one.path === path)!;
      return parse(writeOpening(operation, readEnabled(operations)));
    });
    assert.equal(lines, [
      { forward: { open: ["reads"], ...withClient(["GET /v1/info"]) } },
      { forward: { open: ["reads", "GET /own"] } },
    ]);
  },
);

opening(
  "the lines leave clients that exist as they are, and do not tell what they may call",
  async () => {
    const clients = [
      { name: "wallet", token_file: "wallet", allow: ["POST /send"] },
      { name: "board", token_file: "board", allow: ["GET /own"] },
    ];
    const forKeys = await linesFor("/keys", { open: ["reads"], clients });
    assert.equal(parse(forKeys), {
      forward: { open: ["reads"], clients: [{ allow: ["GET /keys"] }] },
    });
    assert.match(forKeys, "# In the client that may call it:");
    const forReads = await linesFor("/height", { clients });
    assert.equal(parse(forReads), { forward: { open: ["reads"] } });
    assert.match(forReads, "# clients: as they are");
  },
);

opening("an operation that no setting enables has a reason, but no lines", async () => {
  for (const forward of [undefined, "reads"] as const) {
    const operation = (await read(forward)).find(({ path }) => path === "/follow")!;
    assert.is(await linesFor("/follow", forward), "");
    assert.not.equal(operation.callSentence, "");
  }
});

opening("an operation that is enabled has no lines", async () => {
  assert.is(await linesFor("/height", "reads"), "");
});

opening.run();
